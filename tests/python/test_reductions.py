"""How exact sums, products and variances are at any length, and that their order is one.

|result - exact| <= (1 + 2 log2 n) eps sum|x| of sums and means, eps that of the accumulator, and one
rounding of the result; 4 (1 + log2 n) eps of variances and deviations; n eps of products. On the CPU
the bits depend on dtype, extents and axes only. HEDDLE_NIGHTLY=1 tries more lengths.
"""

import math
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from conftest import ON_CPU

import heddle as hd

NIGHTLY = os.environ.get("HEDDLE_NIGHTLY") == "1"
one_order = pytest.mark.skipif(not ON_CPU, reason="the GPU has one order a plan")

ACCUMULATOR_EPS = {"float16": 2.0**-23, "bfloat16": 2.0**-23, "float32": 2.0**-23,
                   "float64": 2.0**-52, "complex64": 2.0**-23}
ROUNDING = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24, "float64": 2.0**-53,
            "complex64": 2.0**-24}
LENGTHS = [3, 16, 17, 100, 257, 1000, 1025, 2049, 10**4, 2**17 + 1, 2**20]


def exact_sum(values):
    """Correctly rounded, or of long narrow ones to far more digits than theirs."""
    if values.size <= 2**21:
        return math.fsum(values.astype(np.float64))
    chunks = np.array_split(values, values.size // 2**20)
    return math.fsum(np.sum(chunk, dtype=np.float64) for chunk in chunks)


def sum_bound(dtype, count, size, exact):
    return (1 + 2 * math.log2(count)) * ACCUMULATOR_EPS[dtype] * size + ROUNDING[dtype] * abs(exact)


def sample(kind, count):
    random = np.random.default_rng(count).random(count, np.float32)
    if kind == "constant":
        return np.full(count, 0.1, np.float32)
    if kind == "alternating":
        return random * np.where(np.arange(count) % 2, -1, 1).astype(np.float32)
    return np.sort(random) if kind == "sorted" else random


def wide(array):
    return hd.asnumpy(hd.astype(array, "float64"))


def check_sum(got, values, dtype):
    values = values.astype(np.float64)
    exact, size = exact_sum(values), exact_sum(np.abs(values))
    assert abs(float(got) - exact) <= sum_bound(dtype, values.size, size, exact)


@pytest.mark.parametrize("kind", ["constant", "alternating", "sorted", "random"])
def test_sums_of_any_length(kind):
    for count in LENGTHS + ([2**k + 1 for k in range(20, 27)] if NIGHTLY else []):
        values = sample(kind, count)
        x = hd.asarray(values)
        check_sum(wide(hd.sum(x)), values, "float32")
        check_sum(wide(hd.mean(x)) * count, values, "float32")
        check_sum(wide(hd.sum(x * x)), values.astype(np.float64) ** 2, "float32")


@pytest.mark.parametrize("axis", [0, 1])
def test_sums_along_rows_and_columns(axis):
    for count in LENGTHS:
        values = np.stack([sample(kind, count) for kind in ("constant", "sorted", "random")], axis)
        values = np.moveaxis(values, axis, 1 - axis)
        for stored in (values, np.asfortranarray(values)):
            x = hd.asarray(stored)
            for k, got in enumerate(wide(hd.sum(x, axis=axis))):
                check_sum(got, np.take(values, k, 1 - axis), "float32")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_sums_of_other_dtypes(dtype):
    for count in LENGTHS:
        x = hd.astype(hd.asarray(sample("random", count)), dtype)
        values = wide(x)
        exact, size = exact_sum(values), exact_sum(np.abs(values))
        allowed = sum_bound(dtype, count, size, exact) / count
        assert abs(float(wide(hd.mean(x))) - exact / count) <= allowed
        if exact < 60000:
            check_sum(wide(hd.sum(x)), values, dtype)
            check_sum(wide(hd.nansum(hd.where(x < 0.5, x, math.nan))),
                      np.where(values < 0.5, values, 0), dtype)


def test_complex_sums_and_traces():
    for count in LENGTHS:
        values = sample("random", count) + 1j * sample("constant", count)
        total = complex(hd.asnumpy(hd.sum(hd.asarray(values.astype(np.complex64)))))
        check_sum(total.real, values.real, "complex64")
        check_sum(total.imag, values.imag, "complex64")
    values = sample("random", 600 * 700).reshape(600, 700)
    check_sum(wide(hd.trace(hd.asarray(values))), np.diagonal(values), "float32")


def test_products():
    for count in LENGTHS:
        factors = (1 + (sample("random", count) - 0.5) * 1e-3).astype(np.float32)
        exact = float(np.prod(factors.astype(np.longdouble)))
        got = float(wide(hd.prod(hd.asarray(factors))))
        assert abs(got - exact) <= count * 2.0**-23 * exact


def test_sums_of_2_to_the_26():
    count = 2**26
    values = sample("random", count)
    x = hd.asarray(values)
    exact = exact_sum(values)
    allowed = sum_bound("float32", count, exact, exact)
    assert abs(float(wide(hd.sum(x))) - exact) <= allowed
    rows = wide(hd.sum(hd.reshape(x, (2, -1)), axis=1))
    assert abs(rows.sum() - exact) <= allowed
    columns = wide(hd.sum(hd.reshape(x, (-1, 2)), axis=0))
    assert abs(columns.sum() - exact) <= allowed


def test_sums_of_2_to_the_30_that_are_in_no_memory():
    count = 2**30
    tenth = float(np.float32(0.1))
    got = float(wide(hd.sum(hd.full(count, 0.1, dtype="float32"))))
    exact = count * tenth
    assert abs(got - exact) <= sum_bound("float32", count, exact, exact)
    exact = (count // 1024) * 1023 * 512.0
    got = float(wide(hd.sum(
        hd.astype(hd.bitwise_and(hd.arange(count, dtype="int32"), 1023), "float32"))))
    assert abs(got - exact) <= sum_bound("float32", count, exact, exact)


def test_a_line_that_keeps_meeting_extents():
    tenth = float(np.float32(0.1))
    for count in (10**6, 10**6 + 1, 10**6 + 2, 10**7, 3 * 10**7):
        got = float(wide(hd.sum(hd.full(count, 0.1, dtype="float32"))))
        exact = count * tenth
        assert abs(got - exact) <= sum_bound("float32", count, exact, exact)


def test_variances_far_from_zero():
    for dtype in ("float32", "float64"):
        eps = ACCUMULATOR_EPS[dtype]
        for count in LENGTHS[1:]:
            random = np.random.default_rng(count)
            far = (1e4 + random.standard_normal(count)).astype(dtype)
            # Data and mean in integers, so that the reference is exact.
            scaled = [int(v * 2.0**60) for v in far.tolist()]
            deviations = [count * v - sum(scaled) for v in scaled] if count <= 1025 else None
            if deviations is not None:
                exact = sum(d * d for d in deviations) / (count**3 * 2**120)
            else:
                precise = far.astype(np.longdouble)
                precise -= precise.mean()
                exact = float((precise * precise).mean() - precise.mean() ** 2)
            allowed = 4 * (1 + math.log2(count)) * eps
            x = hd.asarray(far)
            masked = hd.concatenate([x, hd.full(7, math.nan, dtype=dtype)])
            rows = hd.asarray(np.stack([far, far], 1))
            for got in (hd.var(x), hd.nanvar(masked), hd.var(rows, axis=0)[1]):
                assert abs(float(wide(got)) - exact) <= allowed * exact
            assert abs(float(wide(hd.std(x))) - math.sqrt(exact)) <= allowed * math.sqrt(exact)


def test_variances_at_the_edges():
    assert float(wide(hd.var(hd.full(1000, 0.1, dtype="float32")))) <= 1e-16
    assert float(wide(hd.std(hd.full(12345, -7.3, dtype="float32")))) >= 0  # not NaN
    huge = hd.asarray(np.array([1e30, 2e30, 4e30] * 40, np.float32))
    assert math.isinf(float(wide(hd.var(huge))))
    assert math.isnan(float(wide(hd.var(hd.asarray(np.array([1.0, math.inf], np.float32))))))


def evaluated(array):
    hd.eval(array)
    return array


def same_bits(*arrays):
    first, *others = [hd.asnumpy(array) for array in arrays]
    for other in others:
        assert first.tobytes() == other.tobytes()


SHAPES = [((1000,), (0,)), ((5000,), (0,)), ((300001,), (0,)), ((70, 33), (1,)), ((70, 33), (0,)),
          ((300, 40), (0,)), ((3000, 7), (0,)), ((9, 5000), (1,)), ((140001, 2), (0,)),
          ((6, 50, 41), (0, 2)), ((6, 50, 41), (1,)), ((6, 50, 41), (0, 1)), ((40, 6, 300), (0, 2)),
          ((20, 1100, 1), (1,)), ((2, 3, 4), (0, 1, 2)), ((513, 1025), (0, 1))]


@one_order
@pytest.mark.parametrize("dtype", ["float32", "float16", "float64", "complex64"])
def test_layout_and_fusion_leave_the_bits(dtype):
    for shape, axes in SHAPES:
        values = (np.random.default_rng(5).random(shape) * 4 - 1).astype(dtype)
        rank = len(shape)
        plain = hd.asarray(values)
        turned = hd.transpose(hd.asarray(np.ascontiguousarray(values.T)))
        padded = np.zeros([2 * extent + 3 for extent in shape], dtype)
        inside = tuple(slice(3, None, 2) for _ in shape)
        padded[inside] = values
        strided = hd.asarray(padded)[inside]
        backwards = hd.flip(hd.asarray(np.flip(values).copy()))
        for reduce in (hd.sum, hd.prod) if dtype in ("float32", "float64") else (hd.sum,):
            whole = reduce(plain, axis=axes)
            same_bits(whole, reduce(turned, axis=axes), reduce(strided, axis=axes),
                      reduce(backwards, axis=axes))
            # Doubling rounds nothing.
            doubled = evaluated(plain + plain)
            fused = hd.jit(lambda x: (reduce(x + x, axis=axes), hd.max(x + x, axis=axes),
                                      hd.sum(x * 4, axis=axes)))
            if dtype != "complex64":
                same_bits(reduce(doubled, axis=axes), reduce(plain + plain, axis=axes),
                          fused(plain)[0], fused(turned)[0], fused(strided)[0])
            masked = hd.where(hd.asarray(np.ones(shape, bool)), plain, 0)
            same_bits(whole, reduce(masked, axis=axes))
        kept = hd.jit(lambda x: hd.sum(x, axis=axes, keepdims=True))
        same_bits(hd.sum(plain, axis=axes), kept(turned))
        assert rank == len(plain.shape)


@one_order
@pytest.mark.parametrize("axis", [0, 1, None])
def test_symbols_and_constants_give_the_same_bits(axis):
    many = hd.jit(lambda x: (hd.sum(x, axis=axis), hd.mean(x * x, axis=axis), hd.var(x)))
    for count in (5, 40, 41, 42, 43, 300, 700, 1030, 3000, 40001, 200003):
        x = hd.asarray(np.random.default_rng(count).random((count, 7), np.float32))
        for y in (x, hd.transpose(hd.asarray(np.ascontiguousarray(hd.asnumpy(x).T)))):
            once = hd.jit(lambda x: (hd.sum(x, axis=axis), hd.mean(x * x, axis=axis), hd.var(x)))
            for first, later in zip(once(y), many(y)):
                same_bits(first, later)


@one_order
def test_an_extent_of_one_keeps_its_order_among_symbols():
    x = np.random.default_rng(0).standard_normal((5000, 5)).astype(np.float32)
    many = hd.jit(lambda x: hd.sum(x, axis=0))
    for columns in (2, 3, 4, 1, 5, 1):
        y = hd.asarray(np.ascontiguousarray(x[:, :columns]))
        same_bits(hd.jit(lambda x: hd.sum(x, axis=0))(y), many(y))


def test_many_sums_of_columns_fit_the_stack_of_a_thread():
    """A kernel's trees of partial sums lie on its thread's stack."""
    random = np.random.default_rng(0)

    @hd.jit
    def running(x, y):
        sums = []
        for _ in range(32):
            x = x * y
            sums.append(hd.sum(x, axis=0))
        return tuple(sums)

    @hd.jit
    def once(x):
        return hd.sum(x, axis=0)

    def work():
        for rows in (4093, 4094, 4095, 4096):  # from the third on, extents are symbols
            x = random.standard_normal((rows, 256)) + 0.5j
            found.append(np.abs(hd.asnumpy(once(hd.asarray(x))) - x.sum(0)).max())
            unit = hd.asarray(np.where(x.real > 0, np.float32(1), np.float32(-1)))
            sums = running(unit, unit)
            found.append(np.abs(hd.asnumpy(sums[0]) - rows).max())
            found.append(np.abs(hd.asnumpy(sums[30]) - rows).max())

    found = []
    before = threading.stack_size(512 << 10)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert len(found) == 12 and max(found) < 1e-9


@one_order
def test_softmax_sums_as_the_sum_alone():
    x = hd.asarray(np.random.default_rng(1).random((50, 777), np.float32))
    whole = hd.jit(lambda x: (x * 0.5) / hd.sum(x * 0.5, axis=1, keepdims=True))
    halved = evaluated(x * 0.5)
    same_bits(whole(x), halved / evaluated(hd.sum(halved, axis=1, keepdims=True)))


PROGRAM = """
import hashlib, sys
import numpy as np
import heddle as hd
digest = hashlib.sha256()
random = np.random.default_rng(3)
for shape, axes in [((3000001,), 0), ((4, 700001), 1), ((300007, 3), 0), ((3000, 1030), 0),
                    ((3000, 1030), None)]:
    x = random.random(shape, np.float32)
    for stored in (x, np.asfortranarray(x)):
        digest.update(hd.asnumpy(hd.sum(hd.asarray(stored), axis=axes)).tobytes())
print(digest.hexdigest())
"""


@one_order
def test_threads_leave_the_bits():
    digests = {subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True,
                              env={**os.environ, "HEDDLE_NUM_THREADS": threads}).stdout
               for threads in ("1", "2", "5")}
    assert len(digests) == 1
