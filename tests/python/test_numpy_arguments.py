"""What functions take besides Arrays: lists, numbers, NumPy's values, traced numbers, and NumPy's
options, which do as in NumPy or are refused."""

import pickle

import numpy as np
import pytest
from conftest import check, sample

import heddle as hd


def test_axis_errors_are_both_kinds():
    x = hd.ones((2, 3))
    for call in (lambda: hd.sum(x, axis=2), lambda: hd.flip(x, 5), lambda: hd.expand_dims(x, 9),
                 lambda: hd.moveaxis(x, 3, 0), lambda: hd.stack([x, x], axis=4),
                 lambda: hd.sort(x, axis=-3), lambda: hd.take(x, [0], axis=2), lambda: x.mean(axis=7),
                 lambda: hd.concatenate([x, x], 2), lambda: hd.cumsum(x, 2), lambda: hd.size(x, 2),
                 lambda: hd.diff(x, axis=2), lambda: hd.roll(x, 1, 2), lambda: hd.argmax(x, 2)):
        for kind in (hd.AxisError, hd.IndexError, hd.ValueError, IndexError, ValueError, np.exceptions.AxisError):
            with pytest.raises(kind, match="axis"):
                call()
    with pytest.raises(IndexError) as raised:
        x[5]
    assert not isinstance(raised.value, ValueError)


def test_integers_of_any_kind():
    x, a = hd.arange(12).reshape(3, 4), np.arange(12).reshape(3, 4)
    for make in (list, tuple, np.asarray, hd.asarray):
        def of(*values, make=make):
            return make(values)

        check(hd.roll(x, of(1, 2), (0, 1)), np.roll(a, (1, 2), (0, 1)))
        check(hd.repeat(x, of(1, 0, 2), axis=0), np.repeat(a, (1, 0, 2), axis=0))
        check(hd.delete(x, of(0, 2), 1), np.delete(a, (0, 2), 1))
        check(hd.insert(x, of(1, 3), 7, axis=1), np.insert(a, (1, 3), 7, axis=1))
        check(hd.transpose(x, of(1, 0)), a.T)
        check(hd.tile(x, of(2, 1)), np.tile(a, (2, 1)))
        check(hd.reshape(x, of(2, 6)), a.reshape(2, 6))
        check(hd.flip(x, of(0, 1)), a[::-1, ::-1])
        check(hd.pad(x, of(1, 2)), np.pad(a, (1, 2)))
        for got, expected in zip(hd.split(x, of(1, 3), 1), np.split(a, (1, 3), 1), strict=True):
            check(got, expected)
    for one in (np.int32(1), np.asarray(1), hd.asarray(1)):
        check(hd.roll(x, one), np.roll(a, 1))
        check(hd.repeat(x, one), np.repeat(a, 1))
        check(hd.delete(x, one, 0), np.delete(a, 1, 0))
        check(hd.take(x, one, axis=one), a[:, 1])
        check(hd.zeros(one), np.zeros(1))
        check(hd.sum(x, axis=one), a.sum(1))
    for bad in (1.5, "a", [1.5], hd.asarray(1.5)):
        for call in (lambda bad=bad: hd.roll(x, bad), lambda bad=bad: hd.sum(x, axis=bad),
                     lambda bad=bad: hd.zeros(bad)):
            with pytest.raises(TypeError):
                call()


def test_numbers_and_lists_where_arrays_are():
    for value in (3, 2.5, 1j, True, [1, 2], [[1.5, 2], [3, 4]], np.float32(2), np.arange(3)):
        for name in ("ravel", "transpose", "squeeze", "atleast_2d", "copy", "flatnonzero", "unique",
                     "diff", "sort", "median", "cumsum", "mean", "nonzero", "zeros_like", "tile"):
            arguments = (2,) if name == "tile" else ()
            got = expected = None
            try:
                expected = getattr(np, name)(value, *arguments)
            except (ValueError, TypeError, IndexError) as error:
                with pytest.raises((type(error), ValueError, TypeError, IndexError)):
                    getattr(hd, name)(value, *arguments)
                continue
            if np.asarray(value).dtype.kind == "c" and name == "median":
                continue
            got = getattr(hd, name)(value, *arguments)
            for one, other in zip(got if isinstance(got, tuple) else [got],
                                  expected if isinstance(got, tuple) else [expected], strict=True):
                check(one, other, ulp=2)


