"""Scans whose steps read rows and stack results, element by element: one kernel."""

import threading

import numpy as np
import pytest
from conftest import ON_CPU

import heddle as hd

LAYOUTS = {
    "contiguous": lambda x: x,
    "strided": lambda x: np.repeat(x, 2, axis=0)[::2],
    "backwards": lambda x: x[::-1].copy()[::-1],
    "transposed": lambda x: np.ascontiguousarray(np.moveaxis(x, 0, -1)).transpose(
        x.ndim - 1, *range(x.ndim - 1)),
    "broadcast": lambda x: np.broadcast_to(x[:1], x.shape),
}


def filter_step(xp, carry, x):
    """Two recurrences of the second order, of which one is returned at each step."""
    a, b, count = carry
    y = a * x.dtype.type(0.5) - b * x.dtype.type(0.25) + x if xp is np else a * 0.5 - b * 0.25 + x
    return (y, a, count + 1), (y + x, y > 0 if y.dtype.kind != "c" else y == x)


def expected(xs, reverse=False):
    carry = (np.zeros_like(xs[0]), np.ones_like(xs[0]), np.zeros(xs.shape[1:], np.int64))
    stacked = [None] * len(xs)
    for i in reversed(range(len(xs))) if reverse else range(len(xs)):
        carry, stacked[i] = filter_step(np, carry, xs[i])
    return carry, tuple(np.stack(part) for part in zip(*stacked))


def filtered(xs, reverse=False):
    row = xs.sum(0)
    carry = (hd.zeros_like(row), hd.ones_like(row), hd.zeros_like(row, dtype=hd.int64))
    return hd.scan(lambda carry, x: filter_step(hd, carry, x), carry, xs, reverse=reverse)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(1,), (40,), (1, 5), (9, 33), (6, 3, 700), (5, 0), (3, 5000)])
def test_filters(dtype, layout, shape):
    rng = np.random.default_rng(1)
    x = rng.standard_normal(shape)
    if np.issubdtype(dtype, np.complexfloating):
        x = x + 1j * rng.standard_normal(shape)
    x = LAYOUTS[layout](x.astype(dtype))
    for reverse in (False, True):
        (y, before, count), (sums, signs) = expected(x, reverse)
        run = lambda x: filtered(x, reverse)
        for function in (run, hd.jit(run)):
            (gy, gbefore, gcount), (gsums, gsigns) = function(hd.asarray(x))
            # A filter of the second order whose poles are within 0.5: errors do not add up.
            tolerance = 32 * np.finfo(dtype).eps
            for found, wanted in ((gy, y), (gbefore, before), (gsums, sums)):
                assert (found.dtype, found.shape) == (hd.dtype(wanted.dtype), wanted.shape)
                np.testing.assert_allclose(np.asarray(found), wanted, rtol=tolerance,
                                           atol=tolerance * 4)
            np.testing.assert_array_equal(np.asarray(gcount), count)
            assert (gsigns.dtype, gsigns.shape) == (hd.bool_, signs.shape)
            # In float16, jit does not round what lies between, so a sum near 0 may have another sign.
            clear = np.abs(sums - x) > 0.01
            np.testing.assert_array_equal(np.asarray(gsigns)[clear], signs[clear])


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.uint64, bool])
def test_integers(dtype):
    x = np.arange(60).reshape(12, 5).astype(dtype)

    def step(carry, row):
        made = carry ^ row if dtype is bool else carry * 3 + row
        return made, made

    carry, stacked = np.zeros(5, dtype), []
    for row in x:
        carry = carry ^ row if dtype is bool else carry * dtype(3) + row
        stacked.append(carry)
    got = hd.jit(lambda x: hd.scan(step, hd.zeros(5, x.dtype), x))(hd.asarray(x))
    np.testing.assert_array_equal(np.asarray(got[0]), carry)
    np.testing.assert_array_equal(np.asarray(got[1]), np.stack(stacked))


