"""apply_along_axis: what is recorded of one line, of all; and the calls for each where it cannot be."""

import numpy as np
import pytest
from conftest import check

import heddle as hd

VALUES = np.random.default_rng(3).integers(-4, 5, (3, 4, 5)).astype("float64")
PLACES = np.array([2, 0, -1, 2])


def scattered(xp, v):
    result = xp.copy(v)
    result[xp.asarray(PLACES)] = xp.asarray(np.arange(4.0)) + v[0]
    return result


def counted(xp, v):
    return xp.concatenate([v[1:] * 2, xp.asarray([1.0, 2.0])])


# Each once for all lines.
TOGETHER = {
    "elementwise": lambda xp, v: xp.where(v > v[0], xp.exp(v), -v) + xp.asarray([[1.0], [2.0]]),
    "reductions": lambda xp, v: xp.stack([xp.min(v), xp.max(v), xp.prod(v), xp.median(v)]),
    "places": lambda xp, v: xp.stack([xp.argmax(v), xp.argmin(v)]),
    "scans": lambda xp, v: xp.cumsum(v) - xp.cumprod(v),
    "sorts": lambda xp, v: xp.sort(v)[::-1] + xp.argsort(v, kind="stable"),
    "gathers": lambda xp, v: v[xp.asarray(PLACES)] + xp.take(v, xp.asarray([[0], [1]])),
    "gathers by the line": lambda xp, v: xp.take(xp.asarray(np.arange(9.0)),
                                                 xp.asarray(v, dtype="int64") + 4),
    "pairs": lambda xp, v: xp.outer(v, v)[xp.asarray([0, 1]), xp.asarray([1, 1])],
    "scatters": scattered,
    "matmuls": lambda xp, v: xp.matmul(xp.outer(v, v[:2]), xp.asarray(np.arange(6.0).reshape(2, 3))),
    "products of lines": lambda xp, v: xp.matmul(v[None, None, :], xp.outer(v, v)),
    "searches of the line": lambda xp, v: xp.searchsorted(xp.asarray([-2.0, 0.0, 2.0]), v),
    "views": lambda xp, v: xp.broadcast_to(v[1:], (2, 2, v.shape[0] - 1)).T,
    "joins": counted,
    "windows": lambda xp, v: xp.convolve(v, xp.asarray([1.0, -2.0, 1.0])),
    "constants": lambda xp, v: xp.asarray([1, 2]),
    "numbers": lambda xp, v: 2.5,
    "the line": lambda xp, v: v,
    "quantiles": lambda xp, v: xp.quantile(v, 0.25),
    "searches": lambda xp, v: xp.searchsorted(xp.sort(v), xp.asarray([0.0, 1.0])),
}
# For each line: they ask for values.
ONE_BY_ONE = {
    "masks": lambda xp, v: xp.sum(v[v > 0]),
    "choices": lambda xp, v: v * 2 if v[0] > 0 else -v,
    "sizes": lambda xp, v: int(xp.count_nonzero(v)),
    "uniques": lambda xp, v: xp.unique(v)[:1],
}


def applied(xp, function, axis, array):
    calls = []

    def called(v):
        calls.append(v.shape)
        return function(xp, v)

    return xp.apply_along_axis(called, axis, array), calls


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("name", [*TOGETHER, *ONE_BY_ONE])
def test_as_numpy(name, axis):
    function = TOGETHER.get(name) or ONE_BY_ONE[name]
    want, _ = applied(np, function, axis, VALUES)
    got, calls = applied(hd, function, axis, hd.asarray(VALUES))
    check(got, want, ulp=4 if name in ("elementwise", "quantiles") else 0)
    lines = VALUES.size // VALUES.shape[axis]
    assert len(calls) == (1 if name in TOGETHER else 1 + lines)


def test_fuses():
    x = hd.asarray(VALUES)
    before = hd.statistics()["kernels_launched"]
    hd.eval(hd.apply_along_axis(lambda v: (v - hd.max(v)) * 2, 1, x + 1) - 1)
    assert hd.statistics()["kernels_launched"] == before + 1


def test_inside_jit():
    scale = hd.asarray(np.arange(1.0, 6.0))

    @hd.jit
    def scaled(x, by):
        weights = by * 2
        return hd.apply_along_axis(lambda v: hd.cumsum(v * weights) + scale, 2, x) * by[0]

    for factor in (1.0, 3.0):
        by = np.arange(5.0) + factor
        want = np.cumsum(VALUES * (by * 2), 2) + np.arange(1.0, 6.0)
        check(scaled(hd.asarray(VALUES), hd.asarray(by)), want * by[0])
    with pytest.raises(hd.TraceError):
        hd.jit(lambda x: hd.apply_along_axis(lambda v: v[v > 0], 0, x))(hd.asarray(VALUES))
    by_number = hd.jit(lambda x, k: hd.apply_along_axis(lambda v: v * k, 0, x))
    check(by_number(hd.asarray(VALUES.astype("float32")), 2.0), VALUES.astype("float32") * 2)
    inner = hd.jit(lambda v: hd.sort(v) * 2)
    check(hd.apply_along_axis(inner, 0, hd.asarray(VALUES)), np.sort(VALUES, 0) * 2)


def test_nested():
    def rows(xp):
        return lambda m: xp.apply_along_axis(lambda v: v - xp.min(v) * xp.sum(m), 0,
                                             xp.reshape(m, (2, 2)))

    x = VALUES[:, :, :4].copy()
    check(hd.apply_along_axis(rows(hd), 2, hd.asarray(x)), np.apply_along_axis(rows(np), 2, x))


def test_what_lines_draw_differs():
    generator = hd.random.default_rng(3)
    drawn = hd.apply_along_axis(lambda v: v * 0 + generator.random(), 1, hd.zeros((4, 3)))
    assert len(set(hd.asnumpy(drawn)[:, 0])) == 4


def test_arrays_from_outside_are_written_by_each_line():
    total = hd.zeros(3)

    def add(v):
        total[...] = total + v
        return hd.sum(v)

    x = np.arange(12.0).reshape(4, 3)
    check(hd.apply_along_axis(add, 1, hd.asarray(x)), x.sum(1))
    check(total, x.sum(0))


def test_refuses():
    x = hd.asarray(VALUES)
    with pytest.raises(IndexError):
        hd.apply_along_axis(hd.sum, 3, x)
    with pytest.raises(ValueError, match="no 1-d slices"):
        hd.apply_along_axis(hd.sum, 0, x[:, :0])
    with pytest.raises(hd.ShapeError):
        hd.apply_along_axis(lambda v: v + hd.ones(2), 0, x)
    with pytest.raises(ZeroDivisionError):
        hd.apply_along_axis(lambda v: 1 // 0, 0, x)


def test_arguments_by_name_as_numpy_takes_them():
    x = hd.arange(6.0).reshape((2, 3))
    got = hd.apply_along_axis(hd.sum, axis=1, arr=x)
    np.testing.assert_array_equal(hd.asnumpy(got), [3.0, 12.0])


def test_draws_that_nothing_uses_are_drawn_all_the_same():
    states = []
    for lines in (lambda g, x: hd.apply_along_axis(lambda v: (g.random(4), v)[1], 0, x),
                  lambda g, x: [g.random(4) for _ in range(3)]):
        generator = hd.random.default_rng(5)
        lines(generator, hd.ones((2, 3)))
        states.append(hd.asnumpy(generator.random(3)))
    np.testing.assert_array_equal(states[0], states[1])
