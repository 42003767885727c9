"""heddle.sparse: sums, means, extremes and diagonals, against SciPy."""

import numpy as np
import pytest

import heddle as hd
from sparse_cases import (DTYPES, FORMATS, KINDS, MATRICES, SOME_DTYPES, both, numbers, same,
                          scipy_sparse, sparse, untidy)

AXES = [None, 0, 1, -1]


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", ["random", "dense row", "no rows"])
def test_sums(name, format, kind, axis):
    expected, got = both(format, kind, MATRICES[name]("float64"))
    same(got.sum(axis=axis), np.asarray(expected.sum(axis=axis)), 4)
    if name != "no rows":
        same(got.mean(axis=axis), np.asarray(expected.mean(axis=axis)), 4)


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes_of_sums(dtype, axis):
    expected, got = both("csr", "array", numbers((4, 6), dtype))
    same(got.sum(axis=axis), np.asarray(expected.sum(axis=axis)), 4)
    same(got.mean(axis=axis), np.asarray(expected.mean(axis=axis)), 4)
    wide = "complex128" if np.dtype(dtype).kind == "c" else "float64"
    same(got.sum(axis=axis, dtype=wide), np.asarray(expected.sum(axis=axis, dtype=wide)), 4)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
def test_sums_of_untidy_matrices(format, axis):
    arrays, shape = untidy(format)
    expected, got = (getattr(module, format + "_array")(arrays, shape=shape)
                     for module in (scipy_sparse, sparse))
    same(got.sum(axis), expected.sum(axis))
    same(got.max(axis), expected.max(axis))
    same(got.argmin(axis), expected.argmin(axis))
    np.testing.assert_array_equal(hd.asnumpy(got.count_nonzero(axis)), expected.count_nonzero(axis))


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
@pytest.mark.parametrize("name", ["min", "max", "argmin", "argmax", "nanmin", "nanmax"])
def test_extremes(name, format, kind, axis):
    for matrix in ("random", "dense row", "no elements"):
        expected, got = both(format, kind, MATRICES[matrix]("float64"))
        right, found = getattr(expected, name)(axis=axis), getattr(got, name)(axis=axis)
        if axis is None:
            assert float(found) == float(right)
        else:
            same(found, right if scipy_sparse.issparse(right) else np.asarray(right), classes=False)


@pytest.mark.parametrize("dtype", SOME_DTYPES)
@pytest.mark.parametrize("axis", [0, 1])
def test_dtypes_of_extremes(axis, dtype):
    dense = numbers((4, 6), dtype)
    expected, got = both("csr", "array", dense)
    for name in ("max", "min"):
        same(getattr(got, name)(axis), getattr(expected, name)(axis))
    for name in ("argmax", "argmin"):
        same(getattr(got, name)(axis), getattr(expected, name)(axis))


def test_extremes_of_nan():
    dense = numbers((4, 6))
    dense[1, 2], dense[2] = np.nan, -1
    expected, got = both("csr", "array", dense)
    for axis in (0, 1):
        for name in ("max", "min", "nanmax", "nanmin"):
            same(getattr(got, name)(axis), getattr(expected, name)(axis), classes=False)
        for name in ("argmax", "argmin"):  # as NumPy's; SciPy's look past NaN
            same(getattr(got, name)(axis), getattr(np, name)(dense, axis))


@pytest.mark.parametrize("dtype", ["float64", "bool"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("format", FORMATS)
def test_diagonals(format, kind, dtype):
    expected, got = both(format, kind, numbers((4, 6), dtype))
    for k in (0, 1, 5, -3):
        same(got.diagonal(k), expected.diagonal(k))
    for k in (6, -4):
        assert got.diagonal(k).shape == (0,)
    same(got.trace(), np.asarray(expected.trace()))


@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
def test_set_diagonals(format):
    for k, values in ((0, 7.0), (1, [1.0, 2, 3]), (-2, [5.0, 6.0]), (5, 9.0)):
        expected, got = both(format, "array", numbers((4, 6)))
        got.setdiag(values, k=k)
        expected = expected.tocsr()
        expected.setdiag(values, k=k)
        np.testing.assert_array_equal(hd.asnumpy(got.toarray()), expected.toarray())
    with pytest.raises(ValueError, match="outside"):
        got.setdiag(1, k=6)


@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
def test_counts(format):
    expected, got = both(format, "matrix", numbers((4, 6)))
    for axis in (None, 0, 1):
        found, right = got.getnnz(axis), expected.getnnz(axis)
        np.testing.assert_array_equal(hd.asnumpy(hd.asarray(found)), right)
        if axis is not None and format != "coo":
            assert hd.asnumpy(found).dtype == right.dtype


def test_outputs():
    expected, got = both("csr", "array", numbers((4, 6)))
    out = hd.zeros(6)
    assert got.sum(axis=0, out=out) is out
    np.testing.assert_array_equal(hd.asnumpy(out), expected.sum(axis=0))
    whole = hd.zeros((4, 6))
    assert got.toarray(out=whole) is whole
    np.testing.assert_array_equal(hd.asnumpy(whole), expected.toarray())
    with pytest.raises(ValueError, match="out"):
        got.toarray(out=hd.zeros((2, 2)))


@pytest.mark.parametrize("function", [
    lambda a: a.sum(axis=2), lambda a: a.max(axis=-3), lambda a: a[:0].max(), lambda a: a[:0].max(axis=0),
    lambda a: a[:0].argmax(), lambda a: a[:0].argmin(axis=0)])
def test_failing_reductions(function):
    with pytest.raises(ValueError):
        function(sparse.csr_array(numbers((4, 6))))