def test_results_into_out():
    x, a = hd.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(2, 3)
    for name, arguments, shape in (("sum", (0, None), 3), ("mean", (1, None), 2), ("max", (0,), 3),
                                   ("any", (0,), 3), ("median", (0,), 3), ("cumsum", (0, None), (2, 3)),
                                   ("std", (0, None), 3), ("ptp", (1,), 2), ("argmax", (0,), 3),
                                   ("nansum", (0, None), 3), ("quantile", (0.5, 0), 3),
                                   ("take", ([0, 2], 1), (2, 2)), ("clip", (1, 3), (2, 3)),
                                   ("round", (1,), (2, 3))):
        dtype = {"any": hd.bool, "argmax": hd.int64}.get(name, hd.float64)
        out = hd.zeros(shape, dtype)
        assert getattr(hd, name)(x, *arguments, out) is out, name
        check(out, getattr(np, name)(a, *arguments))
    out = hd.zeros((4, 3), hd.float32)
    assert hd.concatenate((x, x), 0, out) is out
    check(out, np.concatenate((a, a)).astype(np.float32))
    out = hd.zeros((2, 2, 3))
    assert hd.stack([x, x], 1, out) is out
    check(out, np.stack([a, a], 1))
    with pytest.raises(TypeError, match="rule"):
        hd.concatenate((x, x), out=hd.zeros((4, 3), hd.int32))
    with pytest.raises(TypeError, match="not both"):
        hd.concatenate((x, x), out=out, dtype=hd.float32)
    with pytest.raises(ValueError):
        hd.stack([x, x], 0, hd.zeros((2, 3)))


def test_orders():
    a = np.arange(24).reshape(2, 3, 4)
    arrays = {"plain": (hd.asarray(a), a), "turned": (hd.asarray(a).T, a.T),
              "moved": (hd.moveaxis(hd.asarray(a), 0, 1), np.moveaxis(a, 0, 1)),
              "backwards": (hd.asarray(a)[:, ::-1], a[:, ::-1])}
    for x, y in arrays.values():
        for order in "CFAKcf":
            check(hd.ravel(x, order), np.ravel(y, order))
            check(x.flatten(order), y.flatten(order))
        for order in "CFA":
            check(hd.reshape(x, (4, 6), order), np.reshape(y, (4, 6), order))
            check(x.reshape(-1, 6, order=order), y.reshape(-1, 6, order=order))
    for turned in (False, True):
        written = []
        for xp in (hd, np):
            target = xp.zeros((2, 3)).T if turned else xp.zeros((2, 3))
            target.reshape(6, order="F")[1] = 5
            written.append(target)
        check(*written)
    for bad in (lambda: x.ravel("Z"), lambda: hd.zeros(3, order="X"), lambda: x.reshape(6, order="K")):
        with pytest.raises(ValueError, match="order"):
            bad()


def test_what_means_nothing_here_is_refused_or_does_nothing():
    x = hd.arange(3)
    assert hd.zeros(3, like=x).shape == (3,) and hd.asarray([1], like=None).shape == (1,)
    with pytest.raises(TypeError, match="like"):
        hd.zeros(3, like=[1])
    with pytest.raises(TypeError, match="order"):
        hd.sort(x, order="field")
    with pytest.raises(ValueError, match="bogosort"):
        hd.sort(x, kind="bogosort")
    with pytest.raises(ValueError, match="read-only"):
        hd.sliding_window_view(x, 2, writeable=True)
    check(hd.sort(x, kind="heapsort", stable=True), np.arange(3))


