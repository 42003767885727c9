"""pandas: columns made of Arrays, Arrays made of columns, and both in one expression."""

import numpy as np
import pytest
from conftest import DTYPES, check, neighbour, numpy_dtype

import heddle as hd

pd = neighbour("pandas")
pytestmark = pytest.mark.usefixtures("on_host")
VALUES = np.random.default_rng(0).random((4, 3))


@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if dtype not in (hd.float16, hd.bfloat16)], ids=str)
def test_series_there_and_back(dtype):
    x = hd.asarray([0, 1, 2], dtype=dtype)
    series = pd.Series(x)
    assert series.dtype == numpy_dtype(dtype)
    assert series.tolist() == x.tolist()
    for back in (hd.asarray(series.values), hd.asarray(series), hd.asarray(series.to_numpy())):
        check(back, np.asarray(x))


def test_frames():
    x = hd.asarray(VALUES)
    frame = pd.DataFrame(x, columns=list("abc"))
    check(hd.asarray(frame), VALUES)
    check(hd.asarray(frame["b"]), VALUES[:, 1])
    frame = pd.DataFrame({"a": x[:, 0], "n": 1}, index=hd.arange(4))
    frame["d"] = hd.sin(x[:, 2])
    np.testing.assert_array_equal(frame["d"].values, np.asarray(hd.sin(x[:, 2])))
    assert frame.index.tolist() == [0, 1, 2, 3]
    assert frame.dtypes.astype(str).tolist() == ["float64", "int64", "float64"]


OPERATORS = [lambda a, b: a + b, lambda a, b: b - a, lambda a, b: a * b, lambda a, b: a < b,
             lambda a, b: b >= a, lambda a, b: a / b]


@pytest.mark.parametrize("operator", OPERATORS, ids=range(len(OPERATORS)))
def test_operators_give_series(operator):
    series, x = pd.Series(VALUES[:, 0], index=list("wxyz")), hd.asarray(VALUES[:, 1])
    for got, expected in ((operator(series, x), operator(VALUES[:, 0], VALUES[:, 1])),
                          (operator(x, series), operator(VALUES[:, 1], VALUES[:, 0])),
                          (operator(hd.max(x), series), operator(VALUES[:, 1].max(), VALUES[:, 0]))):
        assert isinstance(got, pd.Series)
        assert got.index.tolist() == list("wxyz")
        np.testing.assert_array_equal(got.values, expected)


def test_ufuncs_give_series_and_frames():
    series, x = pd.Series(VALUES[:, 0]), hd.asarray(VALUES[:, 1])
    for got in (np.add(series, x), np.add(x, series)):
        assert isinstance(got, pd.Series)
        np.testing.assert_array_equal(got.values, VALUES[:, 0] + VALUES[:, 1])
    both = np.multiply(hd.asarray(VALUES), pd.DataFrame(VALUES))
    assert isinstance(both, pd.DataFrame)
    np.testing.assert_array_equal(both.values, VALUES * VALUES)


def test_arrays_name_the_conversion_where_they_take_no_series():
    series = pd.Series([0, 1])
    with pytest.raises(TypeError, match="heddle.asarray"):
        hd.sin(series)
    with pytest.raises(IndexError, match="heddle.asarray"):
        hd.arange(3)[series]
    with pytest.raises(TypeError, match="heddle.asarray"):
        hd.jit(hd.sin)(series)
    x = hd.arange(2)
    with pytest.raises(TypeError, match="heddle.asarray"):
        x += series
    check(hd.arange(3)[hd.asarray(series)], np.arange(2))
    check(hd.jit(hd.sin)(series.values), np.asarray(hd.sin(hd.arange(2))))


def test_functions_of_columns():
    frame = pd.DataFrame(VALUES)
    sums = frame.apply(lambda column: hd.sum(hd.asarray(column)).item())
    np.testing.assert_allclose(sums.values, VALUES.sum(axis=0))
    rolled = frame.rolling(2).apply(lambda window: float(hd.sum(hd.asarray(window))), raw=True)
    np.testing.assert_allclose(rolled.values[1:], VALUES[1:] + VALUES[:-1])
    assert pd.Series([1, 2, 3]).isin(hd.asarray([1, 2])).tolist() == [True, True, False]
    assert len(pd.cut(hd.asarray(VALUES[:, 0]), 3)) == 4
    check(hd.asarray(pd.isna(hd.asarray([1.0, hd.nan]))), np.array([False, True]))


def test_a_series_of_an_array_is_a_copy_when_asked():
    x = hd.arange(3.0)
    seen = pd.Series(x)
    own = pd.Series(x, copy=True)
    own[0] = 7
    x[1] = 5
    assert (seen.tolist(), own.tolist(), x.tolist()) == ([0, 1, 2], [7, 1, 2], [0, 5, 2])
    with pytest.raises(ValueError, match="read-only"):
        seen[0] = 7


def test_masks_of_numpy_select_rows():
    frame, x = pd.DataFrame(VALUES), hd.asarray(VALUES)
    mask = np.asarray(x[:, 0] > 0.5)
    np.testing.assert_array_equal(frame[mask].values, VALUES[VALUES[:, 0] > 0.5])
