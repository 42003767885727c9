"""Slices whose starts are computed (heddle.dynamic_slice and others) against NumPy."""

import itertools

import numpy as np
import pytest

import heddle as hd

DTYPES = ["float32", "float64", "float16", "complex64", "int32", "int8", "uint64", "bool"]
STARTS = [-9, -5, -2, -1, 0, 1, 2, 3, 4, 7, 100]


@pytest.fixture(params=["recorded", "jitted"])
def run(request):
    """Calls a function of Arrays as it is, or jitted."""
    if request.param == "recorded":
        return lambda function, *arguments: function(*arguments)
    return lambda function, *arguments: hd.jit(function)(*arguments)


def values(shape, dtype="float64", seed=0):
    made = np.random.default_rng(seed).integers(0, 100, shape)
    return made % 2 == 0 if dtype == "bool" else made.astype(dtype)


def same(found, expected):
    expected = np.asarray(expected)
    assert np.asarray(found).dtype == expected.dtype and found.shape == expected.shape
    np.testing.assert_array_equal(np.asarray(found), expected)


def place(x, starts, sizes):
    """The slices that jax.lax.dynamic_slice reads."""
    starts = [start + extent if start < 0 else start for start, extent in zip(starts, x.shape)]
    starts = [min(max(start, 0), extent - size) for start, extent, size in zip(starts, x.shape, sizes)]
    return tuple(slice(start, start + size) for start, size in zip(starts, sizes))


def written(x, update, starts):
    x = x.copy()
    x[place(x, starts, update.shape)] = update
    return x


def ways(start):
    """A start as a number, as a 0-d array and as other dtypes of it."""
    return [start, hd.asarray(start), hd.asarray(start, dtype=hd.int16), np.int64(start)]


# dynamic_slice and dynamic_update_slice

