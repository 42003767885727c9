"""heddle.sparse: subscripts, and assignments to them, against SciPy."""

import numpy as np
import pytest

import heddle as hd
from sparse_cases import KINDS, both, numbers, same, scipy_sparse, sparse, untidy

MASK = np.array([True, False, True, False])
SUBSCRIPTS = {
    "row": np.s_[0], "last row": np.s_[-1], "column": np.s_[:, 1], "rows": np.s_[1:3],
    "columns": np.s_[:, 1:3], "steps": np.s_[1:3, ::2], "reversed": np.s_[::-1],
    "reversed columns": np.s_[:, ::-1], "element": np.s_[1, 2], "last element": np.s_[-1, -1],
    "list of rows": np.s_[[0, 2]], "list of columns": np.s_[:, [2, 0, 2]],
    "list and slice": np.s_[[3, -1], 1:4], "pairs": np.s_[[0, 2], [1, 0]],
    "list and column": np.s_[[0, 1], 2], "row and list": np.s_[1, [0, 2]],
    "outer": np.s_[[[0], [2]], [0, 1]], "mask of rows": np.s_[MASK], "all": np.s_[...],
    "no rows": np.s_[1:1], "empty range": np.s_[3:1], "part of a row": np.s_[0, 1:3],
    "part of a column": np.s_[1:, 2], "both reversed": np.s_[::-2, ::-1],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("format", ["csr", "csc"])
@pytest.mark.parametrize("key", SUBSCRIPTS.values(), ids=SUBSCRIPTS)
def test_subscripts(key, format, kind):
    expected, got = both(format, kind, numbers((4, 6), density=0.6))
    right = expected[key]
    same(got[key], right if scipy_sparse.issparse(right) else np.asarray(right))


@pytest.mark.parametrize("name", ["row", "columns", "pairs", "element", "list and slice"])
@pytest.mark.parametrize("dtype", ["float32", "complex128", "int32", "bool"])
def test_dtypes_of_subscripts(name, dtype):
    expected, got = both("csr", "array", numbers((4, 6), dtype, density=0.6))
    right = expected[SUBSCRIPTS[name]]
    same(got[SUBSCRIPTS[name]], right if scipy_sparse.issparse(right) else np.asarray(right))


@pytest.mark.parametrize("name", ["row", "columns", "pairs", "element", "list and slice", "steps"])
@pytest.mark.parametrize("format", ["csr", "csc"])
def test_subscripts_of_untidy_matrices(format, name):
    arrays, shape = untidy(format)
    expected, got = (getattr(module, format + "_array")(arrays, shape=shape)
                     for module in (scipy_sparse, sparse))
    if format == "csc":
        expected, got = expected.T.tocsc(), got.T.tocsc()
    right = expected[SUBSCRIPTS[name]]
    if scipy_sparse.issparse(right):
        np.testing.assert_array_equal(hd.asnumpy(got[SUBSCRIPTS[name]].toarray()), right.toarray())
    else:
        same(got[SUBSCRIPTS[name]], np.asarray(right))


@pytest.mark.parametrize("name", ["row", "columns", "element", "rows"])
def test_subscripts_of_coordinates(name):
    expected, got = both("coo", "array", numbers((4, 6)))
    right = expected.tocsr()[SUBSCRIPTS[name]]
    np.testing.assert_array_equal(
        hd.asnumpy(got[SUBSCRIPTS[name]].toarray() if sparse.issparse(got[SUBSCRIPTS[name]])
                   else got[SUBSCRIPTS[name]]),
        right.toarray() if scipy_sparse.issparse(right) else right)


def test_masks():
    dense = numbers((4, 6))
    expected, got = both("csr", "array", dense)
    for mask in (dense > 0, hd.asarray(dense > 0)):
        same(got[mask], expected[dense > 0])
    same(got[got > 0], expected[expected > 0])
    same(got[hd.asarray(MASK)], expected[MASK])


def test_index_arrays_of_heddle():
    expected, got = both("csr", "array", numbers((4, 6)))
    i, j = np.array([3, 0, 1]), np.array([5, 2, 2])
    same(got[hd.asarray(i)], expected[i])
    same(got[hd.asarray(i), hd.asarray(j)], expected[i, j])


@pytest.mark.parametrize("format", ["csr", "csc"])
@pytest.mark.parametrize("key, value", [
    (np.s_[1, 2], 7.0), (np.s_[0], 3.0), (np.s_[:, 1], 2.0), (np.s_[1:3, ::2], 5.0),
    (np.s_[[0, 2], [1, 0]], [8.0, 9.0]), (np.s_[0], np.arange(6.0)), (np.s_[:, 1], np.arange(4.0)[:, None]),
    (np.s_[1:3], np.arange(12.0).reshape(2, 6)), (np.s_[0, 0], 0.0), (np.s_[MASK], 4.0)], ids=str)
def test_assignments(format, key, value):
    expected, got = both(format, "array", numbers((4, 6)))
    dense = expected.toarray()
    dense[key] = np.reshape(value, np.shape(dense[key])) if np.ndim(value) else value
    got[key] = value
    np.testing.assert_array_equal(hd.asnumpy(got.toarray()), dense)
    assert got.has_canonical_format


def test_assignments_of_masks_and_sparse():
    dense = numbers((4, 6))
    got = sparse.csr_array(dense)
    got[hd.asarray(dense < 0)] = 1
    np.testing.assert_array_equal(hd.asnumpy(got.toarray()), np.where(dense < 0, 1, dense))
    got[0:2] = sparse.csr_array(dense[2:4])
    np.testing.assert_array_equal(hd.asnumpy(got[0:2].toarray()), dense[2:4])
    got[[0, 0], [1, 1]] = [5.0, 6.0]
    assert float(got[0, 1]) == 6


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(3, 8), (2, -1), (-1, 12), (24, 1)])
def test_reshape(shape, kind):
    expected, got = both("csr", kind, numbers((4, 6)))
    same(got.reshape(shape), expected.reshape(shape))
    same(got.reshape(*shape), expected.reshape(*shape))
    same(got.reshape(shape, order="F"), expected.reshape(shape, order="F"))


@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
def test_rows_and_columns(format):
    expected, got = both(format, "matrix", numbers((4, 6)))
    for i in (0, 2, -1):
        same(got.getrow(i), expected.getrow(i), classes=False)
        same(got.getcol(i), expected.getcol(i), classes=False)


def test_rows_one_by_one():
    dense = numbers((4, 6))
    for made, row in zip(sparse.csr_array(dense), dense):
        np.testing.assert_array_equal(hd.asnumpy(made.toarray()), row)


@pytest.mark.parametrize("key", [
    np.s_[4], np.s_[0, 6], np.s_[-5], np.s_[0, -7], np.s_[[0, 4]], np.s_[[0, -5], [0, 0]], np.s_[None],
    np.s_[0, 0, 0], np.s_[[0.5]], np.s_[np.array([True, False])], np.s_[np.ones((2, 2), bool)]], ids=str)
def test_failing_subscripts(key):
    with pytest.raises(IndexError):
        sparse.csr_array(numbers((4, 6)))[key]


def test_failing_assignments():
    made = sparse.csr_array(numbers((4, 6)))
    with pytest.raises(IndexError):
        made[4, 0] = 1
    with pytest.raises(ValueError):
        made[0] = [1.0, 2.0]
    with pytest.raises(TypeError, match="tocsr"):
        sparse.dia_array(numbers((4, 6)))[0, 0] = 1
    with pytest.raises(ValueError):
        made.reshape(5, 5)
