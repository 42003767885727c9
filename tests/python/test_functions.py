"""What is Python's own about functions; tests/vocabulary holds each to NumPy."""

import numpy as np
import pytest
from conftest import check, sample

import heddle as hd


def x(shape=(3, 4), dtype=np.float32, seed=0):
    return sample(getattr(hd, np.dtype(dtype).name), shape, seed)


def test_writing_functions():
    a, mask, results = x(), x() > 0, []
    for xp in (hd, np):
        target = xp.asarray(a.copy())
        xp.copyto(target[1:], xp.asarray(a[0]), where=xp.asarray(mask[1:]))
        xp.putmask(target, xp.asarray(~mask), xp.asarray(a[0]))
        results.append(target)
    check(*results)


def test_logsumexp():
    a = x(dtype=np.float64)
    check(hd.logsumexp(hd.asarray(a), axis=1), np.log(np.exp(a).sum(axis=1)), ulp=8)


def test_parts_are_views():
    a = hd.arange(6)
    hd.split(a, 2)[1][0] = 9
    hd.unstack(a)[0][...] = 8
    hd.flipud(a)[0] = 7
    check(a, np.array([8, 1, 2, 9, 4, 7]))


def test_broadcast_arrays():
    for got, expected in zip(hd.broadcast_arrays(hd.asarray(x()), hd.asarray(x(4))),
                             np.broadcast_arrays(x(), x(4)), strict=True):
        check(got, expected)


def test_facts_about_dtypes():
    for name in ("float16", "float32", "float64"):
        found, expected = hd.finfo(name), np.finfo(name)
        for field in ("bits", "eps", "max", "min", "smallest_normal",
                      "smallest_subnormal"):
            assert getattr(found, field) == getattr(expected, field)
    for name in ("int8", "uint8", "int64", "uint64"):
        found, expected = hd.iinfo(getattr(hd, name)), np.iinfo(name)
        assert (found.bits, found.max, found.min) == (expected.bits, expected.max, expected.min)
    assert hd.isdtype(hd.int8, "signed integer") and hd.isdtype(hd.int8, (hd.bool, "integral"))
    assert not hd.isdtype(hd.bool, "numeric")
    for bad in (lambda: hd.isdtype(hd.int8, "number"), lambda: hd.finfo(hd.int8),
                lambda: hd.iinfo(hd.float32)):
        with pytest.raises(ValueError):
            bad()


def test_dtypes_are_named_as_numpy_names_them():
    for name in ("float32", np.float32, np.dtype("float32"), np.dtype(">f4"), hd.float32):
        assert hd.zeros(1, dtype=name).dtype == hd.float32
    assert hd.zeros(1, dtype=int).dtype == hd.int64 and hd.zeros(1, dtype=bool).dtype == hd.bool
    for name in ("object", "nothing", np.dtype("U3"), 3):
        with pytest.raises(TypeError):
            hd.zeros(1, dtype=name)
    assert hd.float32 != hd.float64 and {hd.float32: 1}[hd.float32] == 1
    assert repr(hd.float32) == "heddle.float32" and str(hd.float32) == "float32"


def test_files(tmp_path):
    path = str(tmp_path / "x.npy")
    hd.save(path, hd.asarray(x()))
    np.testing.assert_array_equal(np.load(path), x())
    check(hd.load(path), x())
    with pytest.raises(OSError):
        hd.load(str(tmp_path / "nothing.npy"))


def test_array_module():
    assert hd.get_array_module(hd.ones(1), 3) is hd
    assert hd.get_array_module(np.ones(1)) is np
    check(hd.asarray(hd.asnumpy(hd.ones(2))), np.ones(2))
    np.testing.assert_array_equal(hd.asnumpy([1, 2]), [1, 2])


def has_archives(path):
    """Whether Heddle finds libzip."""
    try:
        hd.savez(path, hd.ones(1))
    except hd.FileError as error:
        assert "libzip is needed" in str(error)
        return False
    return True


