"""Attention as programs write it, against float64: one kernel on some GPUs, several steps elsewhere."""

import ml_dtypes
import numpy as np
import pytest

import heddle as hd


def softmax(xp, x):
    e = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
    return e / xp.sum(e, axis=-1, keepdims=True)


def attention(xp, q, k, v):
    scores = xp.matmul(q * q.shape[-1] ** -0.5, xp.swapaxes(k, -1, -2))
    return xp.matmul(softmax(xp, scores), v)


def masked(mask):
    def function(xp, q, k, v, *more):
        scores = xp.matmul(q * q.shape[-1] ** -0.5, xp.swapaxes(k, -1, -2))
        return xp.matmul(softmax(xp, mask(xp, scores, *more)), v)

    return function


def causal(xp, scores):
    n, m = scores.shape[-2:]
    return xp.where(xp.arange(m)[None, :] <= xp.arange(n)[:, None], scores, -np.inf)


def lower_triangle(xp, scores):
    n, m = scores.shape[-2:]
    return xp.where(xp.tril(xp.ones((n, m), dtype=bool)), scores, -np.inf)


def window(xp, scores):
    n, m = scores.shape[-2:]
    i, j = xp.arange(n)[:, None], xp.arange(m)[None, :]
    return xp.where((j <= i) & (j > i - 100), scores, -np.inf)


def capped(xp, scores):
    return 5.0 * xp.tanh(scores / 5.0)


def random(shape, dtype, seed, size=1.0):
    numbers = np.random.default_rng(seed).uniform(-size, size, shape)
    return numbers.astype(dtype)


def check(actual, q, k, v, *more, reference=attention):
    """The error may be that of NumPy's steps, each rounded to the dtype."""
    wide = reference(np, *(x.astype(np.float64) for x in (q, k, v)),
                     *(x if x.dtype == bool else x.astype(np.float64) for x in more))
    unit = 2.0**-11 if q.dtype == np.float16 else 2.0**-8
    sizes = np.abs(q.astype(np.float64)) @ np.abs(k.astype(np.float64)).swapaxes(-1, -2)
    score = unit * (8 + 2 * sizes.max() * q.shape[-1] ** -0.5)  # of the exponentials, from the scores
    tolerance = (4 * unit + 2 * score + v.shape[-2] * 2.0**-25) * np.abs(v.astype(np.float64)).max()
    actual = np.asarray(actual)
    assert actual.dtype == q.dtype and actual.shape == wide.shape
    assert np.abs(actual.astype(np.float64) - wide).max() <= tolerance


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("shape", [(1, 1, 1, 64, 64), (2, 130, 257, 64, 64), (3, 64, 640, 128, 128),
                                   (2, 40, 129, 8, 16), (2, 33, 77, 96, 72)])
def test_any_shape(shape, dtype):
    b, n, m, d, e = shape
    q, k, v = random((b, n, d), dtype, 0), random((b, m, d), dtype, 1), random((b, m, e), dtype, 2)
    check(hd.jit(lambda *x: attention(hd, *x))(*map(hd.asarray, (q, k, v))), q, k, v)
    check(attention(hd, *map(hd.asarray, (q, k, v))), q, k, v)


@pytest.mark.parametrize("mask", [causal, lower_triangle, window, capped])
@pytest.mark.parametrize("shape", [(2, 300, 300, 64), (1, 130, 500, 128), (3, 257, 129, 64)])
def test_masks_of_indices(mask, shape):
    b, n, m, d = shape
    q, k, v = random((b, n, d), np.float16, 0), random((b, m, d), np.float16, 1), random((b, m, d), np.float16, 2)
    function = masked(mask)
    rows = slice(None) if mask is not window or m >= n else slice(0, m)  # below, no key is left
    actual = np.asarray(hd.jit(lambda *x: function(hd, *x))(*map(hd.asarray, (q, k, v))))
    if mask is window and m + 99 < n:
        assert np.isnan(actual[:, m + 99:]).all()
    with np.errstate(invalid="ignore"):
        check(actual[:, rows], q[:, rows], k, v,
              reference=lambda xp, q, k, v: function(xp, np.pad(q, ((0, 0), (0, n - q.shape[1]), (0, 0))), k,
                                                     v)[:, rows])


def test_padding_and_bias():
    b, h, n, m, d = 2, 3, 140, 200, 64
    q, k, v = random((b, h, n, d), np.float16, 0), random((b, h, m, d), np.float16, 1), random((b, h, m, d), np.float16, 2)
    lengths, bias = np.array([150, 1]), random((h, n, m), np.float16, 3)
    keep = np.arange(m)[None, :] < lengths[:, None]

    function = masked(lambda xp, scores, keep, bias: xp.where(keep[:, None, None, :], scores + bias, -np.inf))
    given = [hd.asarray(x) for x in (q, k, v, keep, bias)]
    check(hd.jit(lambda *x: function(hd, *x))(*given), q, k, v, keep, bias, reference=function)
    check(function(hd, *given), q, k, v, keep, bias, reference=function)


@pytest.mark.parametrize("size", [2.0, 8.0, 40.0])
def test_scores_that_differ_much(size):
    q, k, v = random((2, 70, 64), np.float16, 0, size), random((2, 300, 64), np.float16, 1, size / 8), random(
        (2, 300, 64), np.float16, 2)
    check(attention(hd, *map(hd.asarray, (q, k, v))), q, k, v)


def test_heads_within_rows():
    """Queries, keys and values are parts of one product, [batch, length, 3, heads, depth]."""
    whole = random((2, 200, 3, 4, 64), np.float16, 0)

    def of(xp, x):
        q, k, v = (xp.transpose(x[:, :, i], (0, 2, 1, 3)) for i in range(3))
        return xp.transpose(attention(xp, q, k, v), (0, 2, 1, 3))

    q, k, v = (whole[:, :, i].transpose(0, 2, 1, 3) for i in range(3))
    actual = np.asarray(hd.jit(lambda x: of(hd, x))(hd.asarray(whole)))
    check(actual.transpose(0, 2, 1, 3), q, k, v)


def test_offset_arrays():
    """Arrays that do not begin at a multiple of 16 bytes."""
    base = [random(1 + 2 * n * 64, np.float16, n) for n in (100, 150, 150)]
    q, k, v = (x[1:].reshape(2, -1, 64) for x in base)
    given = [hd.asarray(x)[1:].reshape(2, -1, 64) for x in base]
    check(attention(hd, *given), q, k, v)


def test_shared_keys():
    """All heads have the same keys and values."""
    q, k, v = random((2, 4, 130, 64), np.float16, 0), random((2, 1, 140, 64), np.float16, 1), random(
        (2, 1, 140, 64), np.float16, 2)
    check(attention(hd, *map(hd.asarray, (q, k, v))), q, k, v)


def test_infinite_and_nan():
    q, k, v = (random((1, 64, 64), np.float16, i) for i in range(3))
    q[0, 3], q[0, 5, 0], k[0, 7] = np.nan, np.inf, 0.25
    actual = np.asarray(attention(hd, *map(hd.asarray, (q, k, v))))
    assert np.isnan(actual[0, [3, 5]]).all()
    others = [i for i in range(64) if i not in (3, 5)]
    check(actual[:, others], q[:, others], k, v)
