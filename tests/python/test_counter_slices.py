"""Slices that begin at a loop's counter, x[i:i+k], read and written, against NumPy."""

import itertools
import os
import subprocess
import sys

import numpy as np
import pytest

import heddle as hd


@pytest.fixture(params=["recorded", "jitted"])
def run(request):
    """Calls a function of Arrays as it is, or jitted."""
    if request.param == "recorded":
        return lambda function, *arguments: function(*arguments)
    return lambda function, *arguments: hd.jit(function)(*arguments)


def values(shape, seed=0):
    return np.random.default_rng(seed).integers(0, 100, shape).astype("float64")


def same(found, expected):
    expected = np.asarray(expected)
    assert np.asarray(found).dtype == expected.dtype and found.shape == expected.shape
    np.testing.assert_array_equal(np.asarray(found), expected)


def indices(start, count, step, extent):
    """The elements that x[start::step] selects, `count` of them, and whether they are in range."""
    index = start + step * np.arange(count)
    inside = (index >= -extent) & (index < extent)
    return np.clip(np.where(index < 0, index + extent, index), 0, extent - 1), inside


SLICES = [
    # of i: start, stop, step; the loop's bounds
    (lambda i: i, lambda i: i + 2, None, 0, 5), (lambda i: i, lambda i: i + 3, None, 0, 5),
    (lambda i: i + 1, lambda i: i + 4, None, 0, 4), (lambda i: i - 1, lambda i: i + 2, None, 1, 6),
    (lambda i: i - 1, lambda i: i + 2, None, 0, 7), (lambda i: 2 * i, lambda i: 2 * i + 2, None, 0, 3),
    (lambda i: 2 * i, lambda i: 2 * (i + 1), None, 0, 5), (lambda i: 5 - i, lambda i: 7 - i, None, 0, 5),
    (lambda i: -3 - i, lambda i: -1 - i, None, 0, 4), (lambda i: -3 - i, lambda i: -1 - i, None, 0, 9),
    (lambda i: i, lambda i: i + 5, 2, 0, 3), (lambda i: i, lambda i: i + 5, 2, 0, 6),
    (lambda i: i + 2, lambda i: i - 1, -1, 1, 5), (lambda i: i + 2, lambda i: i - 2, -2, 0, 6),
    (lambda i: i, lambda i: i, None, 0, 4), (lambda i: i + 1, lambda i: i, None, 0, 4),
    (lambda i: i, lambda i: i + 9, None, 0, 3), (lambda i: i - 2, lambda i: i + 6, None, 0, 9),
    (lambda i: i + 5, lambda i: i - 3, -1, -4, 5)]


@pytest.mark.parametrize("case", range(len(SLICES)))
@pytest.mark.parametrize("axis", [0, 1])
def test_slices_at_the_counter(run, case, axis):
    start, stop, step, lower, upper = SLICES[case]
    x = values((7, 7))
    count = len(range(int(start(100)), int(stop(100)), step or 1))
    shape = (count, 7) if axis == 0 else (7, count)
    update = values(shape, seed=1)

    def key(i):
        return (slice(start(i), stop(i), step),) if axis == 0 else (slice(None), slice(start(i), stop(i), step))

    def body(i, state):
        a, total, filled, added = state
        total = total * 3 % 1009 + a[key(i)]
        a[key(i)] = hd.asarray(update) + i
        filled[key(i)] = i
        added[key(i)] += a[key(i)] + 1
        return a, total, filled, added

    zeros = np.zeros((7, 7))
    found = run(lambda a: hd.fori_loop(lower, upper, body, (a, hd.zeros(shape), hd.zeros((7, 7)), hd.zeros((7, 7)))),
                hd.asarray(x))
    a, total, filled, added = x.copy(), np.zeros(shape), zeros.copy(), zeros.copy()
    whole = (lambda index: index) if axis == 0 else (lambda index: (slice(None), index))
    for i in range(lower, upper):
        index, inside = indices(start(i), count, step or 1, 7)
        total = total * 3 % 1009 + a[whole(index)]
        some = (lambda value: np.compress(inside, value, axis))
        a[whole(index[inside])] = some(update + i)
        filled[whole(index[inside])] = i
        added[whole(index[inside])] = some(added[whole(index)] + a[whole(index)] + 1)
    for one, expected in zip(found, (a, total, filled, added)):
        same(one, expected)


