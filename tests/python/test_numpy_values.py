"""Values that NumPy gives where a shorter way of computing them would give others."""

import numpy as np
import pytest
from conftest import check

import heddle as hd


def same(function, ulp=0):
    """The same array from both libraries, or a tuple of the same arrays."""
    got, want = function(hd, hd.asarray), function(np, np.asarray)
    if not isinstance(want, tuple):
        return check(got, want, ulp)
    assert len(got) == len(want)
    for ours, theirs in zip(got, want):
        check(ours, theirs, ulp)


@pytest.mark.parametrize("dtype, weights", [
    ("uint64", [2**64 - 1, 0]), ("uint64", [2**64 - 1, 1]), ("int64", [2**53, 1]),
    ("int64", [-2**62, 3]), ("int8", [100, 100]), ("uint8", [255, 2])])
def test_integer_weights_between_given_edges(dtype, weights):
    same(lambda xp, make: xp.histogram(make([0.5, 0.6]), make([0.0, 1.0, 2.0]),
                                       weights=make(weights, dtype)))
    same(lambda xp, make: xp.histogram(make([0.5, 0.6]), 2, weights=make(weights, dtype))
         if dtype != "uint64" else make(0))


@pytest.mark.parametrize("values, dtype, options", [
    ([1.0, 1 + 4e-16], "float64", {}), ([1.0, 1 + 2e-15], "float64", {}),
    ([1.0, 1 + 1.2e-7], "float32", {}), ([1.0], "float64", {"range": (1, 1 + 4e-16)}),
    ([1e308, -1e308], "float64", {}), ([3e38, -3e38], "float32", {}),
    ([2**62, 2**62 + 1], "int64", {}), ([1.0], "float64", {"range": (-1e308, 1e308)})])
def test_bins_of_no_width_are_refused(values, dtype, options):
    for xp, make in ((np, np.asarray), (hd, hd.asarray)):
        for function in (xp.histogram, xp.histogram_bin_edges):
            with pytest.raises(ValueError, match="[tT]oo many bins"):
                function(make(values, dtype), 10, **options)


def test_narrow_bins_that_rise():
    for bins in (1, 2, 10):
        same(lambda xp, make, bins=bins: xp.histogram(make([1.0, 1 + 4e-15]), bins))
    same(lambda xp, make: xp.histogram(make([2.0**52, 2.0**52]), 1))
    same(lambda xp, make: xp.histogram(make([7, 7]), 10))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("arguments, dtype", [
    ((0, 2e5, 1e5), "float16"), ((0, 4e5, 1e5), "float16"), ((1e5, 4e5, 1e5), "float16"),
    ((0, 2e39, 1e39), "float32"), ((0, -3e39, -1e39), "float32"), ((5, 3e39, 1e39), "float32"),
    ((0, 1, float("inf")), "float64")])
def test_arange_whose_steps_overflow(arguments, dtype):
    same(lambda xp, make: xp.arange(*arguments, dtype=dtype))


def test_linspace_below_the_least_step():
    """Contraction would keep the sign of a product that vanishes."""
    strict = hd.jit(lambda: hd.linspace(0, -1.5e-323, 7, endpoint=False), strict=True)
    check(strict(), np.linspace(0, -1.5e-323, 7, endpoint=False))


@pytest.mark.parametrize("start, stop, options", [
    (-1, 1, {"dtype": "complex128"}), (-1, 1, {"dtype": "complex64"}),
    (-4, -1, {"dtype": "complex128"}), (1, 4, {"dtype": "complex128"}), (1j, -4j, {}),
    (-1, 16, {"dtype": "complex128", "endpoint": False}), (1 + 1j, 3, {}), (2, 2j, {})])
def test_geomspace_of_complex_numbers(start, stop, options):
    for count in (0, 1, 2, 3, 5):
        same(lambda xp, make, count=count: xp.geomspace(start, stop, count, **options), ulp=16)
    with pytest.raises(ValueError):
        hd.geomspace(0j, 1)
    with pytest.raises(hd.DTypeError):
        hd.geomspace(1j, 1, dtype="float64")


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("end", [0, 4j, (4, 2 - 1j)])
def test_linear_ramp_of_complex_numbers(dtype, end):
    same(lambda xp, make: xp.pad(make([1 + 1j, 2 + 4j], dtype), 3, mode="linear_ramp",
                                 end_values=end), ulp=2)
    with pytest.raises(TypeError):
        hd.pad(hd.asarray([1, 2]), 2, mode="linear_ramp", end_values=1j)


SIGNED, UNSIGNED = [2**63 - 1, 5, -1, 5, 0], [2**63, 2**63 + 1, 5, 2**64 - 1]


@pytest.mark.parametrize("signed, unsigned", [("int64", "uint64"), ("int8", "uint64")])
def test_sets_of_signed_and_unsigned_integers(signed, unsigned):
    a = [x for x in SIGNED if signed == "int64" or x < 100]
    for x, y in (((a, signed), (UNSIGNED, unsigned)), ((UNSIGNED, unsigned), (a, signed))):
        for invert in (False, True):
            same(lambda xp, make: xp.isin(make(*x), make(*y), invert=invert))
        same(lambda xp, make: xp.setdiff1d(make(*x), make(*y)))
        same(lambda xp, make: xp.setdiff1d(make(*x), make(*y), assume_unique=True))
        check(hd.intersect1d(hd.asarray(*x), hd.asarray(*y)), np.array([5.0]))
        common, first, second = hd.intersect1d(hd.asarray(*x), hd.asarray(*y), return_indices=True)
        check(common, np.array([5.0]))
        check(first, np.array([x[0].index(5)]))
        check(second, np.array([y[0].index(5)]))


