"""Polynomials beside NumPy's."""

import warnings

import numpy as np
import pytest

import heddle as hd

COEFFICIENTS = [[1.0, -3, 2], [2.0, 0, 0, -16], [1.0, 0, 1], [0.0, 0, 2, -4, 0, 0], [5.0], [0.0], [], [3.0, 0, 0],
                [1, 2, 3, 4], [1 + 1j, 2, 3j], [1.0, -6, 11, -6], [2.5, 0.0]]


def same(actual, expected, atol=1e-9):
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape and actual.dtype == expected.dtype
    np.testing.assert_allclose(actual, expected, rtol=1e-8, atol=atol)


@pytest.mark.parametrize("p", COEFFICIENTS)
def test_roots(p):
    ours, theirs = hd.roots(hd.array(p)), np.roots(p)
    same(hd.sort(ours), np.sort(theirs))
    same(hd.roots(p).shape, theirs.shape)
    with pytest.raises(ValueError):
        hd.roots(hd.ones((2, 2)))


def test_roots_of_float32_stay():
    assert hd.roots(hd.array([1.0, -3, 2], dtype="float32")).dtype == hd.float32


def test_characteristic_polynomials():
    for a in ([[2.0, 1], [1, 3]], [[0.0, 1], [-1, 0]], [[1, 2, 3], [4, 5, 6], [7, 8, 10]]):
        same(hd.poly(hd.array(a)), np.poly(np.array(a)))
    same(hd.poly([1.0, 2.0, 3.0]), np.poly([1.0, 2.0, 3.0]))
    for shape in [(2, 3), (0, 0), (2, 2, 2)]:
        with pytest.raises(ValueError):
            np.poly(np.ones(shape))
        with pytest.raises(ValueError):
            hd.poly(hd.ones(shape))


def points(columns=None):
    rng = np.random.default_rng(1)
    x = np.linspace(-1, 2, 12)
    y = 3 * x ** 3 - x + 2 + 0.1 * rng.standard_normal(x.shape)
    return x, y if columns is None else np.stack([y * (i + 1) + x * i for i in range(columns)], axis=1)