def test_traced_numbers():
    x, a = hd.asarray(sample(hd.float64, 6)), sample(hd.float64, 6)
    calls = {
        "linspace": lambda xp, s: xp.linspace(0, s, 5),
        "linspace from": lambda xp, s: xp.linspace(s, 2 * s, 4, endpoint=False),
        "logspace": lambda xp, s: xp.logspace(0, s, 5),
        "geomspace": lambda xp, s: xp.geomspace(1, s, 5),
        "full": lambda xp, s: xp.full(3, s),
        "clip": lambda xp, s: xp.clip(xp.asarray(a), -s, s),
        "where": lambda xp, s: xp.where(xp.asarray(a) > 0, s, 0),
        "isclose": lambda xp, s: xp.isclose(xp.asarray(a), 0, atol=s),
        "nan_to_num": lambda xp, s: xp.nan_to_num(xp.asarray([1, np.nan, np.inf]), nan=s, posinf=s),
        "trapezoid": lambda xp, s: xp.trapezoid(xp.asarray(a), dx=s),
        "gradient": lambda xp, s: xp.gradient(xp.asarray(a), s),
        "kaiser": lambda xp, s: xp.kaiser(7, s),
        "quantile": lambda xp, s: xp.quantile(xp.asarray(a), s / 10),
        "full_like": lambda xp, s: xp.full_like(xp.asarray(a), s),
        "power": lambda xp, s: xp.power(s, xp.asarray([1.0, 2.0])),
        "append": lambda xp, s: xp.append(xp.asarray(a), s),
        "insert": lambda xp, s: xp.insert(xp.asarray(a), 1, s),
        "searchsorted": lambda xp, s: xp.searchsorted(xp.asarray([0.0, 1.0, 9.0]), s),
    }
    for name, call in calls.items():
        traced = hd.jit(lambda s, call=call: call(hd, s))
        for s in (1.25, 3.5):
            got, expected = hd.asnumpy(traced(s)), call(np, s)
            np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12, err_msg=name)
            assert got.dtype == np.asarray(expected).dtype, name
    with pytest.raises(hd.TraceError):
        hd.jit(lambda s: hd.arange(0, s, 0.5))(2.0)
    assert x.shape == (6,)


def test_spaces_between_arrays():
    low, high = np.array([0.0, 1, -2]), np.array([[4.0], [9.0]])
    for dtype in (np.float32, np.float64, np.complex64, np.int32):
        a, b = low.astype(dtype), high.astype(dtype)
        for options in ({}, {"axis": -1}, {"axis": 1, "endpoint": False}, {"num": 1}, {"num": 0}):
            got = hd.linspace(hd.asarray(a), hd.asarray(b), **options)
            check(got, np.linspace(a, b, **options), ulp=4)
            check(hd.logspace(a, b, **options), np.logspace(a, b, **options), ulp=64)
    got, step = hd.linspace(hd.asarray(low), hd.asarray(high), 5, retstep=True)
    expected, expected_step = np.linspace(low, high, 5, retstep=True)
    check(got, expected, ulp=4)
    check(step, expected_step, ulp=2)
    assert hd.linspace(0, 1, 5, retstep=True)[1] == 0.25
    assert np.isnan(hd.linspace(0, 1, 1, retstep=True)[1])
    check(hd.geomspace(low + 3, high, 4, axis=2), np.geomspace(low + 3, high, 4, axis=2), ulp=16)
    with pytest.raises(hd.AxisError):
        hd.linspace(low, high, 3, axis=4)
    with pytest.raises(ValueError):
        hd.linspace(low, high, -1)
    with pytest.raises(ValueError):
        hd.geomspace(0, high)


def test_broadcast_arrays_takes_anything():
    got = hd.broadcast_arrays([1, 2, 3], np.ones((2, 1)), 7)
    assert isinstance(got, tuple)
    for one, other in zip(got, np.broadcast_arrays([1, 2, 3], np.ones((2, 1)), 7), strict=True):
        check(one, other)
    grids = hd.meshgrid([1, 2], np.arange(3), copy=False)
    for one, other in zip(grids, np.meshgrid([1, 2], np.arange(3)), strict=True):
        check(one, other)


@pytest.mark.parametrize("widths", [{0: 1}, {-1: (2, 3)}, {0: (1, 0), 1: 2}, {}])
def test_pad_widths_by_axis(widths):
    a = np.arange(6.0).reshape(2, 3)
    check(hd.pad(hd.asarray(a), widths), np.pad(a, widths))


def test_pad_with_a_function():
    def fill(vector, width, axis, options):
        vector[:width[0]] = axis
        vector[len(vector) - width[1]:] = options.get("padder", -1)

    a = np.arange(6.0).reshape(2, 3)
    check(hd.pad(hd.asarray(a), ((1, 2), (0, 1)), fill), np.pad(a, ((1, 2), (0, 1)), fill))
    check(hd.pad(hd.asarray(a), 2, fill, padder=7), np.pad(a, 2, fill, padder=7))
    with pytest.raises(IndexError, match="axis 2 is out of bounds"):
        hd.pad(hd.asarray(a), {2: 1})
    with pytest.raises(TypeError, match="no parameter padder"):
        hd.pad(hd.asarray(a), 1, padder=3)


