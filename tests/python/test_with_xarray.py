"""xarray: labelled arrays whose data are Arrays."""

import pickle

import numpy as np
import pytest
from conftest import neighbour

import heddle as hd

xr = neighbour("xarray")
pytestmark = pytest.mark.usefixtures("on_host")
VALUES = np.random.default_rng(0).random((4, 3))


def labelled(values):
    return xr.DataArray(values, dims=("t", "s"), coords={"t": np.arange(4), "s": list("abc")})


def check(got, expected):
    """The same labels and elements; the data are an Array."""
    assert isinstance(got.data, hd.Array)
    xr.testing.assert_allclose(got.as_numpy(), expected)


SAME = {
    "arithmetic": lambda d: (d + 1) * d, "sum": lambda d: d.sum(), "sum of a dimension": lambda d: d.sum("s"),
    "mean": lambda d: d.mean("t"), "std": lambda d: d.std("t"), "max": lambda d: d.max("t"),
    "median": lambda d: d.median("t"), "quantile": lambda d: d.quantile(0.5, "t"), "count": lambda d: d.count("t"),
    "cumsum": lambda d: d.cumsum("t"), "diff": lambda d: d.diff("t"), "ufunc": lambda d: np.sin(d),
    "where": lambda d: d.where(d > 0.5, 0.0), "isnull": lambda d: d.isnull(), "fillna": lambda d: d.fillna(0.0),
    "isel": lambda d: d.isel(t=slice(1, 3)), "list": lambda d: d.isel(t=[0, 2]), "sel": lambda d: d.sel(s="b"),
    "loc": lambda d: d.loc[1:2, "a"], "transpose": lambda d: d.T, "stack": lambda d: d.stack(z=("t", "s")),
    "dot": lambda d: d.dot(d, dim="s"), "broadcast": lambda d: d + d.isel(s=0, drop=True),
    "concat": lambda d: xr.concat([d, d], "t"), "roll": lambda d: d.roll(t=1), "sortby": lambda d: d.sortby(-d.t),
    "groupby": lambda d: d.groupby(xr.DataArray([0, 0, 1, 1], dims="t", name="g")).mean(),
    "coarsen": lambda d: d.coarsen(t=2).mean(), "pad": lambda d: d.pad(t=1, constant_values=0),
    "apply_ufunc": lambda d: xr.apply_ufunc(lambda v: v * 2, d), "integrate": lambda d: d.integrate("t")}


@pytest.mark.parametrize("name", SAME)
def test_functions(name):
    check(SAME[name](labelled(hd.asarray(VALUES))), SAME[name](labelled(VALUES)))


OPERATORS = [lambda a, b: a + b, lambda a, b: b - a, lambda a, b: a > b]


@pytest.mark.parametrize("operator", OPERATORS, ids=range(len(OPERATORS)))
def test_arrays_and_labelled_arrays_together(operator):
    x, plain = hd.asarray(VALUES) * 2, VALUES * 2
    for data in (hd.asarray(VALUES), VALUES):
        check(operator(x, labelled(data)), operator(labelled(plain), labelled(VALUES)))
        check(operator(labelled(data), x), operator(labelled(VALUES), labelled(plain)))
    check(operator(hd.sum(x), labelled(hd.asarray(VALUES))), operator(plain.sum(), labelled(VALUES)))
    check(np.add(x, labelled(hd.asarray(VALUES))), labelled(plain + VALUES))


def test_datasets():
    data = xr.Dataset({"v": labelled(hd.asarray(VALUES)), "w": ("t", hd.asarray(VALUES[:, 0]))})
    means = data.mean("t")
    for name, expected in (("v", VALUES.mean(axis=0)), ("w", VALUES[:, 0].mean())):
        assert isinstance(means[name].data, hd.Array)
        np.testing.assert_allclose(means[name].values, expected)


def test_assignment():
    d, expected = labelled(hd.asarray(VALUES)).copy(), labelled(VALUES).copy()
    for each in (d, expected):
        each[0] = 1.0
        each.loc[{"s": "b"}] = 2.0
        each[{"t": 1, "s": 2}] = 9
    check(d, expected)


def test_there_and_back():
    d = labelled(hd.asarray(VALUES))
    assert isinstance(d.values, np.ndarray)
    assert d.equals(labelled(VALUES))
    check(pickle.loads(pickle.dumps(d)), labelled(VALUES))
    check(xr.zeros_like(d), xr.zeros_like(labelled(VALUES)))
    np.testing.assert_array_equal(hd.asarray(labelled(VALUES)).get(), VALUES)
