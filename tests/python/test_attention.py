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


def random(shape, dtype, seed, size=1.0):
    numbers = np.random.default_rng(seed).uniform(-size, size, shape)
    return numbers.astype(dtype)


def check(actual, q, k, v, reference=attention):
    """The error may be that of NumPy's steps, each rounded to the dtype."""
    wide = reference(np, *(x.astype(np.float64) for x in (q, k, v)))
    unit = 2.0**-11 if q.dtype == np.float16 else 2.0**-8
    sizes = np.abs(q.astype(np.float64)) @ np.abs(k.astype(np.float64)).swapaxes(-1, -2)
    score = unit * (2 + sizes.max() * q.shape[-1] ** -0.5)  # of the exponentials, from the scores
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


@pytest.mark.parametrize("size", [8.0, 40.0])
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
