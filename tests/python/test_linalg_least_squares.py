"""Pseudoinverses, ranks and least squares."""

import numpy as np
import pytest

import heddle as hd

DTYPES = ["float32", "float64", "complex64", "complex128"]
SHAPES = [(1, 1), (5, 5), (7, 3), (3, 7), (2, 6, 4), (2, 3, 4, 5), (70, 66)]


def sample(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    return values.astype(dtype)


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def assert_penrose(a, p):
    p = np.asarray(p)
    assert p.dtype == a.dtype and p.shape == np.swapaxes(a, -1, -2).shape
    condition = np.max(np.linalg.cond(a)) if np.linalg.matrix_rank(a).min() == min(a.shape[-2:]) else 100
    tolerance = 100 * max(a.shape[-2:]) * np.finfo(a.dtype).eps * condition
    scale = np.abs(a).max()
    np.testing.assert_allclose(a @ p @ a, a, atol=tolerance * scale)
    np.testing.assert_allclose(p @ a @ p, p, atol=tolerance * np.abs(p).max())
    np.testing.assert_allclose(adjoint(a @ p), a @ p, atol=tolerance)
    np.testing.assert_allclose(adjoint(p @ a), p @ a, atol=tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_pseudoinverses(dtype, shape):
    a = sample(shape, dtype)
    assert_penrose(a, hd.linalg.pinv(hd.array(a)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_pseudoinverses_of_singular_matrices(dtype):
    a = sample((3, 6, 2), dtype, 1) @ sample((3, 2, 5), dtype, 2)
    eps = np.finfo(dtype).eps
    assert_penrose(a, hd.linalg.pinv(hd.array(a), 1000 * eps))
    assert_penrose(a, hd.linalg.pinv(hd.array(a), rtol=1000 * eps))
    assert_penrose(a, hd.linalg.pinv(hd.array(a), hd.full(3, 1000 * eps, dtype=a.real.dtype.name)))
    h = a @ adjoint(a)
    assert_penrose(h, hd.linalg.pinv(hd.array(h), 1000 * eps, hermitian=True))
    np.testing.assert_array_equal(np.asarray(hd.linalg.pinv(hd.zeros((2, 3), dtype))), np.zeros((3, 2)))


def test_pseudoinverses_at_the_edges():
    for shape in [(0, 3), (3, 0), (2, 0, 3), (0, 2, 2)]:
        assert hd.linalg.pinv(hd.zeros(shape)).shape == np.linalg.pinv(np.zeros(shape)).shape
    with pytest.raises(ValueError, match="tolerance"):
        hd.linalg.pinv(hd.eye(2), 1e-3, rtol=1e-3)
    with pytest.raises(hd.ShapeError, match="linalg.pinv"):
        hd.linalg.pinv(hd.ones(3))
    with pytest.raises(hd.LinAlgError, match="NaN"):
        hd.linalg.pinv(hd.array([[np.nan, 1], [1, 1]]))
    a = np.diag([1.0, 1e-5, 1e-12])
    for rcond in (1e-3, 1e-8, 1e-14):
        np.testing.assert_allclose(np.asarray(hd.linalg.pinv(hd.array(a), rcond)),
                                   np.linalg.pinv(a, rcond), rtol=1e-9)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 3), (2, 6, 4), (300, 2)])
def test_tolerance_of_none_is_by_size(dtype, shape):
    # Between the default, 1e-15, and max(m, n) eps lies the second singular value.
    second = max(shape[-2:]) * np.finfo(dtype).eps / 2
    a = np.zeros(shape, dtype)
    a[..., 0, 0], a[..., 1, 1] = 1, second
    for function in (lambda x: hd.linalg.pinv(x, rtol=None), hd.jit(lambda x: hd.linalg.pinv(x, rtol=None))):
        found = np.asarray(function(hd.array(a)))
        assert np.all(found[..., 1, 1] == 0)
        np.testing.assert_allclose(found, np.linalg.pinv(a, rtol=None), rtol=1e-5)
    if second > 1e-15:
        kept = np.asarray(hd.linalg.pinv(hd.array(a)))
        np.testing.assert_allclose(kept[..., 1, 1], 1 / second, rtol=1e-4)
    for rank in (hd.linalg.matrix_rank(hd.array(a)), hd.linalg.matrix_rank(hd.array(a), rtol=None)):
        np.testing.assert_array_equal(np.asarray(rank), np.linalg.matrix_rank(a, rtol=None))
        assert np.all(np.asarray(rank) == 1)
    with pytest.raises(ValueError, match="tolerance"):
        hd.linalg.pinv(hd.array(a), 1e-3, rtol=None)


@pytest.mark.parametrize("dtype", DTYPES)
def test_ranks(dtype):
    for rank in (1, 2, 4):
        a = sample((3, 6, rank), dtype, 1) @ sample((3, rank, 5), dtype, 2)
        found = hd.linalg.matrix_rank(hd.array(a))
        assert found.dtype == hd.int64
        np.testing.assert_array_equal(np.asarray(found), [rank] * 3)
    assert hd.linalg.matrix_rank(hd.zeros((4, 3), dtype)) == 0
    assert hd.linalg.matrix_rank(hd.eye(4, dtype=dtype)) == 4


def test_rank_tolerances():
    a = np.diag([1.0, 1e-5, 1e-12])
    x = hd.array(a)
    for tol in (None, 1e-3, 1e-8, 1e-13, 10.0):
        assert hd.linalg.matrix_rank(x, tol) == np.linalg.matrix_rank(a, tol)
        assert hd.linalg.matrix_rank(x, tol, hermitian=True) == np.linalg.matrix_rank(a, tol, True)
        assert hd.linalg.matrix_rank(x * 4, rtol=tol) == np.linalg.matrix_rank(a * 4, rtol=tol)
    stack = np.stack([a, a])
    np.testing.assert_array_equal(np.asarray(hd.linalg.matrix_rank(hd.array(stack), hd.array([1e-3, 1e-8]))),
                                  [1, 2])
    with pytest.raises(ValueError, match="tolerance"):
        hd.linalg.matrix_rank(x, 1e-3, rtol=1e-3)
    for vector in ([0.0, 0.0], [0.0, 2.0], 3.0, 0.0):
        assert hd.linalg.matrix_rank(hd.array(vector)) == np.linalg.matrix_rank(vector)
    for shape in [(0, 3), (3, 0), (2, 0, 0)]:
        np.testing.assert_array_equal(np.asarray(hd.linalg.matrix_rank(hd.zeros(shape))),
                                      np.linalg.matrix_rank(np.zeros(shape)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("m, n", [(5, 5), (8, 3), (3, 8), (1, 1), (6, 1), (1, 6), (80, 66)])
@pytest.mark.parametrize("columns", [None, 1, 4])
def test_least_squares(dtype, m, n, columns):
    a = sample((m, n), dtype, 1)
    b = sample((m,) if columns is None else (m, columns), dtype, 2)
    ours = hd.linalg.lstsq(hd.array(a), hd.array(b))
    theirs = np.linalg.lstsq(a, b)
    tolerance = 1000 * np.finfo(dtype).eps * np.linalg.cond(a)
    for mine, expected in zip(ours, theirs):
        mine, expected = np.asarray(mine), np.asarray(expected)
        assert mine.shape == expected.shape
        np.testing.assert_allclose(mine, expected, rtol=tolerance, atol=tolerance)
    assert [np.asarray(each).dtype for each in ours[:2]] == [theirs[0].dtype, theirs[1].dtype]


@pytest.mark.parametrize("dtype", DTYPES)
def test_least_squares_of_singular_matrices(dtype):
    a = sample((8, 2), dtype, 1) @ sample((2, 4), dtype, 2)
    b = sample((8, 3), dtype, 3)
    rcond = 8 * np.finfo(dtype).eps
    x, residuals, rank, s = hd.linalg.lstsq(hd.array(a), hd.array(b), rcond)
    expected = np.linalg.lstsq(a, b, rcond)
    assert rank == 2 and residuals.shape == (0,)
    np.testing.assert_allclose(np.asarray(x), expected[0], atol=2000 * np.finfo(dtype).eps)
    for rcond in (0.5, -1):
        assert hd.linalg.lstsq(hd.eye(3), hd.ones(3), rcond)[2] == 3
    assert hd.linalg.lstsq(hd.diag(hd.array([1.0, 0.1])), hd.ones(2), 0.5)[2] == 1


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_least_squares_compute_in_double_precision(dtype):
    # In single precision, the rank of this matrix would be 2 and its solution wrong in each digit.
    a = np.array([[1, 1, 0], [1, 1 + 2.0**-22, 0], [0, 0, 1], [0, 0, 1]], dtype)
    b = np.array([1, 2, 3, 4], dtype)
    for call in (hd.linalg.lstsq, hd.jit(lambda a, b: hd.linalg.lstsq(a, b))):
        for ours, theirs in zip(call(hd.array(a), hd.array(b)), np.linalg.lstsq(a, b)):
            np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-6)
            assert np.asarray(ours).dtype == np.asarray(theirs).dtype.newbyteorder("=") or np.ndim(theirs) == 0
    assert hd.linalg.lstsq(hd.array(a), hd.array(b))[2] == 3


@pytest.mark.parametrize("m, n, columns", [(4, 2, 0), (0, 3, 2), (3, 0, 2), (0, 0, 1), (4, 2, None), (0, 3, None)])
def test_least_squares_without_elements(m, n, columns):
    a, b = np.ones((m, n)), np.ones((m,) if columns is None else (m, columns))
    for ours, theirs in zip(hd.linalg.lstsq(hd.array(a), hd.array(b)), np.linalg.lstsq(a, b)):
        assert np.asarray(ours).shape == np.shape(theirs)
        np.testing.assert_allclose(np.asarray(ours), theirs, atol=1e-12)


def test_least_squares_of_integers_and_bad_operands():
    a, b = np.array([[0, 1], [1, 1], [2, 1], [3, 1]]), np.array([-1, 0, 2, 4])
    for ours, theirs in zip(hd.linalg.lstsq(hd.array(a), hd.array(b)), np.linalg.lstsq(a, b)):
        np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-12)
    for left, right in [((3, 2), (4,)), ((3,), (3,)), ((2, 3, 3), (2, 3)), ((3, 2), ()), ((3, 2), (3, 1, 1))]:
        with pytest.raises(hd.ShapeError, match="linalg.lstsq"):
            hd.linalg.lstsq(hd.ones(left), hd.ones(right))


def test_traced():
    a, b = sample((7, 3), "float64", 1), sample((7, 2), "float64", 2)
    call = hd.jit(lambda a, b: hd.linalg.lstsq(a, b))
    for ours, theirs in zip(call(hd.array(a), hd.array(b)), np.linalg.lstsq(a, b)):
        np.testing.assert_allclose(np.asarray(ours), theirs, atol=1e-12)
    # Of a singular matrix there are residuals, too: their extent cannot depend on the data.
    a[:, 2] = a[:, 1]
    x, residuals, rank, _ = call(hd.array(a), hd.array(b))
    assert np.asarray(rank) == 2 and residuals.shape == (2,)
    np.testing.assert_allclose(np.asarray(residuals), (np.abs(b - a @ np.asarray(x)) ** 2).sum(axis=0))
    assert_penrose(a[:, :2], hd.jit(hd.linalg.pinv)(hd.array(a[:, :2])))
    assert np.asarray(hd.jit(hd.linalg.matrix_rank)(hd.array(a))) == 2
