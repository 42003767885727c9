"""Indexing by arrays of integers and bool, as NumPy does it: read, written, and updated in place."""

import numpy as np
import pytest
from conftest import check, sample

import heddle as hd

SHAPE = (4, 3, 5)


def any_key(rng):
    """A key for an array of SHAPE, with integers and masks among slices, new axes and ellipses."""
    common = [(), (1,), (3,), (2, 3), (0,)][rng.integers(5)]
    key, axis, ellipsis = [], 0, False
    while axis < len(SHAPE):
        kind = rng.choice(["index", "index", "slice", "integer", "new", "ellipsis", "mask", "stop"])
        if kind == "index":
            own = common[rng.integers(len(common) + 1):]
            own = tuple(1 if rng.random() < 0.2 else n for n in own)
            dtype = rng.choice(["int8", "int32", "int64"])
            key.append(rng.integers(-SHAPE[axis], SHAPE[axis], own).astype(dtype))
            axis += 1
        elif kind == "slice":
            step = int(rng.choice([1, 2, -1]))
            key.append(slice(None, None, step) if rng.random() < 0.5 else slice(1, 3))
            axis += 1
        elif kind == "integer":
            key.append(int(rng.integers(-SHAPE[axis], SHAPE[axis])))
            axis += 1
        elif kind == "new":
            key.append(None)
        elif kind == "ellipsis" and not ellipsis:
            key.append(Ellipsis)
            ellipsis = True
            axis += int(rng.integers(0, len(SHAPE) - axis))
        elif kind == "mask" and common in ((), (1,)):
            # A mask that picks one element broadcasts with the indices.
            mask = np.zeros(SHAPE[axis], bool)
            mask[rng.integers(SHAPE[axis])] = True
            key.append(mask)
            axis += 1
        elif kind == "stop":
            break
    if ellipsis and sum(k is not None and k is not Ellipsis for k in key) > 2:
        key = [k for k in key if k is not Ellipsis][:3]
    return tuple(key)


def ours(key):
    return tuple(hd.asarray(k) if isinstance(k, np.ndarray) else k for k in key)


def keys(count, seed=1):
    rng = np.random.default_rng(seed)
    found = []
    while len(found) < count:
        key = any_key(rng)
        try:
            np.zeros(SHAPE)[key]
        except IndexError:
            continue
        found.append(key)
    return found


def test_reading_by_random_keys():
    values = sample(hd.float32, SHAPE)
    x = hd.asarray(values)
    for key in keys(150):
        check(x[ours(key)], values[key])


def test_writing_by_random_keys():
    rng = np.random.default_rng(3)
    for number, key in enumerate(keys(100, seed=2)):
        values = sample(hd.int32, SHAPE)
        x = hd.asarray(values)
        place = values[key].shape
        kind = number % 3
        if kind == 0:
            values[key] = 7
            x[ours(key)] = 7
        elif kind == 1:
            written = rng.integers(-50, 50, place).astype(np.int16)
            values[key] = written
            x[ours(key)] = hd.asarray(written)
        else:
            written = rng.integers(-50, 50, place[-1:])
            values[key] += written
            x[ours(key)] += hd.asarray(written)
        check(x, values)


@pytest.mark.parametrize("name", ["bool", "int8", "uint64", "float16", "bfloat16", "float64"])
def test_every_size_of_element(name):
    dtype = getattr(hd, name)
    values = sample(dtype, (6, 4))
    x = hd.asarray(values)
    index = np.array([5, -1, 0, 5])
    check(x[hd.asarray(index)], values[index])
    x[hd.asarray(index)] = x[hd.asarray(index - 1)]
    values[index] = values[index - 1]
    check(x, values)


def test_the_last_of_equal_indices_stays():
    values = np.zeros(1000, np.int32)
    x = hd.asarray(values)
    index = np.random.default_rng(0).integers(0, 1000, 5000)
    values[index] = np.arange(5000)
    x[hd.asarray(index)] = hd.arange(5000, dtype=hd.int32)
    check(x, values)