def kernels(function, *arguments):
    jitted = hd.jit(function)
    jitted(*arguments)
    return jitted.kernel_count(*arguments)


def test_a_filter_is_one_kernel():
    x = hd.linspace(0.0, 1.0, 600).reshape(20, 30)
    assert kernels(filtered, x) == 1
    assert kernels(lambda x: filtered(x)[1][0], x) == 1
    # Constants and first carries are computed in the same kernel; sequences and what is done with
    # the results in others.
    scaled = lambda x: hd.scan(lambda c, r: (c * x[3] + r, c), x[0] * 2 + 1, x)
    assert kernels(scaled, x) == 1
    assert kernels(lambda x: hd.sqrt(filtered(x + 1)[1][0]), x) == 3


@pytest.mark.parametrize("rows", [1, 5])
def test_filters_of_many_shapes_share_a_kernel(rows):
    arrays = [np.random.default_rng(k).standard_normal((rows + k if rows > 1 else 1, 6 + k))
              for k in range(6)]
    run = hd.jit(lambda *xs: [filtered(x) for x in xs])
    for x, (carry, stacked) in zip(arrays, run(*map(hd.asarray, arrays))):
        wanted_carry, wanted = expected(x)
        np.testing.assert_allclose(np.asarray(carry[0]), wanted_carry[0], rtol=1e-13, atol=1e-14)
        np.testing.assert_allclose(np.asarray(stacked[0]), wanted[0], rtol=1e-13, atol=1e-14)


def test_more_rows_than_a_kernel_has_operands():
    x = np.random.default_rng(7).standard_normal((70, 4, 3))
    parts = tuple(hd.asarray(one) for one in x)

    def step(carry, rows):
        carry = carry * 0.5 + sum(rows)
        return carry, tuple(carry + row for row in rows)

    carry, stacked = hd.jit(lambda xs: hd.scan(step, xs[0][0], xs))(parts)
    value, wanted = x[0][0], []
    for i in range(4):
        value = value * 0.5 + sum(x[:, i])
        wanted.append(value + x[:, i])
    np.testing.assert_allclose(np.asarray(carry), value, rtol=1e-13)
    np.testing.assert_allclose(np.stack([np.asarray(one) for one in stacked]),
                               np.stack(wanted).transpose(1, 0, 2), rtol=1e-12)


@pytest.mark.skipif(not ON_CPU, reason="of the CPU's memory")
def test_long_rows_are_read_in_the_order_of_memory():
    text = hd.jit(filtered).lower(hd.spec((3, 5000), hd.float64)).explain()
    assert "runs step by step: long rows are read and stored in the order of memory" in text, text
    assert kernels(lambda x: hd.scan(lambda c, row: (c + row, c), x[0], x)[0], hd.ones((3, 5000))) == 1
    assert kernels(lambda x: hd.map(hd.sqrt, x), hd.ones((3, 5000))) == 1


def test_a_long_step_with_many_results_is_one_kernel():
    def step(carry, row):
        carry = list(carry)
        for k in range(80):
            carry[k % 8] = carry[k % 8] * 0.5 + hd.minimum(carry[(k + 1) % 8], row)
        return tuple(carry), tuple(carry)

    x = np.random.default_rng(8).standard_normal((5, 10))
    run = lambda x: hd.scan(step, tuple(x[0] + k for k in range(8)), x)
    assert kernels(run, hd.asarray(x)) == 1
    carry, stacked = [x[0] + k for k in range(8)], []
    for row in x:
        for k in range(80):
            carry[k % 8] = carry[k % 8] * 0.5 + np.minimum(carry[(k + 1) % 8], row)
        stacked.append(list(carry))
    for found, wanted in zip(hd.jit(run)(hd.asarray(x))[1], np.asarray(stacked).transpose(1, 0, 2)):
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-12, atol=1e-13)


