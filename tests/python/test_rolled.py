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