def test_overlap_reads_before_it_writes():
    values = np.arange(10)
    x = hd.asarray(values)
    index = np.array([3, 4, 5])
    x[hd.asarray(index + 1)] = x[hd.asarray(index)]
    values[index + 1] = values[index]
    check(x, values)


def test_masks():
    values = sample(hd.float64, SHAPE)
    x = hd.asarray(values)
    for mask in (values > 0, values > 100, values[:, :, 0] > 0, values[:, 0, 0] < 9, np.array(True),
                 np.array(False)):
        m = hd.asarray(mask)
        check(x[m], values[mask])
        for written in (3.5, np.arange(float(values[mask].size)).reshape(values[mask].shape)):
            changed, y = values.copy(), hd.asarray(values)
            changed[mask] = written
            y[m] = written if isinstance(written, float) else hd.asarray(written)
            check(y, changed)
            changed[mask] *= written
            y[m] *= written if isinstance(written, float) else hd.asarray(written)
            check(y, changed)
    check(x[:, hd.asarray([True, False, True])], values[:, [True, False, True]])
    check(x[True], values[True])
    check(x[[1, 2]], values[[1, 2]])
    check(x[[]], values[[]])
    view = hd.asarray(values)
    view[1:, 0][hd.asarray(np.array([0, 2]))] = 9
    changed = values.copy()
    changed[1:, 0][np.array([0, 2])] = 9
    check(view, changed)


def test_bad_subscripts_leave_the_array():
    values = sample(hd.float32, SHAPE)
    x = hd.asarray(values)
    for key in ((hd.asarray([0, 1]), hd.asarray([0, 1, 2])), (hd.asarray([0.5]),),
                (hd.asarray([True, False]),), (hd.asarray([0]),) * 4, (1.5,), ("a",)):
        with pytest.raises(IndexError):
            x[key]
        with pytest.raises(IndexError):
            x[key] = 0
    with pytest.raises(ValueError):
        x[hd.asarray([0, 1])] = hd.asarray(np.zeros((2, 2, 2), np.float32))
    with pytest.raises(IndexError):
        hd.zeros((0, 3))[hd.asarray([0])]
    check(x, values)


def test_indices_outside_read_the_nearest_and_write_nothing():
    x = hd.arange(5)
    index = hd.asarray([-9, -6, 5, 2**40])
    check(x[index], np.array([0, 0, 4, 4]))
    x[index] = 7
    check(x, np.arange(5))


def test_take_and_put():
    values = sample(hd.float32, (4, 5))
    x = hd.asarray(values)
    index = np.array([[0, 3], [-1, 2]])
    i = hd.asarray(index)
    check(hd.take(x, i), np.take(values, index))
    for axis in (0, 1, -1):
        check(hd.take(x, i, axis=axis), np.take(values, index, axis=axis))
        for mode in ("wrap", "clip"):
            far = index * 7
            check(hd.take(x, hd.asarray(far), axis=axis, mode=mode),
                  np.take(values, far, axis=axis, mode=mode))
    order = np.argsort(values, axis=1)
    check(hd.take_along_axis(x, hd.asarray(order), axis=1), np.take_along_axis(values, order, 1))
    column = order[:, :1]
    check(hd.take_along_axis(x, hd.asarray(column % 4), axis=0),
          np.take_along_axis(values, column % 4, 0))
    with pytest.raises(ValueError):
        hd.take(x, i, mode="other")
    with pytest.raises(TypeError):
        hd.take(x, hd.asarray([1.0]))
    for written in ([9.0], [1.0, 2.0], np.arange(6.0)):
        changed, y = values.copy(), hd.asarray(values)
        np.put(changed, [0, -1, 7, 7], written)
        hd.put(y, hd.asarray([0, -1, 7, 7]), hd.asarray(np.asarray(written, np.float32)))
        check(y, changed)
    changed, y = values.copy(), hd.asarray(values)
    np.put_along_axis(changed, order[:, :2], np.float32(8), 1)
    hd.put_along_axis(y, hd.asarray(order[:, :2]), 8.0, 1)
    check(y, changed)