def test_npz_files_are_numpys(tmp_path):
    path = str(tmp_path / "x.npz")
    if not has_archives(path):
        pytest.skip("there is no libzip")
    names = {"arr_0": x(), "weights": np.arange(6, dtype="int16").reshape(2, 3), "flag": np.array(True)}
    for write in (np.savez, np.savez_compressed):
        write(path, names["arr_0"], weights=names["weights"], flag=names["flag"])
        read = hd.load(path)
        assert set(read) == set(names)
        for name, want in names.items():
            np.testing.assert_array_equal(hd.asnumpy(read[name]), want, strict=True)
    rest = {name: hd.asarray(names[name]) for name in ("weights", "flag")}
    plain, deflated = str(tmp_path / "plain.npz"), str(tmp_path / "deflated.npz")
    hd.savez(plain, hd.asarray(x()), **rest)
    hd.savez_compressed(deflated, hd.asarray(x()), **rest)
    for written in (plain, deflated):
        with np.load(written) as read:
            assert set(read) == set(names)
            for name, want in names.items():
                np.testing.assert_array_equal(read[name], want, strict=True)
    with pytest.raises(ValueError, match="two arrays have the name arr_0"):
        hd.savez(path, hd.ones(2), arr_0=hd.ones(2))
    with pytest.raises(ValueError, match="no arrays"):
        hd.savez(path)
    hd.savez(path, weights=np.ones(2), list=[1, 2])
    assert hd.load(path)["list"].tolist() == [1, 2]
    with pytest.raises(TypeError, match="no dtype for text"):
        hd.savez(path, weights="a")


def test_grids_by_subscripts():
    keys = [np.s_[0:5], np.s_[0:1:5j], np.s_[-1:2:0.5], np.s_[0:3, 1:9:4], np.s_[:2, 0:1:3j, 5:3:-1]]
    for key in keys:
        check(hd.mgrid[key], np.mgrid[key])
        ours, want = hd.ogrid[key], np.ogrid[key]
        if isinstance(key, slice):
            check(ours, want)
            continue
        assert len(ours) == len(want)
        for one, other in zip(ours, want):
            check(one, other)


def test_histograms_of_points():
    points = np.random.default_rng(2).normal(size=(60, 2))
    edges, weights = np.array([-2.0, -1.0, 0.5, 2.0]), np.arange(60)
    ours = [hd.asarray(points[:, 0]), hd.asarray(points[:, 1])]
    for bins in (4, [3, 5], [edges, 5], edges, list(edges)):
        here = [hd.asarray(b) if isinstance(b, np.ndarray) else b for b in bins] if isinstance(
            bins, list) else hd.asarray(bins) if isinstance(bins, np.ndarray) else bins
        got = hd.histogram2d(*ours, here, weights=hd.asarray(weights))
        want = np.histogram2d(points[:, 0], points[:, 1], bins, weights=weights)
        assert isinstance(got, tuple)
        for one, other in zip(got, want, strict=True):
            check(one, other)
    for sample, same in ((hd.asarray(points), points), (ours, [points[:, 0], points[:, 1]])):
        counts, edges = hd.histogramdd(sample, (3, [-1, 0, 1]), [(-1, 2), None])
        want, wanted_edges = np.histogramdd(same, (3, [-1, 0, 1]), [(-1, 2), None])
        check(counts, want)
        assert isinstance(edges, list)
        for one, other in zip(edges, wanted_edges, strict=True):
            check(one, other)
    with pytest.raises(TypeError):
        hd.histogramdd(hd.asarray(points), 2.5)
    with pytest.raises(ValueError):
        hd.histogramdd(hd.asarray(points), 2, [(0, 1)])
    with pytest.raises(ValueError, match="1 bins for 2 coordinates"):
        hd.histogramdd(hd.asarray(points), (2,))


@pytest.mark.parametrize(("dtype", "wide"), [("complex64", "complex128"),
                                             ("complex128", "clongdouble")])
def test_sinc_of_complex_numbers(dtype, wide):
    rng = np.random.default_rng(7)
    z = rng.uniform(-20, 20, 300) + 1j * rng.uniform(-6, 6, 300)
    z[:6] = [0, 1, -3, 2.5, 1j, 1 + 1e-3j]
    z = z.astype(dtype)
    exact = z.astype(wide)
    angle = np.arccos(np.longdouble(-1)) * exact
    angle[0] = 1
    want = np.where(z == 0, 1, np.sin(angle) / angle)
    # What is off is the angle, by a rounding of each part, and what is made of it.
    steep = np.cosh(angle.imag) / np.abs(angle)
    bound = np.finfo(dtype).eps * ((8 + np.abs(angle)) * np.abs(want) + 4 * steep)
    got = hd.sinc(hd.asarray(z))
    assert str(got.dtype) == dtype
    assert np.all(np.abs(hd.asnumpy(got) - want) <= bound)
    check(got[0], z.dtype.type(1))


