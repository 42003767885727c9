"""Result dtypes and 0-d, empty and very large operands, as NumPy treats them."""

import numpy as np
import pytest
from conftest import check

import heddle as hd

INTEGERS = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


def same(function, ulp=0):
    check(function(hd, hd.asarray), function(np, np.asarray), ulp)


@pytest.mark.parametrize("name", ["arctan2", "copysign", "hypot", "heaviside", "nextafter",
                                  "logaddexp", "logaddexp2"])
def test_floating_functions_of_mixed_integers(name):
    for first in INTEGERS:
        for second in [*INTEGERS, "float16", "float32"]:
            a, b = np.ones(2, first), np.ones(2, second)
            want = getattr(np, name)(a, b).dtype
            assert getattr(hd, name)(hd.asarray(a), hd.asarray(b)).dtype.name == want.name, second
            want = getattr(np, name)(b, a).dtype
            assert getattr(hd, name)(hd.asarray(b), hd.asarray(a)).dtype.name == want.name, second
        assert getattr(hd, name)(hd.asarray(a), 2).dtype.name == getattr(np, name)(a, 2).dtype.name


@pytest.mark.parametrize("values", [[2**63, 1], [1, 2**63], [2**63], [[2**63, 2**64 - 1]],
                                    [2**63, -1], [2**63, True], [2**63, 0.5]])
def test_lists_of_large_and_small_integers(values):
    same(lambda xp, make: make(values))


@pytest.mark.filterwarnings("ignore")
def test_means_in_a_dtype_of_integers():
    for values, own, dtype in [([100, 100], "int8", "int8"), ([-1, -2], "int64", "uint8"),
                               ([2**62, 2**62], "int64", "int64"), ([-3, -4], "int64", "int64"),
                               ([1.7, 2.9], "float64", "int64"), ([100, 100], "int8", "float16")]:
        same(lambda xp, make: xp.mean(make(values, own), dtype=dtype))
        if own != "float64":
            same(lambda xp, make: xp.nanmean(make(values, own), dtype=dtype))
    mask = [True, False, True]
    same(lambda xp, make: xp.mean(make([[100, 7, 100]], "int8"), axis=1, dtype="int8",
                                  keepdims=True, where=make(mask)))


def test_variances_in_a_complex_dtype():
    for own, dtype in [("float32", "complex64"), ("complex64", "complex64"),
                       ("int64", "complex128"), ("complex64", None), ("float32", "float64")]:
        same(lambda xp, make: xp.var(make([1, 4], own), dtype=dtype))
        same(lambda xp, make: xp.std(make([1, 4], own), dtype=dtype))


def test_extremes_of_complex_numbers_beside_nan():
    nan = complex(float("nan"), 1)
    for value in (1 + 2j, complex("-inf-1j"), complex("inf+1j")):
        same(lambda xp, make: xp.nanmax(make([nan, value])))
        same(lambda xp, make: xp.nanmin(make([nan, value])))
    same(lambda xp, make: xp.nanmax(make([1.0, 2.0]), initial=float("nan")))


def on_host(values):
    return hd.asarray(values, device="cpu")


def test_negative_weights_of_observations():
    for options in ({"fweights": [1, -1]}, {"aweights": [1.0, -1.0]}):
        for xp, make in ((np, np.asarray), (hd, on_host)):
            with pytest.raises(ValueError, match="negative"):
                xp.cov(make([1.0, 2.0]), **{key: make(value) for key, value in options.items()})


def test_bins_that_neither_rise_nor_fall():
    for xp, make in ((np, np.asarray), (hd, on_host)):
        with pytest.raises(ValueError, match="monotonically"):
            xp.digitize(make([0.5, 1.5]), make([3.0, 1.0, 2.0]))


def test_bytes_of_elements():
    for a in (np.arange(3), np.arange(6.0).reshape(2, 3).T, np.array(True), np.zeros(0, "int8")):
        assert bytes(hd.asarray(a)) == bytes(a)


def test_integers_beyond_every_dtype():
    large = 2**100
    for make, xp in ((hd.asarray, hd), (np.asarray, np)):
        assert not xp.array_equal(make([1.0]), large) and xp.array_equal(large, large)
        assert xp.array_equiv(make([2.0**100]), large) and not xp.array_equiv(make([1]), large)
    same(lambda xp, make: xp.polyval(make([1.0, 2]), large))


def test_powers_of_no_elements():
    same(lambda xp, make: make([], "int64") ** -1)
    same(lambda xp, make: xp.power(make([], "int64"), make([-1])))
    with pytest.raises(ValueError):
        hd.asarray([1]) ** -1


def test_axes_that_numpy_allows():
    same(lambda xp, make: xp.squeeze(make(1), 0))
    same(lambda xp, make: xp.squeeze(make(1), -1))
    same(lambda xp, make: xp.concatenate([make([[1, 2]]), make([3])], axis=None))
    for shift in (1, (), (1,)):
        same(lambda xp, make, shift=shift: xp.roll(make([1, 2, 3]), shift, axis=()))
    for shape in ((-2, 2), (-7,), (2, -1)):
        same(lambda xp, make, shape=shape: xp.reshape(make([1, 2, 3, 4]), shape))
    with pytest.raises(ValueError):
        hd.roll(hd.asarray([1, 2, 3]), (1, 2), axis=())
    with pytest.raises(hd.ShapeError):
        hd.reshape(hd.asarray([1, 2, 3, 4]), (-1, -2))
    with pytest.raises(IndexError):
        hd.squeeze(hd.asarray(1), 1)


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean", "var", "std", "any", "all",
                                  "argmax", "argmin"])
def test_bools_are_no_axes_of_reductions(name):
    for axis in (True, False) if name.startswith("arg") else (True, False, (True,)):
        for xp, make in ((np, np.asarray), (hd, hd.asarray)):
            with pytest.raises(TypeError):
                getattr(xp, name)(make([[1, 2]]), axis=axis)
