"""Matrices of numbers near the ends of a dtype's range: LAPACK's answers for them, times a power of two.

NumPy computes in float64, and for complex128 finds NaN for small pivots: what is compared with is its answer for
matrices of moderate numbers.
"""

import numpy as np
import pytest

import heddle as hd
import heddle.scipy.linalg
from linalg_cases import DTYPES, adjoint, random, regular

# Of the largest numbers, products of two do not fit; the reciprocals of the smallest do not.
EXPONENTS = {"float32": (-135, -128, -100, 100, 120), "float64": (-1040, -1025, -900, 900, 1010)}
SHAPES = ((3, 1, 1), (3, 4, 4), (1, 1), (5, 5))


def substitutes(dtype, subnormal):
    """cuBLAS (13.0) multiplies by the reciprocals of complex pivots, which are infinite for subnormal ones."""
    return not (subnormal and hd.device().startswith("cuda") and np.dtype(dtype).kind == "c")


def part(dtype):
    return np.zeros(0, dtype).real.dtype


def times(a, exponent):
    """a times 2**exponent, exactly, or rounded once where numbers become subnormal."""
    if a.dtype.kind != "c":
        return np.ldexp(a, exponent)
    return (np.ldexp(a.real, exponent) + 1j * np.ldexp(a.imag, exponent)).astype(a.dtype)


def scaled(a, exponent):
    """Scaled matrices, and what they are exactly, in moderate numbers of a wider dtype."""
    small = times(a, exponent)
    return small, times(small.astype(np.complex128 if a.dtype.kind == "c" else np.float64), -exponent)


def close(actual, expected, dtype, exponent):
    """Up to rounding, also of numbers that are subnormal while they are scaled."""
    n = max(expected.shape[-1:], default=1)
    lost = 2.0 ** (np.finfo(dtype).minexp - np.finfo(dtype).nmant - exponent)
    assert actual.shape == expected.shape and np.isfinite(actual).all()
    bound = 200 * n * (np.finfo(dtype).eps + lost) * max(np.abs(expected).max(initial=0), 1)
    assert np.abs(actual - expected).max(initial=0) <= bound


def cases(function):
    function = pytest.mark.parametrize("place", range(5))(function)
    return pytest.mark.parametrize("dtype", DTYPES)(function)


def wide(x):
    return np.asarray(x).astype(np.complex128 if np.asarray(x).dtype.kind == "c" else np.float64)


@cases
def test_solutions_and_factors(dtype, place):
    exponent = EXPONENTS[part(dtype).name][place]
    both = (lambda function: function), hd.jit  # lazily, LAPACK; compiled, stacks have kernels of their own
    for shape in SHAPES:
        a, exact = scaled(regular(shape, dtype), exponent)
        b, sides = scaled(random(shape[:-1] + (2,), dtype, 1), exponent)
        for compiled in both:
            x = compiled(lambda a, b: hd.linalg.solve(a, b))(hd.array(a), hd.array(b))
            close(wide(x), np.linalg.solve(exact, sides), dtype, exponent)
            sign, logarithm = compiled(lambda a: tuple(hd.linalg.slogdet(a)))(hd.array(a))
            expected = np.linalg.slogdet(exact)
            close(wide(sign), expected.sign, dtype, exponent)
            close(wide(logarithm), expected.logabsdet + shape[-1] * exponent * np.log(2), dtype, exponent)
        if len(shape) > 2:
            continue
        p, l, u = (wide(x) for x in hd.scipy.linalg.lu(hd.array(a)))
        close(p @ l @ times(u, -exponent), exact, dtype, exponent)
        if not substitutes(dtype, place == 0):
            continue
        lower = np.tril(a)
        y = hd.linalg.solve_triangular(hd.array(lower), hd.array(b), lower=True)
        close(wide(y), np.linalg.solve(np.tril(exact), sides), dtype, exponent)
        y = hd.linalg.solve_triangular(hd.array(lower), hd.array(b), lower=True, trans=2)
        close(wide(y), np.linalg.solve(adjoint(np.tril(exact)), sides), dtype, exponent)


@cases
def test_inverses(dtype, place):
    exponent = EXPONENTS[part(dtype).name][place]
    info = np.finfo(dtype)
    if not info.minexp + info.nmant < -exponent < info.maxexp - 3:
        exponent = -exponent // 2  # the inverse has to be in range, too
    for shape in SHAPES:
        a, exact = scaled(regular(shape, dtype), exponent)
        for compiled in (lambda function: function), hd.jit:
            x = compiled(lambda a: hd.linalg.inv(a))(hd.array(a))
            close(times(wide(x), exponent), np.linalg.inv(exact), dtype, exponent)