@pytest.mark.parametrize("shape", [(7,), (3, 4), (2, 3, 4), (0,), (3, 0), (50000,)])
def test_places_that_hold(shape):
    values = np.random.default_rng(5).integers(0, 3, shape)
    x = hd.asarray(values)
    for got, expected in zip(hd.nonzero(x), np.nonzero(values), strict=True):
        check(got, expected)
    check(hd.flatnonzero(x), np.flatnonzero(values))
    check(hd.argwhere(x), np.argwhere(values))
    check(hd.extract(x == 1, x), np.extract(values == 1, values))
    condition = values.ravel()[:shape[0]] > 0
    if condition.size == shape[0]:
        check(hd.compress(hd.asarray(condition), x, axis=0), np.compress(condition, values, axis=0))


def test_repeat_by_counts():
    values = sample(hd.int16, (3, 4))
    x = hd.asarray(values)
    for counts, axis in (([2, 0, 3], 0), ([1, 0, 0, 4], 1), (list(range(12)), None), ([2], 1),
                         ([0, 0, 0], 0)):
        check(hd.repeat(x, hd.asarray(counts), axis=axis), np.repeat(values, counts, axis=axis))
    with pytest.raises(ValueError):
        hd.repeat(x, hd.asarray([1, -1, 1]), axis=0)
    with pytest.raises(ValueError):
        hd.repeat(x, hd.asarray([1, 2]), axis=0)


def test_sizes_that_depend_on_data_are_refused_in_a_trace():
    by_mask = hd.jit(lambda a: a[a > 0])
    for chosen in (by_mask, hd.jit(hd.trim_zeros), hd.jit(lambda a: hd.ix_(a > 0)[0])):
        with pytest.raises(hd.TraceError, match="where"):
            chosen(hd.arange(4))

    @hd.jit
    def by_index(a, i):
        b = a * 2
        b[i] = b[i] + 1
        return b

    values, index = np.arange(6), np.array([1, 1, -1])
    expected = values * 2
    expected[index] = expected[index] + 1
    check(by_index(hd.asarray(values), hd.asarray(index)), expected)


def test_lists_are_checked_when_recorded():
    x = hd.asarray(np.arange(20).reshape(4, 5))
    assert hd.asnumpy(x[[2, -4], [0, 4]]).tolist() == [10, 4]
    for key in ([4], [0, -5], (slice(None), [0, 5]), [[0], [7]], ([0], [5])):
        with pytest.raises(IndexError, match="out of bounds for axis"):
            x[key]
        with pytest.raises(IndexError, match="out of bounds for axis"):
            x[key] = 1
    with pytest.raises(IndexError, match="out of bounds for axis"):
        hd.take(x, 5, axis=1)


@pytest.mark.parametrize(("shape", "mask"), [
    ((0, 1), (0, 0)), ((5,), (0,)), ((5, 2), (5, 0)), ((0, 3), (0, 2)), ((2, 3, 4), (0, 0)),
    ((0, 3), (5, 0)), ((2, 0), (2, 1)),
])
def test_masks_that_are_empty(shape, mask):
    try:
        want = np.zeros(shape)[np.zeros(mask, bool)].shape
    except IndexError:
        with pytest.raises(IndexError):
            hd.zeros(shape)[hd.zeros(mask, dtype=hd.bool)]
        return
    assert hd.zeros(shape)[hd.zeros(mask, dtype=hd.bool)].shape == want
    x = hd.zeros(shape)
    x[hd.zeros(mask, dtype=hd.bool)] = 1
    assert not hd.any(x)


