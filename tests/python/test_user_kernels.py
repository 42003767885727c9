"""ElementwiseKernel against NumPy."""

import numpy as np
import pytest

import heddle as hd
from conftest import DTYPES, ON_CPU, check, numpy_dtype, sample

EXACT = [dtype for dtype in DTYPES if dtype.kind != "b"]

squared = hd.ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "squared_difference")


def plain(dtype, shape, seed=0):
    return np.asarray(sample(dtype, shape, seed))


SHAPES = [((5,), (5,)), ((3, 1), (4,)), ((), (2, 3)), ((0, 3), (3,)), ((2, 3, 4), (3, 1))]


@pytest.mark.parametrize("dtype, shapes", [(dtype, SHAPES[1]) for dtype in EXACT]
                         + [(hd.float32, shapes) for shapes in SHAPES], ids=str)
def test_inputs_broadcast(dtype, shapes):
    x, y = (plain(dtype, shape, seed) for seed, shape in enumerate(shapes))
    with np.errstate(all="ignore"):
        check(squared(hd.asarray(x), hd.asarray(y)), (x - y) * (x - y), ulp=2)


@pytest.mark.parametrize("layout", [lambda a: a.T, lambda a: a[::2, ::-1], lambda a: a[1:, 2],
                                    lambda a: a[:, None]], ids=["T", "steps", "offset", "newaxis"])
def test_views(layout):
    x = np.arange(42.0).reshape(6, 7)
    given = layout(hd.asarray(x))
    check(squared(given, 1.5), (layout(x) - 1.5) ** 2)
    copy = hd.ElementwiseKernel("raw T x", "T y", "y = x[i]", "copy")
    check(copy(given, size=given.size), layout(x).ravel())


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_raw_elements(dtype):
    x = plain(dtype, (4, 5))
    last = hd.ElementwiseKernel("T x, raw T y", "T z", "z = y[n - 1 - i]", "last")
    check(last(hd.asarray(x), hd.asarray(x)), np.flip(x))
    at = hd.ElementwiseKernel("int64 row, raw T y", "T z", "z = y[{row, 2}]", "at")
    rows = np.array([3, 0, 2])
    check(at(hd.asarray(rows), hd.asarray(x)), x[rows, 2])


def test_facts_of_raw_arrays():
    facts = hd.ElementwiseKernel(
        "raw float32 x", "int64 y",
        "y = i == 0 ? x.size() : i == 1 ? x.ndim : i < 5 ? x.shape()[i - 2] : x.strides()[i - 5]",
        "facts")
    x = hd.zeros((3, 4, 5), dtype=hd.float32)
    check(facts(x, size=8), np.array([60, 3, 3, 4, 5, 80, 20, 4]))


def test_indices_and_counts():
    x = hd.zeros((2, 3))
    numbers = hd.ElementwiseKernel("float64 x", "int64 k", "k = i * 100 + n", "numbers")
    check(numbers(x), np.arange(6).reshape(2, 3) * 100 + 6)
    indexer = hd.ElementwiseKernel("float64 x", "int64 k", "k = _ind.size() - _ind.get()", "indexer")
    check(indexer(x), 6 - np.arange(6).reshape(2, 3))
    own = hd.ElementwiseKernel("float64 x, int32 n", "int64 k", "k = n + i", "own_n")
    check(own(x, 7), 7 + np.arange(6).reshape(2, 3))


def test_several_outputs():
    both = hd.ElementwiseKernel("T x, T y", "T s, bool larger, int32 k",
                                "s = x + y; larger = x > y; k = i", "both")
    x, y = np.arange(6.0), np.full(6, 2.5)
    got = both(hd.asarray(x), hd.asarray(y))
    for one, expected in zip(got, (x + y, x > y, np.arange(6, dtype=np.int32))):
        check(one, expected)
    assert isinstance(squared(hd.asarray(x), 1.0), hd.Array)
    tupled = hd.ElementwiseKernel("T x", "T y", "y = x", "tupled", return_tuple=True)
    assert isinstance(tupled(hd.asarray(x)), tuple)
    silent = hd.ElementwiseKernel("T x", "T y", "y = x", "silent", no_return=True)
    out = hd.zeros(6)
    assert silent(hd.asarray(x), out) is None
    check(out, x)


