"""Loops of Python that a trace unrolls, and a pass rolls up again: one loop in the plan, NumPy's values."""

import numpy as np
import pytest

import heddle as hd


def jacobi(xp, a, b):
    for _ in range(60):
        b = b.copy()
        b[1:-1] = 0.33333 * (a[:-2] + a[1:-1] + a[2:])
        a = a.copy()
        a[1:-1] = 0.33333 * (b[:-2] + b[1:-1] + b[2:])
    return a, b


def verlet(xp, a, b):
    for _ in range(100):
        c = 2 * a - b
        c[1:-1] += 0.1 * (a[2:] - 2 * a[1:-1] + a[:-2])
        a, b = c, a
    return a, b


def trajectory(xp, a, b):
    states = []
    for i in range(90):
        a = a * 0.5 + xp.sum(a * b) * 0.001 + i
        states.append(a)
    return xp.stack(states), a


def accumulated(xp, a, b):
    total = 0 * a
    for _ in range(90):
        total = xp.cumsum(a) * 0.01 + total
        a = a * 0.9 + b * 0.01
    return total, a


def power(xp, a, b):
    matrix = xp.outer(a, b)
    for _ in range(70):
        a = matrix @ a
        a = a / xp.sqrt(xp.sum(a * a))
    return (a,)


def sums_of_rows(xp, a, b):
    rows = xp.outer(a, b)
    for i in range(len(a) - 1):
        rows[i + 1] = xp.cumsum(rows[i + 1]) * 0.01 + rows[i] * (i + 1) * 0.01
    return rows, rows[-1].sum()


def explicit_and_nested(xp, a, b):
    for _ in range(40):
        a = a * 0.5
        for i in range(4):
            a = xp.cumsum(a)[::-1] * 0.01 + b * i
    return a, b


PROGRAMS = [jacobi, verlet, trajectory, accumulated, power, sums_of_rows, explicit_and_nested]


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_loop_of_python_becomes_one_loop(program, dtype):
    jitted = hd.jit(lambda a, b: program(hd, a, b))
    rng = np.random.default_rng(0)
    for n in (64, 65, 66):  # from the third shape on, extents are symbols
        a, b = (rng.random(n).astype(dtype) for _ in range(2))
        expected = program(np, a.copy(), b.copy())
        found = jitted(hd.asarray(a), hd.asarray(b))
        for ours, theirs in zip(found, expected):
            assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
            # Each of some hundred roundings is relative to the largest element.
            bound = 400 * np.finfo(dtype).eps * np.abs(theirs).max()
            np.testing.assert_allclose(hd.asnumpy(ours), theirs, rtol=0, atol=bound)
    text = str(jitted.lower(hd.asarray(a), hd.asarray(b)).explain())
    assert "roll_loops" in text
    assert text.count("runs step by step: ") == 1, text


def test_explain_names_what_keeps_a_loop_out_of_a_kernel():
    jitted = hd.jit(lambda a, b: accumulated(hd, a, b))
    text = str(jitted.lower(hd.spec((64,), hd.float32), hd.spec((64,), hd.float32)).explain())
    line = accumulated.__code__.co_firstlineno + 3
    assert f"runs step by step: cumsum ({__file__}:{line}) is not computed element by element" in text


def test_a_loop_of_elements_is_one_kernel():
    def logistic(x):
        for _ in range(200):
            x = 3.7 * x * (1 - x)
        return x

    jitted, x = hd.jit(logistic), np.linspace(0.1, 0.9, 100)
    np.testing.assert_allclose(hd.asnumpy(jitted(hd.asarray(x)))[:1], logistic(x)[:1], rtol=1)
    text = str(jitted.lower(hd.asarray(x)).explain())
    assert "roll_loops" in text and "control.scan" not in text


def two_step(xp, x):
    old = None
    for _ in range(64):
        g = xp.sin(x)
        d = g - (g if old is None else old)  # the first step has no step before it
        x = x + (g + d * 0.5)
        old = g
    return x


def negative_zero(xp, x):
    for i in range(64):
        x = xp.maximum(x, 1 / (x * 0 - (32.0 - i)) * 1e-3) + x * -(32.0 - i) * 1e-6
        x = xp.minimum(x, 1.0) - 0.0
    return x


def rows_in_a_loop(xp, x):
    matrix = xp.outer(x, x)
    for i in range(40):
        for j in range(40):
            x = xp.cumsum(x) * 0.01 + matrix[i, j]
        x = xp.sin(x)
    return x


@pytest.mark.parametrize("program", [two_step, negative_zero, rows_in_a_loop])
def test_values_are_those_of_numpy(program):
    x = np.random.default_rng(3).random(64)
    found = hd.jit(lambda x: program(hd, x))(hd.asarray(x))
    np.testing.assert_allclose(hd.asnumpy(found), program(np, x), rtol=1e-9)


@pytest.mark.parametrize("only_last", [False, True])
def test_steps_with_loops_of_several_carries(only_last):
    def run(a, b):
        kept = b
        for _ in range(100):
            a, b = hd.fori_loop(0, 3, lambda i, s: (hd.cumsum(s[0]) * 0.1, s[1] + s[0]),
                                (a + 1, kept if only_last else b))
        return a, b

    a, b = np.random.default_rng(4).random((2, 20))
    found = hd.jit(run)(hd.asarray(a), hd.asarray(b))
    kept = b
    for _ in range(100):
        a, b = a + 1, kept if only_last else b
        for _ in range(3):
            a, b = np.cumsum(a) * 0.1, b + a
    np.testing.assert_allclose(hd.asnumpy(found[0]), a, rtol=1e-9)
    np.testing.assert_allclose(hd.asnumpy(found[1]), b, rtol=1e-9)


def test_a_loop_of_python_in_a_body_that_uses_the_counter():
    def run(x):
        def body(i, x):
            for _ in range(64):
                x[i] = x[i] * 0.5 + hd.cumsum(x.sum(0))[0] * 1e-3
            return x
        return hd.fori_loop(0, 8, body, x)

    x = np.random.default_rng(5).random((8, 20))
    found = hd.jit(run)(hd.asarray(x))
    for i in range(8):
        for _ in range(64):
            x[i] = x[i] * 0.5 + np.cumsum(x.sum(0))[0] * 1e-3
    np.testing.assert_allclose(hd.asnumpy(found), x, rtol=1e-9)
