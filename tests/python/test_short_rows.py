"""Loops over short rows: on the CPU their operations are computed at once after some rounds. The values
are NumPy's, and the bits those of compiled programs, whoever else holds the arrays."""

import numpy as np
import pytest

import heddle as hd
from conftest import DTYPES, ON_CPU, check, sample

ROUNDS = 300  # so many that call sites compute at once
LENGTH = 50


def both(values):
    return hd.asarray(values.copy()), values.copy()


def triangular_solve(np, a, b, x):
    for i in range(len(b)):
        x[i] = (b[i] - a[i, :i] @ x[:i]) / a[i, i]


def reversed_updates(np, a, b, x):
    for k in range(2, len(b)):
        x[:k] += 0.25 * np.flip(x[:k]) - b[k] * x[k - 1::-1]


def columns(np, a, b, x):
    for i in range(1, len(b)):
        a[:i, i] -= a[i - 1, i] * a[:i, i - 1]
        a[i] = a[i - 1] * b[i] + x


def neighbours(np, a, b, x):
    for _ in range(len(b)):
        x[1:-1] = 0.25 * (x[:-2] + x[1:-1] + x[2:])
        a[1:-1, 1:-1] += a[2:, 1:-1] - a.T[:-2, 1:-1]
        a[3:5] = 0.5
        a[:, 2] = b


def outer_products(np, a, b, x):
    for i in range(len(b)):
        a += b[:, None] * x * 0.125
        x[...] = np.maximum(np.abs(x - 1.5), a[i]) < 2
        b[::2] = np.sqrt(np.abs(b[::2]))