def test_outputs_are_written_where_they_are_given():
    x, out = np.arange(-3.0, 3), hd.full(6, 9.0)
    positive = hd.ElementwiseKernel("T x", "T y", "if (x > 0) y = x", "positive")
    result = positive(hd.asarray(x), out)
    assert result is out
    check(out, np.where(x > 0, x, 9.0))
    rows = hd.zeros((2, 6))
    positive(hd.asarray(x), rows[1])
    check(rows, np.stack([np.zeros(6), np.where(x > 0, x, 0)]))
    kept = hd.asarray(x)
    squared(kept, kept[::-1], kept)
    check(kept, (x - x[::-1]) ** 2)


def test_outputs_say_how_many_elements_there_are():
    raw = hd.ElementwiseKernel("raw T x", "T y", "y = x[i % 2]", "raw_input")
    out = hd.zeros((2, 3))
    raw(hd.asarray([1.0, 2.0]), out)
    check(out, np.array([[1.0, 2, 1], [2, 1, 2]]))
    scaled = hd.ElementwiseKernel("T s, raw T x", "T y", "y = s * x[i]", "scaled")
    check(scaled(2.0, hd.arange(3.0), size=3), np.array([0.0, 2, 4]))
    none = hd.ElementwiseKernel("", "int64 y", "y = i * n", "no_input")
    check(none(size=3), np.array([0, 3, 6]))
    numbers = hd.zeros((2, 2), dtype=hd.int64)
    none(numbers)
    check(numbers, np.arange(4).reshape(2, 2) * 4)
    wide = hd.zeros((2, 3))
    squared(hd.arange(3.0), 1.0, wide)
    check(wide, np.tile([1.0, 0, 1], (2, 1)))
    for call in (lambda: raw(hd.arange(2.0), out, size=6), lambda: none(numbers, size=4), none):
        with pytest.raises(ValueError, match="size"):
            call()
    with pytest.raises(ValueError, match="block_size"):
        squared(out, out, block_size=0)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_raw_outputs(dtype):
    x = plain(dtype, 20)
    turned = hd.ElementwiseKernel("T x", "raw T y", "y[n - 1 - i] = x", "turned")
    check(turned(hd.asarray(x)), x[::-1])
    out = hd.asarray(np.tile(x[:2], (3, 8)))
    columns = hd.ElementwiseKernel("raw T x", "raw T y", "y[{i % 3, i}] = x[i]", "columns")
    assert columns(hd.asarray(x), out, size=7) is out
    expected = np.tile(x[:2], (3, 8))
    expected[np.arange(7) % 3, np.arange(7)] = x[:7]
    check(out, expected)
    with pytest.raises(ValueError, match="size"):
        columns(hd.asarray(x), out)


def test_raw_outputs_that_several_elements_change():
    labels, weights = np.arange(1000) * 7 % 13, np.linspace(0, 1, 1000)
    count = hd.ElementwiseKernel("int64 k", "raw int32 z", "atomicAdd(&z[k], 1)", "count")
    total = hd.zeros(13, dtype=hd.int32)
    count(hd.asarray(labels), total)
    count(hd.asarray(labels), total)
    check(total, 2 * np.bincount(labels).astype(np.int32))
    weigh = hd.ElementwiseKernel("int64 k, float64 w", "raw float64 z", "atomicAdd(&z[k], w)", "weigh")
    sums = hd.ones(13)
    weigh(hd.asarray(labels), hd.asarray(weights) * 2, sums)
    check(sums, 1 + np.bincount(labels, 2 * weights), ulp=2000)
    most = hd.ElementwiseKernel("int64 k, int64 w", "raw int64 z", "atomicMax(&z[k], w)", "most")
    found = hd.full(13, -1)
    most(hd.asarray(labels), hd.arange(1000), found)
    check(found, np.array([np.flatnonzero(labels == k).max() for k in range(13)]))


