"""hd.fuse: short programs beside NumPy: statements one after another, arguments that share elements,
dtypes, shapes, and names."""

import threading

import numpy as np
import pytest
from conftest import check, sample
from test_fuse import POSITIVE, TWO, UNARY, agree, compare, module_of

import heddle as hd

WIDE = ("i1", "u2", "i8", "f2", "f4", "f8", "c8")


def outputs_of_ufuncs(xp, x, y, z, u, v):
    xp.add(x, y, out=z)
    xp.subtract(z, x, out=u)
    xp.multiply(z, x, out=v)
    return u


def swapped(x, y, z):
    w = x * y + z
    (x, w) = (w, x)
    return z * w + y + x


def of_other_dtypes(x, y, z):
    x = x.astype("int32")
    y = x.astype("float32")
    return x + y, y + z, z + x


def thrice(x, y):
    x += y
    x += y
    x += y
    return x


def in_turns(x, y):
    x += y
    y += x
    x += y


def to_itself(x):
    x += x
    x += x


def summed_in_a_loop(x, y):
    result = 0
    for _ in range(10):
        result += x + y
    return result


@pytest.mark.parametrize("dtype", WIDE)
def test_statements(dtype):
    x, y, z, u, v = (np.abs(sample(hd.dtype(dtype), (3, 4), seed)).astype(dtype) % 7 if dtype != "c8"
                     else sample(hd.complex64, (3, 4), seed) for seed in range(5))
    compare(module_of(outputs_of_ufuncs), x, y, z, u, v, ulp=8)
    for function in (thrice, in_turns, summed_in_a_loop, lambda x, y: x + x + y + y,
                     lambda x, y: (x + y, y - x), lambda x, y: x):
        compare(function, x, y, ulp=64)
    compare(to_itself, x)
    compare(swapped, x, y, z, ulp=8)
    if dtype != "c8":
        compare(of_other_dtypes, x, y, z, ulp=8)


def test_results_of_several_shapes():
    def function(xp, x, y):
        a = x + y
        b = xp.sum(a, axis=0)
        x += b
        c = xp.sum(x, axis=0)
        y += c
        return c, b, x, y, a
    for dtype in ("i8", "f8"):
        compare(module_of(function), *(np.arange(12).reshape(3, 4).astype(dtype) + k for k in (0, 5)))
    compare(lambda x, y: (x + x) * (x + y) * (y + y), np.arange(12).reshape(3, 1, 4),
            np.arange(60).reshape(3, 5, 4))


def test_arguments_that_share_elements():
    fused = hd.fuse(lambda x, y: x + y)
    a = np.arange(9).reshape(3, 3)
    x = hd.asarray(a)
    check(fused(x, x), a + a)
    check(fused(x, hd.asarray(a * 2)), a * 3)
    check(fused(x, x.T), a + a.T)


def test_signatures_one_after_another():
    fused = hd.fuse(lambda x, y: x + y)
    for one, other in (("i4", "i4"), ("i4", "i2"), ("i2", "i4"), ("i4", "i4"), ("f4", "i8")):
        a, b = np.arange(12).reshape(3, 4).astype(one), np.arange(12).reshape(3, 4).astype(other)
        check(fused(hd.asarray(a), hd.asarray(b)), a + b)
    for one, other in (((4, 5), (4, 5)), ((5,), (4, 5)), ((4, 3), (4, 3)), ((4, 1), (4, 5)), ((1, 1), (1, 1))):
        a, b = np.ones(one), np.arange(np.prod(other), dtype=float).reshape(other)
        check(fused(hd.asarray(a), hd.asarray(b)), a + b)
    with pytest.raises(ValueError, match="broadcast"):
        fused(hd.ones((2, 5)), hd.ones((4, 5)))


def test_special_values_are_written():
    for value in (np.nan, np.inf, -np.inf):
        def fill(x, value=value):
            x[:] = value
            return x
        compare(fill, np.ones((3, 4), "f4"))
    points, mask = np.arange(512.0).reshape(256, 2), np.arange(256) % 3 == 0
    for value in (np.inf, np.nan):
        fused = hd.fuse(lambda points, mask, value=value: hd.where(mask[:, None], value, points))
        check(fused(hd.asarray(points), hd.asarray(mask)), np.where(mask[:, None], value, points))


