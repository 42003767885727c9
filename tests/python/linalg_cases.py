"""What the tests of linalg share: matrices, and how close results have to be."""

import numpy as np

DTYPES = ["float32", "float64", "complex64", "complex128"]


def random(shape, dtype="float64", seed=0):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    return values.astype(dtype)


def regular(shape, dtype="float64", seed=0):
    """Square matrices of a small condition."""
    n = shape[-1]
    return (random(shape, dtype, seed) + 2 * (np.sqrt(n) + 1) * np.eye(n)).astype(dtype)


def adjoint(a):
    return np.conj(np.swapaxes(a, -1, -2))


def small(residual, like, factor=50):
    """Whether every element of the residual is within factor * n * eps of 0, relative to `like`."""
    eps = np.finfo(like.dtype).eps
    n = max(like.shape[-2:], default=1)
    bound = factor * max(n, 1) * eps * max(np.abs(like).max(initial=0), 1)
    worst = np.abs(residual).max(initial=0)
    assert worst <= bound, f"{worst} > {bound}"


def same(actual, expected, factor=50):
    """Whether a result has the dtype, the shape, and up to rounding the elements of NumPy's."""
    actual = np.asarray(actual)
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    if expected.ndim < 2:
        expected, actual = np.atleast_2d(expected), np.atleast_2d(actual)
    small(actual - expected, expected, factor)
