"""heddle.sparse: products, against SciPy."""

import numpy as np
import pytest

import heddle as hd
from sparse_cases import (DTYPES, FORMATS, KINDS, MATRICES, SOME_DTYPES, WITH_FORMATS, both, numbers,
                          same, scipy_sparse, sparse, untidy)


@pytest.mark.parametrize("format, dtype", WITH_FORMATS)
@pytest.mark.parametrize("name", MATRICES)
def test_vectors_and_matrices(name, format, dtype):
    dense = MATRICES[name](dtype)
    expected, got = both(format, "array", dense)
    rows, columns = dense.shape
    for right in (numbers(columns, dtype, 1), numbers((columns, 3), dtype, 2)):
        same(got @ hd.asarray(right), expected @ right, 4)
    for left in (numbers(rows, dtype, 1), numbers((3, rows), dtype, 2)):
        same(hd.asarray(left) @ got, left @ expected, 4)


@pytest.mark.parametrize("other", SOME_DTYPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes_of_products(dtype, other):
    expected, got = both("csr", "array", numbers((4, 6), dtype))
    right = numbers(6, other, 1)
    same(got @ right, expected @ right, 4)


@pytest.mark.parametrize("dtype", SOME_DTYPES)
@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
def test_duplicates_and_explicit_zeros(format, dtype):
    arrays, shape = untidy(format, dtype)
    expected = getattr(scipy_sparse, format + "_array")(arrays, shape=shape)
    got = getattr(sparse, format + "_array")(arrays, shape=shape)
    right, left = numbers(shape[1], dtype), numbers(shape[0], dtype, 1)
    same(got @ right, expected @ right, 4)
    same(left @ got, left @ expected, 4)
    same(got @ got.T, expected @ expected.T, 4, classes=False)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("first", FORMATS)
@pytest.mark.parametrize("second", FORMATS)
def test_sparse_products(first, second, kind):
    a, b = numbers((4, 6)), numbers((6, 4), seed=1)
    expected = both(first, kind, a)[0] @ both(second, kind, b)[0]
    got = both(first, kind, a)[1] @ both(second, kind, b)[1]
    same(got, expected, classes=False)
    if first == second and first != "dia":
        assert type(got).__name__ == type(expected).__name__ and got.nnz == expected.nnz


@pytest.mark.parametrize("dtype", SOME_DTYPES)
@pytest.mark.parametrize("name", MATRICES)
def test_sparse_products_of_kinds(name, dtype):
    dense = MATRICES[name](dtype)
    expected, got = both("csr", "array", dense)
    same(got @ got.T, expected @ expected.T, 4, classes=False)
    same(got.T @ got, expected.T @ expected, 4, classes=False)
    made = got @ got.T
    assert made.has_sorted_indices and made.has_canonical_format


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("format", FORMATS)
def test_stars_dots_and_powers(format, kind):
    dense = numbers((4, 4))
    expected, got = both(format, kind, dense)
    same(got.dot(dense), expected.dot(dense))
    same(got.dot(2), expected.dot(2))
    same(got.dot(got), expected.dot(expected), classes=False)
    same(got * got, expected * expected, classes=False)
    if kind == "matrix":
        same(got * dense, expected * dense)
        same(dense * got, dense * expected)
        same(got * dense[0], expected * dense[0])
        same(got ** 3, expected ** 3, classes=False)
        same(got ** 0, (expected ** 0), classes=False)
        same(got.H, expected.T.conj(), classes=False)
    else:
        same(got ** 2, expected ** 2)


@pytest.mark.parametrize("array", [np.asarray, hd.asarray, lambda x: x.tolist()])
def test_operands_of_both_sides(array):
    dense = numbers((4, 6))
    expected, got = both("csr", "array", dense)
    same(got @ array(numbers(6)), expected @ numbers(6))
    same(array(numbers(4)) @ got, numbers(4) @ expected)
    same(array(numbers((2, 4))) @ got, numbers((2, 4)) @ expected)
    assert isinstance(array(numbers((2, 4))) @ got, hd.Array)


def test_operands_of_scipy():
    expected, got = both("csr", "array", numbers((4, 6)))
    same(got @ expected.T, expected @ expected.T)
    same(expected @ got.T, expected @ expected.T)
    same(got + expected, expected + expected)


def test_segment_sum():
    values = np.arange(12.0).reshape(6, 2)
    for offsets in ([0, 2, 2, 6], [0, 0, 6], [0, 6], [1, 3], [3]):
        for dtype in ("int32", "int64"):
            got = sparse.segment_sum(hd.asarray(values), hd.asarray(np.asarray(offsets, dtype)))
            wanted = [values[a:b].sum(axis=0) for a, b in zip(offsets, offsets[1:])]
            np.testing.assert_array_equal(hd.asnumpy(got), np.reshape(wanted, (-1, 2)))
    flags = sparse.segment_sum(hd.asarray([True, False, False]), hd.asarray([0, 1, 3]))
    assert flags.dtype == hd.bool and flags.tolist() == [True, False]
    big = np.full(100000, 0.1, "float32")
    assert abs(float(sparse.segment_sum(hd.asarray(big), hd.asarray([0, 100000]))[0]) - 10000) < 0.01
    with pytest.raises(hd.ShapeError, match="segment_sum"):
        sparse.segment_sum(hd.ones(()), hd.asarray([0, 1]))
    with pytest.raises(hd.DTypeError, match="integers"):
        sparse.segment_sum(hd.ones(3), hd.asarray([0.0, 1]))


@pytest.mark.parametrize("function", [
    lambda a: a @ hd.ones(4), lambda a: a @ hd.ones((5, 2)), lambda a: hd.ones(5) @ a,
    lambda a: a @ sparse.csr_array((4, 4)), lambda a: a @ hd.ones((2, 6, 3)), lambda a: a @ 2,
    lambda a: 2 @ a])
@pytest.mark.parametrize("format", FORMATS)
def test_products_that_do_not_fit(format, function):
    with pytest.raises(ValueError):
        function(both(format, "array", numbers((4, 6)))[1])


@pytest.mark.parametrize("format", ["csr", "csc"])
@pytest.mark.parametrize("columns", [None, 5])
def test_rows_far_above_the_mean(format, columns):
    rng = np.random.default_rng(4)
    lengths = np.full(3000, 12)
    lengths[[0, 1500, 2999]] = [26000, 0, 9000]  # more than a quarter of all
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    indices = np.concatenate([np.sort(rng.choice(30000, n, replace=False)) for n in lengths])
    reference = scipy_sparse.csr_array((rng.random(indptr[-1]), indices, indptr), (3000, 30000))
    a = sparse.csr_array(reference).asformat(format)
    x = rng.random(30000 if columns is None else (30000, columns))
    for _ in range(2):
        np.testing.assert_allclose(np.asarray(a @ hd.asarray(x)), reference @ x, rtol=1e-12)
    y = rng.random(3000 if columns is None else (3000, columns))
    np.testing.assert_allclose(np.asarray(a.T @ hd.asarray(y)), reference.T @ y, rtol=1e-12)
    assert a._pieces("_rows_parts") is not None and a._pieces("_columns_parts") is None
    a.data *= 2
    np.testing.assert_allclose(np.asarray(a @ hd.asarray(x)), 2 * (reference @ x), rtol=1e-12)


@pytest.mark.parametrize("format", ["csr", "csc"])
def test_matrices_that_jit_reaches(format):
    # What is derived from a matrix is made once, and made again once its arrays have changed.
    rng = np.random.default_rng(5)
    lengths = np.full(3000, 15)
    lengths[7] = 24000
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    indices = np.concatenate([np.sort(rng.choice(30000, n, replace=False)) for n in lengths])
    first = scipy_sparse.csr_array((rng.random(indptr[-1]), indices, indptr), (3000, 30000)).asformat(format)
    second = scipy_sparse.csr_array(first.tocsr()[::-1]).asformat(format)
    a = sparse.csr_array(first).asformat(format)
    times, transposed_times = hd.jit(lambda x: a @ x), hd.jit(lambda y: a.T @ y)
    by_argument = hd.jit(lambda a, x: a @ x)
    x, y = rng.random(30000), rng.random(3000)

    def check(reference):
        np.testing.assert_allclose(np.asarray(times(hd.asarray(x))), reference @ x, rtol=1e-12)
        np.testing.assert_allclose(np.asarray(transposed_times(hd.asarray(y))), reference.T @ y, rtol=1e-12)
        np.testing.assert_allclose(np.asarray(by_argument(a, hd.asarray(x))), reference @ x, rtol=1e-12)

    check(first)
    steps = hd.jit(lambda y: hd.fori_loop(0, 2, lambda i, y: a @ (a.T @ y) / 1e3, y))
    expected = first @ (first.T @ (first @ (first.T @ y))) / 1e6
    np.testing.assert_allclose(np.asarray(steps(hd.asarray(y))), expected, rtol=1e-11)
    assert a._pieces("_rows_parts") is not None and a._pieces("_columns_parts") is None
    # The sums of pieces, and of each row's sums; nothing is sorted.
    assert times.lower(hd.asarray(x)).ir().count(" = sum ") == 2
    assert "sort" not in times.lower(hd.asarray(x)).ir() + transposed_times.lower(hd.asarray(y)).ir()
    a.data *= 2
    check(2 * first)
    a.data[:], a.indices[:], a.indptr[:] = second.data, second.indices, second.indptr
    check(second)
    check(second)