@pytest.mark.parametrize("options", [{}, {"range": (-1, 3)}])
@pytest.mark.parametrize("data", [np.arange(30) ** 1.5, np.ones(4), np.zeros(1)])
def test_stones_rule(data, options):
    counts, edges = hd.histogram(hd.asarray(data), "stone", **options)
    wanted = np.histogram(data, "stone", **options)
    check(counts, wanted[0])
    np.testing.assert_allclose(hd.asnumpy(edges), wanted[1])


@pytest.mark.parametrize("rule", ["auto", "doane", "fd", "rice", "scott", "sqrt", "sturges"])
def test_rules_for_bins_of_booleans(rule):
    data = np.arange(12) % 5 == 0
    counts, edges = hd.histogram(hd.asarray(data), rule)
    wanted = np.histogram(data, rule)
    check(counts, wanted[0])
    np.testing.assert_allclose(hd.asnumpy(edges), wanted[1])


def test_ptp_stores_no_fractions_in_integers():
    for dtype, kind in (("float32", "int32"), ("int64", "bool"), ("int64", "float64"), ("int64", "int8")):
        x, allowed = np.arange(12).reshape(3, 4).astype(dtype), np.can_cast(dtype, kind, "same_kind")
        out = hd.zeros(4, dtype=kind)
        if allowed:
            assert hd.ptp(hd.asarray(x), axis=0, out=out) is out
            check(out, np.ptp(x, axis=0, out=np.zeros(4, kind)))
        else:
            with pytest.raises(TypeError, match="cannot be stored"):
                hd.ptp(hd.asarray(x), axis=0, out=out)
            with pytest.raises(TypeError):
                np.ptp(x, axis=0, out=np.zeros(4, kind))


def test_argsort_of_0d():
    for axis in (-1, None):
        check(hd.argsort(hd.asarray(3.0), axis=axis), np.argsort(np.asarray(3.0), axis=axis))


def test_order_none_of_index_functions():
    i, j = np.array([1, 2]), np.array([2, 0])
    for order in (None, "C", "F"):
        check(hd.ravel_multi_index((hd.asarray(i), hd.asarray(j)), (3, 4), order=order),
              np.ravel_multi_index((i, j), (3, 4), order=order))
        for ours, theirs in zip(hd.unravel_index(hd.asarray(i), (3, 4), order=order),
                                np.unravel_index(i, (3, 4), order=order)):
            check(ours, theirs)


@pytest.mark.parametrize("mask", [1, 0, 1 + 1j, 0.0, True, np.array([True, False, True])])
def test_copyto_masks(mask):
    a, x = np.zeros(3), hd.zeros(3)
    np.copyto(a, 2, where=mask)
    hd.copyto(x, 2, where=mask)
    check(x, a)
    with pytest.raises(TypeError, match="not bool"):
        hd.copyto(x, 2, where=hd.ones(3))
    with pytest.raises(OverflowError, match="uint8"):
        hd.copyto(hd.zeros(3, "uint8"), -4)


def test_compress_with_a_longer_condition():
    a = np.arange(6).reshape(3, 2)
    check(hd.compress([True, False, False, False], hd.asarray(a), axis=1),
          np.compress([True, False, False, False], a, axis=1))
    with pytest.raises(IndexError, match="longer than axis 1"):
        hd.compress([True, False, True], hd.asarray(a), axis=1)


def test_piecewise_of_an_array_of_values():
    a = np.arange(4.0)
    for values in (np.array([5, 1]), hd.asarray([5, 1])):
        check(hd.piecewise(hd.asarray(a), [hd.asarray(a < 2)], values),
              np.piecewise(a, [a < 2], np.array([5, 1])))


def test_grids_without_a_stop():
    for key in (np.s_[0:], np.s_[3:], np.s_[4::2], np.s_[:3], np.s_[1:3:5j]):
        check(hd.mgrid[key], np.mgrid[key])


def test_files_by_numpys_keywords(tmp_path):
    x = hd.arange(3.0)
    hd.save(file=str(tmp_path / "x.npy"), arr=x, allow_pickle=False)
    for mode in (None, "r", "c"):
        check(hd.load(str(tmp_path / "x.npy"), mmap_mode=mode, allow_pickle=True), np.arange(3.0))
    with pytest.raises(ValueError, match="mmap_mode"):
        hd.load(str(tmp_path / "x.npy"), mmap_mode="r+")
    x.dump(tmp_path / "x.pickle")
    with open(tmp_path / "x.pickle", "rb") as file:
        check(pickle.load(file), np.arange(3.0))
    with open(tmp_path / "y.pickle", "wb") as file:
        x.dump(file)
    assert (tmp_path / "y.pickle").read_bytes() == (tmp_path / "x.pickle").read_bytes()