def test_wide_carries_fit_a_small_stack():
    def step(carry, row):
        carry = list(carry)
        for k in range(40):
            carry[k] = carry[k] + carry[k - 1] * row
        return tuple(carry), carry[0]

    run = hd.jit(lambda x, first: hd.scan(step, tuple(first + k for k in range(40)), x)[1])
    x, first = hd.ones((5, 600), dtype="complex128"), hd.ones(600, dtype="complex128")
    wanted, found = np.asarray(run(x, first)), []
    before = threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=lambda: found.append(np.asarray(run(x, first))))
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    np.testing.assert_array_equal(found[0], wanted)


def test_numbers_are_arguments_of_the_kernel():
    x = np.arange(1.0, 13).reshape(3, 4)

    def run(x, scale, shift):
        return hd.scan(lambda carry, row: (carry * scale + row, carry + shift), x[0], x)

    carry, stacked = x[0], []
    for row in x:
        stacked.append(carry + 2.5)
        carry = carry * 0.25 + row
    for function in (run, hd.jit(run)):
        found, rows = function(hd.asarray(x), 0.25, 2.5)
        np.testing.assert_array_equal(np.asarray(found), carry)
        np.testing.assert_array_equal(np.asarray(rows), np.stack(stacked))
    # Kernels that differ in their constants share one, which takes them as arguments.
    chained = hd.jit(lambda x: [run(x, 0.25 + k, 2.5 * k)[1] for k in range(6)])
    for k, found in enumerate(chained(hd.asarray(x))):
        carry, stacked = x[0], []
        for row in x:
            stacked.append(carry + 2.5 * k)
            carry = carry * (0.25 + k) + row
        np.testing.assert_array_equal(np.asarray(found), np.stack(stacked))


def test_results_of_several_shapes():
    x = np.random.default_rng(2).standard_normal((7, 3, 4))

    def step(carry, row):
        a, b = carry
        b = b + row[0, 0]
        return (a * 0.5 + row + b, b), (a, b, hd.broadcast_to(b, (2, 4)), row)

    def run(x):
        return hd.scan(step, (hd.zeros((3, 4)), 0.0), x)

    a, b, stacked = np.zeros((3, 4)), 0.0, []
    for row in x:
        before, b = a, b + row[0, 0]
        a = a * 0.5 + row + b
        stacked.append((before, b, np.broadcast_to(b, (2, 4)), row))
    (ga, gb), got = hd.jit(run)(hd.asarray(x))
    np.testing.assert_allclose(np.asarray(ga), a, rtol=1e-14)
    np.testing.assert_allclose(float(gb), b, rtol=1e-14)
    for found, wanted in zip(got, zip(*stacked)):
        np.testing.assert_allclose(np.asarray(found), np.stack(wanted), rtol=1e-14, atol=1e-15)


def test_a_result_that_no_element_changes_is_broadcast():
    x = hd.arange(5.0)

    def step(carry, number):
        return carry + number, hd.broadcast_to(carry * number, (3, 2))

    carry, stacked = hd.jit(lambda x: hd.scan(step, hd.asarray(1.0), x))(x)
    wanted, values = 1.0, []
    for number in range(5):
        values.append(np.full((3, 2), wanted * number))
        wanted += number
    assert float(carry) == wanted
    np.testing.assert_array_equal(np.asarray(stacked), np.stack(values))


@pytest.mark.parametrize("shape", [(4, 3), (1,), (7,), (0, 2), (3, 0), (2, 3, 4)])
def test_results_that_need_no_carry_are_elementwise(shape):
    x = np.random.default_rng(6).standard_normal(shape)
    scale, table = np.arange(4.0), np.arange(12.0).reshape(4, 3)

    def step(count, row):
        numbers = (hd.asarray(scale[:, None]) * row[:1] if row.ndim else scale[1] * row)
        return count + 1, (row * row + 1, numbers, hd.asarray(table), row.sum() if row.ndim > 1 else row)

    count, (squares, numbers, tables, sums) = hd.jit(lambda x: hd.scan(step, 0, x))(hd.asarray(x))
    assert int(count) == len(x)
    # A GPU rounds x * x + 1 once.
    np.testing.assert_allclose(np.asarray(squares), x * x + 1, rtol=0 if ON_CPU else 2**-52)
    wanted = [scale[:, None] * row[:1] if row.ndim else scale[1] * row for row in x]
    np.testing.assert_array_equal(np.asarray(numbers), np.stack(wanted) if wanted else
                                  np.zeros((0, 4, *shape[1:]))[:, :, :1])
    np.testing.assert_array_equal(np.asarray(tables), np.broadcast_to(table, (len(x), 4, 3)))


