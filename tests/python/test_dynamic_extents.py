"""Ops that depend on extents which JitOptions::dynamic says may change: a program for each case, not for each shape."""

import numpy as np
import pytest

import heddle as hd
from linalg_cases import random

SHAPES = ((5, 3), (6, 2), (3, 5), (4, 4), (2, 6))


def traced(function):
    before = hd.statistics()["traces"]
    function()
    return hd.statistics()["traces"] - before


def near(actual, expected):
    actual = np.asarray(actual)
    assert actual.shape == np.shape(expected)
    np.testing.assert_allclose(actual, expected, rtol=1e-10, atol=1e-10)


ORDERED = (
    (lambda a: hd.linalg.qr(a, mode="r") ** 2, lambda a: np.linalg.qr(a, mode="r") ** 2),
    (lambda a: hd.linalg.svdvals(a), lambda a: np.linalg.svd(a, compute_uv=False)),
    (lambda a: abs(hd.linalg.svd(a).Vh), lambda a: abs(np.linalg.svd(a).Vh)),
    (lambda a: hd.linalg.pinv(a), np.linalg.pinv),
    (lambda a: hd.linalg.matrix_norm(a, ord="nuc"), lambda a: np.linalg.norm(a, "nuc")),
)


@pytest.mark.parametrize("case", range(len(ORDERED)))
def test_which_extent_is_smaller_has_a_program_each(case):
    function, expected = ORDERED[case]
    call = hd.jit(function, dynamic=[("m", "n")])
    for shape in SHAPES[:2] if case == 2 else SHAPES:  # a wide matrix's null space has no unique vectors
        near(call(hd.array(random(shape))), expected(random(shape)))
    assert traced(lambda: [call(hd.ones(shape)) for shape in ((9, 4), (7, 7), (8, 1))]) == 0


def test_an_extent_beside_a_number():
    call = hd.jit(lambda a: hd.linalg.qr(a, mode="r") ** 2, dynamic=[("n", 4)])
    for rows in (7, 9, 4, 2, 3, 2):
        near(call(hd.array(random((rows, 4)))), np.linalg.qr(random((rows, 4)), mode="r") ** 2)
    assert traced(lambda: [call(hd.ones((rows, 4))) for rows in (12, 2, 5, 3)]) == 0


def test_several_arrays_and_several_orders():
    def function(a, b):
        return hd.linalg.svdvals(a), hd.linalg.svdvals(b), a @ b

    call = hd.jit(function, dynamic=[("m", "n"), ("n", "k")])
    for m, n, k in ((5, 3, 2), (5, 3, 4), (5, 3, 9), (2, 3, 1), (2, 3, 8), (3, 3, 3), (6, 2, 1)):
        a, b = random((m, n)), random((n, k), seed=1)
        for actual, expected in zip(call(hd.array(a), hd.array(b)), (
                np.linalg.svd(a, compute_uv=False), np.linalg.svd(b, compute_uv=False), a @ b)):
            near(actual, expected)


VALUED = (
    (lambda a: hd.fft.fft(a * 2), lambda a: np.fft.fft(a * 2)),
    (lambda a: hd.trace(a), np.trace),
    (lambda a: hd.linalg.matrix_rank(a), np.linalg.matrix_rank),
    (lambda a: hd.linalg.multi_dot([a, a.mT, a]), lambda a: a @ a.T @ a),
    (lambda a: hd.roll(a, 1, axis=1), lambda a: np.roll(a, 1, axis=1)),
)


@pytest.mark.parametrize("case", range(len(VALUED)))
def test_an_extent_whose_value_matters_is_fixed(case):
    function, expected = VALUED[case]
    call = hd.jit(function, dynamic=[("m", "n")])
    for shape in SHAPES:
        near(call(hd.array(random(shape))), expected(random(shape)))
    assert traced(lambda: call(hd.ones(SHAPES[0]))) == 0


def test_only_the_axis_that_matters_is_fixed():
    call = hd.jit(lambda a: hd.fft.rfft(a), dynamic=[("rows", "n")])
    near(call(hd.array(random((3, 8)))), np.fft.rfft(random((3, 8))))
    assert traced(lambda: [call(hd.ones((rows, 8))) for rows in (1, 2, 50)]) == 0


def test_names_that_say_which_extent_is_smaller():
    lowered = hd.jit(lambda a: hd.linalg.qr(a, mode="r")).lower(hd.spec(("n+k", "n"), hd.float64))
    assert "f64[k+n,n]" in lowered.ir() or "f64[n+k,n]" in lowered.ir()
    call = hd.jit(lambda a: hd.linalg.svdvals(a), dynamic=[("n+k", "n")])
    near(call(hd.array(random((5, 3)))), np.linalg.svd(random((5, 3)), compute_uv=False))
    with pytest.raises(hd.ShapeError, match="compiled for"):
        call(hd.ones((3, 5)))
    with pytest.raises(hd.ShapeError, match="n\\+k and n"):
        hd.jit(lambda a: hd.linalg.svdvals(a)).lower(hd.spec(("m", "n"), hd.float64))
    with pytest.raises(ValueError, match="name of an extent"):
        hd.jit(lambda a: a * 2).lower(hd.spec(("n+",), hd.float64))


def test_errors_of_the_function_itself_stay():
    def function(a):
        try:
            hd.linalg.svdvals(a)
        finally:
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        hd.jit(function, dynamic=[("m", "n")])(hd.ones((3, 2)))


def test_names_are_symbols_or_sums_of_them():
    for name in ("in-features", "batch size", "N/2", "n+2-", "1+"):
        with pytest.raises(ValueError, match="name"):
            hd.jit(lambda x: x * 2, dynamic=[(name,)])(hd.ones(6))


def test_symbols_that_are_made_have_new_names():
    both = hd.jit(lambda x, y: (hd.linalg.svdvals(x), y.sum()), dynamic=[("m", "n"), ("m_rest",)])
    a = random((5, 3), "float64")
    values, total = both(hd.asarray(a), hd.ones(9))
    near(values, np.linalg.svd(a, compute_uv=False))
    assert float(total) == 9


def put_seven(x):
    x = x.copy()
    x[[7, 0]] = 1
    return x


@pytest.mark.parametrize("function, bad", [
    (lambda x: x[[0, 7]], 7), (lambda x: x[np.array([-8, 1])], -8),
    (lambda x: x.take([7, 0]), 7), (put_seven, 7)])
def test_known_indices_are_checked_at_each_call(function, bad):
    call = hd.jit(function, dynamic=[("n",)])
    for extent in (8, 20):
        a = np.arange(float(extent))
        np.testing.assert_array_equal(hd.asnumpy(call(hd.asarray(a))), function(a))
    with pytest.raises(IndexError, match=f"index {bad} is out of bounds for axis 0.*test_dynamic"):
        hd.asnumpy(call(hd.arange(7.0)))
    np.testing.assert_array_equal(hd.asnumpy(call(hd.arange(8.0))), function(np.arange(8.0)))