def test_raw_outputs_in_programs():
    bump = hd.ElementwiseKernel("int64 k", "raw float64 z", "z[k] += 1", "bump")

    @hd.jit
    def program(x, k):
        first = bump._kernel.call((k,), None, (x,))[0]
        second = bump._kernel.call((k + 1,), None, (x,))[0]
        third = bump._kernel.call((k,), None, (second,))[0]
        return x, first * 2, second, third

    x, k = np.arange(6.0), np.array([0, 2])
    first, second, third = x.copy(), x.copy(), x.copy()
    first[k] += 1
    second[k + 1] += 1
    third[:] = second
    third[k] += 1
    for got, expected in zip(program(hd.asarray(x), hd.asarray(k)), (x, first * 2, second, third)):
        check(got, expected)
    kept = hd.asarray(x)
    view = kept[::2]
    bump(hd.asarray([0, 1]), view)
    check(kept, x + [1, 0, 1, 0, 0, 0])
    check(bump(hd.zeros(0, dtype=hd.int64), hd.asarray(x)), x)


def test_scalars_take_the_dtype_of_the_parameter():
    x = hd.arange(4, dtype=hd.float32)
    assert squared(x, 3).dtype == hd.float32
    assert squared(x, True).dtype == hd.float32
    check(squared(2, 5), np.array(9))
    check(squared(np.float32(2), hd.asarray(np.float32(4))), np.array(4, np.float32))
    typed = hd.ElementwiseKernel("T x, int8 k", "T y", "y = x * k", "typed")
    check(typed(x, 2), np.arange(4, dtype=np.float32) * 2)
    check(squared(x, np.float64(2)), (np.arange(4, dtype=np.float32) - 2) ** 2)
    with pytest.raises(hd.DTypeError):
        typed(x, 200)


@pytest.mark.parametrize("dtype", "?bIlfD")
def test_numpys_scalars_of_any_value(dtype):
    total = hd.ElementwiseKernel("T x, T y", "T z", "z = x + y", "total")
    x = np.arange(6).astype(dtype).reshape(2, 3)
    for value in (-1, 2**32, 2**63 - 1, -2**63):
        with np.errstate(all="ignore"):
            y = np.array(value).astype(dtype)[()]
            check(total(hd.asarray(x), y), x + y)


@pytest.mark.parametrize("dtype", [one for one in DTYPES if one in (hd.float16, hd.bfloat16)], ids=str)
def test_narrow_floats_are_computed_in_float_and_rounded(dtype):
    x = np.linspace(0.5, 3, 100).astype(numpy_dtype(dtype))
    wide = x.astype(np.float32)
    root = hd.ElementwiseKernel("T x", "T y", "T t = x * x; t += 1; y = sqrt(t) / x", "root")
    t = (wide * wide).astype(x.dtype).astype(np.float32)
    t = (t + 1).astype(x.dtype).astype(np.float32)
    check(root(hd.asarray(x)), (np.sqrt(t) / wide).astype(x.dtype), ulp=1)


@pytest.mark.parametrize("dtype", [hd.complex64, hd.complex128], ids=str)
def test_complex_numbers(dtype):
    x = plain(dtype, 20) + numpy_dtype(dtype).type(0.25)
    several = hd.ElementwiseKernel(
        "T x", "T y", "T t = x; t *= 2; t += T(0, 1); y = exp(t) + conj(x) * abs(x) - x.real() / x",
        "several")
    t = x * 2 + 1j
    check(several(hd.asarray(x)), np.exp(t) + x.conj() * np.abs(x) - x.real / x, ulp=50)
    parts = hd.ElementwiseKernel("complex128 x", "float64 r, float64 a", "r = imag(x); a = arg(x)",
                                 "parts")
    r, a = parts(hd.asarray(x.astype(np.complex128)))
    check(r, x.imag.astype(np.float64))
    check(a, np.angle(x.astype(np.complex128)), ulp=4)
    powers = hd.ElementwiseKernel("T x", "T y", "y = pow(x, 2) + sqrt(x) + log(x) * T(3)", "powers")
    check(powers(hd.asarray(x)), x ** 2 + np.sqrt(x) + np.log(x) * 3, ulp=50)