LOOPS = [triangular_solve, reversed_updates, columns, neighbours, outer_products]


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_loops(loop, dtype):
    rng = np.random.default_rng(3)
    values = [rng.random(shape).astype(dtype) + 1 for shape in ((LENGTH, LENGTH), LENGTH, LENGTH)]
    have, want = [hd.asarray(value) for value in values], [value.copy() for value in values]
    for _ in range(ROUNDS // LENGTH + 1):
        loop(hd, *have)
        loop(np, *want)
        for array in have:
            array /= 8
        for array in want:
            array /= 8
    tolerance = 1e-12 if dtype == "float64" else 1e-4
    for got, expected in zip(have, want):
        if loop is triangular_solve or not ON_CPU:  # another order of sums; a GPU fuses a * b + c
            np.testing.assert_allclose(np.asarray(got), expected, rtol=tolerance)
        else:
            check(got, expected)


@pytest.mark.skipif(not ON_CPU, reason="a GPU computes nothing at once")
def test_nothing_is_evaluated():
    x, _ = both(np.arange(50.0))
    for i in range(3 * ROUNDS):
        if i == 2 * ROUNDS:  # each of two statements that take turns has come up often
            before = hd.statistics()
        x[1:i % 40 + 2] += 0.5 * x[:i % 40 + 1] @ x[1:i % 40 + 2] * x[i % 40::-1]
        x[:] = x / 2 if i % 2 else x - 1
    after = hd.statistics()
    assert after["kernels_launched"] == before["kernels_launched"]
    assert after["pending_ops"] == before["pending_ops"]


@pytest.mark.skipif(not ON_CPU, reason="a GPU computes nothing at once")
def test_what_is_watched_is_recorded():
    x = hd.ones(8).eval()

    def loop():
        for _ in range(ROUNDS):
            y = x + 1.0
        return y

    loop()
    before = hd.auto_eval(False)
    try:
        pending = hd.statistics()["pending_ops"]
        y = loop()
        assert hd.statistics()["pending_ops"] > pending
    finally:
        hd.auto_eval(before)
    check(y, np.full(8, 2.0))
    with hd.profile() as profile:
        loop().eval()
    assert "kernel" in str(profile.table())


@pytest.mark.parametrize("dtype", [hd.float32, hd.float64], ids=str)
def test_products_have_the_bits_of_programs(dtype):
    dot = hd.jit(lambda a, b: a @ b)
    for count in (1, 15, 17, 64, 257, 1000, 1025, 2048):
        a, b = (hd.asarray(np.random.default_rng(seed).standard_normal(count)).astype(dtype).eval()
                for seed in (count, 5))
        for _ in range(ROUNDS):
            launched = hd.statistics()["kernels_launched"]
            got = a @ b
            float(got)
        assert hd.statistics()["kernels_launched"] == launched or not ON_CPU
        check(got, np.asarray(dot(a, b)))


@pytest.mark.parametrize("dtype", [hd.float32, hd.float64], ids=str)
@pytest.mark.parametrize("shape", [(2, 8), (7, 300), (600, 251), (1001, 9), (5, 2048)], ids=str)
def test_vector_products_have_the_bits_of_programs(dtype, shape):
    rng = np.random.default_rng(shape[0])
    m = hd.asarray(rng.standard_normal((shape[0] + 1, shape[1] + 4))).astype(dtype).eval()
    product = hd.jit(lambda a, b: a @ b)
    for vector, matrix in ((m[1:, 0].copy(), m[1:, 4:].copy()), (m[:-1, 2], m[1:, 4:]), (m[:0:-1, 1], m[:-1, 3:-1])):
        for _ in range(ROUNDS):
            before = hd.statistics()["pending_ops"]
            got = vector @ matrix
            recorded = hd.statistics()["pending_ops"] - before
            got.eval()
        assert recorded == 0 or not ON_CPU
        if ON_CPU:
            check(got, np.asarray(product(vector, matrix)))
        np.testing.assert_allclose(np.asarray(got), np.asarray(vector) @ np.asarray(matrix),
                                   rtol=1e-10 if dtype == hd.float64 else 1e-3, atol=1e-10 if dtype == hd.float64 else 1e-3)


@pytest.mark.parametrize("dtype", [hd.float64, hd.complex64, hd.int32], ids=str)
def test_other_vector_products_are_recorded(dtype):
    m = hd.asarray(sample(np.dtype("int32"), (12, 20), 1) % 9).astype(dtype).eval()
    integers = np.asarray(m)
    for vector, matrix in ((m[:, 0], m[:, 1:4]), (m[0], m.T), (m[:, 0], m[:, ::2]), (m[:1, 0], m[:1])):
        wanted = [np.asarray(vector) @ np.asarray(matrix)] * 2
        for _ in range(ROUNDS):
            got = [vector @ matrix, vector @ matrix]
            hd.eval(*got)
        for have, want in zip(got, wanted):
            check(have, want)
    check(m, integers)


@pytest.mark.parametrize("dtype", [hd.float32, hd.float64], ids=str)
@pytest.mark.parametrize("shape", [(7,), (3, 5), (300,), (30, 30), (2, 1, 600), (2000,)], ids=str)
def test_sums_have_the_bits_of_programs(dtype, shape):
    x = hd.asarray(np.random.default_rng(0).standard_normal(shape)).astype(dtype).eval()
    for view in (x, x.T, x[1:]):
        check_rounds(hd.sum, (view,))
        check_rounds(hd.prod, (view,))


UFUNCS = ["add", "subtract", "multiply", "divide", "floor_divide", "remainder", "maximum", "hypot", "equal", "less",
          "negative", "absolute", "sqrt", "exp", "sin", "isnan", "square", "logical_and", "bitwise_xor"]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_elements_have_the_bits_of_programs(dtype):
    a, b = (hd.asarray(sample(dtype, (9, 13), seed)).eval() for seed in (0, 1))
    b += hd.asarray(3).astype(dtype)
    operands = {1: [(a,)], 2: [(a, b), (a, b[2]), (b[:, 3:4], a), (a, 2), (b[::-2, 1], 1)]}
    for name in UFUNCS:
        function = getattr(hd, name)
        for given in operands[function.nin] if name in ("add", "less") else operands[function.nin][:1]:
            check_rounds(function, given)


@pytest.mark.parametrize("dtype", [hd.float32, hd.float64, hd.int32, hd.complex64], ids=str)
def test_powers_have_the_bits_of_programs(dtype):
    x = hd.asarray(np.random.default_rng(2).random((9, 13)) * 4).astype(dtype).eval()
    for exponent in (2, 3, 0.5, -1, -1.5, 2.5, 0, 1)[:2 if dtype == hd.int32 else None]:
        check_rounds(lambda x: x ** exponent, (x,))
        check_rounds(lambda x: x ** exponent, (x[1:, ::2],))


def check_rounds(function, given):
    """The last round is computed at once, the first one by a program."""
    try:
        want = function(*given).eval()
    except (TypeError, hd.DTypeError) as error:
        for _ in range(ROUNDS):
            with pytest.raises(type(error)):
                function(*given)
        return
    for _ in range(ROUNDS):
        got = function(*given)
    if want.dtype == hd.bfloat16:  # NumPy knows no NaN of that
        want, got = want.astype(hd.float32), got.astype(hd.float32)
    check(got, np.asarray(want))


def test_aliases():
    x, y = both(np.arange(40.0).reshape(4, 10))
    for i in range(ROUNDS):
        for a in (x, y):
            row, column, whole = a[i % 4], a[:, i % 10], a[:]
            row[1:] = row[:-1]
            column += row[:4]
            whole[::2, 3:] -= column[1]
            a[...] = a - row[0]
        check(x[i % 4], y[i % 4])
        check(x[:, i % 10], y[:, i % 10])
        copy, held = x.copy(), x + 0
        x[1] = y[1] = 0.5
        assert float(copy[1, 0]) == float(held[1, 0])
    check(x, y)


@pytest.mark.skipif(not ON_CPU, reason="NumPy takes no memory of a GPU")
def test_shared_with_numpy():
    x = hd.asarray(np.arange(20.0))
    for i in range(ROUNDS):
        part = x[3:9]
        part += 1.0
        if i == ROUNDS - 10:
            memory = np.from_dlpack(x)
        if i >= ROUNDS - 10:
            memory[4] = i
            assert float(part[1]) == i and float((part * 2)[1]) == 2 * i
    check(x, np.asarray(memory))


def test_views_of_donated_arrays():
    for _ in range(ROUNDS):
        x = hd.ones(8).eval()
        part = x[2:5]
    check(part, np.ones(3))
    x[:] = 2.0
    hd.jit(lambda a: a + 1, donate=0)(x)
    with pytest.raises(ValueError):
        part + 1


def test_errors_are_those_of_recording():
    x, y = hd.ones(8).eval(), hd.ones(5).eval()
    frozen = hd.broadcast_to(x, (2, 8))
    for _ in range(ROUNDS):
        with pytest.raises(hd.ShapeError):
            x + y
        with pytest.raises(hd.ShapeError):
            x[2:4] = y
        with pytest.raises(hd.ShapeError):
            x @ y
        with pytest.raises(ValueError):
            frozen[0, 1:3] = 2.0
        with pytest.raises(IndexError):
            x[9, 1:2]
        with pytest.raises((OverflowError, hd.DTypeError)):
            hd.ones(4, dtype=hd.int8).eval() + 1000
    check(x, np.ones(8))
