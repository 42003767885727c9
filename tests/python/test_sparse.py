"""heddle.sparse: construction, conversions and errors, against SciPy."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import heddle as hd
from sparse_cases import (FORMATS, KINDS, MATRICES, WITH_FORMATS, WITH_INDICES, both, numbers, same,
                          scipy_sparse, sparse, untidy)


@pytest.mark.parametrize("format, dtype", WITH_FORMATS)
@pytest.mark.parametrize("name", MATRICES)
def test_from_dense_and_back(name, format, dtype):
    dense = MATRICES[name](dtype)
    expected, got = both(format, "array", dense)
    same(got, expected)
    assert got.shape == expected.shape and got.ndim == 2 and got.dtype.name == dtype
    assert type(got.get()) is type(expected)
    np.testing.assert_array_equal(got.get().toarray(), dense)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("target", FORMATS)
@pytest.mark.parametrize("source", FORMATS)
@pytest.mark.parametrize("name", ["random", "no elements"])
def test_conversions(name, source, target, kind):
    expected, got = both(source, kind, MATRICES[name]("float64"))
    made, right = getattr(got, "to" + target)(), getattr(expected, "to" + target)()
    same(made, right)
    same(got.asformat(target), right)
    same(got.T, expected.T)
    same(getattr(sparse, f"{target}_{kind}")(got), right)
    same(getattr(sparse, f"{target}_{kind}")(expected), right)  # SciPy's are taken
    if target in ("csr", "csc"):
        assert made.indices.dtype.name == right.indices.dtype.name
        np.testing.assert_array_equal(hd.asnumpy(made.indptr), right.indptr)
        np.testing.assert_array_equal(hd.asnumpy(made.indices), right.indices)


@pytest.mark.parametrize("dtype, index", WITH_INDICES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
def test_from_components(format, dtype, kind, index):
    arrays, shape = untidy(format, dtype, index)
    name = f"{format}_{kind}"
    expected = getattr(scipy_sparse, name)(arrays, shape=shape)
    got = getattr(sparse, name)(arrays, shape=shape)
    same(got, expected)
    attribute = "row" if format == "coo" else "indices"
    assert getattr(got, attribute).dtype.name == getattr(expected, attribute).dtype.name
    for target in ("csr", "csc", "coo"):
        same(getattr(got, "to" + target)(), getattr(expected, "to" + target)())
    same(got.T, expected.T)
    if format != "coo":
        assert got.has_sorted_indices == expected.has_sorted_indices
        assert got.has_canonical_format == expected.has_canonical_format
        got.sort_indices(), expected.sort_indices()
        np.testing.assert_array_equal(hd.asnumpy(got.indices), expected.indices)
        np.testing.assert_array_equal(hd.asnumpy(got.data), expected.data)
    got.sum_duplicates(), expected.sum_duplicates()
    same(got, expected)
    assert got.has_canonical_format
    got.eliminate_zeros(), expected.eliminate_zeros()
    same(got, expected)
    np.testing.assert_array_equal(hd.asnumpy(got.data), expected.data)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("format", FORMATS)
def test_from_shape(format, kind):
    for arguments in (((2, 3),), ((2, 3), None, "float32"), ((0, 3),)):
        name = f"{format}_{kind}"
        same(getattr(sparse, name)(*arguments), getattr(scipy_sparse, name)(*arguments))


def test_shapes_are_inferred():
    for format in ("csr", "csc", "coo"):
        arrays, _ = untidy(format)
        for kind in KINDS:
            name = f"{format}_{kind}"
            same(getattr(sparse, name)(arrays), getattr(scipy_sparse, name)(arrays))


@pytest.mark.parametrize("data, offsets, shape", [
    ([[1, 2, 3], [4, 5, 6]], [0, 1], (3, 3)), ([[1, 2, 3], [4, 5, 6]], [0, -1], (4, 3)),
    ([[1.0, 2, 3], [4, 5, 6]], [2, -1], (3, 5)), ([[1, 2]], [0], (3, 4)), ([1, 2, 3], 1, (3, 3)),
    ([[1, 2, 3]], [-3], (2, 3))])
def test_diagonals(data, offsets, shape):
    expected = scipy_sparse.dia_array((data, offsets), shape=shape)
    got = sparse.dia_array((data, offsets), shape=shape)
    assert got.nnz == expected.nnz
    for one, right in ((got, expected), (got.T, expected.T), (got.tocsr(), expected.tocsr())):
        same(one, right)
    same(got @ numbers(shape[1]), expected @ numbers(shape[1]))
    same(got @ numbers((shape[1], 2)), expected @ numbers((shape[1], 2)))
    same(got.sum(0), expected.sum(0))
    assert got.count_nonzero() == expected.count_nonzero()


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "dia", "bsr"])
def test_copies_are_independent(format):
    dense = numbers((4, 6))
    made = getattr(sparse, format + "_array")(dense)
    for other in (made.copy(), copy.deepcopy(made), pickle.loads(pickle.dumps(made)),
                  type(made)(made, copy=True)):
        assert type(other) is type(made)
        other.data[:] = 9
        np.testing.assert_array_equal(hd.asnumpy(made.toarray()), dense)
    shared = made.T
    shared.data[:] = 2
    if format not in ("bsr", "dia"):
        np.testing.assert_array_equal(hd.asnumpy(made.data), 2)


def test_conversions_see_writes_to_values():
    made = sparse.csr_array(numbers((4, 6)))
    x = np.ones(4)
    before = hd.asnumpy(made.T @ x)
    made.data *= 3
    np.testing.assert_array_equal(hd.asnumpy(made.T @ x), 3 * before)
    made.T.data[:] = 0
    np.testing.assert_array_equal(hd.asnumpy(made.T @ x), 0)


def test_blocks():
    dense = np.kron(numbers((2, 3), density=0.7), np.asarray([[1.0, 2], [0, 3]]))
    for kind in KINDS:
        expected = getattr(scipy_sparse, f"bsr_{kind}")(dense, blocksize=(2, 2))
        got = getattr(sparse, f"bsr_{kind}")(dense, blocksize=(2, 2))
        same(got, expected)
        assert got.blocksize == expected.blocksize
        for attribute in ("data", "indices", "indptr"):
            same(getattr(got, attribute), getattr(expected, attribute))
        for function in (lambda x: x.T, lambda x: x * 2, lambda x: x.tocsr(), abs):
            same(function(got), function(expected))
        same(got @ numbers((6, 2)), expected @ numbers((6, 2)))
        same(got.sum(axis=0), np.asarray(expected.sum(axis=0)))
        same(getattr(sparse, f"bsr_{kind}")(expected), expected)
    with pytest.raises(ValueError, match="not divided by blocks"):
        sparse.bsr_array(dense, blocksize=(3, 2))


def test_arrays_of_one_axis():
    dense = numbers(6)
    expected, got = scipy_sparse.coo_array(dense), sparse.coo_array(dense)
    matrix = numbers((6, 4))
    for function in (lambda x, m: x, lambda x, m: x * 2, lambda x, m: x @ m, lambda x, m: x @ dense,
                     lambda x, m: x.reshape(2, 3), lambda x, m: x.T, lambda x, m: abs(x)):
        same(function(got, matrix), function(expected, matrix))
    assert got.shape == (6,) and got.ndim == 1 and len(got.coords) == 1
    assert float(got.sum()) == expected.sum()
    np.testing.assert_array_equal(hd.asnumpy((got + got).toarray()), 2 * dense)


@pytest.mark.parametrize("make, error, text", [
    (lambda: sparse.csr_array(([1.0, 2], [0, 5], [0, 1, 2]), shape=(2, 3)), ValueError,
     r"csr: indices\[1\] is 5, but there are 3 columns"),
    (lambda: sparse.csc_array(([1.0, 2], [0, 2], [0, 1, 2, 2]), shape=(2, 3)), ValueError,
     r"csc: indices\[1\] is 2, but there are 2 rows"),
    (lambda: sparse.csr_array(([1.0, 2], [-1, 0], [0, 1, 2]), shape=(2, 3)), ValueError,
     r"indices\[0\] is -1"),
    (lambda: sparse.csr_array(([1.0, 2], [0, 1], [0, 2, 1]), shape=(2, 3)), ValueError,
     "indptr decreases at position 2"),
    (lambda: sparse.csr_array(([1.0, 2], [0, 1], [1, 2, 2]), shape=(2, 3)), ValueError,
     r"indptr\[0\] is 1, but must be 0"),
    (lambda: sparse.csr_array(([1.0, 2], [0, 1], [0, 2, 3]), shape=(2, 3)), ValueError,
     r"indptr\[2\] is 3, but there are 2 indices"),
    (lambda: sparse.csr_array(([1.0, 2], [0], [0, 2, 2]), shape=(2, 3)), ValueError,
     "data has 2 elements, indices has 1"),
    (lambda: sparse.csr_array(([1.0, 2], [0, 1], [0, 2]), shape=(2, 3)), ValueError,
     "must have 3 elements, one more than there are rows"),
    (lambda: sparse.csr_array(([1.0], [0.5], [0, 1]), shape=(1, 3)), hd.DTypeError, "integers"),
    (lambda: sparse.csr_array(([[1.0]], [0], [0, 1]), shape=(1, 3)), ValueError, "data must be 1-d"),
    (lambda: sparse.coo_array(([1.0, 2], ([0, 1], [0, 3])), shape=(2, 3)), ValueError,
     r"coo: col\[1\] is 3, but there are 3 columns"),
    (lambda: sparse.coo_array(([1.0, 2], ([0, -1], [0, 2])), shape=(2, 3)), ValueError,
     r"coo: row\[1\] is -1"),
    (lambda: sparse.coo_array(([1.0], ([0, 1], [0, 2])), shape=(2, 3)), ValueError, "must be equal"),
    (lambda: sparse.coo_array(([], ([], []))), ValueError, "cannot be inferred"),
    (lambda: sparse.dia_array(([[1.0, 2], [3, 4]], [1, 1]), shape=(2, 3)), ValueError,
     "the offset at position 1 is there twice"),
    (lambda: sparse.dia_array(([[1.0, 2]], [1, 0]), shape=(2, 3)), ValueError, "offsets"),
    (lambda: sparse.dia_array(([[1.0, 2]], [1])), ValueError, "needs shape="),
    (lambda: sparse.csr_array((-1, 2)), ValueError, "negative"),
    (lambda: sparse.csr_array(np.ones(3)), ValueError, "takes a matrix"),
    (lambda: sparse.csr_array((1, 2, 3, 4)), ValueError, "4 elements"),
    (lambda: sparse.csr_array(np.eye(3), shape=(2, 2)), ValueError, "is not that of the elements"),
    (lambda: sparse.csr_array(np.eye(3)).asformat("lil"), ValueError, "no format 'lil'"),
    (lambda: sparse.csr_array(np.eye(3)).astype("int32", casting="safe"), hd.DTypeError, "safe"),
    (lambda: len(sparse.csr_array(np.eye(3))), TypeError, "ambiguous"),
    (lambda: bool(sparse.csr_array(np.eye(3))), ValueError, "ambiguous"),
], ids=str)
def test_failing_input(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_elements_behind_indptr_do_not_count():
    for kind in KINDS:
        arrays = [1.0, 2.0, 3.0], [0, 1, 2], [0, 1, 2]
        got = getattr(sparse, f"csr_{kind}")(arrays, shape=(2, 3))
        same(got, getattr(scipy_sparse, f"csr_{kind}")(arrays, shape=(2, 3)))


def test_is_sparse():
    for format in FORMATS + ["bsr"]:
        matrix = getattr(sparse, format + "_matrix")((2, 2))
        array = getattr(sparse, format + "_array")((2, 2))
        assert sparse.issparse(matrix) and sparse.issparse(array)
        assert sparse.isspmatrix(matrix) and not sparse.isspmatrix(array)
        assert getattr(sparse, "isspmatrix_" + format)(matrix)
        assert not getattr(sparse, "isspmatrix_" + format)(array)
        assert isinstance(array, sparse.sparray) and isinstance(matrix, sparse.spmatrix)
        assert format in repr(array)
    assert not sparse.issparse(np.eye(2)) and not sparse.issparse(scipy_sparse.eye(2))


def test_scipy_is_not_imported():
    code = ("import sys, heddle as hd; a = hd.sparse.csr_array(hd.eye(3)); a @ hd.ones(3); "
            "sys.exit('scipy' in sys.modules)")
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.mark.parametrize("form", FORMATS + ["bsr"])
def test_nonzero_is_by_rows(form):
    dense = numbers((4, 6))
    ours, theirs = (getattr(module, form + "_array")(dense).nonzero() for module in (sparse, scipy_sparse))
    for found, wanted in zip(ours, theirs, strict=True):
        assert found.dtype.name == wanted.dtype.name
        np.testing.assert_array_equal(hd.asnumpy(found), wanted)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "uint32", "int64", "float32", "complex64"])
def test_asfptype(dtype):
    dense = np.eye(3).astype(dtype)
    assert sparse.csr_matrix(dense).asfptype().dtype.name == scipy_sparse.csr_matrix(dense).asfptype().dtype.name