def test_index_grids():
    values = sample(hd.int16, (5, 6))
    x = hd.asarray(values)
    lists = [[0, 3, -1], [2, 4]]
    mask = np.array([True, False, False, True, False])
    for vectors in (lists, [mask, lists[1]], [np.array([], dtype=int), [1]], [[], [0, 1]], [[2]], []):
        want = np.ix_(*vectors)
        got = hd.ix_(*(hd.asarray(v) if isinstance(v, np.ndarray) else v for v in vectors))
        assert isinstance(got, tuple) and len(got) == len(want)
        for one, other in zip(got, want):
            check(one, other)
        if len(want) == 2:
            check(x[got], values[want])
    x[hd.ix_([1, 2], [3, 0])] = 7
    values[np.ix_([1, 2], [3, 0])] = 7
    check(x, values)
    for bad in (x, hd.asarray(3), 3):
        with pytest.raises(ValueError):
            hd.ix_(bad)


def test_indices_of_places_index():
    values = sample(hd.float32, (4, 6), 3)
    x = hd.asarray(values)
    for name, arguments in (("tril_indices", (4, 1, 6)), ("triu_indices", (4, -1, 6)),
                            ("diag_indices", (4,))):
        check(x[getattr(hd, name)(*arguments)], values[getattr(np, name)(*arguments)])
    check(x[hd.unravel_index(hd.argmax(x), x.shape)], values.max())
    triangle = hd.jit(lambda a: a[hd.triu_indices_from(a)] * 2)
    check(triangle(x), values[np.triu_indices_from(values)] * 2)
    for n in (1000, 4097):
        for got, want in zip(hd.tril_indices(n, 3, 70), np.tril_indices(n, 3, 70), strict=True):
            check(got, want)


def test_indices_outside_of_a_shape_are_taken_as_the_nearest():
    x = hd.asarray([-3, 0, 5, 6, 99])
    for got, want in zip(hd.unravel_index(x, (2, 3)), np.unravel_index([0, 0, 5, 5, 5], (2, 3))):
        check(got, want)
    check(hd.ravel_multi_index((x, 1), (6, 2)), np.array([1, 1, 11, 11, 11]))


def test_trimmed_arrays_are_views():
    x = hd.asarray([0, 0, 1, 0, 2, 0])
    hd.trim_zeros(x)[...] = 7
    check(x, np.array([0, 0, 7, 7, 7, 0]))


def test_writing_diagonals_and_places_of_views():
    values = sample(hd.float32, (4, 6), 3)
    x = hd.asarray(values)
    for xp, target in ((np, values), (hd, x)):
        xp.fill_diagonal(target[1:, ::2], 9)
        xp.place(target[::2], target[::2] > 0, xp.asarray(np.float32([5, 6, 7])))
    check(x, values)


@pytest.mark.parametrize("key", [(True, True), (True, None), (True, ...), (..., True), (None, True),
                                 (True,), (False, None), (True, False), (True, None, None)])
def test_masks_beside_others_of_a_0d_array(key):
    for keys in (key, tuple(hd.asarray(k) if isinstance(k, bool) else k for k in key)):
        a, x = np.array(7), hd.asarray(7)
        a[key] = 9
        x[keys] = 9
        check(x, a)
        a[key] += 1
        x[keys] += 1
        check(x, a)
        check(x[keys], a[key])
        a[key] = np.array([5])
        x[keys] = hd.asarray([5])
        check(x, a)


@pytest.mark.parametrize("value", [
    lambda xp, y: xp.max(y, axis=0), lambda xp, y: xp.sum(y, axis=1, keepdims=True),
    lambda xp, y: xp.sum(y), lambda xp, y: y - xp.max(y, axis=0),
    lambda xp, y: y - xp.sum(y, axis=1, keepdims=True), lambda xp, y: xp.cumsum(y, axis=0),
    lambda xp, y: xp.cumsum(y, axis=1)[:, ::-1]])