def test_isin_and_searchsorted_of_numbers():
    for dtype, number in [("int8", 300), ("uint8", -1), ("int8", 1), ("int64", 2**63),
                          ("uint64", -1), ("float64", 10**30), ("int64", 10**30), ("int8", 1.5),
                          ("float32", 0.1), ("uint64", 2**64), ("bool", 1)]:
        same(lambda xp, make: xp.isin(make([1, 2, 255 if dtype != "int8" else 7], dtype), number))
        if number != 2**64:  # NumPy compares Python's integers there
            same(lambda xp, make: xp.searchsorted(make([1, 2, 2], dtype), number))
    same(lambda xp, make: xp.isin(300, make([44], "int8")))
    same(lambda xp, make: xp.interp(10**30, make([1.0, 2.0]), make([3.0, 4.0])))


RANGES = [(0, 1), (-1, 1), (0.1, 0.7), (5, 5), (-0.3, 12345.6), (1e6, 1e6 + 1), (-3, 1e300), (1e-300, 3e-300),
          (2.0**52, 2.0**52 + 4000)]


@pytest.mark.parametrize("ends", RANGES, ids=str)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int32"])
def test_elements_at_the_edges_of_even_bins(dtype, ends):
    if dtype != "float64" and RANGES.index(ends) > 4:
        pytest.skip("the dtype does not tell the edges apart")
    for bins in (1, 3, 10, 64, 1000):
        edges = np.histogram_bin_edges(np.zeros(0), bins, ends)
        near = np.concatenate([edges, np.nextafter(edges, np.inf), np.nextafter(edges, -np.inf), edges / 7])
        values = near.astype(dtype)
        same(lambda xp, make: xp.histogram(make(values), bins, ends))
        same(lambda xp, make: xp.histogram(make(values), bins, ends, weights=make(np.arange(values.size))))
        same(lambda xp, make: xp.histogram2d(make(values), make(values), (bins, 3), (ends, ends))[0])
    if dtype != "int32":
        same(lambda xp, make: xp.histogram(make([np.nan, np.inf, -np.inf, 0.5], dtype), 7, ends))


@pytest.mark.parametrize("arguments", [
    "0, 1, 5", "2.0, -1.0, 4, False", "0, 10, 4, dtype='int32'", "-1, -5, 4, dtype='int8'", "0, 1, 1",
    "0, 1, 0", "0, 5e-324, 10", "1e-323, 5e-324, 6", "0, 2**60, 3, dtype='int64'", "0.1, 0.7, 1000",
    "-3, 1e300, 77, dtype='float32'"])
def test_linspace_of_numbers_equals_numpys_bit_for_bit(arguments):
    ours, numpys = (eval(f"linspace({arguments})", {"linspace": module.linspace}) for module in (hd, np))
    assert ours.dtype == numpys.dtype
    assert ours.tolist() == numpys.tolist()


@pytest.mark.parametrize("period", [7.0, -6, 360])
@pytest.mark.parametrize("points, values", [([0.0, 1, 2, 3], [0.0, 1, 2, 3]), ([5, 1, 3], [1, 2, 4])])
def test_interp_of_periodic_values(points, values, period):
    x = np.linspace(-20, 20, 41).reshape(1, 41)
    same(lambda xp, make: xp.interp(make(x), make(points), make(values), period=period), ulp=16)


def test_one_value_has_no_step():
    for start in (0.0, hd.asarray([1.0, 2.0])):
        values, step = hd.linspace(start, 7, 1, retstep=True)
        assert np.isnan(step)
        assert values.shape[0] == 1


# The cases in which the suite of the array API standard finds NumPy, and Heddle, to differ from the standard.
INF, NAN = float("inf"), float("nan")
EDGES = [complex(re, im) for re in (0.0, -0.0, INF, -INF, NAN, 1.0, -2.0) for im in (0.0, -0.0, INF, -INF, NAN, 0.5, 2.0)]


def bits(x):
    """Parts and signs, without those of NaN."""
    x = np.asarray(x)
    parts = np.stack([x.real, x.imag])
    return np.where(np.isnan(parts), 2, np.signbit(parts)), np.nan_to_num(np.abs(parts), nan=-1, posinf=-2)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_edges_of_complex_functions(dtype):
    values = np.array(EDGES, dtype)
    edges = values[~np.isfinite(values) | (values == 0)]
    with np.errstate(all="ignore"):
        for name in ("expm1", "tanh"):
            for ours, theirs in zip(bits(getattr(hd, name)(hd.asarray(edges))), bits(getattr(np, name)(edges))):
                np.testing.assert_allclose(ours, theirs, rtol=4 * np.finfo(dtype).eps, err_msg=name)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_floor_divide_of_infinities(dtype):
    left, right = (x.ravel() for x in np.meshgrid(*[np.array([INF, -INF, NAN, 1.5, -1.5, 0.0, -0.0], dtype)] * 2))
    with np.errstate(all="ignore"):
        for ours, theirs in zip(bits(hd.asarray(left) // hd.asarray(right)), bits(left // right)):
            np.testing.assert_array_equal(ours, theirs)
