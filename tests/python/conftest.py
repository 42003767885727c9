"""What the tests of the Python module share: NumPy says what is right."""

import importlib
import os
import sys

import ml_dtypes
import numpy as np
import pytest

import heddle as hd

ON_CPU = os.environ.get("HEDDLE_DEVICE", "cpu") == "cpu"

DTYPES = [dtype for dtype in (getattr(hd, name, None) for name in (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 "
    "complex64 complex128").split()) if dtype is not None]


def numpy_dtype(dtype):
    return np.dtype(ml_dtypes.bfloat16 if dtype == hd.bfloat16 else dtype.name)


def sample(dtype, shape, seed=0):
    """Small numbers that every dtype holds, zeros and repetitions among them."""
    values = np.random.default_rng(seed).integers(0, 5, shape)
    if dtype.kind in "fci":
        values = values - 2
    if dtype.kind in "fc":
        values = values / 2
    if dtype.kind == "c":
        values = values + 0.5j * np.flip(values)
    return np.asarray(values).astype(numpy_dtype(dtype))


def check(got, expected, ulp=0):
    """Equal shape, dtype and elements, NaN and the signs of zeros included; floats within ulp. A GPU
    makes NaNs without a sign, NumPy's processor makes negative ones."""
    expected = np.asarray(expected)
    assert isinstance(got, hd.Array)
    assert got.shape == expected.shape
    assert numpy_dtype(got.dtype) == expected.dtype
    found = hd.asnumpy(got)
    if ulp == 0 or got.dtype.kind not in "fc":
        np.testing.assert_array_equal(found, expected)
        if got.dtype.kind == "f":
            signed = np.True_ if ON_CPU else ~np.isnan(found)
            np.testing.assert_array_equal(np.signbit(found) & signed, np.signbit(expected) & signed)
        return
    eps = ml_dtypes.finfo(expected.dtype).eps
    np.testing.assert_allclose(found.astype(np.complex128), expected.astype(np.complex128),
                               rtol=float(eps) * ulp, atol=float(eps) * ulp)


def neighbour(name):
    """The module of another library that requirements.txt names. Without it the file is skipped; with
    HEDDLE_REQUIRE_NEIGHBOURS=1, as in CI, it fails."""
    if os.environ.get("HEDDLE_REQUIRE_NEIGHBOURS") == "1":
        return importlib.import_module(name)
    return pytest.importorskip(name)


def use_scipys_array_api():
    """Switches SciPy's support for the array API standard on, which SciPy reads when it is imported.
    CTest runs each file in a process of its own; in one process with files that import SciPy first,
    the file is skipped."""
    if "scipy" in sys.modules and os.environ.get("SCIPY_ARRAY_API") != "1":
        pytest.skip("SciPy was imported without SCIPY_ARRAY_API=1: run this file alone",
                    allow_module_level=True)
    os.environ["SCIPY_ARRAY_API"] = "1"


@pytest.fixture
def on_host():
    """Makes the CPU the default device, for libraries that read and write its memory."""
    before = hd.device()
    hd.set_device("cpu")
    yield
    hd.set_device(before)


@pytest.fixture(params=DTYPES, ids=str)
def dtype(request):
    return request.param
