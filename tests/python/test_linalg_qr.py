"""linalg.qr: reconstruction, orthogonality, and NumPy's factors."""

import numpy as np
import pytest

import heddle as hd
from linalg_cases import DTYPES, adjoint, random, same, small

SHAPES = [(1, 1), (4, 4), (7, 3), (3, 7), (100, 60), (60, 100), (3, 5, 2), (2, 3, 4, 6), (300, 4, 4), (5, 40, 33),
          (1, 6, 4), (2, 520, 3)]
EMPTY = [(0, 3), (3, 0), (0, 0), (2, 0, 3), (0, 3, 3), (2, 3, 0)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", ["reduced", "complete"])
@pytest.mark.parametrize("shape", SHAPES)
def test_factors(dtype, mode, shape):
    a = random(shape, dtype)
    found = hd.linalg.qr(hd.array(a), mode)
    q, r = np.asarray(found.Q), np.asarray(found.R)
    expected = np.linalg.qr(a, mode)
    assert q.shape == expected.Q.shape and r.shape == expected.R.shape
    assert q.dtype == a.dtype and r.dtype == a.dtype
    small(q @ r - a, a)
    small(adjoint(q) @ q - np.eye(q.shape[-1]), a)
    assert np.array_equal(r, np.triu(r))
    # The signs are LAPACK's.
    same(r, expected.R, 500)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_other_modes(dtype, shape):
    a = random(shape, dtype)
    same(hd.linalg.qr(hd.array(a), "r"), np.linalg.qr(a, "r"), 500)
    h, tau = hd.linalg.qr(hd.array(a), mode="raw")
    expected = np.linalg.qr(a, "raw")
    same(h, expected[0], 500)
    same(tau, expected[1], 500)


@pytest.mark.parametrize("mode", ["reduced", "complete", "r", "raw"])
@pytest.mark.parametrize("shape", EMPTY)
def test_empty(mode, shape):
    found, expected = hd.linalg.qr(hd.zeros(shape), mode), np.linalg.qr(np.zeros(shape), mode)
    if mode == "r":
        return same(found, expected)
    for one, other in zip(found, expected):
        same(one, other)


def test_layouts_and_dtypes():
    a = random((6, 9, 7))
    x = hd.array(a)
    for of in (lambda m: m[1], lambda m: m[::2, 2:7, 1:5], lambda m: m[::-1], lambda m: m.transpose(0, 2, 1)):
        same(hd.linalg.qr(of(x)).R, np.linalg.qr(of(a)).R, 500)
    ints = np.arange(12).reshape(4, 3) % 5
    same(hd.linalg.qr(hd.array(ints)).Q, np.linalg.qr(ints).Q, 500)
    same(x, a)


def test_rank_deficient():
    a = np.ones((5, 3))
    q, r = (np.asarray(each) for each in hd.linalg.qr(hd.array(a)))
    small(q @ r - a, a)
    small(q.T @ q - np.eye(3), a)
    zero = hd.linalg.qr(hd.zeros((4, 4)))
    assert not np.asarray(zero.R).any()
    small(np.asarray(zero.Q).T @ np.asarray(zero.Q) - np.eye(4), np.eye(4))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", ["reduced", "complete"])
def test_stacks_with_columns_that_need_no_reflector(dtype, mode):
    a = random((4, 6, 4), dtype)
    a[0] = 0
    a[1] = np.eye(6, 4)
    a[2, :, 1] = 0
    a[3] = np.triu(a[3])
    q, r = (np.asarray(each) for each in hd.linalg.qr(hd.array(a), mode))
    small(q @ r - a, a)
    small(adjoint(q) @ q - np.eye(q.shape[-1]), a)


def test_bad_operands():
    with pytest.raises(hd.ShapeError, match="linalg.qr"):
        hd.linalg.qr(hd.ones(3))
    with pytest.raises(hd.DTypeError, match="linalg.qr.*float16"):
        hd.linalg.qr(hd.eye(3, dtype="float16"))
    with pytest.raises(ValueError, match="mode must be"):
        hd.linalg.qr(hd.eye(3), "economic")


def test_traced_and_along_an_axis():
    a = random((5, 3))
    call = hd.jit(lambda x: hd.linalg.qr(x).R * 2)
    same(call(hd.array(a)), np.linalg.qr(a).R * 2, 500)
    lines = random((4, 6))
    found = hd.apply_along_axis(lambda v: hd.ravel(hd.linalg.qr(v.reshape(3, 2)).Q), 1, hd.array(lines))
    expected = np.stack([np.linalg.qr(v.reshape(3, 2)).Q.ravel() for v in lines])
    same(found, expected, 500)


def test_symbolic_batches():
    call = hd.jit(lambda x: tuple(hd.linalg.qr(x)), dynamic=[("b", 5, 3)])
    for batch in (1, 4, 40):
        a = random((batch, 5, 3))
        q, r = (np.asarray(each) for each in call(hd.array(a)))
        small(q @ r - a, a)


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_a_column_that_is_not_finite_leaves_the_reflectors_before_it_alone(dtype):
    a = np.random.default_rng(5).standard_normal((3, 6, 4)).astype(dtype)
    a[1, 2, 2] = np.nan
    ours, theirs = hd.linalg.qr(a, mode="raw")[0], np.linalg.qr(a, mode="raw")[0]
    np.testing.assert_allclose(np.asarray(ours)[:, :2], theirs[:, :2],
                               rtol=1e-4 if dtype == "float32" else 1e-12)