def test_slices_with_other_subscripts(run):
    x = values((6, 7, 5))
    hd_x, picked = hd.asarray(x), np.asarray([3, 0, -1])
    hd_picked = hd.asarray(picked)
    cases = [
        (lambda a, i, p: a[i:i + 2, 1], 5), (lambda a, i, p: a[1, i:i + 2], 6), (lambda a, i, p: a[..., i:i + 3], 3),
        (lambda a, i, p: a[i:i + 2, None, 2:4], 5), (lambda a, i, p: a[i:i + 2, i], 5), (lambda a, i, p: a[i, i:i + 2], 6),
        (lambda a, i, p: a[i:i + 2, i:i + 3, i:i + 1], 5), (lambda a, i, p: a[i:i + 2, p], 5),
        (lambda a, i, p: a[p, i:i + 2], 6), (lambda a, i, p: a[i:i + 2, 1, p], 5), (lambda a, i, p: a[p, i:i + 2, 0], 6),
        (lambda a, i, p: a[::-1, i:i + 2, p], 6)]
    for case, steps in cases:
        expected = np.zeros_like(case(x, 0, picked))
        found = run(lambda: hd.fori_loop(0, steps, lambda i, t: t * 2 + case(hd_x, i, hd_picked), hd.asarray(expected)))
        for i in range(steps):
            expected = expected * 2 + case(x, i, picked)
        same(found, expected)


def test_slices_that_leave_the_array_with_other_subscripts(run):
    x = values((6, 7, 5))
    hd_x, picked = hd.asarray(x), np.asarray([3, 0, -1])
    hd_picked = hd.asarray(picked)

    def body(i, state):
        t, a = state
        t = t * 2 + hd_x[i:i + 3, 1, hd_picked]
        a[hd_picked, i:i + 3] = 1.0 * i
        a[i:i + 2, 2:4, i - 1:i + 1] += hd_x[:2, :2, :2]
        return t, a

    found = run(lambda: hd.fori_loop(0, 6, body, (hd.zeros((3, 3)), hd_x)))
    t, a = np.zeros((3, 3)), x.copy()
    for i in range(6):
        rows, inside = indices(i, 3, 1, 6)
        t = t * 2 + x[rows][:, 1, picked]
        columns, inside = indices(i, 3, 1, 7)
        a[np.ix_(picked, columns[inside])] = i
        rows, rows_inside = indices(i, 2, 1, 6)
        last, last_inside = indices(i - 1, 2, 1, 5)
        part = a[np.ix_(rows, [2, 3], last)] + x[:2, :2, :2]
        a[np.ix_(rows[rows_inside], [2, 3], last[last_inside])] = part[rows_inside][:, :, last_inside]
    same(found[0], t)
    same(found[1], a)


def test_a_stencil_sweeps_in_place(run):
    x = values(9)

    def body(i, a):
        a[i] = hd.sum(a[i - 1:i + 2]) // 2
        return a

    found = run(lambda a: hd.fori_loop(1, 8, body, a), hd.asarray(x))
    expected = x.copy()
    for i in range(1, 8):
        expected[i] = expected[i - 1:i + 2].sum() // 2
    same(found, expected)


@pytest.mark.parametrize("k", [3, 1000, 100000])
@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("body", [
    lambda i, a, k: (slice(i, i + k), a[i + 1:i + 1 + k] + a[i:i + k]),
    lambda i, a, k: (slice(i + 1, i + 1 + k), a[i:i + k] * 2),
    lambda i, a, k: (slice(i, i + k), a[i + k - 1:i - 1:-1] + 1),
    lambda i, a, k: (slice(2 * i, 2 * i + k, 2), a[2 * i + 1:2 * i + k + 1:2] * 3)])
def test_slices_that_overlap_what_is_written(run, body, times, k):
    def hd_body(i, a):
        key, value = body(i, a, k)
        a[key] = value
        return a

    x = values(times * k + 20)
    found = run(lambda a: hd.fori_loop(1, 6, hd_body, a), hd.asarray(x))
    expected = x.copy()
    for i in range(1, 6):
        key, value = body(i, expected, k)
        expected[key] = value.copy()
    same(found, expected)


def test_what_is_written_is_computed_from_everything(run):
    x = values((40, 3))

    def body(module, sorted_rows):
        def step(i, a):
            a[i:i + 2] = sorted_rows(a)[i:i + 2] + a[-1]
            a[i] = module.cumsum(a[:, ::-1], 0)[i + 1] % 97
            a[i + 1] = a[i] + module.sum(a[i:i + 3], 0) % 89
            return a
        return step

    found = run(lambda a: hd.fori_loop(0, 30, body(hd, lambda a: hd.sort(a, axis=0)), a), hd.asarray(x))
    expected, step = x.copy(), body(np, lambda a: np.sort(a, 0))
    for i in range(30):
        step(i, expected)
    same(found, expected)


def test_slices_of_lines(run):
    x = values((4, 6))
    found = run(lambda x: hd.apply_along_axis(
        lambda v: hd.fori_loop(0, 6, lambda i, t: t * 2 + v[i:i + 2], hd.zeros(2)), 0, x), hd.asarray(x))
    t = np.zeros((2, 6))
    for i in range(6):
        t = t * 2 + x[indices(i, 2, 1, 4)[0]]
    same(found, t)