@pytest.mark.parametrize("region", [np.s_[:, :], np.s_[1:3], np.s_[2:0:-1], np.s_[::2]])
def test_updates_in_place_by_what_reduces(value, region):
    base, y = np.arange(12.0).reshape(4, 3), np.arange(6.0).reshape(2, 3) % 4
    if base[region].shape[0] == 4:
        y = np.concatenate([y, y + 1])

    def update(xp, x, y):
        x[region] = value(xp, y)
        return x
    expected = update(np, base.copy(), y)
    jitted = hd.jit(lambda x, y: update(hd, x, y), donate=(0,))
    check(jitted(hd.asarray(base.copy()), hd.asarray(y)), expected)
    x = hd.asarray(base.copy())
    hd.eval(x)
    check(update(hd, x, hd.asarray(y)), expected)


def put(xp, x, indices):
    x = xp.asarray(x)
    xp.put(x, indices, 9)
    return x


def put_method(xp, x, indices):
    x = xp.asarray(x)
    x.put(indices, 9)
    return x


def put_along(xp, x, indices):
    x = xp.asarray(x)
    xp.put_along_axis(x, xp.asarray(indices) if xp is np else indices, 9, 0)
    return x


def write(xp, x, indices):
    x = xp.asarray(x)
    x[indices] = 9
    return x


INDEXED = {"read": lambda xp, x, i: x[i], "take": lambda xp, x, i: xp.take(x, i), "put": put, "write": write, "put_method": put_method,
           "take_along": lambda xp, x, i: xp.take_along_axis(x, xp.asarray(i) if xp is np else i, 0),
           "put_along": put_along, "method": lambda xp, x, i: x.take(i, axis=0)}


@pytest.mark.parametrize("function", INDEXED.values(), ids=INDEXED)
def test_integers_that_are_known_are_checked(function):
    a, refused = np.arange(3.0), function in (put, put_method, INDEXED["method"])  # NumPy takes no uint64
    for fine in ([0, -3], np.array([2, 1], "u1"), np.array([2**64 - 1], "u8"), np.array([], "i4")):
        theirs = fine.astype("i8") if refused and isinstance(fine, np.ndarray) else fine
        check(function(hd, hd.asarray(a), fine), function(np, a.copy(), theirs))
    for outside in ([0, 7], np.array([0, -4]), np.array([2**63 + 1], "u8"), np.array([3], "u8")):
        with pytest.raises(IndexError, match="out of bounds"):
            function(hd, hd.asarray(a), outside)
        theirs = outside.astype("i8") if refused and isinstance(outside, np.ndarray) else outside
        with pytest.raises(IndexError, match="out of bounds"):
            function(np, a.copy(), theirs)


@pytest.mark.parametrize("indices", [7, np.int64(-4), np.uint8(3), [np.int64(0), np.int8(5)],
                                     (np.array(1), 9), range(2, 9), range(2, -6, -1),
                                     [[0, 1], np.array([7, 0])]], ids=str)
def test_integers_of_every_kind_are_known(indices):
    a = hd.arange(3.0)
    for call in (lambda: hd.take(a, indices), lambda: hd.put(a, indices, 9.0), lambda: a.take(indices)):
        with pytest.raises(IndexError, match="out of bounds"):
            call()
    check(a, np.arange(3.0))


def test_integers_on_the_device_read_the_nearest():
    x = hd.arange(3.0)
    for indices, found in (([0, 7, -9], [0, 2, 0]), (np.array([2**64 - 1, 2**63 + 1], "u8"), [2, 0])):
        for function in (INDEXED["read"], INDEXED["take"], INDEXED["take_along"]):
            assert function(hd, x, hd.asarray(indices)).tolist() == found
    assert put(hd, x, hd.asarray([7, 1])).tolist() == [0, 9, 2]