def test_functions_of_cuda():
    x = np.linspace(0.1, 4, 64)
    many = hd.ElementwiseKernel(
        "T x", "T y", "y = rsqrt(x) + max(x, T(1)) - min(x, T(2)) + fma(x, x, x) + hypot(x, T(1)) + "
        "erf(x) + isnan(x) + copysign(x, T(-1)) + rcbrt(x) + normcdf(x)", "many")
    from math import erf, sqrt
    expected = [1 / np.sqrt(v) + max(v, 1) - min(v, 2) + v * v + v + np.hypot(v, 1) + erf(v) - v
                + 1 / np.cbrt(v) + 0.5 * (1 + erf(v / sqrt(2))) for v in x]
    check(many(hd.asarray(x)), np.array(expected), ulp=32)
    bits = hd.ElementwiseKernel("uint32 x", "int32 y", "y = __popc(x) * 100 + __clz(x)", "bits")
    check(bits(hd.array([1, 7, 0xFFFFFFFF], dtype=hd.uint32)),
          np.array([131, 329, 3200], np.int32))


@pytest.mark.parametrize("name, function, low, high", [
    ("erfcinv", "erfcinv", 1e-290, 2), ("erfinv", "erfinv", -1, 1), ("normcdfinv", "ndtri", 1e-290, 1),
    ("erfcx", "erfcx", -20, 60)])
def test_inverse_and_scaled_error_functions(name, function, low, high):
    special = pytest.importorskip("scipy.special")
    small = np.concatenate([10.0 ** -np.arange(0, 280, 7.0), [0.49, 0.5, 0.51, 1.5, 25, 25.01]])
    x = np.concatenate([np.linspace(low, high, 2000), small, -small])
    for dtype in (np.float64, np.float32):
        given = x[(x >= low) & (x <= high)].astype(dtype)
        kernel = hd.ElementwiseKernel("T x", "T y", f"y = {name}(x)", name)
        check(kernel(hd.asarray(given)), getattr(special, function)(given), ulp=300)
    ends = hd.array([0.0, 2.0, -1.0, 3.0, np.nan])
    given = hd.ElementwiseKernel("T x", "T y, T z", "y = erfcinv(x); z = erfinv(x - 1)", "ends")(ends)
    for found, expected in zip(given, (special.erfcinv(ends.get()), special.erfinv(ends.get() - 1))):
        np.testing.assert_array_equal(found.get(), expected)


def test_multiples_of_half_a_turn():
    x = hd.array([0.5, 1.5, 1.0, 2.0, -0.5, 3e15 + 0.5, 0.0])
    sine, cosine = hd.ElementwiseKernel("T x", "T s, T c", "s = sinpi(x); c = cospi(x)", "turns")(x)
    assert sine.tolist() == [1, -1, 0, 0, -1, 1, 0] and cosine.tolist() == [0, 0, -1, 1, 0, 0, 1]


def test_preamble_and_text_around_the_operation():
    kernel = hd.ElementwiseKernel(
        "T x", "T y", "if (x < 0) continue;\ny = twice(x) + offset", "around", loop_prep="T offset = 3",
        preamble="#include <limits.h>\ntemplate <class A>\n__device__ A twice(A a) { return a * 2; }\n",
        after_loop="y += 0")
    x = np.arange(-2.0, 3)
    if ON_CPU:
        check(kernel(hd.asarray(x)), np.where(x < 0, 0, x * 2 + 3))
    other = hd.ElementwiseKernel("T x", "T y", "y = twice(x)", "other",
                                 preamble="__device__ float twice(float a) { return a * 3; }")
    one = hd.ElementwiseKernel("T x", "T y", "y = twice(x)", "one",
                               preamble="__device__ float twice(float a) { return a * 2; }")
    f = hd.jit(lambda a: one(a) + other(a))
    check(f(hd.arange(4, dtype=hd.float32)), np.arange(4, dtype=np.float32) * 5)


def test_macros_end_with_their_kernel():
    three = hd.ElementwiseKernel("float32 x", "float32 z", "z = x * N", "three",
                                 preamble="#define N 3.0f")
    five = hd.ElementwiseKernel("float32 x", "float32 z", "z = x * N", "five",
                                preamble="#ifndef N\n#define N 5.0f\n#endif")
    check(five(three(hd.ones(3, dtype=hd.float32))), np.full(3, 15, np.float32))
    guarded = "#ifndef SQ_H\n#define SQ_H\ntemplate <class U> __device__ U sq(U v) { return v * v; }\n#endif"
    norm_of = hd.ReductionKernel("T x", "T y", "sq(x)", "a + b", "y = sq(a)", "0", "norm_of",
                                 preamble=guarded)
    check(norm_of(hd.arange(4.0)), np.array(14.0 ** 2))
    hidden = hd.ElementwiseKernel("T x", "T z", "z = INDEX", "hidden",
                                  preamble="/*\n#include \"nothing.h\"\n*/\n#define INDEX (i + 1)")
    check(hidden(hd.zeros(3)), np.arange(1.0, 4))


