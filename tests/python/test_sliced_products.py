"""Products of parts of matrices: BLAS reads them where they are, and the values are NumPy's."""

import itertools

import numpy as np
import pytest

import heddle as hd

CUTS = [slice(None), slice(3, None), slice(7, 61), slice(2, 60, 2), slice(None, None, -1)]
DTYPES = ["float32", "float64", "complex64", "complex128", "float16"]


def check(function, *arrays):
    wide = [a.astype(np.result_type(a.dtype, np.float64)) for a in arrays]
    expected, found = function(*wide), hd.jit(function)(*[hd.asarray(a) for a in arrays])
    # Each of at most 80 terms is rounded once, and so is the sum; all are less than 4.
    bound = 82 * np.finfo(arrays[0].dtype).eps * max(1, np.abs(expected).max())
    assert found.dtype == arrays[0].dtype and found.shape == expected.shape
    np.testing.assert_allclose(hd.asnumpy(found).astype(expected.dtype), expected, rtol=0, atol=bound)


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_and_columns(dtype):
    rng = np.random.default_rng(0)
    a, b, c = (rng.random(shape).astype(dtype) for shape in ((64, 80), (80, 72), (64, 72)))
    for rows, inner in itertools.product(CUTS, CUTS):
        check(lambda a, b: a[rows, inner] @ b[inner, 5:69], a, b)
        check(lambda a, c: a.T[inner, rows] @ c[rows], a, c)
    for rows, inner in itertools.product(CUTS[:3], CUTS[:3]):
        check(lambda a, c: c[rows].T @ a[rows, inner], a, c)
        check(lambda a, c: (a + 1)[rows, inner].T @ (c * 2)[rows, 3:50] + 1, a, c)
        check(lambda a, c: a[rows, 4] @ c[rows], a, c)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("depth, columns", [(1, 8), (7, 9), (8, 7), (17, 33), (130, 2300), (700, 700), (1100, 1000)])
def test_vectors_by_rows_of_integers_are_exact(dtype, depth, columns):
    rng = np.random.default_rng(depth)
    whole = rng.integers(-9, 9, (depth + 3, columns + 5)).astype(dtype)
    for a, v in ((hd.asarray(whole), whole), (hd.asarray(whole.T).T, whole)):
        products = lambda m: (m[3:, 2] @ m[3:, 4:columns + 4], m[2, 4:columns + 4] @ m[3:, 4:columns + 4].T,
                              m[3:, 4:columns + 4].T @ m[:depth, 1])
        for found, expected in zip(products(a), products(v)):
            np.testing.assert_array_equal(hd.asnumpy(found), expected)


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_stacks(dtype):
    rng = np.random.default_rng(1)
    a, b = rng.random((5, 3, 33, 40)).astype(dtype), rng.random((5, 3, 40, 36)).astype(dtype)
    for first, second in itertools.product((slice(None), slice(1, 4), slice(4, 5)),
                                           (slice(None), slice(0, 2), slice(1, 2))):
        check(lambda a, b: a[first, second, 3:30, 2:] @ b[first, second, 2:, :35], a, b)
        check(lambda a, b: a[1, 0, 3:30, 2:] @ b[first, second, 2:, :35], a, b)
        check(lambda a, b: a[first, 2, 3:30, 2:] @ b[0, 1, 2:, :35], a, b)
        check(lambda a, b: a[first, second].swapaxes(-1, -2)[..., 2:, 3:30].swapaxes(-1, -2)
              @ b[first, second, 2:], a, b)


def test_a_part_is_read_before_it_is_overwritten():
    def eliminate(a):
        a = a.copy()
        for k in range(0, 96, 32):
            a[k + 32:, k + 32:] -= a[k + 32:, k:k + 32] @ a[k:k + 32, k + 32:]
        return a

    a = np.random.default_rng(2).random((128, 128)) / 64
    np.testing.assert_allclose(hd.asnumpy(hd.jit(eliminate)(hd.asarray(a))), eliminate(a), rtol=1e-12)


def test_a_start_that_depends_on_a_counter():
    a = np.random.default_rng(3).random((64, 80))

    def by_loop(a):
        def step(i, total):
            return total + a[i:i + 8, 2:].T @ a[i:i + 8]
        return hd.fori_loop(0, 50, step, hd.zeros((78, 80)))

    expected = sum(a[i:i + 8, 2:].T @ a[i:i + 8] for i in range(50))
    np.testing.assert_allclose(hd.asnumpy(hd.jit(by_loop)(hd.asarray(a))), expected, rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("shape", [(2, 2), (1, 40), (300, 33), (33, 300), (2, 90, 70), (4096, 65)])
def test_products_of_a_matrix_and_its_transpose(shape, dtype):
    rng = np.random.default_rng(3)
    x = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.standard_normal(shape)
    x = x.astype(dtype)
    x[..., 0, -1] = np.nan
    wide = x.astype(np.result_type(dtype, np.float64))
    for function in (lambda x: x.mT @ x, lambda x: x @ x.mT, lambda x: x[..., :-1] @ x[..., :-1].mT):
        found, expected = np.asarray(function(hd.array(x))), function(wide)
        bound = 4 * np.finfo(dtype).eps * max(shape) * np.nanmax(np.abs(wide)) ** 2
        np.testing.assert_allclose(found, expected, rtol=0, atol=bound)
        if np.dtype(dtype).kind != "c" or "cuda" not in str(hd.array(x).device):  # cuBLAS computes both halves
            np.testing.assert_array_equal(found, np.swapaxes(found, -1, -2))


def test_starts_that_change_from_statement_to_statement():
    """Outside jit, such starts are arguments of one program."""
    rng = np.random.default_rng(4)
    a, b = rng.random((64, 90)), rng.random((64, 90))

    def by_columns(xp, a, b):
        out = xp.zeros((90, 90))
        for i in range(60):
            out[i:i + 8, i] = a[:, i] @ b[:, i:i + 8]
            out[i, 3:] += a[i, i:i + 30] @ b[i:i + 30, 3:] if i < 34 else 0
        return out

    found = by_columns(hd, hd.asarray(a), hd.asarray(b))
    np.testing.assert_allclose(hd.asnumpy(found), by_columns(np, a, b), rtol=1e-12)
