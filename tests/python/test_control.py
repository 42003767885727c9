"""Loops and branches (heddle.fori_loop and others) against loops of NumPy."""

import dataclasses
import os
import subprocess
import sys
import typing

import numpy as np
import pytest

import heddle as hd
from conftest import ON_CPU


DTYPES = ["float32", "float64", "complex64", "int32", "uint8", "bool"]


@pytest.fixture(params=["recorded", "jitted"])
def run(request):
    """Calls a function of Arrays as it is, or jitted."""
    if request.param == "recorded":
        return lambda function, *arguments: function(*arguments)
    return lambda function, *arguments: hd.jit(function)(*arguments)


def values(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    made = rng.uniform(-4, 4, shape)
    return (made > 0) if dtype == "bool" else (made + 1j * rng.uniform(-1, 1, shape)).astype(dtype) \
        if dtype.startswith("complex") else np.abs(made).astype(dtype) if dtype == "uint8" \
        else made.astype(dtype)


def same(found, expected, tolerance=0.0):
    expected = np.asarray(expected)
    assert np.asarray(found).dtype == expected.dtype and found.shape == expected.shape
    np.testing.assert_allclose(np.asarray(found), expected, rtol=tolerance, atol=tolerance)


# fori_loop

@pytest.mark.parametrize("lower, upper", [(0, 10), (3, 7), (-4, 3), (5, 5), (5, 2)])
def test_a_counter_runs_from_lower_to_upper(run, lower, upper):
    found = run(lambda: hd.fori_loop(lower, upper, lambda i, t: t * 2 + i, hd.asarray(1)))
    expected = np.int64(1)
    for i in range(lower, upper):
        expected = expected * 2 + i
    same(found, expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_counter_is_a_weak_number(run, dtype):
    x = values((5,), dtype)
    found = run(lambda x: hd.fori_loop(0, 3, lambda i, x: hd.where(i > 1, x, x[::-1]), x), hd.asarray(x))
    same(found, x)
    if dtype in ("float32", "int32"):
        found = run(lambda x: hd.fori_loop(0, 3, lambda i, x: x * i + 1, x), hd.asarray(x))
        same(found, np.full(5, 5, dtype))


def test_rows_are_read_at_the_counter(run):
    x = values((6, 4), "float64")
    for index, body in [("i", lambda i, s: s * 0.5 + hd_x[i]), ("n-1-i", lambda i, s: s * 0.5 + hd_x[5 - i]),
                        ("2*i", lambda i, s: s * 0.5 + hd_x[2 * i]), ("column", lambda i, s: s * 0.5 + hd_x[i, 1]),
                        ("from the end", lambda i, s: s * 0.5 + hd_x[-1 - i])]:
        hd_x = hd.asarray(x)
        steps = 3 if index == "2*i" else 6
        found = run(lambda: hd.fori_loop(0, steps, body, hd.zeros(4)))
        expected = np.zeros(4)
        for i in range(steps):
            expected = expected * 0.5 + {"i": x[i], "n-1-i": x[5 - i], "2*i": x[(2 * i) % 6],
                                         "column": x[i, 1], "from the end": x[-1 - i]}[index]
        same(found, expected, 1e-14)


def test_rows_outside_are_clamped_and_negative_ones_wrap(run):
    x = values((4, 3), "float64")
    hd_x = hd.asarray(x)
    found = run(lambda: hd.fori_loop(0, 4, lambda i, s: s + hd_x[i + 1] * (i + 1), hd.zeros(3)))
    same(found, sum(x[min(i + 1, 3)] * (i + 1) for i in range(4)), 1e-14)
    found = run(lambda: hd.fori_loop(0, 4, lambda i, s: s + hd_x[i - 1] * (i + 1), hd.zeros(3)))
    same(found, sum(x[i - 1] * (i + 1) for i in range(4)), 1e-14)


def test_rows_are_written_at_the_counter(run):
    x = values((7, 3), "float32")

    def previous(i, a):
        a[i] = a[i] - a[i - 1] * 0.5
        return a

    def next_one(i, a):
        a[i] = a[i] * 0.5 + a[i + 1]
        return a

    def scaled(i, a):
        a[i] = a[i] / hd.sum(a[i])
        return a

    def overlapping(i, a):
        a[1:-1] = (a[:-2] + a[1:-1] + a[2:]) / 3
        return a

    def reversed_rows(i, a):
        a[i] = a[i, ::-1] + 1
        return a

    for body, lower, upper in [(previous, 1, 7), (next_one, 0, 6), (scaled, 0, 7), (overlapping, 0, 5),
                               (reversed_rows, 2, 5)]:
        given = hd.asarray(x)
        found = run(lambda a: hd.fori_loop(lower, upper, body, a), given)
        expected = x.copy()
        for i in range(lower, upper):
            body(i, expected) if body is not scaled else expected.__setitem__(i, expected[i] / expected[i].sum())
        same(found, expected, 2e-6)
        same(given, x)


def test_other_outputs_see_the_row_before_it_is_written(run):
    x = values((5, 3), "float64")

    def body(i, state):
        a, old = state
        row = a[i] * 2
        a[i] = row + 1
        return a, old + row

    found = run(lambda a: hd.fori_loop(0, 5, body, (a, hd.zeros(3))), hd.asarray(x))
    same(found[0], x * 2 + 1, 1e-14)
    same(found[1], (x * 2).sum(0), 1e-14)


@pytest.mark.parametrize("body", [
    lambda i, s: (s[1], s[0]), lambda i, s: (s[1], s[2], s[0]), lambda i, s: (s[0], s[0]),
    lambda i, s: (s[1], s[1] + 1), lambda i, s: (s[1] + s[0], s[0]), lambda i, s: (s[2], s[0] * 2, s[1]),
    lambda i, s: (s[0], s[1] + s[0])])
@pytest.mark.parametrize("steps", [0, 1, 2, 3, 5])
def test_carries_change_places(run, body, steps):
    count = len(body(0, [np.float64(0)] * 3))
    carries = tuple(values((4,), "float64", seed) for seed in range(count))
    found = run(lambda *s: hd.fori_loop(0, steps, body, s), *[hd.asarray(c) for c in carries])
    expected = carries
    for i in range(steps):
        expected = body(i, expected)
    for one, other in zip(found, expected):
        same(one, other)


def test_one_array_is_several_carries_and_an_operand(run):
    x = values((4,), "float64")
    hd_x = hd.asarray(x)
    found = run(lambda x: hd.fori_loop(0, 3, lambda i, s: (s[0] + x, s[1] * 2), (x, x)) + (x,), hd_x)
    for one, expected in zip(found, (x * 4, x * 8, x)):
        same(one, expected, 1e-15)


def test_bounds_may_be_arrays(run):
    found = run(lambda n: hd.fori_loop(1, n, lambda i, t: t + i, 0), hd.asarray(5))
    same(found, np.int64(10))


def test_loops_nest(run):
    x = values((3, 4), "float64")
    hd_x = hd.asarray(x)

    def inner(i):
        return lambda j, t: t + hd_x[i, j] * (i * 10 + j)

    found = run(lambda: hd.fori_loop(0, 3, lambda i, t: hd.fori_loop(0, 4, inner(i), t), 0.0))
    same(found, sum(x[i, j] * (i * 10 + j) for i in range(3) for j in range(4)), 1e-13)


def test_numbers_from_outside_stay_weak():
    x = values((4,), "float32")
    found = hd.jit(lambda x, f: hd.fori_loop(0, 3, lambda i, x: x * f, x))(hd.asarray(x), 1.5)
    same(found, x * np.float32(1.5) ** 3, 1e-6)


def test_library_calls_in_a_body(run):
    a = values((5, 5), "float64") + 8 * np.eye(5)
    hd_a = hd.asarray(a)

    def body(i, x):
        return hd.sort(hd.linalg.solve(hd_a, hd.tanh(hd_a @ x + 1)))

    found = run(lambda x: hd.fori_loop(0, 4, body, x), hd.ones(5))
    expected = np.ones(5)
    for _ in range(4):
        expected = np.sort(np.linalg.solve(a, np.tanh(a @ expected + 1)))
    same(found, expected, 1e-10)


def test_extents_may_be_symbols():
    function = hd.jit(lambda x: hd.fori_loop(0, 3, lambda i, s: s + x[i], hd.zeros_like(x[0])),
                      dynamic=[("n", "m")])
    for shape in [(3, 4), (5, 2)]:
        x = values(shape, "float64")
        same(function(hd.asarray(x)), x[:3].sum(0), 1e-14)
    same(function(hd.ones((2, 2))), np.full(2, 3.0))  # the last row is read again
    by_rows = hd.jit(lambda x: hd.scan(lambda c, row: (c + row, c * 2), hd.zeros_like(x[0]), x),
                     dynamic=[("n", "m")])
    for shape in [(3, 4), (5, 2)]:
        x = values(shape, "float64")
        carry, stacked = by_rows(hd.asarray(x))
        same(carry, x.sum(0), 1e-14)
        same(stacked, (np.cumsum(x, 0) - x) * 2, 1e-13)


# scan and map

@pytest.mark.parametrize("dtype", ["float32", "int32", "complex64"])
@pytest.mark.parametrize("reverse", [False, True])
def test_scan_stacks_what_steps_return(run, dtype, reverse):
    x, y = values((5, 3), dtype), values((5,), "float32", 1)

    def body(c, xs):
        return c + xs["x"], {"before": c, "last": xs["y"] * 2, "same": xs["x"]}

    init = np.zeros(3, dtype)
    carry, stacked = run(lambda x, y: hd.scan(body, init, {"x": x, "y": y}, reverse=reverse),
                         hd.asarray(x), hd.asarray(y))
    order = range(4, -1, -1) if reverse else range(5)
    before = np.zeros_like(x)
    c = init
    for k in order:
        before[k] = c
        c = c + x[k]
    same(carry, c, 1e-5)
    same(stacked["before"], before, 1e-5)
    same(stacked["last"], y * 2)
    same(stacked["same"], x)


def test_scan_without_arrays_has_a_length(run):
    carry, stacked = run(lambda: hd.scan(lambda c, _: (c * 2, c), 1, None, length=5))
    same(carry, np.int64(32))
    same(stacked, 2 ** np.arange(5))
    carry, stacked = run(lambda: hd.scan(lambda c, _: (c * 2, c), 1.0, None, length=0))
    same(carry, np.float64(1))
    assert stacked.shape == (0,) and stacked.dtype == hd.float64


def test_map_applies_to_rows(run):
    x = values((4, 6), "float64")
    found = run(lambda x: hd.map(lambda row: (hd.cumsum(row), row[:2] - hd.max(row)), x), hd.asarray(x))
    same(found[0], np.cumsum(x, 1), 1e-14)
    same(found[1], x[:, :2] - x.max(1, keepdims=True), 1e-14)


# while_loop

def test_while_ends_when_the_condition_is_false(run):
    for start, expected in [(1, 128), (100, 100), (1000, 1000)]:
        same(run(lambda v: hd.while_loop(lambda v: v < 100, lambda v: v * 2, v), hd.asarray(start)),
             np.int64(expected))


def test_jacobi_iterates_until_it_has_converged(run):
    a = values((8, 8), "float64") + 40 * np.eye(8)
    b = values((8,), "float64", 1)

    def solve(a, b):
        diagonal = hd.diagonal(a)
        rest = a - hd.diag(diagonal)

        def step(state):
            x, _, count = state
            new = (b - rest @ x) / diagonal
            return new, hd.max(hd.abs(new - x)), count + 1

        return hd.while_loop(lambda s: s[1] > 1e-12, step, (hd.zeros_like(b), hd.inf, 0))

    x, error, count = run(solve, hd.asarray(a), hd.asarray(b))
    same(x, np.linalg.solve(a, b), 1e-10)
    assert 0 < float(error) <= 1e-12 and 3 < int(count) < 100


def test_elements_leave_at_their_own_time(run):
    c = (np.linspace(-2, 1, 20)[:, None] + 1j * np.linspace(-1, 1, 15)).astype("complex64")

    def count(c):
        def step(state):
            z, n, k = state
            inside = hd.abs(z) <= 2
            return hd.where(inside, z * z + c, z), n + inside, k + 1

        state = hd.zeros_like(c), hd.zeros(c.shape, dtype=hd.int64), 0
        return hd.while_loop(lambda s: hd.any(hd.abs(s[0]) <= 2) & (s[2] < 30), step, state)[1]

    z, n = np.zeros_like(c), np.zeros(c.shape, "int64")
    for _ in range(30):
        inside = np.abs(z) <= 2
        z, n = np.where(inside, z * z + c, z), n + inside
    same(run(count, hd.asarray(c)), n)


# cond and switch

def test_cond_runs_one_function(run):
    x = values((5,), "float64")
    for sign in (1, -1):
        found = run(lambda x: hd.cond(hd.sum(x) > 0, lambda x: x / 2, lambda x: x - 1, x), hd.asarray(x * sign))
        same(found, x * sign / 2 if (x * sign).sum() > 0 else x * sign - 1, 1e-15)


@pytest.mark.parametrize("index", [-3, 0, 1, 2, 9])
def test_switch_clamps_its_index(run, index):
    x = values((5,), "float64")
    branches = [lambda x, y: (x, y), lambda x, y: (y, x), lambda x, y: (x + y, x * 0)]
    found = run(lambda k, x: hd.switch(k, branches, x, x * 2), hd.asarray(index), hd.asarray(x))
    expected = [(x, x * 2), (x * 2, x), (x * 3, x * 0)][min(max(index, 0), 2)]
    for one, other in zip(found, expected):
        same(one, other, 1e-15)


def test_branches_may_loop_and_loops_may_branch(run):
    found = run(lambda x: hd.fori_loop(
        0, 6, lambda i, x: hd.cond(i % 2 == 0, lambda x: x + i, lambda x: x * 2, x), x), hd.asarray(1.0))
    expected = 1.0
    for i in range(6):
        expected = expected + i if i % 2 == 0 else expected * 2
    same(found, np.float64(expected))


def test_loops_apply_along_an_axis():
    x = values((3, 4), "float64")
    found = hd.apply_along_axis(
        lambda v: hd.fori_loop(0, 4, lambda i, c: c * 0.5 + v[i], hd.zeros(())), 1, hd.asarray(x))
    same(found, ((x[:, 0] * 0.5 + x[:, 1]) * 0.5 + x[:, 2]) * 0.5 + x[:, 3], 1e-14)


# Structures

class Pair(typing.NamedTuple):
    left: hd.Array
    right: hd.Array


@dataclasses.dataclass
class State:
    position: hd.Array
    speeds: dict


def test_carries_are_structures(run):
    def body(i, state):
        speeds = {"a": state.speeds["a"] * 0.5, "b": [state.speeds["b"][0] + 1]}
        return State(state.position + state.speeds["a"], speeds)

    made = run(lambda: hd.fori_loop(0, 3, body, State(hd.zeros(2), {"a": hd.ones(2), "b": [0]})))
    assert isinstance(made, State)
    same(made.position, np.full(2, 1.75))
    same(made.speeds["b"][0], np.int64(3))
    pair = run(lambda: hd.fori_loop(0, 3, lambda i, p: Pair(p.right, p.left + 1), Pair(hd.zeros(2), hd.ones(2))))
    assert isinstance(pair, Pair)
    same(pair.left, np.full(2, 2.0))


# Saved programs, donation

def test_loops_are_saved_with_a_program(tmp_path):
    x = values((6, 4), "float32")
    function = hd.jit(lambda x: hd.fori_loop(0, 6, lambda i, s: hd.while_loop(
        lambda s: hd.max(s) < i, lambda s: s + 1, s) + x[i], hd.zeros(4, dtype=hd.float32)))
    expected = np.asarray(function(hd.asarray(x)))
    path = str(tmp_path / "loops.hdp")
    function.save(path, hd.asarray(x))
    same(hd.load_program(path)(hd.asarray(x)), expected)


def test_a_donated_carry_is_updated(run):
    def body(i, a):
        a[i] = a[i] * 2
        return a

    function = hd.jit(lambda a: hd.fori_loop(0, 4, body, a), donate=(0,))
    a = hd.ones((4, 3)) + 1
    same(function(a), np.full((4, 3), 4.0))

def test_calls_that_repeat_give_the_same():
    # From the third call on, a GPU runs them as one graph.
    def swapped_until(x, y, limit):
        def step(carry):
            x, y, steps = carry
            return y + 1, x, steps + 1

        return hd.while_loop(lambda carry: hd.sum(carry[0] + carry[1]) < limit, step, (x, y, 0 * limit))

    def rows(x, chosen):
        def step(i, total):
            added = hd.cond(x[i, 0] > chosen, lambda t: t + x[i] @ x, lambda t: t - x[i], total)
            return hd.fori_loop(0, 3, lambda j, t: t * 0.5 + x[j], added)

        return hd.fori_loop(0, x.shape[0], step, x[0] * 0), hd.scan(lambda c, r: (c + r, c * r), x[0], x)

    def numpy_rows(x, chosen):
        total = x[0] * 0
        for i in range(len(x)):
            total = total + x[i] @ x if x[i, 0] > chosen else total - x[i]
            for j in range(3):
                total = total * 0.5 + x[j]
        carries = np.cumsum(np.concatenate([x[:1], x]), axis=0)
        return total, (carries[-1], carries[:-1] * x)

    until, both = hd.jit(swapped_until), hd.jit(rows)
    for call in range(7):
        x, y = values(5, "float64", call), values(5, "float64", 10 + call)
        a, b, steps = x, y, 0
        while np.sum(a + b) < 90:
            a, b, steps = b + 1, a, steps + 1
        found = until(hd.asarray(x), hd.asarray(y), hd.asarray(90.0))
        same(found[0], a), same(found[1], b)
        assert float(found[2]) == steps
        x, chosen = values((7, 7), "float64", 20 + call), float(call - 3)
        total, (last, stacked) = both(hd.asarray(x), hd.asarray(chosen))
        expected_total, (expected_last, expected_stacked) = numpy_rows(x, chosen)
        same(total, expected_total, 1e-12), same(last, expected_last, 1e-12)
        same(stacked, expected_stacked, 1e-12)


@pytest.mark.skipif(ON_CPU, reason="programs wait only for GPUs")
def test_a_gpu_decides_without_the_host():
    program = """
import heddle as hd
def jacobi(a):
    def step(carry):
        a, _ = carry
        inner = 0.25 * (a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        change = hd.max(hd.abs(inner - a[1:-1, 1:-1]))
        a[1:-1, 1:-1] = inner
        return a, change
    return hd.while_loop(lambda carry: carry[1] > 1e-6, step, (a, hd.asarray(1.0)))
solve = hd.jit(jacobi)
for _ in range(4):
    a = hd.zeros((34, 34))
    a[0] = 1
    result, change = solve(a)
    picked = hd.jit(lambda x: hd.cond(x > 0.5, hd.sin, hd.cos, x))(change)
try:
    float(change)
except ValueError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True,
                          env={**os.environ, "HEDDLE_NO_SYNC": "1"})
    assert "HEDDLE_NO_SYNC=1" in done.stdout, done.stderr


# Failures

def test_failures_in_bodies_are_raised_by_the_next_wait(run):
    def factors(a):
        return hd.fori_loop(0, 4, lambda i, s: s + hd.linalg.cholesky(a * (2 - i)), hd.zeros((2, 2)))

    for call in (factors,
                 lambda a: hd.cond(a[0, 0] > 0, lambda a: hd.linalg.cholesky(-a), lambda a: a, a),
                 lambda a: hd.while_loop(lambda s: s[1] < 3, lambda s: (hd.linalg.cholesky(-a), s[1] + 1), (a, 0))[0]):
        with pytest.raises(hd.linalg.LinAlgError):
            np.asarray(run(call, hd.eye(2)))
        same(hd.eye(2), np.eye(2))
    stack = hd.stack([hd.eye(2), hd.eye(2) * 4])
    same(run(lambda s: hd.map(hd.linalg.cholesky, s), stack), np.stack([np.eye(2), np.eye(2) * 2]))
    with pytest.raises(hd.linalg.LinAlgError):
        np.asarray(run(lambda s: hd.map(hd.linalg.cholesky, s), -stack))
    fine = run(lambda a: hd.cond(a[0, 0] > 9, lambda a: hd.linalg.cholesky(-a), lambda a: a, a), hd.eye(2))
    same(fine, np.eye(2))


# Errors

@pytest.mark.parametrize("call, error, text", [
    (lambda: hd.fori_loop(0, 3, lambda i, c: c + 0.5, hd.zeros(2, dtype=hd.int32)), TypeError,
     r"carry is i32\[2\] before a step, but the body returns f64\[2\]"),
    (lambda: hd.fori_loop(0, 3, lambda i, c: {"a": c["a"][:1]}, {"a": hd.zeros(2)}), ValueError,
     r"carry\['a'\] is f64\[2\]"),
    (lambda: hd.fori_loop(0, 3, lambda i, c: (c, c), hd.zeros(2)), TypeError, "the body returns"),
    (lambda: hd.while_loop(lambda c: c + 1, lambda c: c, hd.zeros(2)), TypeError, "not bool"),
    (lambda: hd.scan(lambda c, x: (c, x), 0.0, (hd.zeros(2), hd.zeros(3))), ValueError, "number of steps"),
    (lambda: hd.scan(lambda c, x: (c, x), 0.0, hd.zeros(2), length=3), ValueError, "number of steps"),
    (lambda: hd.scan(lambda c, x: (c, x), 0.0), ValueError, "length"),
    (lambda: hd.scan(lambda c, x: c, 0.0, hd.zeros(2)), TypeError, "must return a tuple"),
    (lambda: hd.switch(0.5, [hd.sin], hd.ones(2)), TypeError, "not one integer"),
    (lambda: hd.switch(0, []), ValueError, "no branches"),
    (lambda: hd.switch(0, [hd.sin, lambda x: x[:1]], hd.ones(2)), ValueError, "branch 1"),
    (lambda: hd.fori_loop(0, 3, lambda i, c: c * float(hd.sum(c)), hd.ones(2)), hd.TraceError, "reads a value"),
    (lambda: hd.fori_loop(0, 3, lambda i, c: c + hd.random.random(2), hd.ones(2)), hd.TraceError, "random"),
])
def test_bad_bodies_are_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()
    same(hd.fori_loop(0, 2, lambda i, c: c + 1, hd.zeros(2)), np.full(2, 2.0))  # goes on working
