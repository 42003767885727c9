"""The result of a function depends on its operands only: not on where they stand in an array, how
long it is, how it lies in memory, and what is computed beside it."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from conftest import ON_CPU

import heddle as hd

RANGES = {  # of what a function is defined for
    "arcsin": (-1, 1), "arccos": (-1, 1), "arctanh": (-1, 1), "arccosh": (1, 30), "log": (0, 9),
    "log2": (0, 9), "log10": (0, 9), "log1p": (-1, 9), "rsqrt": (0, 9), "sin": (-99, 99),
    "cos": (-99, 99), "tan": (-99, 99), "sqrt": (0, 9),
}
UNARY = ["cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin",
         "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "degrees", "radians",
         "sinc", "sqrt", "reciprocal"]
BINARY = ["power", "arctan2", "hypot", "logaddexp", "logaddexp2"]
COMPLEX = ["exp", "log", "sin", "tan", "sinh", "tanh", "arcsin", "arctan", "power", "absolute"]
CASES = ([(name, dtype) for dtype in ("float32", "float64") for name in UNARY + BINARY] +
         [(name, "complex64") for name in COMPLEX] + [("absolute", "complex128")])
FUSED = ["exp", "log", "sin", "tanh", "power", "absolute"]  # in kernels of every kind
COUNT = 714
LENGTHS = [17, 7, 8, *range(1, 70, 4), 70]


def bits(x):
    """With all NaNs alike."""
    x = np.asarray(x)
    parts = np.ascontiguousarray(np.atleast_1d(x)).view(x.real.dtype)
    return np.where(np.isnan(parts), 0, parts).tobytes()


def operands_of(name, dtype):
    rng = np.random.default_rng(5)
    low, high = RANGES.get(name, (-9, 9))

    def sample(low, high):
        x = rng.uniform(low, high, COUNT)
        return (x + 1j * rng.uniform(-2, 2, COUNT) if dtype.startswith("c") else x).astype(dtype)

    if name not in BINARY:
        return [sample(low, high)]
    return [sample(0 if name == "power" else low, high), sample(low, high)]


@pytest.mark.parametrize("name,dtype", CASES)
def test_results_depend_on_the_operands_only(name, dtype):
    function = getattr(hd, name)
    values = operands_of(name, dtype)
    arrays = [hd.asarray(x) for x in values]
    expected = np.asarray(function(*arrays))

    def same(result, wanted, what):
        assert bits(result) == bits(wanted), what

    for k, n in enumerate(LENGTHS):
        some = slice(5 * k, 5 * k + n)
        same(function(*[hd.asarray(x[some]) for x in values]), expected[some], f"{n} elements")
    for k in (0, 9, 712):
        same(function(*[hd.asarray(x[k]) for x in values]), expected[k], f"the {k}th alone")
    same(function(*[x[1::3] for x in arrays]), expected[1::3], "strides")
    if name not in FUSED:
        return
    same(function(*[x.reshape(42, 17).T for x in arrays]), expected.reshape(42, 17).T, "a transpose")
    # Beside others of another width, which take fewer lanes.
    widened = function(*[hd.asarray(x[:77]) for x in values]).astype(
        {"float32": "float64", "float64": "float32"}.get(expected.dtype.name, expected.dtype))
    same(widened, expected[:77].astype(np.asarray(widened).dtype), "with a cast")
    rows, wanted = [x.reshape(51, 14) for x in arrays], expected.reshape(51, 14)
    for axis in (0, 1):
        y = function(*rows)
        highest = hd.max(y, axis=axis, keepdims=True)
        same(highest, wanted.max(axis, keepdims=True), f"a reduction of axis {axis}")
        y = function(*rows)
        found = (y == hd.max(y, axis=axis, keepdims=True)).sum(axis=axis)
        count = (wanted == wanted.max(axis, keepdims=True)).sum(axis)
        assert np.asarray(found).tolist() == count.tolist(), f"places in axis {axis}"
    if not dtype.startswith("c"):
        y = function(*rows)
        counted = hd.cumulative_sum(hd.ones_like(y), axis=1)
        same(hd.where(counted > 0, y, counted), wanted, "a scan")


@pytest.mark.skipif(not ON_CPU, reason="kernels of the CPU")
@pytest.mark.skipif(shutil.which("clang++") is None or "HEDDLE_CXX" in os.environ,
                    reason="there is no clang++")
def test_results_depend_on_the_operands_only_with_clang():
    names = "float32 and (exp- or sin- or cos- or log- or power-) or float64 and (sin- or log- or power-)"
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__, "-k", names],
        env={**os.environ, "HEDDLE_CXX": "clang++"}, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout[-4000:]
