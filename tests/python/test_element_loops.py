"""Loops of elementwise functions: each element takes its own steps, in one kernel."""

import numpy as np
import pytest

import heddle as hd

LAYOUTS = {
    "contiguous": lambda x: x,
    "strided": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "transposed": lambda x: np.ascontiguousarray(np.swapaxes(x, 0, -1)).swapaxes(0, -1),
    "offset": lambda x: np.concatenate([x[:1], x])[1:],
}


def halved(x, count):
    """Halves each element until it is at most 1, as NumPy loops over arrays."""
    count = np.broadcast_to(count, x.shape).copy()
    while (active := np.abs(x) > 1).any():
        x = np.where(active, x * x.dtype.type(0.5), x)
        count += active
    return x, count


def halve(x, count):
    return hd.while_loop(lambda s: abs(s[0]) > 1, lambda s: (s[0] * 0.5, s[1] + 1), (x, count))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(1,), (5, 67), (3, 4, 129), (0, 3)])
def test_each_element_takes_its_own_steps(dtype, layout, shape):
    rng = np.random.default_rng(1)
    x = LAYOUTS[layout]((rng.standard_normal(shape) * 1000).astype(dtype))
    expected = halved(x, 0)
    for function in (halve, hd.jit(halve)):
        values, counts = function(hd.asarray(x), 0)
        assert (values.dtype, counts.dtype) == (hd.dtype(dtype), hd.int64)
        np.testing.assert_array_equal(np.asarray(values), expected[0])
        np.testing.assert_array_equal(np.asarray(counts), expected[1])


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.uint64, bool])
def test_steps_of_integers(dtype):
    x = np.arange(101).astype(dtype)


    expected = x
    for i in range(6):
        expected = (expected ^ (expected + np.bool_(True)) if dtype is bool
                    else (expected * dtype(3) + dtype(1)))
    made = hd.jit(lambda v: hd.fori_loop(0, 6, lambda i, v: (v ^ (v + True)) if dtype is bool
                                         else v * 3 + 1, v))(hd.asarray(x))
    assert made.dtype == hd.dtype(dtype)
    np.testing.assert_array_equal(np.asarray(made), expected)


def kernels(function, *arguments):
    jitted = hd.jit(function)
    jitted(*arguments)
    return jitted.kernel_count(*arguments)


def test_such_a_loop_is_one_kernel():
    x = hd.linspace(-2.0, 2.0, 300)
    assert kernels(lambda x: halve(x * 100, 0), x) == 1
    # The counter, values from outside, numbers that do not change, and a carry of another shape.
    shift = hd.linspace(0.0, 1.0, 5)[:, None]

    def steps(x):
        def step(i, carry):
            total, factor = carry
            return total * 0.5 + shift * hd.sin(shift) + i * factor, factor * 0.9

        return hd.fori_loop(2, 9, step, (hd.zeros((5, 300)) + x, 1.0))[0]

    assert kernels(steps, x) == 1
    total, factor, t = np.zeros((5, 300)) + np.asarray(x), 1.0, np.asarray(shift)
    for i in range(2, 9):
        total, factor = total * 0.5 + t * np.sin(t) + i * factor, factor * 0.9
    np.testing.assert_allclose(np.asarray(steps(x)), total, rtol=1e-12)


def test_a_scalar_condition_may_depend_on_scalars_only():
    x = hd.asarray(np.linspace(0, 1, 100))

    def powers(x, n):
        return hd.while_loop(lambda s: s[1] < n, lambda s: (s[0] * x + 1, s[1] + 1), (x, 0))

    expected = np.asarray(x)
    for _ in range(5):
        expected = expected * np.asarray(x) + 1
    for function in (powers, hd.jit(powers)):
        made, steps = function(x, hd.asarray(5))
        assert steps.shape == () and int(steps) == 5
        np.testing.assert_allclose(np.asarray(made), expected, rtol=1e-13)


def test_a_carry_that_stays_is_the_value_before_the_loop():
    x, y = np.linspace(0, 1, 50), np.linspace(2, 3, 50)

    def function(x, y):
        total, kept = hd.fori_loop(0, 5, lambda i, c: (c[0] + c[1], c[1]), (x, y))
        return total, kept * 2

    total, kept = hd.jit(function)(hd.asarray(x), hd.asarray(y))
    np.testing.assert_allclose(np.asarray(total), x + 5 * y, rtol=1e-14)
    np.testing.assert_array_equal(np.asarray(kept), y * 2)
    alone = hd.jit(lambda x, y: function(x, y)[1])
    assert "control.elements" not in str(alone.explain(hd.asarray(x), hd.asarray(y)))


