"""Norms and condition numbers beside NumPy's."""

import numpy as np
import pytest

import heddle as hd

DTYPES = ["float32", "float64", "complex64", "complex128"]
VECTOR_ORDERS = [None, 0, 1, -1, 2, -2, 3, 0.5, -3.5, np.inf, -np.inf]
MATRIX_ORDERS = [None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf]


def sample(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    return values.astype(dtype)


def close(actual, expected, scale=200):
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    np.testing.assert_allclose(actual, expected, rtol=scale * np.finfo(expected.dtype).eps)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("ord", VECTOR_ORDERS)
def test_vectors(dtype, ord):
    a = sample((4, 5, 6), dtype)
    a[0, 0, 0] = 1
    x = hd.array(a)
    close(hd.linalg.norm(x[0, 0], ord), np.linalg.norm(a[0, 0], ord))
    for axis in (0, 1, -1):
        for keepdims in (False, True):
            close(hd.linalg.norm(x, ord, axis, keepdims), np.linalg.norm(a, ord, axis, keepdims))
    close(hd.linalg.norm(x, ord=ord, axis=(1,)), np.linalg.norm(a, ord=ord, axis=(1,)))
    if ord is None:
        return
    for axis in (None, 0, (0, 2), (1, 0), (0, 1, 2)):
        for keepdims in (False, True):
            close(hd.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord),
                  np.linalg.vector_norm(a, axis=axis, keepdims=keepdims, ord=ord))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("ord", MATRIX_ORDERS)
def test_matrices(dtype, ord):
    a = sample((4, 5, 3), dtype)
    x = hd.array(a)
    close(hd.linalg.norm(x[0], ord), np.linalg.norm(a[0], ord))
    for axis in ((0, 1), (1, 0), (-1, 0), (1, 2)):
        for keepdims in (False, True):
            close(hd.linalg.norm(x, ord, axis, keepdims), np.linalg.norm(a, ord, axis, keepdims))
    for keepdims in (False, True):
        close(hd.linalg.matrix_norm(x, keepdims=keepdims, ord=ord),
              np.linalg.matrix_norm(a, keepdims=keepdims, ord=ord))


def test_of_all_elements():
    a = sample((3, 4, 5), "float64")
    x = hd.array(a)
    close(hd.linalg.norm(x), np.linalg.norm(a))
    close(hd.linalg.norm(x, keepdims=True), np.linalg.norm(a, keepdims=True))
    close(hd.linalg.norm(hd.array(3.0)), np.linalg.norm(np.array(3.0)))
    close(hd.linalg.norm([3, 4]), np.linalg.norm([3, 4]))
    close(hd.linalg.norm(hd.array([True, False, True])), np.linalg.norm(np.array([True, False, True])))
    assert hd.linalg.vector_norm(x) == hd.linalg.norm(x)


@pytest.mark.parametrize("ord", VECTOR_ORDERS)
def test_vectors_without_elements(ord):
    empty = np.zeros((3, 0))
    if ord == -np.inf:
        with pytest.raises(hd.ValueError):
            hd.linalg.norm(hd.array(empty), ord, axis=1)
        return
    with np.errstate(all="ignore"):
        close(hd.linalg.norm(hd.array(empty), ord, axis=1), np.linalg.norm(empty, ord, axis=1))
        close(hd.linalg.norm(hd.array(empty), ord, axis=0), np.linalg.norm(empty, ord, axis=0))


@pytest.mark.parametrize("ord", [None, "fro", "nuc", 1, 2, np.inf])
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_matrices_without_elements(ord, shape):
    close(hd.linalg.norm(hd.zeros(shape), ord), np.linalg.norm(np.zeros(shape), ord))


def test_bad_arguments():
    x = hd.ones((2, 3, 4))
    for arguments in [("fro", 0), ("nuc", 1), ("other", (0, 1)), (3, (0, 1)), (0, (0, 1)), (None, (0, 1, 2)),
                      (2, None), (None, ()), (None, (1, 1))]:
        with pytest.raises(ValueError):
            np.linalg.norm(np.ones((2, 3, 4)), *arguments)
        with pytest.raises(hd.ValueError):
            hd.linalg.norm(x, *arguments)
    with pytest.raises(hd.IndexError):
        hd.linalg.norm(x, axis=3)
    with pytest.raises(hd.ShapeError, match="matrix_norm"):
        hd.linalg.matrix_norm(hd.ones(3))


def test_one_kernel():
    x = hd.array(sample((50, 40), "float32")) + 0
    x.eval()
    for call in (lambda x: hd.linalg.norm(x, axis=1), lambda x: hd.linalg.norm(x * 2, 3, axis=1),
                 lambda x: hd.linalg.norm(x, axis=0)):
        assert hd.jit(call).lower(x).kernel_count() == 1


def test_sums_of_squares_as_numpys():
    # Without scaling, as in NumPy: squares overflow and underflow.
    with np.errstate(over="ignore"):
        for size in (1e200, 1e-200):
            assert hd.linalg.norm(hd.full(3, size)) == np.linalg.norm(np.full(3, size))


def test_traced():
    a = sample((3, 4, 4), "complex128")
    norms = hd.jit(lambda a: [hd.linalg.norm(a, ord, axis=(1, 2)) for ord in MATRIX_ORDERS])
    for ours, ord in zip(norms(hd.array(a)), MATRIX_ORDERS):
        close(ours, np.linalg.norm(a, ord, axis=(1, 2)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("p", [None, 2, -2, 1, -1, np.inf, -np.inf, "fro", "nuc"])
def test_condition_numbers(dtype, p):
    for shape in [(4, 4), (3, 5, 5), (1, 1)]:
        a = sample(shape, dtype)
        close(hd.linalg.cond(hd.array(a), p), np.linalg.cond(a, p), 20000)
    if p in (None, 2, -2):
        a = sample((3, 6, 4), dtype)
        close(hd.linalg.cond(hd.array(a), p), np.linalg.cond(a, p), 20000)


def test_condition_numbers_of_singular_matrices():
    for p in (None, 1, 2, np.inf, "fro"):
        assert np.asarray(hd.linalg.cond(hd.zeros((3, 3)), p)) == np.inf
        assert np.asarray(hd.linalg.cond(hd.ones((3, 3)), p)) > 1e15
    a = np.stack([np.eye(3), np.diag([1.0, 1, 0]), np.diag([1, np.nan, 1])])
    for p in (None, 1, "fro"):
        found = np.asarray(hd.linalg.cond(hd.array(a), p))
        assert np.isfinite(found[0]) and np.isinf(found[1]) and np.isnan(found[2])
    assert np.asarray(hd.linalg.cond(hd.diag(hd.array([1.0, 0.0])), -2)) == 0
    for shape in [(0, 3), (2, 0, 0)]:
        with pytest.raises(hd.LinAlgError, match="linalg.cond"):
            hd.linalg.cond(hd.zeros(shape))
    with pytest.raises(hd.ShapeError, match="linalg.cond"):
        hd.linalg.cond(hd.ones((3, 2)), 1)
    with pytest.raises(hd.ShapeError, match="linalg.cond"):
        hd.linalg.cond(hd.ones(3))