def test_a_map_of_an_elementwise_function_fuses():
    x = np.arange(12.0).reshape(4, 3)
    function = lambda x: hd.sqrt(hd.map(lambda row: row * row + 1, x + 1)).sum()
    np.testing.assert_allclose(float(hd.jit(function)(hd.asarray(x))),
                               np.sqrt((x + 1)**2 + 1).sum(), rtol=1e-15)
    assert kernels(function, hd.asarray(x)) == 1


def test_the_counter_without_rows():
    numbered = hd.jit(lambda x: hd.fori_loop(0, 3, lambda i, c: c + i, x))
    np.testing.assert_array_equal(np.asarray(numbered(hd.arange(3))), np.arange(3) + 3)
    none, numbers = hd.jit(lambda: hd.scan(lambda c, _: (c, hd.asarray(7)), 1.5, None, length=3))()
    assert float(none) == 1.5
    np.testing.assert_array_equal(np.asarray(numbers), [7, 7, 7])


def test_no_step():
    (y, before, count), (sums, signs) = hd.jit(filtered)(hd.zeros((0, 4)))
    np.testing.assert_array_equal(np.asarray(before), np.ones(4))
    assert (sums.shape, signs.shape, signs.dtype) == ((0, 4), (0, 4), hd.bool_)


def test_symbolic_steps_and_extents():
    run = hd.jit(filtered, dynamic=[("steps", "n")])
    for shape in [(5, 3), (1, 1), (17, 40), (0, 4)]:
        x = np.random.default_rng(3).standard_normal(shape)
        carry, (sums, _) = run(hd.asarray(x))
        if shape[0] == 0:
            np.testing.assert_array_equal(np.asarray(carry[1]), np.ones(shape[1]))
            continue
        wanted, (wanted_sums, _) = expected(x)
        np.testing.assert_allclose(np.asarray(sums), wanted_sums, rtol=1e-13, atol=1e-14)
        np.testing.assert_allclose(np.asarray(carry[0]), wanted[0], rtol=1e-13, atol=1e-14)


def test_filters_within_loops():
    x = np.random.default_rng(4).standard_normal((3, 6, 4))

    def outer(carry, rows):
        inner, stacked = hd.scan(lambda c, row: (c * 0.5 + row, c), carry, rows)
        return inner, stacked

    carry, stacked = np.zeros(4), []
    for rows in x:
        inside = []
        for row in rows:
            inside.append(carry)
            carry = carry * 0.5 + row
        stacked.append(np.stack(inside))
    got, gstacked = hd.jit(lambda x: hd.scan(outer, hd.zeros(4), x))(hd.asarray(x))
    np.testing.assert_allclose(np.asarray(got), carry, rtol=1e-14)
    np.testing.assert_allclose(np.asarray(gstacked), np.stack(stacked), rtol=1e-14)


def test_a_donated_sequence_is_read_before_it_is_lost():
    x = np.random.default_rng(5).standard_normal((8, 50))
    run = hd.jit(lambda x: hd.scan(lambda c, row: (c + row, c + row), x[0] * 0, x)[1],
                 donate=(0,))
    np.testing.assert_allclose(np.asarray(run(hd.asarray(x.copy()))), np.cumsum(x, 0), rtol=1e-13,
                               atol=1e-13)
