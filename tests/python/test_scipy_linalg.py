"""scipy.linalg's names: cho_factor, cho_solve, expm and special matrices."""

import importlib

import numpy as np
import pytest

import heddle as hd
from linalg_cases import DTYPES, adjoint, random, same, small

linalg = hd.scipy.linalg


def array(values):
    return np.asarray(values)


def test_the_module_can_be_imported():
    assert importlib.import_module("heddle.scipy.linalg") is linalg
    assert set(linalg.__all__) <= set(dir(linalg))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("lower", [False, True])
def test_cholesky_solutions(dtype, lower):
    for shape, sides in (((5, 5), (5,)), ((5, 5), (5, 3)), ((3, 5, 5), (3, 5, 2))):
        y = random(shape, dtype)
        a, b = y @ adjoint(y) + 5 * np.eye(5, dtype=dtype), random(sides, dtype, 1)
        factor = linalg.cho_factor(hd.array(a), lower=lower)
        assert factor[1] is lower
        same(linalg.cho_solve(factor, hd.array(b)), np.linalg.solve(a, b).astype(dtype), 500)
    with pytest.raises(hd.LinAlgError, match="not positive definite"):
        linalg.cho_factor(-hd.eye(3))


def by_eigenvalues(a):
    values, vectors = np.linalg.eig(a.astype(np.complex128))
    return (vectors * np.exp(values)[..., None, :]) @ np.linalg.inv(vectors)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [1e-4, 0.3, 2.0, 20.0])
@pytest.mark.parametrize("shape", [(1, 1), (6, 6), (3, 4, 4)])
def test_exponentials(dtype, size, shape):
    a = (random(shape, dtype) * size / shape[-1]).astype(dtype)
    found = np.asarray(linalg.expm(hd.array(a)))
    assert found.dtype == a.dtype
    expected = by_eigenvalues(a)
    scale = np.abs(expected).max(axis=(-1, -2), keepdims=True)
    # Squaring amplifies roundings by the norm.
    assert (np.abs(found - expected) / scale).max() <= 200 * (1 + size) * np.finfo(a.dtype).eps


def test_other_exponentials():
    nilpotent = np.array([[0, 1, 2], [0, 0, 3], [0, 0, 0]])
    same(linalg.expm(hd.array(nilpotent)), np.eye(3) + nilpotent + nilpotent @ nilpotent / 2)
    mixed = np.stack([np.zeros((2, 2)), np.diag([1.0, 30.0]), np.diag([1e-9, -700.0])])
    np.testing.assert_allclose(array(linalg.expm(hd.array(mixed))),
                               np.stack([np.diag(np.exp(np.diag(m))) for m in mixed]), rtol=1e-12)
    assert array(linalg.expm(hd.zeros((0, 0)))).shape == (0, 0)
    assert array(linalg.expm(hd.zeros((2, 0, 0)))).shape == (2, 0, 0)
    assert np.isnan(array(linalg.expm(hd.full((2, 2), hd.nan)))).all()
    with pytest.raises(hd.ShapeError, match="expm"):
        linalg.expm(hd.ones((2, 3)))


def test_exponentials_in_a_traced_function():
    call = hd.jit(lambda a: linalg.expm(a))
    a = random((2, 4, 4))
    np.testing.assert_allclose(array(call(hd.array(a))), by_eigenvalues(a).real, rtol=1e-10, atol=1e-10)
    large = np.stack([np.diag([1.0, -1e6]), np.eye(2)])
    found = array(call(hd.array(large)))
    assert np.isnan(found[0]).all() and np.allclose(found[1], np.eye(2) * np.e)


def test_constant_diagonals():
    c, r = random(5), random(4, seed=1)
    i, j = np.indices((5, 4))
    full = array(linalg.toeplitz(hd.array(c), hd.array(r)))
    assert np.array_equal(full, np.where(i >= j, c[i - j], r[j - i]))
    z = random(4, "complex128")
    i, j = np.indices((4, 4))
    assert np.array_equal(array(linalg.toeplitz(hd.array(z))), np.where(i >= j, z[i - j], z[j - i].conj()))
    assert np.array_equal(array(linalg.circulant(hd.array(r))), r[(i - j) % 4])
    assert np.array_equal(array(linalg.hankel([1, 2, 3], [9, 4, 5])), [[1, 2, 3], [2, 3, 4], [3, 4, 5]])
    assert np.array_equal(array(linalg.hankel([1, 2, 3])), [[1, 2, 3], [2, 3, 0], [3, 0, 0]])
    for function in (linalg.toeplitz, linalg.circulant, linalg.hankel):
        assert array(function(hd.zeros(0))).shape == (0, 0)


