"""Stacks of small matrices: one kernel with the elementwise work around it, beside NumPy's values."""

import numpy as np
import pytest

import heddle as hd
from linalg_cases import DTYPES, random, regular, same, small

ORDERS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 31, 32)


def positive_definite(shape, dtype):
    a = random(shape, dtype)
    return (a @ np.conj(np.swapaxes(a, -1, -2)) + shape[-1] * np.eye(shape[-1])).astype(dtype)


def steps_of(function, *arguments):
    """The lines of a program's steps: kernels, and calls of libraries."""
    with hd.errstate(linalg="ignore"):
        report = hd.jit(function).lower(*arguments).explain()
    lines = report.split("\nsteps\n")[1].splitlines()
    return [line for line in lines if line.startswith("  ") and line.split()[0].isdigit()]


@pytest.mark.parametrize("dtype", DTYPES)
def test_work_around_small_matrices_joins_their_kernel(dtype):
    a, b = hd.spec((50, 8, 8), dtype), hd.spec((50, 8, 3), dtype)
    for function, arguments in (
            (lambda a: hd.linalg.cholesky(a * 2) + 1, (a,)),
            (lambda a: hd.linalg.cholesky(a.mT * 2, upper=True).mT * 3, (a,)),
            (lambda a: hd.exp(hd.linalg.inv(a + 1)), (a,)),
            (lambda a: hd.linalg.det(a * 2) + 1, (a,)),
            (lambda a: hd.linalg.slogdet(a - 1).logabsdet * 2, (a,)),
            (lambda a, b: hd.linalg.solve(a * 2, b - 1) * 3, (a, b)),
            (lambda a, b: hd.linalg.solve(a.mT, b)[..., 0], (a, b)),
            (lambda a, b: hd.linalg.inv(hd.linalg.cholesky(a * 2) * 3) + a, (a, b))):
        steps = steps_of(function, *arguments)
        assert len(steps) == 1 and " kernel " in steps[0]


@pytest.mark.parametrize("dtype", DTYPES)
def test_products_of_large_batches(dtype):
    a, b = random((2, 50, 6, 4), dtype), random((2, 50, 4, 8), dtype, 1)
    product = hd.jit(lambda a, b: hd.tanh((a * 0.25) @ (b + 1)))
    same(product(hd.array(a), hd.array(b)), np.tanh((a * np.array(0.25, dtype)) @ (b + 1)))
    steps = steps_of(lambda a, b: hd.tanh((a * 0.25) @ (b + 1)), hd.array(a), hd.array(b))
    assert len(steps) == 1 and " kernel hd_product_item" in steps[0]
    steps = steps_of(lambda a: hd.linalg.cholesky(a @ a.mT + 9), hd.spec((70, 5, 5), dtype))
    assert len(steps) == 1


def test_larger_and_single_matrices_are_the_librarys():
    for shape in ((33, 33), (4, 33, 33), (8, 8)):
        steps = steps_of(hd.linalg.cholesky, hd.spec(shape, hd.float64))
        assert any("linalg.cholesky" in step for step in steps)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", ORDERS)
def test_values(n, dtype):
    a, b = regular((17, n, n), dtype), random((17, n, 3), dtype, 1)
    x = np.asarray(hd.jit(lambda a, b: hd.linalg.solve(a * 2, b) * 4)(hd.array(a), hd.array(b)))
    small(a @ x - 2 * b, a)
    inverse = np.asarray(hd.jit(lambda a: hd.linalg.inv(a * 2) * 2)(hd.array(a)))
    small(a @ inverse - np.eye(n), a)
    spd = positive_definite((17, n, n), dtype)
    for upper in (False, True):
        factor = np.asarray(hd.linalg.cholesky(hd.array(spd), upper=upper))
        adjoint = np.conj(np.swapaxes(factor, -1, -2))
        product = adjoint @ factor if upper else factor @ adjoint
        small(product - spd, spd)
        same(factor, np.triu(factor) if upper else np.tril(factor))
    sign, logarithm = hd.linalg.slogdet(hd.array(a))
    expected = np.linalg.slogdet(a)
    same(sign, np.asarray(expected.sign), 500)
    same(logarithm, np.asarray(expected.logabsdet), 500)


@pytest.mark.parametrize("dtype", DTYPES)
def test_failures_are_found(dtype):
    a = positive_definite((5, 4, 4), dtype)
    a[2, 1, 1] = -9
    with pytest.raises(hd.linalg.LinAlgError, match="matrix 2"):
        hd.linalg.cholesky(hd.array(a))
    with hd.errstate(linalg="ignore"):
        factor = np.asarray(hd.linalg.cholesky(hd.array(a)))
    assert np.isnan(factor[2]).all() and not np.isnan(np.delete(factor, 2, 0)).any()
    a[3] = 0
    a[3, 0, 1] = 1
    with pytest.raises(hd.linalg.LinAlgError, match="matrix 3"):
        hd.linalg.inv(hd.array(a))
    with hd.errstate(linalg="ignore"):
        inverse = np.asarray(hd.linalg.inv(hd.array(a)))
    assert np.isnan(inverse[3]).all() and not np.isnan(np.delete(inverse, 3, 0)).any()


@pytest.mark.parametrize("dtype", DTYPES)
def test_nan_is_a_minor_that_is_not_positive_but_a_pivot(dtype):
    a = positive_definite((3, 4, 4), dtype)
    a[1, 2, 1] = np.nan
    with pytest.raises(hd.linalg.LinAlgError, match="matrix 1"):
        hd.linalg.cholesky(hd.array(a))
    inverse = np.asarray(hd.linalg.inv(hd.array(a)))
    assert np.isnan(inverse[1]).any() and not np.isnan(np.delete(inverse, 1, 0)).any()


def test_a_factor_and_its_statuses_that_are_used_by_others():
    a = positive_definite((6, 5, 5), np.dtype("float64"))

    @hd.jit
    def several(a):
        factor = hd.linalg.cholesky(a)
        return factor, factor.sum(axis=0), factor * 2, factor[::-1] + factor
    factor = np.linalg.cholesky(a)
    for actual, expected in zip(several(hd.array(a)), (factor, factor.sum(axis=0), factor * 2,
                                                       factor[::-1] + factor)):
        np.testing.assert_allclose(np.asarray(actual), expected, rtol=1e-12, atol=1e-12)
