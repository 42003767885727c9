"""Python numbers and lists as elements of arrays: written where they fit, refused as NumPy does."""

import numpy as np
import pytest
from conftest import check

import heddle as hd

NAN, INF = float("nan"), float("inf")
WRONG = (OverflowError, TypeError, ValueError)


def same(function, ulp=0):
    """What the function makes of both libraries: the same array, or an error of one class."""
    try:
        want = function(np, np.asarray)
    except WRONG as error:
        kind = [base for base in WRONG if isinstance(error, base)]
        with pytest.raises(tuple(kind)):
            function(hd, hd.asarray)
        return
    check(function(hd, hd.asarray), want, ulp)


@pytest.mark.parametrize("bounds", [(1.5, None), (5, None), (None, 5), (None, 0.5), (0, None)])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "uint64", "float32", "complex64"])
def test_clip_with_one_bound(dtype, bounds):
    same(lambda xp, make: xp.clip(make([0, 1], dtype), *bounds))
    check(hd.asarray([0, 1], dtype).clip(*bounds), np.asarray([0, 1], dtype).clip(*bounds))


def test_clip_beyond_a_dtype_and_of_infinite_parts():
    same(lambda xp, make: xp.clip(make([1], "uint64"), 1e30, None))
    same(lambda xp, make: xp.clip(make([1], "uint64"), None, -1e30))
    same(lambda xp, make: xp.clip(make([1j]), complex(INF, 1), None))
    same(lambda xp, make: xp.clip(make([1j]), None, complex(-INF, 1)))
    same(lambda xp, make: xp.clip(make([NAN, 1.0]), 2, None))
    for bounds in [(300, None), (-300, None), (None, 300), (None, -300)]:
        same(lambda xp, make, bounds=bounds: xp.clip(make([1], "int8"), *bounds))


@pytest.mark.parametrize("mode", ["clip", "wrap"])
@pytest.mark.parametrize("index", [[9], [-9], [9, -1], [2, 3]])
def test_put_beyond_the_ends(mode, index):
    def put(xp, make):
        a = make([[1, 2, 3], [4, 5, 6]])
        xp.put(a, make(index), make([7, 8]), mode=mode)
        return a

    same(put)
    same(lambda xp, make: xp.take(make([1, 2, 3]), make(index), mode=mode))


@pytest.mark.parametrize("dtype, values", [
    ("int8", [300, 1]), ("int8", (300, 1)), ("int64", [2**63, 1]), ("int8", [1.5, -1.5]),
    ("int8", [NAN, 2]), ("int64", [NAN, 2]), ("int8", [1e30, 2]), ("int8", [INF, 2]),
    ("uint8", [-1, 2]), ("uint8", [300.0, 1]), ("int8", [1j, 2]), ("float32", [1j, 2]),
    ("bool", [2, 0]), ("uint64", [2**63, 1]), ("float64", [2**70, 1]), ("int8", [10**30, 1]),
    ("float32", [10**400, 1]), ("int8", [True, False]), ("complex64", [1, 2j])])
def test_lists_that_are_assigned(dtype, values):
    for key in (slice(None), [0, 1], np.array([True, True])):
        def assigned(xp, make, key=key):
            a = make([1, 2], dtype)
            a[make(key) if isinstance(key, np.ndarray) else key] = values
            return a

        same(assigned)


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "uint64", "float32", "complex64"])
@pytest.mark.parametrize("value", [NAN, INF, -INF, 1e30, 1.5, 10**30, -1, True],
                         ids=str)
def test_numbers_as_elements(dtype, value):
    def putmask(xp, make):
        a = make([1, 2], dtype)
        xp.putmask(a, make([True, False]), value)
        return a

    def fill_diagonal(xp, make):
        a = make([[1, 2], [3, 4]], dtype)
        xp.fill_diagonal(a, value)
        return a

    def item(xp, make):
        a = make([1, 2], dtype)
        a[0] = value
        return a

    same(putmask)
    same(fill_diagonal)
    same(item)
    same(lambda xp, make: xp.insert(make([1], dtype), 0, value))
    if dtype != "uint64" or value == 1.5:  # NumPy pads it with what a C cast gives
        same(lambda xp, make: xp.pad(make([1], dtype), 1, constant_values=value))
    for name in ("sum", "prod", "max", "min", "nansum", "nanprod", "nanmax", "nanmin"):
        same(lambda xp, make, name=name: getattr(xp, name)(make([1], dtype), initial=value))


def test_numbers_that_insert_refuses():
    same(lambda xp, make: xp.insert(make([1], "int8"), 0, 300))
    same(lambda xp, make: xp.insert(make([1]), 0, 1j))
    same(lambda xp, make: xp.insert(make([1], "int8"), 0, make([300])))  # an array is cast


@pytest.mark.parametrize("index, shape, values, axis", [
    ([1], (2,), [[5]], 0), ([0, 1], (2,), [[5, 6]], 0), (1, (2,), [[5]], 0),
    (1, (1, 2), [[[5]]], 0), (1, (1, 2), [[[5, 6]]], 0), ([1, 2], (2, 2), [[[5, 6]]], 1),
    (1, (2, 2), [[[5], [6]]], 0), ([0], (2, 2), [[[5, 6]]], 0)])
def test_leading_ones_of_inserted_values(index, shape, values, axis):
    same(lambda xp, make: xp.insert(xp.reshape(make(range(1, 1 + int(np.prod(shape)))), shape),
                                    index, make(values), axis=axis))


def test_values_of_more_axes_are_not_inserted():
    for values in ([[5, 6]], [[5], [6]]):
        with pytest.raises(hd.ShapeError):
            hd.insert(hd.asarray([1, 2]), 1, hd.asarray(values))
        with pytest.raises(ValueError):
            np.insert([1, 2], 1, values)


@pytest.mark.filterwarnings("ignore:Casting complex")
@pytest.mark.parametrize("casting", ["no", "equiv", "safe", "same_kind", "unsafe", "other"])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "float32", "float64", "complex64"])
def test_copyto_by_each_rule(dtype, casting):
    sources = [True, 1, -1, 300, 1.5, 1j, 10**30]
    arrays = [np.array(1, "int8"), np.array(1), np.array([1.5]), np.array([[1.5, 2]], "float32")]
    for source in sources + arrays:
        if dtype == "bool" and casting == "unsafe" and isinstance(source, int) and source > 2**64:
            continue  # NumPy's own way to bool fails on integers beyond 64 bits

        def copied(xp, make, source=source):
            a = make([0, 0], dtype)
            xp.copyto(a, make(source) if isinstance(source, np.ndarray) else source,
                      casting=casting)
            return a

        same(copied)
