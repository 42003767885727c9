"""Loops whose steps do not need each other's results: done at once, with NumPy's values."""

import numpy as np
import pytest

import heddle as hd


def rows(xp, a, b):
    a = a.copy()
    for i in range(a.shape[0]):
        a[i] = xp.cumsum(a[i] * 2) + b[0] * i
    return a


def convolution(xp, a, b):
    k = 3
    result = xp.empty((a.shape[0] - k + 1, a.shape[1] - k + 1), a.dtype)
    for i in range(result.shape[0]):
        for j in range(result.shape[1]):
            result[i, j] = xp.sum(a[i:i + k, j:j + k] * b[:k, :k])
    return result


def pooling(xp, a, b):
    result = xp.zeros((a.shape[0] // 2, a.shape[1] // 2), a.dtype)
    for i in range(result.shape[0]):
        for j in range(result.shape[1]):
            result[i, j] = xp.max(a[2 * i:2 * i + 2, 2 * j:2 * j + 2])
    return result


def products(xp, a, b):
    a, square = a.copy(), b[:, :b.shape[0]]
    for i in range(a.shape[1]):
        a[:, i] = square @ a[:, i]
    return a


def orthogonal(xp, a, b):
    a = a.copy()
    q, r = xp.zeros_like(a), xp.zeros((a.shape[1], a.shape[1]), a.dtype)
    for k in range(a.shape[1]):
        r[k, k] = xp.sqrt(xp.dot(a[:, k], a[:, k]))
        q[:, k] = a[:, k] / r[k, k]
        for j in range(k + 1, a.shape[1]):
            r[k, j] = xp.dot(q[:, k], a[:, j])
            a[:, j] -= q[:, k] * r[k, j]
    return q @ r


def triangle(xp, a, b):
    b = b.copy()
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] += xp.dot(a[i + 1:, i], b[i + 1:a.shape[0], j])
    return b


def diagonals(xp, a, b):
    s = xp.zeros((a.shape[1],), a.dtype)
    for i in range(a.shape[1]):
        s[i] = a[i, i] + a[i + 2, i] * (i + 1)
    return s


def backwards(xp, a, b):
    c = xp.zeros_like(a)
    n = a.shape[0]
    for i in range(n):
        c[n - 1 - i] = xp.sort(a[i])
    return c


def states(xp, a, b):
    a, all_states = a.copy(), []
    for i in range(a.shape[0]):
        a[i] = xp.cumsum(a[i]) * 2
        all_states.append(xp.copy(a))
    return xp.stack(all_states)


def recurrence(xp, a, b):
    a = a.copy()
    for j in range(1, a.shape[1]):
        a[:, j] = a[:, j - 1] * 0.5 + b[:, j] * a[:, j]
    return a


def back(xp, a, b):
    a, b = a.copy(), b.copy()
    for j in range(a.shape[1] - 2, -1, -1):
        a[:, j] -= b[:, j + 1] * 0.3
        b[:, j] = a[:, j + 1] + a[:, j]
    return a - b


def shifted(xp, a, b):
    a = a.copy()
    for i in range(a.shape[0] - 1):
        a[i] = xp.cumsum(a[i + 1]) * 0.01 + 1
    return a


INDEPENDENT = [rows, convolution, pooling, products, triangle, diagonals, backwards, shifted]


def carried(xp, a, b):
    a = a.copy()
    for i in range(a.shape[0] - 1):
        a[i + 1] += xp.cumsum(a[i]) * 0.01
    return a


def summed(xp, a, b):
    s = xp.zeros((a.shape[1],), a.dtype)
    for i in range(a.shape[0]):
        s += xp.cumsum(a[i]) * b[0, 0]
    return s


@pytest.mark.parametrize("dtype", ["float64", "complex64"])
@pytest.mark.parametrize("program", INDEPENDENT + [orthogonal, carried, summed, states, recurrence, back],
                         ids=lambda f: f.__name__)
def test_values_are_those_of_numpy(program, dtype):
    if dtype == "complex64" and program in (pooling, backwards, orthogonal):
        pytest.skip("has no order, or NumPy's dot does not conjugate")
    rng = np.random.default_rng(5)
    a, b = (rng.standard_normal((14, 12)).astype(dtype) for _ in range(2))
    a, b = (a, b) if program is not triangle else (np.tril(a[:12]), b[:12])
    b = np.ascontiguousarray(b.T) if program is products else b
    a = a[:12] if program is products else a
    expected = program(np, a, b)
    bound = 200 * np.finfo(dtype).eps * np.abs(expected).max()
    found = hd.jit(lambda a, b: program(hd, a, b))(hd.asarray(a), hd.asarray(b))
    assert found.shape == expected.shape and np.dtype(str(found.dtype)) == expected.dtype
    np.testing.assert_allclose(hd.asnumpy(found), expected, rtol=0, atol=bound)


@pytest.mark.parametrize("program", INDEPENDENT, ids=lambda f: f.__name__)
def test_no_loop_is_left(program):
    a, b = hd.spec((42 if program is diagonals else 40, 40), hd.float32), hd.spec((40, 40), hd.float32)
    text = str(hd.jit(lambda a, b: program(hd, a, b)).lower(a, b).explain())
    assert "vectorize_loops" in text and "control.scan" not in text, text


def seidel(xp, a, steps=3):
    """After npbench's seidel_2d: a recurrence along each row, which needs the row before it."""
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            a[i, 1:-1] += a[i - 1, :-2] + a[i - 1, 2:] + a[i, 2:] + a[i + 1, 1:-1]
            for j in range(1, a.shape[1] - 1):
                a[i, j] += a[i, j - 1] * a[i, 0]
                a[i, j] /= 9.0
    return a


def down_the_columns(xp, a):
    for j in range(1, a.shape[1]):
        a[:, j] += xp.cumsum(a[:, j - 1]) * 0.01
        for i in range(a.shape[0] - 2, -1, -1):
            a[i, j] -= a[i + 1, j] * 0.5
    return a


@pytest.mark.parametrize("program", [seidel, down_the_columns], ids=lambda f: f.__name__)
def test_recurrences_at_the_counter_of_another_loop_are_loops_inside_a_kernel(program):
    a = np.random.default_rng(8).random((44, 40))
    jitted = hd.jit(lambda x: program(hd, x))
    text = str(jitted.lower(hd.spec(a.shape, hd.float64)).explain())
    assert "control.scan" in text and "_loop_" in text, text
    assert len([line for line in text.splitlines() if line.startswith("  hd_")]) < 30, text
    np.testing.assert_allclose(hd.asnumpy(jitted(hd.asarray(a))), program(np, a), rtol=1e-12)


def test_loops_of_the_library_are_done_at_once():
    a = np.random.default_rng(6).standard_normal((20, 30))

    def step(i, s):
        s[i] = hd.cumsum(s[i]) * i
        return s

    def counted(x):
        return hd.fori_loop(0, 20, step, x)

    def mapped(x):
        return hd.map(lambda row: hd.sort(row) - row[0], x)

    for function, expected in ((counted, np.cumsum(a, 1) * np.arange(20)[:, None]),
                               (mapped, np.sort(a, 1) - a[:, :1])):
        np.testing.assert_allclose(hd.asnumpy(hd.jit(function)(hd.asarray(a))), expected, rtol=1e-12)
        text = str(hd.jit(function).lower(hd.spec((20, 30), hd.float64)).explain())
        assert "control.scan" not in text, text


def test_extents_known_at_run_time_only():
    def windows(x):
        r = hd.zeros(40)
        for i in range(40):
            r[i] = hd.max(hd.sort(x[i:i + 3]))
        return r

    def rows(x):
        r = hd.zeros((40, 6))
        for i in range(40):
            r[i] = hd.cumsum(x[i, 2:8])
        return r

    for function, shape, short in ((windows, (50,), (41,)), (rows, (50, 9), (30, 9))):
        jitted = hd.jit(function, dynamic=[tuple("nm"[:len(shape)])])
        x = np.random.default_rng(7).random(shape)
        expected = (np.max([x[i:i + 40] for i in range(3)], axis=0) if function is windows
                    else np.cumsum(x[:40, 2:8], axis=1))
        np.testing.assert_allclose(hd.asnumpy(jitted(hd.asarray(x))), expected, rtol=1e-12)
        with pytest.raises(IndexError):
            jitted(hd.ones(short)).eval()


def test_each_step_draws_its_own_numbers():
    def draw(x):
        for i in range(50):
            x[i] = hd.random.random(x.shape[1]) + i
        return x

    found = hd.asnumpy(hd.jit(draw)(hd.zeros((50, 8)))) - np.arange(50)[:, None]
    assert len(np.unique(found)) == 400 and 0 <= found.min() and found.max() < 1
