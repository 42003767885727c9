"""What ElementwiseKernel refuses: declarations, calls, and errors in its text."""

import numpy as np
import pytest

import heddle as hd
from conftest import check

squared = hd.ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "squared_difference")

DECLARATIONS = [
    ("T", "T y", ValueError, "not a parameter"), ("raw", "T y", ValueError, "not a parameter"),
    ("T x y", "T y", ValueError, "not a parameter"), ("T x,", "T y", ValueError, "not a parameter"),
    ("T i", "T y", ValueError, "reserved"), ("T _x", "T y", ValueError, "reserved"),
    ("T x, T x", "T y", ValueError, "two parameters"), ("T x", "T x", ValueError, "two parameters"),
    ("floaty x", "T y", TypeError, "floaty"), ("T 2x", "T y", ValueError, "not a parameter"),
    ("T x", "", ValueError, "at least one output"),
    ("T x", "raw T y, T z", ValueError, "the only output"),
]


@pytest.mark.parametrize("inputs, outputs, error, text", DECLARATIONS)
def test_bad_declarations(inputs, outputs, error, text):
    with pytest.raises(error, match=text):
        hd.ElementwiseKernel(inputs, outputs, "y = 1", "bad")


def test_bad_names_of_kernels():
    for name in ("", "a b", "1a", "a-b"):
        with pytest.raises(ValueError, match="name"):
            hd.ElementwiseKernel("T x", "T y", "y = x", name)


def test_bad_calls():
    x = hd.arange(3.0)
    with pytest.raises(TypeError, match="takes 2 inputs"):
        squared(x)
    with pytest.raises(TypeError, match="takes 2 inputs"):
        squared(x, x, x, x)
    with pytest.raises(hd.DTypeError, match="'y' is float64, but the array is float32"):
        squared(x, x.astype(hd.float32))
    with pytest.raises(hd.DTypeError, match="float64"):
        squared(x, x, hd.zeros(3, dtype=hd.float32))
    with pytest.raises(hd.ShapeError):
        squared(x, hd.arange(4.0))
    with pytest.raises(hd.ShapeError, match="broadcast"):
        squared(x, x, hd.zeros(4))
    with pytest.raises(ValueError, match="size"):
        squared(x, x, size=3)
    raw = hd.ElementwiseKernel("raw T x", "T y", "y = x[i]", "raw_only")
    with pytest.raises(ValueError, match="size"):
        raw(x)
    with pytest.raises(ValueError, match="negative"):
        raw(x, size=-1)
    with pytest.raises(hd.DTypeError, match="raw"):
        raw(3.0, size=2)
    unknown = hd.ElementwiseKernel("float64 x", "U y", "y = x", "unknown")
    with pytest.raises(hd.DTypeError, match="type U"):
        unknown(x)
    check(squared(x, x), np.zeros(3))


def test_errors_in_the_text_name_its_line():
    wrong = hd.ElementwiseKernel("T x", "T y", "T t = x;\ny = t +* 2", "wrong")
    with pytest.raises(hd.CompileError, match=r"(?s)kernel 'wrong'.*wrong[:(]2"):
        wrong(hd.arange(3.0)).eval()
    missing = hd.ElementwiseKernel("T x", "T y", "y = x", "missing", preamble="\nnonsense here;")
    with pytest.raises(hd.CompileError, match=r"missing \(preamble\)[:(]2"):
        missing(hd.arange(3.0)).eval()
    check(squared(hd.arange(3.0), 1.0), np.array([1.0, 0.0, 1.0]))