def test_bins_in_a_list_are_edges_of_any_library():
    a, b = np.array([0.5, 1.5, 1.7]), np.array([0.1, 0.2, 1.9])
    with pytest.raises(TypeError, match="asarray"):
        hd.histogram2d(hd.asarray(a), hd.asarray(b), bins=np.array([0, 1, 2]))
    for bins in ([np.array([0.0, 1.0, 2.0]), 3], np.int64(2), [np.array(2), 2]):
        got = hd.histogram2d(hd.asarray(a), hd.asarray(b), bins=bins)
        for one, want in zip(got, np.histogram2d(a, b, bins=bins), strict=True):
            np.testing.assert_allclose(hd.asnumpy(one), want)


def test_negative_powers_of_integers():
    x = hd.asarray([2, 3])
    # A GPU's arrays are not read.
    arrays = [[-1, 2], -1, np.array([1, -2], np.int8)] if x.device == "cpu" else []
    for exponents in (-1, *map(hd.asarray, arrays)):
        with pytest.raises(ValueError, match="negative integer power -"):
            x ** exponents
    check(hd.asarray([2.0, 4.0]) ** hd.asarray([-1, 2]), np.array([0.5, 16.0]))
    check(x ** hd.asarray([0, 2]), np.array([1, 9]))
    # Exponents that are still to be computed: 1 / x^-y, cut to an integer.
    check(hd.jit(lambda a, b: a ** b)(hd.asarray([2, 1, -1]), hd.asarray([-1, -2, -3])),
          np.array([0, 1, -1]))


def test_edges_that_fall():
    x = hd.asarray([1.0, 2.5])
    for edges in ([3, 1, 2], [2.0, 1.0], [0.0, np.nan, 3.0, 1.0]):
        falling = hd.asarray(edges)
        for histogram in (lambda e: hd.histogram(x, e), lambda e: hd.histogramdd([x], [e]),
                          lambda e: hd.histogram2d(x, x, [4, e])):
            with pytest.raises(ValueError, match="edges"):
                histogram(falling)
    check(hd.histogram(x, hd.asarray([0.0, 1.0, 1.0, 3.0]))[0],
          np.histogram([1.0, 2.5], [0.0, 1.0, 1.0, 3.0])[0])


def test_masks_name_indices():
    x, mask = hd.arange(5), [True, False, False, True, False]
    kept = np.array([1, 2, 4])
    for obj in (mask, tuple(mask), hd.asarray(mask), hd.asarray([0, 3]), [0, 3]):
        check(hd.delete(x, obj), kept)
    for obj in (mask, hd.asarray(mask), hd.asarray([0, 3])):
        check(hd.insert(x, obj, -1), np.array([-1, 0, 1, 2, -1, 3, 4]))
    check(hd.jit(lambda v: hd.delete(v, mask))(x), kept)
    for call in (lambda: hd.delete(x, [True]), lambda: hd.delete(x, True),
                 lambda: hd.insert(x, True, 0), lambda: hd.delete(x, hd.asarray([True])),
                 lambda: hd.insert(x, hd.asarray([[True]]), 0)):
        with pytest.raises(ValueError, match="mask"):
            call()
    with pytest.raises(TypeError):
        hd.delete(x, hd.asarray([0.5]))
    with pytest.raises(hd.TraceError):
        hd.jit(lambda v, m: hd.delete(v, m))(x, hd.asarray(mask))


@pytest.mark.filterwarnings("ignore:overflow")
def test_tolerances_of_weak_numbers():
    for dtype in ("float16", "float32", "float64", "int8", "bool"):
        a = np.ones(3, dtype=dtype)
        x = hd.asarray(a)
        for other in (1, 1.0 + 1e-9, 1.00001, 1.0001, True, 10**30, np.inf):
            for options in ({}, {"rtol": 0, "atol": 1e-9}, {"atol": 1e-3}):
                check(hd.isclose(x, other, **options), np.isclose(a, other, **options))
                check(hd.isclose(other, x, **options), np.isclose(other, a, **options))
                assert hd.allclose(x, other, **options) == np.allclose(a, other, **options)
        got = hd.jit(lambda v, n: hd.isclose(v, n))(x, 1.00001)
        check(got, np.isclose(a, 1.00001))


