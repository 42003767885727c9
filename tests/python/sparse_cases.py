"""What the tests of heddle.sparse share: matrices of many kinds, and SciPy, which says what is right."""

import numpy as np
import pytest

import heddle as hd

scipy_sparse = pytest.importorskip("scipy.sparse")
sparse = hd.sparse

DTYPES = ["float32", "float64", "complex64", "complex128", "int32", "int64", "bool"]
SOME_DTYPES = ["float32", "complex128", "int64", "bool"]  # where kernels are many
FORMATS = ["csr", "csc", "coo", "dia"]
KINDS = ["array", "matrix"]


def numbers(shape, dtype="float64", seed=0, density=0.4):
    """A dense array with zeros. The numbers are small, so that sums are exact in every dtype."""
    generator = np.random.default_rng(seed)
    values = generator.integers(-3, 4, shape) * (generator.random(shape) < density)
    kind = np.dtype(dtype).kind
    values = values / 2 if kind in "fc" else values
    return (values * (1 + 2j) if kind == "c" else values).astype(dtype)


def _one_dense_row(dtype):
    made = numbers((4, 6), dtype, 2, 0.2)
    made[2] = np.arange(1, 7)
    return made


def _few(dtype):
    made = np.zeros((4, 6), dtype)
    made[1, 4], made[3, 0] = 1, 1
    return made


# (dtype, dtype of the indices)
WITH_INDICES = [(dtype, "int32") for dtype in DTYPES] + [("float64", "int64"), ("bool", "int64")]
# (format, dtype): all of CSR's
WITH_FORMATS = [("csr", dtype) for dtype in DTYPES] + [
    (format, dtype) for format in FORMATS[1:] for dtype in SOME_DTYPES]

# Dense matrices by name, all for any dtype.
MATRICES = {
    "random": lambda dtype: numbers((4, 6), dtype),
    "empty rows": _few,
    "dense row": _one_dense_row,
    "no elements": lambda dtype: np.zeros((4, 6), dtype),
    "no rows": lambda dtype: np.zeros((0, 6), dtype),
    "no columns": lambda dtype: np.zeros((4, 0), dtype),
}


def both(format, kind, dense):
    """The same matrix by SciPy and here."""
    name = f"{format}_{kind}"
    return getattr(scipy_sparse, name)(dense), getattr(sparse, name)(dense)


def untidy(format, dtype="float64", index="int32"):
    """Compressed rows or columns (or coordinates) with duplicates, explicit zeros and no order."""
    data = np.asarray([1, 2, 0, 3, 1, 2, 1, 0]).astype(dtype)
    major = np.asarray([0, 0, 0, 2, 2, 2, 3, 3], index)
    minor = np.asarray([5, 1, 5, 3, 0, 3, 2, 4], index)
    if format == "coo":
        order = np.asarray([3, 0, 7, 1, 4, 2, 6, 5])
        return (data[order], (major[order], minor[order])), (4, 6)
    pointer = np.asarray([0, 3, 3, 6, 8], index)
    return (data, minor, pointer), (4, 6) if format == "csr" else (6, 4)


def dense_of(x):
    if scipy_sparse.issparse(x):
        return x.toarray()
    if sparse.issparse(x):
        return hd.asnumpy(x.toarray())
    return hd.asnumpy(x) if isinstance(x, hd.Array) else np.asarray(x)


def same(got, expected, ulp=0, classes=True):
    """Equal class, shape, dtype, number of stored elements and values; floats within ulp."""
    if scipy_sparse.issparse(expected):
        assert sparse.issparse(got)
        if classes:
            assert type(got).__name__ == type(expected).__name__
            if expected.format != "dia":
                assert got.nnz == expected.nnz
    else:
        assert not sparse.issparse(got)
    found, wanted = dense_of(got), dense_of(expected)
    assert tuple(got.shape if hasattr(got, "shape") else ()) == tuple(wanted.shape)
    assert found.dtype == wanted.dtype
    if ulp == 0 or wanted.dtype.kind not in "fc":
        np.testing.assert_array_equal(found, wanted)
        return
    unit = np.finfo(wanted.dtype).eps * ulp
    np.testing.assert_allclose(found, wanted, rtol=unit, atol=unit)