def test_few_elements_with_many_steps():
    x = np.linspace(0.1, 0.9, 300)
    made = hd.jit(lambda x: hd.fori_loop(0, 2000, lambda i, v: 3.2 * v * (1 - v), x))(hd.asarray(x))
    expected = x
    for _ in range(2000):
        expected = 3.2 * expected * (1 - expected)
    np.testing.assert_allclose(np.asarray(made), expected, rtol=1e-9)


def test_loops_within_loops():
    x = np.arange(1, 200)

    def collatz(n):
        def inner(carry):
            n, steps = carry
            return hd.where(n % 2 == 0, n // 2, 3 * n + 1), steps + 1

        return hd.while_loop(lambda s: s[0] > 1, inner, (n, 0))[1]

    def total(n):
        return hd.fori_loop(0, 3, lambda i, s: s + collatz(n + i), hd.zeros_like(n))

    def reference(n):
        steps = 0
        while n > 1:
            n, steps = (n // 2 if n % 2 == 0 else 3 * n + 1), steps + 1
        return steps

    expected = [sum(reference(n + i) for i in range(3)) for n in x]
    np.testing.assert_array_equal(np.asarray(total(hd.asarray(x))), expected)
    assert kernels(total, hd.asarray(x)) == 1


def test_an_element_that_left_does_not_return():
    """Where the condition depends on other elements, it may become true again."""
    x = np.array([1.0, 2.0, 30.0, 4.0])

    def step(v):
        return v + hd.cumsum(hd.ones_like(v))

    made = hd.while_loop(lambda v: v < hd.max(v) * 0.5, step, hd.asarray(x))
    active, expected = x < x.max() * 0.5, x
    while active.any():
        expected = np.where(active, expected + np.cumsum(np.ones(4)), expected)
        active &= expected < expected.max() * 0.5
    np.testing.assert_array_equal(np.asarray(made), expected)


def test_symbolic_extents():
    jitted = hd.jit(lambda x: halve(x, 0)[1])
    for n in (1, 17, 256, 1000):
        x = np.random.default_rng(n).standard_normal(n) * 100
        np.testing.assert_array_equal(np.asarray(jitted(hd.asarray(x))), halved(x, 0)[1])


def test_sums_of_a_loop():
    x = np.random.default_rng(3).standard_normal((40, 300)) * 100
    made = hd.jit(lambda x: halve(x, 0)[1].sum(axis=1))(hd.asarray(x))
    np.testing.assert_array_equal(np.asarray(made), halved(x, 0)[1].sum(axis=1))


def test_errors_say_what_to_do():
    x = hd.ones((3, 4))
    with pytest.raises(hd.ShapeError, match=r"condition has the shape \[3\].*does not broadcast"):
        hd.while_loop(lambda v: v.sum(axis=1) < 5, lambda v: v + 1, x)
    with pytest.raises(hd.DTypeError, match="the condition returns .*, not bool"):
        hd.while_loop(lambda v: v, lambda v: v + 1, x)
    with pytest.raises(hd.TraceError, match="calls what may fail.*any"):
        hd.while_loop(lambda v: v < 5, lambda v: v + hd.linalg.cholesky(v), hd.eye(3))
    with pytest.raises(hd.DTypeError, match=r"f64\[3,4\] before a step, but the body returns"):
        hd.while_loop(lambda v: v < 5, lambda v: (v + 1).astype("float32"), x)


def test_constants_with_leading_axes_of_one_extent():
    x, shift = np.linspace(0, 1, 20), np.linspace(1, 2, 20)[None, :]

    def function(x):
        return hd.fori_loop(0, 3, lambda i, v: (v * 2 + shift)[0], x)

    expected = x
    for _ in range(3):
        expected = (expected * 2 + shift)[0]
    made = hd.jit(function)(hd.asarray(x))
    assert made.shape == (20,)
    np.testing.assert_allclose(np.asarray(made), expected, rtol=1e-14)


def test_loops_before_and_after_transforms_and_sums():
    """Kernels that are made of other kernels' plans keep their loops."""
    x = np.random.default_rng(5).standard_normal((6, 64)).astype(np.float32) * 100

    def function(x):
        values, counts = halve(x, 0)
        spectrum = hd.fft.rfft(values)
        steps = hd.while_loop(lambda s: s[0] > 1, lambda s: (s[0] / 2, s[1] + 1), (abs(spectrum), 0))
        longest = hd.max(counts, axis=1)
        return steps[1], hd.fori_loop(0, 3, lambda i, v: v * 2 + i, longest)

    values, counts = halved(x, 0)
    spectrum = np.fft.rfft(values)
    size = abs(spectrum)
    steps = np.zeros(size.shape, np.int64)
    while (active := size > 1).any():
        size, steps = np.where(active, size / 2, size), steps + active
    longest = counts.max(axis=1)
    for i in range(3):
        longest = longest * 2 + i
    made = hd.jit(function)(hd.asarray(x))
    np.testing.assert_array_equal(np.asarray(made[0]), steps)
    np.testing.assert_array_equal(np.asarray(made[1]), longest)


def test_a_loop_after_a_long_sum():
    for n in (10, 1000, 300_000):
        x = np.arange(n) % 7

        def function(x):
            return hd.fori_loop(0, 4, lambda i, v: v * 3 + i, x.sum())

        expected = x.sum()
        for i in range(4):
            expected = expected * 3 + i
        assert int(hd.jit(function)(hd.asarray(x))) == expected


def test_an_inner_loop_does_not_run_for_elements_that_have_left():
    """The inner loop never ends for b = 0, where the outer one does not begin or has ended."""
    rng = np.random.default_rng(7)
    a, b = rng.integers(1, 200, 150), rng.integers(0, 200, 150)

    def remainder(a, b):
        return hd.while_loop(lambda s: s[0] >= s[1], lambda s: (s[0] - s[1], s[1]), (a, b))[0]

    def gcd(a, b):
        step = lambda s: (s[1], remainder(s[0], s[1]))
        return hd.while_loop(lambda s: s[1] > 0, step, (a, b))[0]

    made = hd.jit(gcd)(hd.asarray(a), hd.asarray(b))
    np.testing.assert_array_equal(np.asarray(made), np.gcd(a, b))


def halve_while_any(x, count):
    def step(state):
        x, count = state
        active = abs(x) > 1
        return hd.where(active, x * 0.5, x), hd.where(active, count + 1, count)
    return hd.while_loop(lambda s: hd.any(abs(s[0]) > 1), step, (x, count))


def test_a_loop_while_any_element_goes_on_is_one_kernel():
    x = np.random.default_rng(5).standard_normal((33, 40)) * 1000
    counts = np.zeros(x.shape, dtype=np.int64)
    expected = halved(x, 0)
    for function in (halve_while_any, hd.jit(halve_while_any)):
        for found, wanted in zip(function(hd.asarray(x), hd.asarray(counts)), expected):
            np.testing.assert_array_equal(hd.asnumpy(found), wanted)
    text = str(hd.jit(halve_while_any).lower(hd.asarray(x), hd.asarray(counts)).explain())
    assert "control.elements" in text and "control.while" not in text


@pytest.mark.parametrize("step", [
    lambda x, y: (hd.where(abs(x) > 1, x * 0.5, x), y + 1),                         # y goes on
    lambda x, y: (hd.where(abs(x) > 0.5, x * 0.5, x), hd.where(abs(x) > 1, y + 1, y)),  # another condition
    lambda x, y: (hd.where(abs(x) > 1, x * 0.5, y * 0), hd.where(abs(x) > 1, y + 1, y)),  # not its old value
    lambda x, y: (hd.where(abs(x) > 1, x[::-1] * 0.5, x), hd.where(abs(x) > 1, y + 1, y)),  # other elements
])
def test_a_loop_while_any_element_goes_on_takes_all_elements_along(step):
    def loop(x, y):
        return hd.while_loop(lambda s: hd.any(abs(s[0]) > 1), lambda s: step(*s), (x, y))

    x, y = np.random.default_rng(6).standard_normal(50) * 100, np.zeros(50)
    expected = (x, y)
    while (abs(expected[0]) > 1).any():
        expected = tuple(hd.asnumpy(value) for value in step(*map(hd.asarray, expected)))
    for found, wanted in zip(hd.jit(loop)(hd.asarray(x), hd.asarray(y)), expected):
        np.testing.assert_array_equal(hd.asnumpy(found), wanted)
    text = str(hd.jit(loop).lower(hd.asarray(x), hd.asarray(y)).explain())
    assert "runs step by step: any" in text or "runs step by step: slice" in text, text