def test_bools_are_no_extents():
    x = hd.arange(4)
    for make in (lambda: x.reshape(True, -1), lambda: x.reshape((True, 4)), lambda: hd.ones(True),
                 lambda: hd.reshape(x, (True, -1)), lambda: hd.zeros((2, False)),
                 lambda: hd.full((True,), 1), lambda: hd.zeros_like(x, shape=(True, 2)),
                 lambda: hd.broadcast_to(x, (True, 4)), lambda: hd.resize(x, (True, 2)),
                 lambda: hd.indices((True, 2)), lambda: hd.unravel_index(x, (True, 4)),
                 lambda: hd.random.default_rng(0).normal(size=(True, 2))):
        with pytest.raises(TypeError, match="not a bool"):
            make()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_products_with_vectors(dtype):
    """Whole numbers, so that every order of summation gives the same result."""
    numbers = np.random.default_rng(1)

    def make(*shape):
        values = numbers.integers(-4, 5, shape)
        if dtype.startswith("complex"):
            values = values + 1j * numbers.integers(-4, 5, shape)
        return values.astype(dtype)

    matrix, batch, long, short = make(90, 70), make(3, 8, 6), make(90), make(70)
    wide = make(180, 140)
    products = [
        (matrix, short), (long, matrix), (matrix.T, long), (short, matrix.T),
        (wide[::2, ::2], short), (long, wide[::2, ::2]), (wide[::2, ::2].T, long[::-1]),
        (matrix[:, ::-1], wide[0, ::2]), (long, long), (long[::-1], long), (wide[:90, 0], long),
        (long[:, None], short[None, :]), (matrix[:, 3:4], matrix[5:6, :]),
        (matrix[:, :1], matrix[:1, :1]), (long[None, :], long[:, None]),
        (batch, batch[0, 0]), (batch[:, 0, :1], batch[0, 0][None, :]), (batch[0, :, 0], batch),
        (batch.transpose(0, 2, 1), batch[..., :1]), (batch[:, :1], batch.transpose(0, 2, 1)),
        (batch[:, :1], batch[:, :1].transpose(0, 2, 1)), (matrix[:, :0], short[:0]),
        (long[:0], long[:0]),
    ]
    for a, b in products:
        got = hd.asnumpy(hd.asarray(a) @ hd.asarray(b))
        expected = (a.astype("float64") @ b.astype("float64")).astype(dtype) \
            if dtype == "float16" else a @ b
        assert got.dtype == expected.dtype and got.shape == expected.shape
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint32"])
@pytest.mark.parametrize("name", ["maximum", "fmax", "where"])
def test_integers_clipped_and_compared_with_the_bound_in_one_kernel(dtype, name):
    """ptxas of CUDA 13.0 compiles the comparison wrongly if it sees such a maximum."""
    x = np.arange(100).astype(dtype) % 7 - (2 if dtype.startswith("i") else 0)
    for bound in (1, 3, 4):
        def clipped(xp, x):
            if name == "where":
                y = xp.where(x > bound, bound, x)
                y = xp.where(y < 0, 0, y)
            else:
                y = getattr(xp, name)(xp.minimum(x, bound), 0)
            converted = [y.astype(to) == bound for to in ("int64", "uint8", "float32", "complex64")]
            return y, y == bound, y != bound, y >= bound, y < bound, *converted
        for found, expected in zip(hd.jit(lambda x: clipped(hd, x))(hd.array(x)), clipped(np, x)):
            np.testing.assert_array_equal(np.asarray(found), expected)


def test_conjunctions_and_disjunctions_of_the_same_operands_in_one_kernel():
    rng = np.random.default_rng(5)
    for dtype in ("bool", "float32", "float64", "complex64", "complex128", "int32"):
        a, b = ((rng.random((33, 17)) < 0.5).astype(dtype) for _ in range(2))

        def both(xp, a, b):
            a = a.T
            return (xp.logical_and(a, b.T), xp.logical_or(a, b.T), xp.logical_xor(a, b.T),
                    xp.maximum(a, b.T), xp.minimum(a, b.T))
        for found, expected in zip(hd.jit(lambda a, b: both(hd, a, b))(hd.array(a), hd.array(b)),
                                   both(np, a, b)):
            np.testing.assert_array_equal(np.asarray(found), expected)