def test_blocks_and_products():
    a, b = random((2, 3)), random((4, 3), seed=1)
    full = array(linalg.block_diag(hd.array(a), hd.array(b), [1, 2]))
    expected = np.zeros((7, 8))
    expected[:2, :3], expected[2:6, 3:6], expected[6, 6:] = a, b, [1, 2]
    assert np.array_equal(full, expected)
    assert array(linalg.block_diag()).shape == (1, 0)
    assert array(linalg.block_diag([[1, 2]], hd.zeros((0, 2)))).shape == (1, 4)
    with pytest.raises(ValueError, match="array 1 has 3 axes"):
        linalg.block_diag(1, hd.ones((1, 1, 1)))
    columns = np.stack([np.kron(a[:, k], b[:, k]) for k in range(3)], axis=1)
    same(linalg.khatri_rao(hd.array(a), hd.array(b)), columns)
    with pytest.raises(ValueError, match="columns"):
        linalg.khatri_rao(hd.ones((2, 3)), hd.ones((2, 2)))
    same(linalg.kron(hd.array(a), hd.array(b)), np.kron(a, b))


@pytest.mark.parametrize("n", [1, 2, 8, 32])
def test_hadamard(n):
    h = array(linalg.hadamard(n))
    assert h.dtype == np.int64 and np.array_equal(h @ h.T, n * np.eye(n)) and (h[0] == 1).all()
    assert array(linalg.hadamard(n, dtype="float32")).dtype == np.float32


def test_hilbert():
    h = array(linalg.hilbert(4))
    assert h[2, 3] == 1 / 6
    exact = array(linalg.invhilbert(4, exact=True))
    assert exact.dtype == np.int64 and np.allclose(exact @ h, np.eye(4), atol=1e-10)
    assert array(linalg.invhilbert(4)).dtype == np.float64
    with pytest.raises(ValueError, match="int64"):
        linalg.invhilbert(15, exact=True)


def test_matrices_of_polynomials_and_populations():
    companion = array(linalg.companion([1, -6, 11, -6]))
    np.testing.assert_allclose(np.sort(np.linalg.eigvals(companion).real), [1, 2, 3])
    assert np.array_equal(array(linalg.companion([2.0, 3.0])), [[-1.5]])
    assert np.array_equal(array(linalg.leslie([1.0, 2, 3], [0.5, 0.25])),
                          [[1, 2, 3], [0.5, 0, 0], [0, 0.25, 0]])
    assert np.array_equal(array(linalg.fiedler([1, 4, 9])), [[0, 3, 8], [3, 0, 5], [8, 5, 0]])
    for degree in range(1, 8):
        polynomial = np.poly(np.arange(1.0, degree + 1))
        found = array(linalg.fiedler_companion(hd.array(2 * polynomial)))
        np.testing.assert_allclose(np.poly(found), polynomial, rtol=1e-8)
        assert ((found != 0).sum(axis=1) <= 3).all()
    for function, arguments in ((linalg.companion, ([1],)), (linalg.companion, ([[1, 2]],)),
                                (linalg.leslie, ([1, 2], [1, 2])), (linalg.hadamard, (3,))):
        with pytest.raises(ValueError):
            function(*arguments)


def test_transforms():
    x = random(6, "complex128")
    same(linalg.dft(6) @ hd.array(x), np.fft.fft(x))
    same(linalg.dft(6, "n") @ hd.array(x), np.fft.fft(x) / 6)
    unitary = array(linalg.dft(6, "sqrtn"))
    small(unitary @ adjoint(unitary) - np.eye(6), unitary)
    helmert = array(linalg.helmert(5, full=True))
    small(helmert @ helmert.T - np.eye(5), helmert)
    assert np.array_equal(array(linalg.helmert(5)), helmert[1:])
    with pytest.raises(ValueError, match="scale"):
        linalg.dft(3, "m")


@pytest.mark.parametrize("mode", ["full", "valid", "same"])
@pytest.mark.parametrize("n", [1, 3, 5, 8])
def test_convolution_matrices(mode, n):
    a, v = random(5), random(n, seed=1)
    same(linalg.convolution_matrix(hd.array(a), n, mode) @ hd.array(v), np.convolve(a, v, mode))


def test_bandwidth():
    theirs = pytest.importorskip("scipy.linalg")
    for a in (np.tril(np.ones((4, 5)), 1), np.zeros((3, 3)), np.zeros((0, 3)), np.eye(3, 6, 4), np.eye(4, 2, -3) * 1j):
        assert hd.scipy.linalg.bandwidth(hd.asarray(a)) == theirs.bandwidth(a)
    with pytest.raises(ValueError, match="matrix"):
        hd.scipy.linalg.bandwidth(hd.ones(3))