def test_parameters_and_names():
    @hd.fuse
    def bare(x):
        """Without parentheses."""
        return x + x

    @hd.fuse()
    def called(x):
        """With parentheses."""
        return x + x

    assert (bare.__name__, bare.__doc__) == ("bare", "Without parentheses.")
    assert (called.__name__, called.__doc__) == ("called", "With parentheses.")
    assert hd.fuse(lambda: None)() is None
    optional = hd.fuse(lambda x, y, z: x * z if y is None else x + y + z)
    a = np.arange(10.0)
    x = hd.asarray(a)
    check(optional(x, None, x) + optional(x, x, x), a * a + 3 * a)
    modules = []
    hd.fuse(lambda x: modules.append(hd.get_array_module(x)))(x)
    assert modules == [hd]


def test_named_reductions():
    a, b, c = (np.arange(12.0).reshape(3, 4) + k for k in (0, 5, 13))
    for options in ({}, {"kernel_name": "abc"}):
        for function in (lambda xp, x, y, z: (x + y) * z, lambda xp, x, y, z: xp.sum((x + y) * z),
                         lambda xp, x, y, z: xp.sqrt(xp.sum(x) + 10),
                         lambda xp, x, y, z: xp.sqrt(xp.prod(x + y * z, axis=1) + 10)):
            fused = hd.fuse(**options)(lambda x, y, z, function=function: function(hd, x, y, z))
            agree(fused(*map(hd.asarray, (a, b, c))), function(np, a, b, c), 8)


def test_functions_of_functions():
    def build(fuse):
        f = fuse(lambda x, y: (x - y * 2, x + y))

        def combine(x, y, z):
            a, b = f(x + z, z - x * 3)
            c, d = f(x - y, y - z)
            return a + b * c - d
        g = fuse(combine)

        def outer(x, y):
            a, b = f(x + y * 2, y * 3)
            return a - b * g(x - 2, x - 3, -y)
        return fuse(outer)
    for dtype in ("i4", "f8", "c16"):
        a = np.arange(9).reshape(3, 3).astype(dtype)
        check(build(hd.fuse)(hd.asarray(a), hd.asarray(a)), build(lambda f: f)(a, a))
    fused = hd.fuse(lambda x, y: x - y * 2)
    fused.clear_cache()
    check(fused(hd.asarray(a), hd.asarray(a)), -a)


def test_a_hundred_threads():
    fused = hd.fuse(lambda x, y: x + y * 2)
    whole = hd.arange(9).reshape(3, 3)
    arguments = [whole, whole.astype(hd.float64)]
    results = [None] * 100

    def work(number):
        results[number] = fused(arguments[number % 2], arguments[number % 2]).astype(hd.int64)
    for half in (range(50), range(50, 100)):
        threads = [threading.Thread(target=work, args=(number,)) for number in half]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    check(hd.concatenate(results), np.concatenate([np.arange(9).reshape(3, 3) * 3] * 100))


def accepted(names, *arguments):
    """The functions that NumPy has for the dtypes."""
    def works(name):
        try:
            with np.errstate(all="ignore"):
                getattr(np, name)(*arguments)
        except (TypeError, ValueError):
            return False
        return True
    return [name for name in names if works(name)]


@pytest.mark.parametrize("dtype", ["?", "i2", "u8", "f8", "c8"])
def test_routines_of_other_dtypes(dtype):
    x, y = (np.arange(shift, shift + 12).reshape(3, 4) % 5 + (dtype != "?") for shift in (0, 2))
    x, y = x.astype(dtype), y.astype(dtype)
    of_one, of_two = accepted(UNARY + POSITIVE, x), accepted(TWO, x, y)
    assert len(of_one) > 20 and len(of_two) > 5

    def every(xp, x, y):
        return (*(getattr(xp, name)(x) for name in of_one), *(getattr(xp, name)(x, y) for name in of_two),
                xp.where(x == y, x, y))
    compare(module_of(every), x, y, ulp=64)
    of_both = accepted(TWO, x, np.ones((3, 4)))
    compare(module_of(lambda xp, x, z: tuple(getattr(xp, name)(x, z) for name in of_both)), x,
            np.arange(12.0).reshape(3, 4), ulp=64)