@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("size", [0, 1, 3, 5])
def test_starts_are_clamped(run, start, size):
    x, update = values(5), values(size, seed=1)
    for way in ways(start):
        if isinstance(way, hd.Array):
            read = run(lambda x, s: hd.dynamic_slice(x, (s,), (size,)), hd.asarray(x), way)
            wrote = run(lambda x, u, s: hd.dynamic_update_slice(x, u, (s,)), hd.asarray(x), hd.asarray(update), way)
        else:
            read = run(lambda x: hd.dynamic_slice(x, (way,), (size,)), hd.asarray(x))
            wrote = run(lambda x, u: hd.dynamic_update_slice(x, u, (way,)), hd.asarray(x), hd.asarray(update))
        same(read, x[place(x, [start], [size])])
        same(wrote, written(x, update, [start]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_all_dtypes_and_several_axes(run, dtype):
    x, update = values((5, 4, 6), dtype), values((2, 3, 1), dtype, 1)
    rng = np.random.default_rng(2)
    for known in itertools.product([True, False], repeat=3):
        starts = [int(start) for start in rng.integers(-7, 8, 3)]
        given = [start if fixed else hd.asarray(start) for start, fixed in zip(starts, known)]
        read = run(lambda x, *s: hd.dynamic_slice(x, s, (2, 3, 1)), hd.asarray(x), *given)
        same(read, x[place(x, starts, (2, 3, 1))])
        wrote = run(lambda x, u, *s: hd.dynamic_update_slice(x, u, s), hd.asarray(x), hd.asarray(update), *given)
        same(wrote, written(x, update, starts))


@pytest.mark.parametrize("layout", [lambda x: x.T, lambda x: x[::2, ::-1], lambda x: x[1:, 2:], lambda x: x[:, None, 0]])
def test_views_are_sliced(run, layout):
    x = values((6, 8))
    view = layout(x)
    for starts in [(0, 0), (1, 2), (-1, -2), (9, -9)]:
        sizes = (2, 1)
        given = [hd.asarray(start) for start in starts]
        same(run(lambda x, a, b: hd.dynamic_slice(layout(x), (a, b), sizes), hd.asarray(x), *given),
             view[place(view, starts, sizes)])
        update = values((1, 2), seed=3).T
        same(run(lambda x, u, a, b: hd.dynamic_update_slice(layout(x), u.T, (a, b)), hd.asarray(x),
                 hd.asarray(update.T), *given), written(view, update, starts))


def test_arrays_without_axes_or_elements(run):
    x = hd.asarray(2.5)
    same(run(lambda x: hd.dynamic_slice(x, (), ()), x), np.float64(2.5))
    same(run(lambda x: hd.dynamic_update_slice(x, x * 2, ()), x), np.float64(5))
    empty = hd.zeros((0, 3))
    same(run(lambda x, s: hd.dynamic_slice(x, (s, s), (0, 2)), empty, hd.asarray(1)), np.zeros((0, 2)))
    same(run(lambda x, s: hd.dynamic_update_slice(x, x[:, :2], (s, s)), empty, hd.asarray(1)), np.zeros((0, 3)))


def test_starts_may_be_one_array(run):
    x = values((5, 6))
    for starts in ([1, 2], [-1, 9]):
        same(run(lambda x, s: hd.dynamic_slice(x, s, (2, 3)), hd.asarray(x), hd.asarray(starts)),
             x[place(x, starts, (2, 3))])
        same(hd.dynamic_slice(hd.asarray(x), np.asarray(starts), (2, 3)), x[place(x, starts, (2, 3))])


def test_large_starts_are_clamped():
    x = hd.arange(5)
    for start in (2**63 - 1, 2**64 - 1, 10**30, hd.asarray(2**64 - 1, dtype=hd.uint64), hd.asarray(2**63 - 1)):
        same(hd.dynamic_slice(x, (start,), (2,)), [3, 4])
    for start in (-2**63, -10**30, hd.asarray(-2**63)):
        same(hd.dynamic_slice(x, (start,), (2,)), [0, 1])


def test_one_axis(run):
    x = values((4, 5, 3))
    hd_x = hd.asarray(x)
    for start, axis in itertools.product([-6, -2, 0, 1, 9], [0, 1, 2, -1]):
        s = hd.asarray(start)
        sizes, starts = list(x.shape), [0] * 3
        sizes[axis], starts[axis] = 2, start
        where = place(x, starts, sizes)
        same(run(lambda x, s: hd.dynamic_slice_in_dim(x, s, 2, axis), hd_x, s), x[where])
        update = values(sizes, seed=1)
        same(run(lambda x, u, s: hd.dynamic_update_slice_in_dim(x, u, s, axis), hd_x, hd.asarray(update), s),
             written(x, update, starts))
        sizes[axis] = 1
        element = x[place(x, starts, sizes)]
        same(run(lambda x, s: hd.dynamic_index_in_dim(x, s, axis), hd_x, s), element)
        same(run(lambda x, s: hd.dynamic_index_in_dim(x, s, axis, keepdims=False), hd_x, s), element.squeeze(axis))
        for u in (element * 2, element.squeeze(axis) * 2):
            same(run(lambda x, u, s: hd.dynamic_update_index_in_dim(x, u, s, axis), hd_x, hd.asarray(u), s),
                 written(x, element * 2, starts))


def test_numbers_take_the_dtype():
    x = hd.zeros(3, dtype=hd.float32)
    same(hd.dynamic_update_index_in_dim(x, 2.5, hd.asarray(1), 0), np.asarray([0, 2.5, 0], "float32"))


# In loops

@pytest.mark.parametrize("offset, scale", [(0, 1), (2, 1), (-3, 1), (6, -1), (-1, -1), (0, 2), (5, 3), (-20, 5)])
def test_the_counter_as_start(run, offset, scale):
    x = values((9, 2))
    update = values((3, 2), seed=1)

    def body(i, state):
        a, total = state
        start = i * scale + offset
        total = total * 2 + hd.dynamic_slice(a, (start, 0), (3, 2))
        return hd.dynamic_update_slice(a, hd.asarray(update) + i, (start, 0)), total

    found = run(lambda a: hd.fori_loop(0, 5, body, (a, hd.zeros((3, 2)))), hd.asarray(x))
    a, total = x, np.zeros((3, 2))
    for i in range(5):
        starts = (i * scale + offset, 0)
        total = total * 2 + a[place(a, starts, (3, 2))]
        a = written(a, update + i, starts)
    same(found[0], a)
    same(found[1], total)


def test_starts_of_other_loops(run):
    x, starts = values(8), np.asarray([3, -1, 9, 0])
    hd_x = hd.asarray(x)
    windows = np.stack([x[place(x, [s], [3])] for s in starts])
    same(run(lambda s: hd.map(lambda s: hd.dynamic_slice(hd_x, (s,), (3,)), s), hd.asarray(starts)), windows)
    total, _ = run(lambda s: hd.scan(lambda c, s: (hd.dynamic_update_slice(c, hd_x[:2] + c[:2], (s,)), s), hd_x, s),
                   hd.asarray(starts))
    expected = x
    for s in starts:
        expected = written(expected, x[:2] + expected[:2], [s])
    same(total, expected)

    def step(state):
        k, a = state
        return k + 2, hd.dynamic_update_slice(a, hd.dynamic_slice(a, (k,), (2,)) * 2, (k + 1,))

    found = run(lambda a: hd.while_loop(lambda state: state[0] < 9, step, (0, a)), hd_x)
    expected, k = x, 0
    while k < 9:
        expected, k = written(expected, expected[place(x, [k], [2])] * 2, [k + 1]), k + 2
    same(found[1], expected)


def test_nested_counters_as_starts(run):
    x = values((5, 6))
    hd_x = hd.asarray(x)
    found = run(lambda: hd.fori_loop(0, 4, lambda i, t: hd.fori_loop(
        0, 4, lambda j, t: t * 2 % 1009 + hd.dynamic_slice(hd_x, (i, j), (2, 3)), t), hd.zeros((2, 3))))
    t = np.zeros((2, 3))
    for i, j in itertools.product(range(4), range(4)):
        t = t * 2 % 1009 + x[i:i + 2, j:j + 3]
    same(found, t)


def test_slices_of_lines(run):
    x = values((4, 6))
    found = run(lambda x: hd.apply_along_axis(lambda v: hd.dynamic_slice(v, (hd.argmax(v) - 1,), (3,)), 1, x),
                hd.asarray(x))
    same(found, np.stack([row[place(row, [np.argmax(row) - 1], [3])] for row in x]))


def test_extents_may_be_symbols():
    function = hd.jit(lambda x, s: (hd.dynamic_slice_in_dim(x, s, 2), hd.dynamic_slice_in_dim(x, 3, 2),
                                    hd.dynamic_slice_in_dim(x, -1, 2), hd.dynamic_update_slice_in_dim(x, x[:2] * 2, s, 0)),
                      dynamic=[("n", "m"), ()])
    for shape in [(3, 4), (6, 2), (2, 2)]:
        given = values(shape)
        for start in (-7, -1, 0, 1, 4, 9):
            found = function(hd.asarray(given), hd.asarray(start))
            for one, first in zip(found, (start, 3, -1)):
                same(one, given[place(given, (first, 0), (2, shape[1]))])
            same(found[3], written(given, given[:2] * 2, (start, 0)))
    with pytest.raises((ValueError, IndexError)):
        [np.asarray(each) for each in function(hd.ones((1, 2)), hd.asarray(0))]


@pytest.mark.parametrize("call, error, text", [
    (lambda x: hd.dynamic_slice(x, (1,), (2, 2)), ValueError, "1 starts and 2 sizes"),
    (lambda x: hd.dynamic_slice(x, (1, 1), (2, 9)), ValueError, "9 elements along axis 1"),
    (lambda x: hd.dynamic_slice(x, (1, 1), (2, -1)), ValueError, "-1"),
    (lambda x: hd.dynamic_slice(x, (1, 0.5), (2, 2)), TypeError, "a start is an integer"),
    (lambda x: hd.dynamic_slice(x, (1, True), (2, 2)), TypeError, "a start is an integer"),
    (lambda x: hd.dynamic_slice(x, (1, hd.asarray(0.5)), (2, 2)), TypeError, "a start is an integer"),
    (lambda x: hd.dynamic_slice(x, (1, hd.arange(2)), (2, 2)), TypeError, r"not int64\[2\]"),
    (lambda x: hd.dynamic_slice(x, (1, "a"), (2, 2)), TypeError, "start_indices"),
    (lambda x: hd.dynamic_slice(x, 1, (2, 2)), TypeError, "start_indices"),
    (lambda x: hd.dynamic_update_slice(x, x[0], (1, 1)), ValueError, "not as many axes"),
    (lambda x: hd.dynamic_update_slice(x, hd.ones((5, 1)), (1, 1)), ValueError, "5 elements along axis 0"),
    (lambda x: hd.dynamic_update_slice(x, x.astype(hd.float32), (1, 1)), TypeError, "has not the dtype"),
    (lambda x: hd.dynamic_slice_in_dim(x, 0, 1, 2), hd.exceptions.AxisError, "axis 2"),
    (lambda x: hd.dynamic_update_index_in_dim(x, x, 0, 0), ValueError, "several elements along axis 0"),
])
def test_bad_arguments_are_refused(run, call, error, text):
    with pytest.raises(error, match=text):
        run(call, hd.ones((3, 4)))
