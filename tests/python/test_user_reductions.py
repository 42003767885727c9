"""ReductionKernel against NumPy."""

import numpy as np
import pytest

import heddle as hd
from conftest import DTYPES, ON_CPU, check, sample

REAL = [dtype for dtype in DTYPES if dtype.kind in "iuf" or dtype == hd.bfloat16]

norm = hd.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")
AXES = [None, 0, 1, -1, (0, 2), (2, 1)]


@pytest.mark.parametrize("axis", AXES, ids=str)
@pytest.mark.parametrize("keepdims", [False, True])
def test_sums(axis, keepdims):
    x = np.random.default_rng(1).standard_normal((3, 40, 5))
    got = norm(hd.asarray(x), axis=axis, keepdims=keepdims)
    check(got, np.sqrt((x * x).sum(axis=axis, keepdims=keepdims)), ulp=8)


@pytest.mark.parametrize("shape, order, axis", [
    ((511,), (0,), None), ((513,), (0,), 0), ((257, 33), (0, 1), 0), ((257, 33), (1, 0), 0), ((3, 4, 50), (2, 0, 1), 1),
    ((3, 4, 50), (1, 2, 0), (0, 2)), ((4, 3, 2, 4, 3, 2, 2), (0, 1, 2, 3, 4, 5, 6), (1, 4, 3, 6))])
def test_sums_of_small_integers_in_any_layout(shape, order, axis):
    total = hd.ReductionKernel("T x", "T out", "x", "a + b", "out = a", "0", "my_sum")
    x = np.random.default_rng(2).integers(-128, 128, shape).astype("i1")
    check(total(hd.asarray(x).transpose(order), axis=axis, keepdims=True),
          x.transpose(order).sum(axis=axis, keepdims=True, dtype="i1"))


LARGER = "template <class T> __device__ T larger(T a, T b) { return a < b ? b : a; }"


@pytest.mark.parametrize("expression", ["max(a, b)", "fmax(b, a)"])
@pytest.mark.parametrize("axis", [None, 0, -1])
def test_extremes_are_one_kernel_with_what_surrounds_them(expression, axis):
    least = expression.translate(str.maketrans("<>", "><")).replace("max", "min")
    x = np.random.default_rng(5).permutation(3000).reshape(50, 60) - 1000.0
    for form, expected in ((expression, x.max(axis)), (least, x.min(axis))):
        kernel = hd.ReductionKernel("T x", "T y", "x * 2", form, "y = a + 1", "0", "extreme")

        def program(x, kernel=kernel):
            return kernel(x - 3, axis=axis) * 0.5

        check(hd.jit(program)(hd.asarray(x)), expected - 2.5)
        assert hd.jit(program).lower(hd.asarray(x)).kernel_count() == 1
        gaps = x.copy()
        gaps[3, :30] = gaps[:20, 7] = np.nan
        found = np.nanmax if form is expression else np.nanmin
        check(kernel(hd.asarray(gaps), axis=axis), found(gaps, axis) * 2 + 1)
    extreme = hd.ReductionKernel("T x", "T y", "x", expression, "y = a", "0", "extreme")
    check(extreme(hd.full((2, 3), np.nan), axis=1), np.full(2, np.nan))


@pytest.mark.parametrize("expression", ["max(a, b)", "(a < b) ? b : a", "a > b ? a : b", "b >= a ? (b) : (a)"])
@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("dtype", ["i2", "f2", "f4", "f8"])
def test_comparisons_are_extremes(expression, axis, dtype):
    least = expression.translate(str.maketrans("<>", "><")).replace("max", "min")
    whole = np.random.default_rng(6).integers(-100, 100, (50, 60)).astype(dtype)
    for form, expected in ((expression, whole.max(axis)), (least, whole.min(axis))):
        kernel = hd.ReductionKernel("T x", "T y", "x", form, "y = a", "0", "extreme")
        check(kernel(hd.asarray(whole), axis=axis), expected)
        program = hd.jit(lambda x, kernel=kernel: kernel(x, axis=axis))
        assert program.lower(hd.asarray(whole)).kernel_count() <= (1 if ON_CPU else 2)


def test_comparisons_take_the_number_where_there_is_nan():
    nan = np.nan
    for expression in ("a < b ? a : b", "b < a ? b : a", "a > b ? b : a", "b >= a ? a : b"):
        kernel = hd.ReductionKernel("T x", "T y", "x", expression, "y = a", "0", "least")
        for values, expected in (([1.0, nan], 1.0), ([nan, 1.0], 1.0), ([nan, 2.0, 1.0, nan], 1.0),
                                 ([nan, nan], nan), ([nan], nan)):
            check(kernel(hd.asarray(values)), np.array(expected))


def test_a_function_of_the_preamble_is_not_heddles():
    farther = hd.ReductionKernel(
        "float64 x", "float64 y", "x", "max(a, b)", "y = a", "0", "farther",
        preamble="__device__ double max(double a, double b) { return a * a < b * b ? b : a; }")
    check(farther(hd.asarray([1.0, -5.0, 3.0])), np.array(-5.0))


@pytest.mark.parametrize("dtype, axis", [(dtype, 1) for dtype in REAL]
                         + [(hd.float64, axis) for axis in AXES], ids=str)