def test_slices_in_inner_loops_and_branches(run):
    x = values((6, 6))
    hd_x = hd.asarray(x)

    def inner(i):
        return lambda j, t: t * 2 % 1009 + hd_x[i:i + 2, i + j:i + j + 2] + hd_x[j:j + 2, i + 1:i + 3]

    found = run(lambda: hd.fori_loop(0, 3, lambda i, t: hd.fori_loop(0, 2, inner(i), t), hd.zeros((2, 2))))
    t = np.zeros((2, 2))
    for i, j in itertools.product(range(3), range(2)):
        t = t * 2 % 1009 + x[i:i + 2, i + j:i + j + 2] + x[j:j + 2, i + 1:i + 3]
    same(found, t)
    found = run(lambda: hd.fori_loop(0, 4, lambda i, t: hd.cond(
        i % 2 == 0, lambda t: t + hd_x[i, i:i + 2], lambda t: t * 2, t), hd.zeros(2)))
    t = np.zeros(2)
    for i in range(4):
        t = t + x[i, i:i + 2] if i % 2 == 0 else t * 2
    same(found, t)


def test_slices_of_loops_with_symbolic_extents():
    function = hd.jit(lambda x: hd.fori_loop(0, 3, lambda i, s: s * 2 + x[i:i + 2], hd.zeros_like(x[:2])),
                      dynamic=[("n", "m")])
    for shape in [(4, 3), (7, 2), (3, 2)]:
        x = values(shape)
        expected = np.zeros_like(x[:2])
        for i in range(3):
            expected = expected * 2 + x[indices(i, 2, 1, shape[0])[0]]
        same(function(hd.asarray(x)), expected)


def test_bounds_outside_of_traces_are_numbers():
    x = hd.arange(8)
    j = hd.asarray(3)
    same(x[j:j + 2], [3, 4])
    same(x[j:], np.arange(3, 8))
    x[j:j + 2] = 0
    same(x, [0, 1, 2, 0, 0, 5, 6, 7])


MASK = r"hd\.where\(hd\.arange\(n\) < k, x, 0\)"


@pytest.mark.parametrize("call, text", [
    (lambda i, x: x[:i], MASK), (lambda i, x: x[i:], MASK), (lambda i, x: x[i:5], MASK), (lambda i, x: x[i:2 * i], MASK),
    (lambda i, x: x[hd.sum(x).astype(hd.int64):], MASK), (lambda i, x: x[i:i + 2:i], "reads a value"),
    (lambda i, x: x[hd.argmax(x):hd.argmax(x) + 2], "dynamic_slice"), (lambda i, x: x[i:hd.argmax(x)], "dynamic_slice")])
def test_lengths_that_vary_are_refused(call, text):
    with pytest.raises(hd.TraceError, match=text):
        hd.fori_loop(0, 3, lambda i, x: x + hd.sum(call(i, x)), hd.zeros(6))
    with pytest.raises(hd.TraceError, match="dynamic_slice"):
        hd.jit(lambda x, j: x[j:j + 2])(hd.zeros(6), hd.asarray(1))
    with pytest.raises(hd.TraceError, match=MASK):
        hd.jit(lambda x, j: x[:j])(hd.zeros(6), hd.asarray(1))

    def write(i, x):
        x[i:] = 0
        return x

    with pytest.raises(hd.TraceError, match=MASK):
        hd.fori_loop(0, 3, write, hd.zeros(6))
    same(hd.fori_loop(0, 2, lambda i, x: x + 1, hd.zeros(2)), np.full(2, 2.0))  # goes on working


CHECKED = """
import heddle as hd
x = hd.arange(7)
assert hd.fori_loop(0, 5, lambda i, s: s + x[i:i + 3], hd.zeros(3, dtype=hd.int64)).tolist() == [10, 15, 20]

def write(i, a):
    a[i:i + 2] = 1
    return a

for call in (lambda: hd.fori_loop(0, 6, lambda i, s: s + x[i:i + 3], hd.zeros(3, dtype=hd.int64)),
             lambda: hd.fori_loop(0, 7, write, x)):
    try:
        call().tolist()
    except hd.IndexError as error:
        assert "index 7 is out of bounds for axis 0" in str(error), error
    else:
        raise AssertionError("no error")
"""


def test_bounds_are_checked_where_asked():
    done = subprocess.run([sys.executable, "-c", CHECKED], capture_output=True, text=True,
                          env={**os.environ, "HEDDLE_CHECK_BOUNDS": "1"})
    assert done.returncode == 0, done.stderr


def test_empty_axes_cannot_be_read():
    with pytest.raises(IndexError):
        np.asarray(hd.fori_loop(0, 3, lambda i, t: t + hd.zeros(0)[i:i + 2], hd.zeros(2)))