@pytest.mark.parametrize("name", ["exp", "max", "carried", "Indexer", "T"])
def test_kernels_may_have_any_name(name):
    kernel = hd.ElementwiseKernel("T x", "T carried", "carried = max(exp(x), T(_ind.size()))", name)
    check(kernel(hd.zeros(3)), np.full(3, 3.0))


def test_numbers_of_16_bits_mix_with_others():
    x = hd.arange(6, dtype=hd.float16)
    mixed = hd.ElementwiseKernel("T x, int64 k", "T z", "z = max(x, 0.5f) / T(n) + k; z++", "mixed")
    wide = np.maximum(np.arange(6, dtype=np.float32), 0.5)
    third = (wide / np.float32(6)).astype(np.float32)
    check(mixed(x, hd.arange(6)), (third + np.arange(6, dtype=np.float32)).astype(np.float16) + np.float16(1))
    numbers = hd.ElementwiseKernel("float16 x", "float16 z", "z = i", "numbers_of_16")
    check(numbers(x), np.arange(6, dtype=np.float16))


def test_max_and_min_prefer_numbers_to_nan():
    x, y = np.array([np.nan, 1, np.nan, 2]), np.array([1, np.nan, np.nan, 3.0])
    both = hd.ElementwiseKernel("T x, T y", "T a, T b", "a = max(x, y); b = min(x, y)", "both_ends")
    most, least = both(hd.asarray(x), hd.asarray(y))
    check(most, np.fmax(x, y))
    check(least, np.fmin(x, y))


def test_a_loop_in_the_operation():
    steps = hd.ElementwiseKernel(
        "int64 x", "int32 k", "long long v = x; k = 0;\nwhile (v != 1) { v = v % 2 ? 3 * v + 1 : v / 2; ++k; }",
        "collatz")

    def collatz(v):
        k = 0
        while v != 1:
            v, k = (3 * v + 1 if v % 2 else v // 2), k + 1
        return k

    x = np.arange(1, 200)
    expected = np.array([collatz(int(v)) for v in x], np.int32)
    check(steps(hd.asarray(x)), expected)
    # From 0, which padding is, the loop would not end.
    joined = hd.jit(lambda a, b: hd.concatenate([steps(a), b + 1]))
    check(joined(hd.asarray(x), hd.zeros(30, dtype=hd.int32)),
          np.concatenate([expected, np.ones(30, np.int32)]))
    padded = hd.jit(lambda a: hd.pad(steps(a), 5))
    check(padded(hd.asarray(x)), np.pad(expected, 5))


def test_one_kernel_with_what_surrounds_it():
    x, y = np.linspace(0, 1, 600).reshape(20, 30), np.linspace(0, 2, 30)

    @hd.jit
    def program(a, b):
        return hd.sum(hd.exp(squared(a * 2, b)) + 1, axis=1)

    check(program(hd.asarray(x), hd.asarray(y)), (np.exp((x * 2 - y) ** 2) + 1).sum(1), ulp=8)
    text = program.explain(hd.asarray(x), hd.asarray(y))
    assert "1 groups, 1 kernels" in text or "1 group" in text
    assert "squared_difference" in text and "z = (x - y) * (x - y)" in text


def test_in_loops_and_vmap():
    step = hd.ElementwiseKernel("T x, T a", "T y", "y = x * a", "step")
    got = hd.fori_loop(0, 5, lambda k, x: step(x, 2.0), hd.arange(4.0))
    check(got, np.arange(4.0) * 32)
    x = np.arange(12.0).reshape(3, 4)
    rows = hd.apply_along_axis(lambda row: squared(row, 1.0) + hd.sum(row), 1, hd.asarray(x))
    check(rows, (x - 1) ** 2 + x.sum(1, keepdims=True))
    turned = hd.ElementwiseKernel("raw T x", "T y", "y = x[n - 1 - i]", "turned")
    rows = hd.apply_along_axis(lambda row: turned(row, size=4), 1, hd.asarray(x))
    check(rows, x[:, ::-1])
