"""linalg.lu_factor, permutation_of_pivots, and scipy.linalg's lu and lu_solve."""

import numpy as np
import pytest

import heddle as hd
from linalg_cases import DTYPES, adjoint, random, regular, same, small

SHAPES = [(1, 1), (4, 4), (7, 3), (3, 7), (100, 60), (60, 100), (3, 5, 2), (2, 3, 4, 6), (300, 4, 4)]
EMPTY = [(0, 3), (3, 0), (0, 0), (2, 0, 3), (0, 3, 3)]


def unpacked(lu, k):
    return np.tril(lu[..., :k], -1) + np.eye(lu.shape[-2], k), np.triu(lu[..., :k, :])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_factors_and_pivots(dtype, shape):
    a = random(shape, dtype)
    lu, pivots = hd.linalg.lu_factor(hd.array(a))
    k = min(shape[-2:])
    assert lu.dtype == a.dtype and lu.shape == shape
    assert pivots.dtype == hd.int32 and pivots.shape == shape[:-2] + (k,)
    order = np.asarray(hd.linalg.permutation_of_pivots(pivots, shape[-2]))
    lower, upper = unpacked(np.asarray(lu), k)
    small(lower @ upper - np.take_along_axis(a, order[..., None], -2), a)
    assert np.abs(lower).max() <= 1 + 1e-5 or np.dtype(dtype).kind == "c"
    # The order is that of the swaps.
    for place in np.ndindex(shape[:-2]):
        expected = np.arange(shape[-2])
        for i, pivot in enumerate(np.asarray(pivots)[place]):
            expected[[i, pivot]] = expected[[pivot, i]]
        assert np.array_equal(order[place], expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_lu(dtype, shape):
    a = random(shape, dtype)
    p, lower, upper = (np.asarray(each) for each in hd.scipy.linalg.lu(hd.array(a)))
    assert p.dtype == np.zeros(1, dtype).real.dtype and p.shape == shape[:-1] + shape[-2:-1]
    assert ((p == 0) | (p == 1)).all() and (p.sum(-1) == 1).all()
    assert np.array_equal(lower, np.tril(lower)) and np.array_equal(upper, np.triu(upper))
    small(p @ lower @ upper - a, a)
    permuted, again = (np.asarray(each) for each in hd.scipy.linalg.lu(hd.array(a), permute_l=True))
    small(permuted @ again - a, a)
    indices, lower, upper = (np.asarray(each) for each in hd.scipy.linalg.lu(hd.array(a), p_indices=True))
    assert indices.dtype == np.int32
    small(np.take_along_axis(lower, indices[..., None], -2) @ upper - a, a)


@pytest.mark.parametrize("shape", EMPTY)
def test_empty(shape):
    p, lower, upper = (np.asarray(each) for each in hd.scipy.linalg.lu(hd.zeros(shape)))
    m, n, k = shape[-2], shape[-1], min(shape[-2:])
    assert p.shape == shape[:-2] + (m, m) and lower.shape == shape[:-2] + (m, k)
    assert upper.shape == shape[:-2] + (k, n)
    lu, pivots = hd.linalg.lu_factor(hd.zeros(shape))
    assert np.asarray(lu).shape == shape and np.asarray(pivots).shape == shape[:-2] + (k,)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("trans", [0, 1, 2])
def test_lu_solve(dtype, trans):
    for shape, sides in (((5, 5), (5,)), ((5, 5), (5, 3)), ((3, 5, 5), (3, 5, 2)), ((80, 80), (80, 1))):
        a, b = random(shape, dtype) + 3 * np.eye(shape[-1], dtype=dtype), random(sides, dtype, 1)
        factors = hd.scipy.linalg.lu_factor(hd.array(a))
        x = hd.scipy.linalg.lu_solve(factors, hd.array(b), trans)
        of = (a, np.swapaxes(a, -1, -2), adjoint(a))[trans]
        same(x, np.linalg.solve(of, b).astype(dtype), 5000)


def test_singular_matrices_have_factors():
    a = np.ones((3, 3))
    lu, pivots = hd.linalg.lu_factor(hd.array(a))
    lower, upper = unpacked(np.asarray(lu), 3)
    small(lower @ upper - a, a)
    with pytest.raises(hd.LinAlgError, match="singular"):
        hd.scipy.linalg.lu_solve((lu, pivots), hd.ones(3))


def test_bad_operands():
    with pytest.raises(hd.ShapeError, match="linalg.lu_factor"):
        hd.linalg.lu_factor(hd.ones(3))
    with pytest.raises(hd.DTypeError, match="linalg.lu_factor.*float16"):
        hd.linalg.lu_factor(hd.eye(3, dtype="float16"))
    factors = hd.linalg.lu_factor(hd.eye(3))
    with pytest.raises(ValueError, match="trans"):
        hd.scipy.linalg.lu_solve(factors, hd.ones(3), trans=3)
    with pytest.raises(hd.ShapeError, match="3 rows, b has 4"):
        hd.scipy.linalg.lu_solve(factors, hd.ones(4))


def test_layouts_and_traced():
    a = random((4, 6, 5))
    x = hd.array(a)
    for of in (lambda m: m[1], lambda m: m[::-1, 1:4, ::2], lambda m: m.transpose(0, 2, 1)):
        p, lower, upper = (np.asarray(each) for each in hd.scipy.linalg.lu(of(x)))
        small(p @ lower @ upper - of(a), a)
    call = hd.jit(lambda m: hd.scipy.linalg.lu(m)[2])
    same(call(x), np.asarray(hd.scipy.linalg.lu(x)[2]))
    stack = regular((3, 4, 4))
    found = hd.apply_along_axis(lambda v: hd.linalg.lu_factor(v.reshape(4, 4))[0].ravel(), 1,
                                hd.array(stack.reshape(3, 16)))
    same(found, np.asarray(hd.linalg.lu_factor(hd.array(stack))[0]).reshape(3, 16))
