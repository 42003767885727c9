"""Arrays of 33 to 64 axes: what a kernel sees is what is left of them when they are merged."""

import numpy as np
import pytest
from conftest import check

import heddle as hd

SHAPE = (1,) * 10 + (2,) + (1,) * 18 + (3,) + (1,) * 10
AXES = tuple(range(len(SHAPE)))
LONG, SHORT = 29, 10  # the axes of extents 3 and 2
A = np.arange(6.0).reshape(SHAPE)


def at(axis, index):
    """A subscript for one axis."""
    return (slice(None),) * axis + (index,)


def written(xp, x):
    y = xp.copy(x)
    y[..., 0] = 7
    y[at(LONG, slice(0, 2))] += 1
    return y


CASES = {
    "zeros": lambda xp, x: xp.zeros((1,) * 64),
    "full": lambda xp, x: xp.full(SHAPE, 3),
    "reshape": lambda xp, x: xp.reshape(xp.reshape(x, (6,)), (1,) * 31 + (3,) + (1,) * 31 + (2,)),
    "permute_dims": lambda xp, x: xp.permute_dims(x, AXES[::-1]),
    "add": lambda xp, x: x + xp.flip(x),
    "outer": lambda xp, x: (x[at(SHORT, slice(0, 1))]
                            + xp.permute_dims(x, AXES[::-1])[at(LONG, slice(0, 1))]),
    "sum": lambda xp, x: xp.sum(x),
    "sum_axis": lambda xp, x: xp.sum(x, axis=(SHORT, 0, 39), keepdims=True),
    "max_axis": lambda xp, x: xp.max(x, axis=LONG),
    "var": lambda xp, x: xp.var(x, axis=LONG),
    "cumulative_sum": lambda xp, x: xp.cumulative_sum(x, axis=LONG),
    "argmax": lambda xp, x: xp.argmax(x, axis=LONG),
    "slice": lambda xp, x: x[..., ::-1, 0],
    "newaxis": lambda xp, x: x[None, ..., None],
    "squeeze": lambda xp, x: xp.squeeze(x),
    "concat": lambda xp, x: xp.concat([x, x], axis=SHORT),
    "stack": lambda xp, x: xp.stack([x, x], axis=-1),
    "roll": lambda xp, x: xp.roll(x, 1, axis=LONG),
    "take": lambda xp, x: xp.take(x, xp.asarray([1, 0]), axis=LONG),
    "index": lambda xp, x: x[at(LONG, xp.asarray([1, 0]))],
    "mask": lambda xp, x: x[x > 2],
    "where": lambda xp, x: xp.where(x > 2, x, 0),
    "nonzero": lambda xp, x: xp.stack(xp.nonzero(x)),
    "broadcast_to": lambda xp, x: xp.broadcast_to(x[at(SHORT, slice(0, 1))], SHAPE) + 1,
    "matmul": lambda xp, x: xp.matmul(xp.moveaxis(x, (SHORT, LONG), (-2, -1)),
                                      xp.moveaxis(x, (LONG, SHORT), (-2, -1))),
    "written": written,
}


@pytest.fixture(scope="module")
def results():
    """All cases, computed together."""
    x = hd.asarray(A)
    found = {name: case(hd, x) for name, case in CASES.items()}
    found["jit"] = hd.jit(lambda v: v * 2 + 1)(x)
    hd.eval(*found.values())
    return found


@pytest.mark.parametrize("name", CASES)
def test_as_numpy(results, name):
    check(results[name], CASES[name](np, A))


def test_jit(results):
    check(results["jit"], A * 2 + 1)


def test_exchange_and_text(tmp_path):
    x = hd.asarray(A)
    file = str(tmp_path / "x.npy")
    hd.save(file, x)
    check(hd.load(file), A)
    check(hd.from_dlpack(A.T), A.T)
    assert np.from_dlpack(x.to_device("cpu")).shape == SHAPE
    assert str(x) == str(A) and x.tolist() == A.tolist()
    check(hd.asarray(A.tolist()), A)


def test_axes_that_do_not_merge():
    # Of 64 axes every other one repeats: a loop each for 40 of them, but for those of extent 1.
    a = np.arange(2.0**10).reshape((2, 1, 1) * 10 + (1,) * 34)
    shape = (2, 1, 2) * 4 + (2, 1, 1) * 6 + (1,) * 34
    got = hd.sum(hd.broadcast_to(hd.asarray(a), shape) + 1, axis=tuple(range(0, 30, 3)))
    check(got, np.sum(np.broadcast_to(a, shape) + 1, axis=tuple(range(0, 30, 3))))


def test_repetition_of_64_axes():
    a = np.arange(6.0).reshape((1,) * 30 + (2,) + (1,) * 32 + (3,))
    x = hd.asarray(a)
    for axis in (0, 3, 30, 50, 63, -1):
        check(hd.repeat(x, 2, axis=axis), np.repeat(a, 2, axis=axis))
    check(hd.repeat(x, hd.asarray([1, 3]), axis=30), np.repeat(a, [1, 3], axis=30))
    counts = (1,) * 20 + (2,) + (1,) * 42 + (2,)
    check(hd.tile(x, counts), np.tile(a, counts))
    check(hd.tile(hd.asarray([1, 2]), (1,) * 63 + (3,)), np.tile([1, 2], (1,) * 63 + (3,)))
    widths = ((0, 0),) * 63 + ((4, 2),)
    check(hd.pad(x, widths, mode="wrap"), np.pad(a, widths, mode="wrap"))


@pytest.mark.parametrize("make", [
    lambda: hd.zeros((1,) * 65),
    lambda: hd.reshape(hd.zeros(1), (1,) * 65),
    lambda: hd.zeros((1,) * 64)[None],
    lambda: hd.stack([hd.zeros((1,) * 64)] * 2),
])
def test_more_than_64_axes_are_refused(make):
    with pytest.raises(hd.ShapeError, match="at most 64 dimensions"):
        make()