@pytest.mark.parametrize("columns", [None, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("deg", [0, 1, 3, 5])
def test_fits(columns, weighted, deg):
    x, y = points(columns)
    w = np.linspace(1, 2, len(x)) if weighted else None
    ours = dict(w=None if w is None else hd.array(w))
    same(hd.polyfit(hd.array(x), hd.array(y), deg, **ours), np.polyfit(x, y, deg, w=w))
    for mine, theirs in zip(hd.polyfit(hd.array(x), hd.array(y), deg, full=True, **ours),
                            np.polyfit(x, y, deg, w=w, full=True)):
        np.testing.assert_allclose(np.asarray(mine), theirs, rtol=1e-7)
    for cov in (True, "unscaled"):
        for mine, theirs in zip(hd.polyfit(hd.array(x), hd.array(y), deg, cov=cov, **ours),
                                np.polyfit(x, y, deg, w=w, cov=cov)):
            same(mine, theirs)


def test_fits_of_integers_and_in_a_traced_function():
    x, y = np.arange(5), np.array([1, 3, 7, 13, 21])
    same(hd.polyfit(hd.array(x), hd.array(y), 2), np.polyfit(x, y, 2))
    same(hd.polyfit(list(x), list(y), 1), np.polyfit(x, y, 1))
    fit = hd.jit(lambda x, y: hd.polyfit(x, y, 3))
    x, y = points()
    same(fit(hd.array(x), hd.array(y)), np.polyfit(x, y, 3))


def test_poor_fits_warn():
    x, y = hd.array([1.0, 1, 1]), hd.array([1.0, 2, 3])
    with pytest.warns(np.exceptions.RankWarning):
        hd.polyfit(x, y, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hd.polyfit(*map(hd.array, points()), 3)


def test_bad_fits():
    x, y = map(hd.array, points())
    for arguments, error in [((x, y, -1), ValueError), ((x[None], y, 1), TypeError), ((x[:0], y[:0], 1), TypeError),
                             ((x, y[None, None], 1), TypeError), ((x, y[1:], 1), TypeError),
                             ((x, hd.array(1.0), 1), TypeError)]:
        with pytest.raises(error):
            np.polyfit(*[np.asarray(each) if isinstance(each, hd.Array) else each for each in arguments])
        with pytest.raises(error):
            hd.polyfit(*arguments)
    for w in (x[None], x[1:]):
        with pytest.raises(TypeError):
            hd.polyfit(x, y, 1, w=w)
    with pytest.raises(ValueError, match="exceed order"):
        hd.polyfit(x[:2], y[:2], 1, cov=True)


def assert_polynomial(ours, theirs):
    assert isinstance(ours, hd.poly1d)
    same(ours.coeffs, theirs.coeffs)


def test_class():
    p, q = hd.poly1d([1.0, 2, 3]), hd.poly1d([0, 0, 2.0, 1])
    pn, qn = np.poly1d([1.0, 2, 3]), np.poly1d([0, 0, 2.0, 1])
    for ours, theirs in [(p, pn), (q, qn), (p + q, pn + qn), (p - q, pn - qn), (p * q, pn * qn), (p * 2, pn * 2),
                         (2 * p, 2 * pn), (p + 1, pn + 1), (1 - p, 1 - pn), (p / 2, pn / 2), (-p, -pn), (+p, +pn),
                         (p ** 3, pn ** 3), (p ** 0, pn ** 0), (p.deriv(), pn.deriv()), (p.deriv(2), pn.deriv(2)),
                         (p.integ(), pn.integ()), (p.integ(2, [1, 2]), pn.integ(2, [1, 2])), (p(q), pn(qn)),
                         (hd.poly1d([1.0, 2], r=True), np.poly1d([1.0, 2], r=True)), (hd.poly1d(p), np.poly1d(pn)),
                         (hd.poly1d([0.0, 0]), np.poly1d([0.0, 0]))]:
        assert_polynomial(ours, theirs)
    for ours, theirs in zip(p / q, pn / qn):
        assert_polynomial(ours, theirs)
    for ours, theirs in zip(q / p, qn / pn):
        assert_polynomial(ours, theirs)
    assert p.order == p.o == len(p) == 2 and p.variable == "x" and hd.poly1d([1], variable="z").variable == "z"
    same(hd.sort(p.roots), np.sort(pn.roots))
    same(p(0.5), pn(0.5))
    same(p(hd.array([1.0, 2])), pn(np.array([1.0, 2])))
    assert p[0] == 3 and p[2] == 1 and p[7] == 0 and p[-1] == 0
    assert p == hd.poly1d([1.0, 2, 3]) and p != q and p != hd.poly1d([1.0, 2, 4]) and p != 3
    assert str(p) == str(pn) and repr(p) == repr(pn)
    assert list(map(float, p)) == [1, 2, 3]
    np.testing.assert_array_equal(np.asarray(p), [1, 2, 3])
    changed = hd.poly1d([1.0, 2])
    changed[3] = 5
    changed[0] = 7
    np.testing.assert_array_equal(np.asarray(changed.c), [5, 0, 1, 7])


def test_functions_of_polynomials_give_polynomials():
    p, q = [1.0, 2, 3], [2.0, 1]
    for name, args in {"polyadd": (p, q), "polysub": (q, p), "polymul": (p, q), "polydiv": (p, q),
                       "polyder": (p, 2), "polyint": (p,)}.items():
        for lifted in ([0], [1], [0, 1]):
            ours = [hd.poly1d(a) if i in lifted and isinstance(a, list) else a for i, a in enumerate(args)]
            theirs = [np.poly1d(a) if i in lifted and isinstance(a, list) else a for i, a in enumerate(args)]
            found, wanted = getattr(hd, name)(*ours), getattr(np, name)(*theirs)
            if isinstance(wanted, np.poly1d):
                found, wanted = (found,), (wanted,)
            for each, numpys in zip(found, wanted):
                if isinstance(numpys, np.poly1d):
                    assert_polynomial(each, numpys)
                else:
                    assert isinstance(each, hd.Array)
    assert_polynomial(hd.polyint(hd.poly1d(p), m=2, k=[1, 2]), np.polyint(np.poly1d(p), m=2, k=[1, 2]))


def test_bad_classes():
    p = hd.poly1d([1.0, 2])
    for bad in (lambda: hd.poly1d(hd.ones((2, 2))), lambda: p ** -1, lambda: p ** 0.5,
                lambda: p.__setitem__(-1, 2), lambda: p.deriv(-1)):
        with pytest.raises(ValueError):
            bad()
    with pytest.raises(AttributeError):
        p.coeffs = hd.ones(3)
    with pytest.raises(TypeError):
        hash(p)