@cases
def test_hermitian_matrices(dtype, place):
    exponent = 2 * (EXPONENTS[part(dtype).name][place] // 2)
    for shape in SHAPES:
        moderate = regular(shape, dtype)
        moderate = (moderate @ adjoint(moderate) / 64).astype(dtype)
        a, exact = scaled(((moderate + adjoint(moderate)) / 2).astype(dtype), exponent)
        for upper in (False, True):
            factor = times(wide(hd.linalg.cholesky(hd.array(a), upper=upper)), -exponent // 2)
            close(adjoint(factor) @ factor if upper else factor @ adjoint(factor), exact, dtype, exponent)
        values, vectors = (wide(x) for x in hd.linalg.eigh(hd.array(a)))
        values = times(values, -exponent)
        close(values, np.linalg.eigvalsh(exact), dtype, exponent)
        close((vectors * values[..., None, :]) @ adjoint(vectors), exact, dtype, exponent)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("place", range(6))
def test_orthogonal_factors(dtype, place):
    exponent = (*EXPONENTS[part(dtype).name], np.finfo(dtype).maxexp - 3)[place]
    for shape in ((3, 4, 3), (5, 3), (1, 1), (40, 30)):
        if len(shape) == 2 and hd.device().startswith("cuda") and place in (0, 1, 5):
            continue  # cuSOLVER (12.0) gives NaN, or does not converge
        a, exact = scaled(random(shape, dtype) / np.sqrt(shape[-1], dtype=part(dtype)), exponent)
        q, r = (wide(x) for x in hd.linalg.qr(hd.array(a)))
        close(q @ times(r, -exponent), exact, dtype, exponent)
        close(adjoint(q) @ q, np.broadcast_to(np.eye(shape[-1]), q.shape[:-2] + (shape[-1],) * 2), dtype, 0)
        u, s, vh = (wide(x) for x in hd.linalg.svd(hd.array(a), full_matrices=False))
        s = times(s, -exponent)
        close(s, np.linalg.svd(exact, compute_uv=False), dtype, exponent)
        close(u * s[..., None, :] @ vh, exact, dtype, exponent)


@pytest.mark.parametrize("dtype", DTYPES)
def test_pivots_without_reciprocals_among_others(dtype):
    tiny = 2.0 ** (-130 if part(dtype) == np.float32 else -1030)
    for diagonal in ((1, tiny, 1), (tiny, 1, tiny), (1, 1, tiny)):
        a = np.diag(np.array(diagonal, dtype))
        a[2, 0] = a[2, 2] / 4  # no digit of a sum is lost
        b = a @ np.full(3, 3, dtype)
        for stack in (a, np.stack([a, np.eye(3, dtype=dtype)])):
            sides = b if stack.ndim == 2 else np.stack([b, np.full(3, 3, dtype)])[..., None]
            for compiled in (lambda function: function), hd.jit:
                x = np.asarray(compiled(lambda a, b: hd.linalg.solve(a, b))(hd.array(stack), hd.array(sides)))
                assert (x == 3).all()
        if not substitutes(dtype, True):
            continue
        y = hd.linalg.solve_triangular(hd.array(a), hd.array(b[:, None]), lower=True)
        assert (np.asarray(y) == 3).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("place", range(5))
def test_quotients_of_numbers_that_have_no_reciprocals(dtype, place):
    if hd.device().startswith("cuda") and place == 0:
        pytest.skip("cuSOLVER (12.0) has no singular values of subnormal numbers")
    exponent = EXPONENTS[part(dtype).name][place]
    a, exact = scaled(regular((5, 5), dtype), exponent)
    b, sides = scaled(random((5, 2), dtype, 1), exponent)
    for compiled in (lambda function: function), hd.jit:
        x = compiled(lambda a, b: hd.linalg.lstsq(a, b)[0])(hd.array(a), hd.array(b))
        close(wide(x), np.linalg.lstsq(exact, sides)[0], dtype, exponent)
        number = compiled(lambda a: hd.linalg.cond(a, 1))(hd.array(a))
        expected = np.linalg.cond(exact, 1)
        close(wide(number) / expected, np.ones(()), dtype, exponent)
