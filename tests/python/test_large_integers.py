"""Python integers beyond int64 and beyond 64 bits, and large ones in lists, as NumPy takes them."""

import operator

import numpy as np
import pytest
from conftest import check

import heddle as hd

INTEGERS = [2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**30, -2**63, -2**63 - 1, -2**64, -10**30]
COMPARISONS = [operator.lt, operator.le, operator.eq, operator.ne, operator.ge, operator.gt]
ARRAYS = [np.array([0, 1, 2**63 - 1, -2**63]), np.array([0, 2**64 - 1, 2**63], dtype="uint64"),
          np.array([0, 100, -128], dtype="int8"), np.array([0.5, 1e30, -1e30, 2.0**63, np.inf]),
          np.array([0.5, 1e30], dtype="float32")]


def outcome(function, *operands):
    """The result, or OverflowError."""
    try:
        return function(*operands)
    except OverflowError:
        return OverflowError


def agree(pairs):
    """Checks pairs of Heddle's and NumPy's results, computed together."""
    hd.eval(*[got for got, _ in pairs if isinstance(got, hd.Array)])
    for got, want in pairs:
        if want is OverflowError:
            assert got is OverflowError
        else:
            check(got, want)


def test_comparisons_in_both_orders_and_inside_jit():
    pairs = []
    for a in ARRAYS:
        x = hd.asarray(a)
        for compare in COMPARISONS:
            for n in [*INTEGERS, 10**400]:
                want, mirrored = outcome(compare, a, n), outcome(compare, n, a)
                pairs += [(outcome(compare, x, n), want), (outcome(compare, n, x), mirrored)]
            if a.dtype.kind != "f":
                traced = hd.jit(lambda v, n, compare=compare: compare(v, n))
                pairs += [(traced(x, n), compare(a, n)) for n in INTEGERS]
    agree(pairs)


@pytest.mark.filterwarnings("ignore:overflow")
def test_floats_take_the_nearest_float():
    pairs = []
    for dtype in ("float32", "float64", "complex64", "complex128"):
        a = np.array([0.5, -2.0], dtype=dtype)
        x = hd.asarray(a)
        traced = hd.jit(lambda v, n: v * n)
        for n in INTEGERS:
            pairs += [(x + n, a + n), (n - x, n - a), (x * n, a * n), (traced(x, n), a * n)]
    a = np.array([0.5, -2.0])
    x = hd.asarray(a)
    mask = hd.asarray(np.array([True, False]))
    pairs += [(hd.full(3, 10**30, dtype="float64"), np.full(3, 1e30)),
              (hd.full_like(x, -10**30), np.full_like(a, -10**30)),
              (hd.where(mask, x, 10**30), np.array([0.5, 1e30])),
              (hd.maximum(x, 10**30), np.maximum(a, 10**30)),
              (hd.float_power(x, 2**64), np.float_power(a, 2**64)),
              (hd.sum(x, initial=10**30), np.sum(a, initial=10**30)),
              (hd.clip(x, -10**30, 10**30), a)]
    agree(pairs)
    written = hd.copy(x)
    written[0] = 10**30
    check(written, np.array([1e30, -2.0]))


def test_integer_arrays_refuse_them():
    x = hd.arange(3)
    for n in (2**63, 10**30, -10**30):
        for function in (operator.add, hd.maximum, lambda x, n: hd.where(x > 0, x, n),
                         lambda x, n: hd.full_like(x, n)):
            with pytest.raises(hd.DTypeError):
                function(x, n)
    for make in (lambda: hd.full(3, 10**30), lambda: hd.asarray([10**30]),
                 lambda: hd.full(3, 10**400, dtype="float64"), lambda: hd.ones(2) + 10**400,
                 lambda: hd.arange(10**30, 10**30 + 3), lambda: hd.clip(x, 10**30, None)):
        with pytest.raises(OverflowError):
            make()
    with pytest.raises(IndexError):
        x[10**30]


def test_clip_bounds_beyond_the_dtype_have_no_effect():
    agree([(hd.clip(hd.asarray(a), low, high), np.clip(a, low, high))
           for a in ARRAYS for low, high in [(-10**30, 10**30), (-2**64, 1), (0, 2**64)]])


def test_roll_by_large_integers_wraps_around():
    a = np.arange(15).reshape(3, 5)
    x = hd.asarray(a)
    agree([(hd.roll(x, n), np.roll(a, n)) for n in INTEGERS])
    # NumPy puts several shifts into one array, which rounds them.
    agree([(hd.roll(x, (n, 1, n), axis=(0, 1, 1)),
            np.roll(a, (n % 15, 1, n % 15), axis=(0, 1, 1))) for n in INTEGERS])


LISTS = [
    ([0, np.uint64(2**64 - 1)], "uint64"), ([[0, np.uint64(2**64 - 1)], [2**53 + 1, 2]], "uint64"),
    ([0.5, 2**53 + 1], "int64"), ([np.int64(2**53 + 1), 0.5], "int64"),
    ([[2**63 - 1], [-2.9]], "int64"), ([2**64 - 1, 0], "uint64"), ([2**63, -1], None),
    ([2**53 + 1, True], "float64"), ([1.0, 10**30], "float64"), ([10**30, 1 + 2j], "complex64"),
    ([10**30, 0, 0.0, 0j, 1j], "bool"), ([2**53 + 1, 2**63 - 1], None), ([np.int8(3), 1.5], None),
    ([1e39, 10**39], "float32"), ([300.7, 1], "int16"), ([300, 1], "bool"),
]


@pytest.mark.parametrize("values, dtype", LISTS, ids=str)
def test_each_number_of_a_list_is_stored_as_it_is(values, dtype):
    with np.errstate(over="ignore"):
        check(hd.asarray(values, dtype=dtype), np.asarray(values, dtype=dtype))


@pytest.mark.parametrize("values, dtype", [
    ([300.7], "uint8"), ([-1.5], "uint8"), ([1e30], "int64"), ([np.inf], "int32"),
    ([np.nan], "int64"), ([2**63], "int64"), ([10**400], "float64"), ([1j], "float64"),
    ([np.int64(300), 1], "int8"), ([[1], [-1]], "uint64"),
])
def test_numbers_that_a_dtype_has_no_value_for(values, dtype):
    with pytest.raises(Exception) as raised:  # noqa: PT011: the same as NumPy's, below
        hd.asarray(values, dtype=dtype)
    with pytest.raises(type(raised.value)):
        np.asarray(values, dtype=dtype)


def test_lists_with_arrays_in_them():
    large = hd.asarray([2**64 - 1], dtype="uint64")
    check(hd.asarray([large, [2**53 + 1]], dtype="uint64"),
          np.array([[2**64 - 1], [2**53 + 1]], dtype="uint64"))