def test_trees(dtype, axis):
    x = np.asarray(sample(dtype, (3, 40, 5), 3))
    largest = hd.ReductionKernel("T x", "T y", "x", "larger(a, b)", "y = a", "0", "largest",
                                 preamble=LARGER)
    check(largest(hd.asarray(x), axis=axis), x.max(axis=axis))


@pytest.mark.parametrize("count", [1, 2, 15, 16, 17, 31, 255, 256, 257, 4097, 100_003])
def test_trees_of_any_length(count):
    x = np.random.default_rng(count).permutation(count).astype(np.float64)
    smallest = hd.ReductionKernel("T x", "T y", "x + 1", "min(a, b)", "y = a", "1e300", "smallest")
    check(smallest(hd.asarray(x)), np.array(1.0))
    maximum = hd.ReductionKernel("T x, int64 k", "int64 y", "x == 0 ? _J + k : -1", "max(a, b)",
                                 "y = a", "-1", "where_zero")
    check(maximum(hd.asarray(x), 0), np.array(int(np.argmin(x))))


def test_logical_and_products():
    x = np.array([[1, 2, 3], [4, 0, 6]])
    for expression, expected in (("a && b", (x != 0).all(1)), ("a || b", (x > 3).any(1))):
        test = "x != 0" if "&" in expression else "x > 3"
        kernel = hd.ReductionKernel("T x", "bool y", test, expression, "y = a", "true", "logical")
        check(kernel(hd.asarray(x), axis=1), expected)
    product = hd.ReductionKernel("T x", "T y", "x", "a * b", "y = a", "1", "product")
    check(product(hd.asarray(x), axis=0), x.prod(0))
    counted = hd.ReductionKernel("T x", "int32 y", "x != 0", "a + b", "y = a", "0", "counted")
    check(counted(hd.asarray(x)), np.array(5, np.int32))


def test_types_of_what_is_reduced():
    x = np.full(1000, 100, np.uint8)
    wide = hd.ReductionKernel("T x", "float64 y", "x", "a + b", "y = a / 2.0", "0", "wide",
                              reduce_type="long long")
    check(wide(hd.asarray(x)), np.array(50000.0))
    mean = hd.ReductionKernel("T x", "float32 y", "x", "a + b",
                              "y = a * _out_ind.size() / _in_ind.size()", "0", "mean_of")
    check(mean(hd.asarray(np.arange(12, dtype=np.float32).reshape(3, 4)), axis=1),
          np.array([1.5, 5.5, 9.5], np.float32))
    with pytest.raises(hd.DTypeError, match="reduce_type"):
        hd.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "bad", reduce_type="struct")


def test_several_inputs_and_outputs_of_reductions():
    dot = hd.ReductionKernel("T x, T y", "T z", "x * y", "a + b", "z = a", "0", "dot")
    x, y = np.arange(12.0).reshape(3, 4), np.arange(4.0)
    check(dot(hd.asarray(x), hd.asarray(y), axis=1), x @ y)
    check(dot(hd.asarray(x), 2.0), np.array(x.sum() * 2))
    out = hd.zeros(3)
    assert dot(hd.asarray(x), hd.asarray(y), out, axis=1) is out
    check(out, x @ y)
    dot(hd.asarray(x), hd.asarray(y) * 2, axis=1, out=out)
    check(out, 2 * (x @ y))
    two = hd.ReductionKernel("T x", "T s, T r", "x * x", "a + b", "s = a; r = sqrt(a)", "0", "two")
    s, r = two(hd.asarray(y))
    check(s, np.array(14.0))
    check(r, np.sqrt(np.array(14.0)))
    raw = hd.ReductionKernel("int64 k, raw T x", "T y", "x[k]", "a + b", "y = a", "0", "gathered")
    check(raw(hd.array([2, 0, 2]), hd.asarray(y)), np.array(4.0))


def test_letters_that_only_the_map_reads():
    for dtype, size in ((hd.complex64, "norm(x)"), (hd.float16, "x * x")):
        x = hd.arange(300).astype(dtype)
        largest = hd.ReductionKernel("T x", "float32 y", size, "max(a, b)", "y = a", "0", "letters")
        check(largest(x[:200]), np.array(199.0 ** 2, np.float32), ulp=600)
        check(largest(x[:0]), np.array(0, np.float32))


def test_bad_outputs_of_reductions():
    x, two = hd.arange(6.0).reshape(2, 3), hd.ReductionKernel("T x", "T y, T z", "x", "a + b",
                                                              "y = a; z = a", "0", "pair")
    with pytest.raises(hd.ShapeError, match="norm"):
        norm(x, axis=0, out=hd.zeros((4, 3)))
    with pytest.raises(TypeError, match="2 outputs"):
        two(x, out=hd.zeros(()))


def test_no_elements():
    check(norm(hd.zeros((0, 3)), axis=0), np.zeros(3))
    check(norm(hd.zeros((0, 3)), axis=1), np.zeros(0))
    start = hd.ReductionKernel("T x", "T y", "x", "max(a, b)", "y = a", "-5", "start")
    check(start(hd.zeros((2, 0)), axis=1, keepdims=True), np.full((2, 1), -5.0))
    none = hd.ReductionKernel("T x", "T y", "x", "max(a, b)", "y = a", "", "none")
    with pytest.raises(ValueError, match="no identity"):
        none(hd.zeros((0, 3)), axis=0)
    check(none(hd.arange(4.0)), np.array(3.0))
    with pytest.raises(hd.AxisError):
        norm(hd.arange(3.0), axis=1)