@pytest.mark.parametrize("bins", [[np.nan, 3.0, 1.0], [np.nan, np.nan], [1.0, 1.0, 2.0, np.nan], [3.0],
                                  [1.0, 3.0, np.nan], [2.0, 2.0], [3.0, 1.0, 1.0], [1.0, 1.0, np.nan]])
@pytest.mark.parametrize("right", [False, True])
def test_digitize_of_bins_with_nan(bins, right):
    a = np.array([0.0, 1.0, 2.0, 3.0, 4.0, np.nan])
    check(hd.digitize(hd.asarray(a), hd.asarray(bins), right), np.digitize(a, bins, right))


@pytest.mark.parametrize("call", [
    lambda xp, x, out: xp.sum(x, 0, out=out), lambda xp, x, out: x.mean(0, out=out),
    lambda xp, x, out: xp.max(x, 0, out=out), lambda xp, x, out: xp.cumsum(x[0], out=out),
    lambda xp, x, out: xp.nancumprod(x[0], out=out), lambda xp, x, out: xp.prod(x, 0, out=out)])
@pytest.mark.parametrize("dtype", ["int32", "float32", "bool", "float64"])
def test_reductions_and_scans_cast_to_out(call, dtype):
    a = np.array([[1.5, 2.25, 0.0], [3.0, 4.5, 0.0]])
    theirs, ours = np.zeros(3, dtype), hd.zeros(3, dtype)
    call(np, a, theirs)
    assert call(hd, hd.asarray(a), ours) is ours
    check(ours, theirs)


@pytest.mark.parametrize("name", ["std", "nanmean", "nanvar", "nanstd"])
def test_moments_of_floats_are_not_cast_to_integers(name):
    for xp in (np, hd):
        with pytest.raises(TypeError):
            getattr(xp, name)(xp.asarray([1.5, 2.0]), out=xp.zeros((), "int32"))


def test_dot_wants_an_out_of_its_dtype():
    for xp in (np, hd):
        a = xp.ones((2, 2))
        with pytest.raises(ValueError):
            xp.dot(a, a, xp.zeros((2, 2), "float32"))
        assert xp.dot(a, a, xp.zeros((2, 2)))[0, 0] == 2


def test_methods_of_partition_name_the_axis():
    for method in ("partition", "argpartition"):
        with pytest.raises(hd.AxisError, match="axis 2"):
            getattr(hd.arange(4), method)(1, axis=2)


def test_take_of_0d():
    for axis in (None, 0, -1):
        for indices in (0, [0, -1]):
            check(hd.take(hd.asarray(5.0), indices, axis=axis), np.take(np.asarray(5.0), indices, axis=axis))
    with pytest.raises(hd.AxisError):
        hd.take(hd.asarray(5.0), 0, axis=1)


def test_nested_lists_without_elements_are_indices():
    a = np.arange(6).reshape(2, 3)
    check(hd.asarray(a)[[[]]], a[[[]]])
    check(hd.asarray(a)[:, [[], []]], a[:, [[], []]])


@pytest.mark.parametrize("kind", ["int8", "bool", "uint16", "int32", "float32"])
@pytest.mark.parametrize("share", ["float16", "float32", "float64"])
def test_dtypes_of_quantiles(kind, share):
    a = np.arange(8).astype(kind) if kind != "bool" else np.arange(8) > 3
    q = np.array([0.25, 0.5], share)
    if kind != "bool":
        found = hd.quantile(hd.asarray(a), hd.asarray(q))
        assert found.dtype == np.quantile(a, q).dtype


def test_edges_of_float32_within_a_range():
    a = np.arange(10, dtype="float32")
    for options in ({"range": (0, 9)}, {}, {"range": (-0.1, 0.7)}, {"range": (-3e38, 3e38)}):
        check(hd.histogram_bin_edges(hd.asarray(a), **options), np.histogram_bin_edges(a, **options))


def test_conjugates_of_real_arrays_are_the_arrays():
    for dtype in ("bool", "int8", "float32"):
        x = hd.ones(2, dtype)
        assert x.conj() is x and x.conjugate() is x
    assert hd.conj(hd.ones(2, bool)).dtype == np.conj(np.ones(2, bool)).dtype


def test_products_of_empty_polynomials():
    check(hd.polymul([], [1.0, 2.0]), np.polymul([], [1.0, 2.0]))
