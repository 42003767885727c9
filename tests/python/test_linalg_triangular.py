"""linalg.solve_triangular: triangles, transposes, batches, and zeros on the diagonal."""

import numpy as np
import pytest

import heddle as hd
from linalg_cases import DTYPES, adjoint, random, regular, same, small


def triangle(a, lower, unit, trans):
    a = np.tril(a) if lower else np.triu(a)
    if unit:
        a = a - a * np.eye(a.shape[-1]) + np.eye(a.shape[-1])
    if trans in (1, "T"):
        return np.swapaxes(a, -1, -2)
    return adjoint(a) if trans in (2, "C") else a


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("trans", [0, 1, 2, "N", "T", "C"])
@pytest.mark.parametrize("shape", [(1, 1), (6, 6), (100, 100), (3, 5, 5)])
def test_solutions(dtype, lower, trans, shape):
    a, b = regular(shape, dtype), random(shape[:-1] + (3,), dtype, 1)
    x = np.asarray(hd.linalg.solve_triangular(hd.array(a), hd.array(b), trans=trans, lower=lower))
    assert x.dtype == a.dtype
    small(triangle(a, lower, False, trans) @ x - b, a)


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("trans", [0, 1, 2])
def test_unit_diagonals(lower, trans):
    a, b = random((2, 6, 6)), random((2, 6, 3), seed=1)
    a[..., range(6), range(6)] = np.nan
    x = np.asarray(hd.linalg.solve_triangular(hd.array(a), hd.array(b), trans, lower, True))
    full = triangle(np.nan_to_num(a), lower, True, trans)
    small(full @ x - b, np.abs(x) + np.abs(full).max())


def test_the_other_triangle_is_not_read():
    a = np.tril(regular((5, 5)))
    x = hd.linalg.solve_triangular(hd.array(a + np.triu(np.full((5, 5), np.nan), 1)), hd.ones(5), lower=True)
    same(x, np.linalg.solve(a, np.ones(5)))


@pytest.mark.parametrize("a, b", [((4, 4), (4,)), ((2, 4, 4), (4,)), ((4, 4), (5, 4, 3)),
                                  ((2, 1, 4, 4), (3, 4, 2)), ((3, 0, 0), (0,)), ((4, 4), (4, 0)),
                                  ((0, 4, 4), (4, 2))])
def test_batches(a, b):
    matrices, sides = regular(a), random(b, seed=1)
    same(hd.linalg.solve_triangular(hd.array(matrices), hd.array(sides)),
         np.linalg.solve(np.triu(matrices), sides))


def test_a_zero_on_the_diagonal():
    a = np.stack([np.eye(3)] * 4)
    a[2, 1, 1] = 0
    with pytest.raises(hd.LinAlgError, match=r"linalg.solve_triangular\(.*: matrix 2 is singular"):
        hd.linalg.solve_triangular(hd.array(a), hd.ones(3))
    with hd.errstate(linalg="ignore"):
        x = np.asarray(hd.linalg.solve_triangular(hd.array(a), hd.ones(3)))
    assert np.isnan(x[2]).all() and (x[[0, 1, 3]] == 1).all()
    same(hd.linalg.solve_triangular(hd.array(a), hd.ones(3), unit_diagonal=True), np.ones((4, 3)))


def test_bad_operands():
    for a, b in (((2, 3), (2,)), ((3,), (3,)), ((3, 3), (4,)), ((3, 3), ())):
        with pytest.raises(hd.ShapeError, match="linalg.solve_triangular"):
            hd.linalg.solve_triangular(hd.ones(a), hd.ones(b))
    with pytest.raises(hd.DTypeError, match="float16"):
        hd.linalg.solve_triangular(hd.eye(3, dtype="float16"), hd.ones(3))
    with pytest.raises(ValueError, match="trans must be"):
        hd.linalg.solve_triangular(hd.eye(3), hd.ones(3), trans=3)


def test_traced_and_symbolic():
    call = hd.jit(lambda a, b: hd.linalg.solve_triangular(a, b, lower=True) * 2,
                  dynamic=[("n", "n"), ("n", "k")])
    for n, k in ((2, 1), (5, 3), (40, 2)):
        a, b = regular((n, n)), random((n, k), seed=1)
        same(call(hd.array(a), hd.array(b)), np.linalg.solve(np.tril(a), b) * 2)
