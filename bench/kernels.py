"""Kernels from a user's text beside CuPy on a GPU, or NumPy on the CPU, in microseconds per call. The device
is HEDDLE_DEVICE. Heddle is called as it is and in jit; the ratio is the peer's time by that of the call as it is.

python bench/kernels.py [--quick] [--rounds N] [--only TITLE ...]
"""

import argparse
import math
import time
from dataclasses import dataclass
from typing import Callable

import numpy as np

import heddle as hd

BLACK_SCHOLES = """
T root = T(0.3) * sqrt(years);
T d1 = (log(spot / strike) + T(0.065) * years) / root;
T discounted = strike * exp(T(-0.02) * years);
T above = T(0.5) * erfc(d1 * T(-0.70710678118654752));
T below = T(0.5) * erfc((d1 - root) * T(-0.70710678118654752));
call = spot * above - discounted * below;
"""
ADD = r"""
extern "C" __global__ void add(const float* x, const float* y, float* z, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = x[i] + y[i];
}
"""


@dataclass
class Case:
    """A program in each library: `of_kernels(xp)` gives the one with kernels, `in_numpy` the same
    without. `traffic` is the number of bytes that it has to read and write."""
    title: str
    inputs: list
    of_kernels: Callable
    in_numpy: Callable
    traffic: int
    jits: bool = True
    needs_gpu: bool = False


def black_scholes(spot, strike, years):
    """NumPy has no erfc: a polynomial of Abramowitz and Stegun's, which is right within 7.5e-8."""
    root = 0.3 * np.sqrt(years)
    d1 = (np.log(spot / strike) + 0.065 * years) / root

    def cumulative(x):
        t = 1 / (1 + 0.2316419 * np.abs(x))
        series = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (
            -1.821255978 + t * 1.330274429))))
        tail = series * np.exp(-0.5 * x * x) * (1 / math.sqrt(2 * math.pi))
        return np.where(x > 0, 1 - tail, tail)

    return spot * cumulative(d1) - strike * np.exp(-0.02 * years) * cumulative(d1 - root)


def saxpy(xp):
    kernel = xp.ElementwiseKernel("T a, T x, T y", "T z", "z = a * x + y", "saxpy")
    return lambda x, y: kernel(2.5, x, y)


def prices(xp):
    return xp.ElementwiseKernel("T spot, T strike, T years", "T call", BLACK_SCHOLES, "black_scholes")


def blend(xp):
    return xp.ElementwiseKernel("T x, T row, T column", "T z", "z = x > row ? x * column : row", "blend")


def norm(xp, **options):
    kernel = xp.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "l2_norm")
    return lambda x: kernel(x, **options)


def highest(xp):
    kernel = xp.ReductionKernel("T x", "T y", "x", "a > b ? a : b", "y = a", "-1e30", "highest")
    return lambda x: kernel(x, axis=1)


def chain(xp):
    kernel = xp.ElementwiseKernel("T x, T y", "T z", "z = x > 0 ? sqrt(x) + y : y", "middle")
    return lambda x, y: xp.sum(kernel(x * 2 - y, y + 1) * y, axis=1)


def raw_add(xp):
    kernel = xp.RawKernel(ADD, "add")

    def call(x, y):
        z = xp.empty(x.shape, dtype=xp.float32)
        kernel(((x.size + 255) // 256,), (256,), (x, y, z, np.int32(x.size)))
        return z

    return call


def cases(quick):
    random = np.random.default_rng(0)
    count = 1 << (18 if quick else 24)
    rows = math.isqrt(count)

    def floats(*shape, dtype=np.float32):
        return random.uniform(0.5, 1.5, shape).astype(dtype)

    for dtype in np.float32, np.float64:
        size = np.dtype(dtype).itemsize
        short = np.dtype(dtype).name.replace("float", "f")
        pair = [floats(count, dtype=dtype) for _ in range(2)]
        yield Case(f"saxpy {short}", pair, saxpy, lambda x, y: 2.5 * x + y, 3 * size * count)
        yield Case(f"black-scholes {short}", [*pair, floats(count, dtype=dtype)], prices, black_scholes,
                   4 * size * count)
    square = floats(rows, rows)
    yield Case("blend, 3 inputs broadcast", [square, floats(1, rows), floats(rows, 1)], blend,
               lambda x, row, column: np.where(x > row, x * column, row), 8 * count)
    for title, options in ("rows", {"axis": 1}), ("columns", {"axis": 0}), ("all", {}):
        yield Case(f"norm of {title}", [square], lambda xp, options=options: norm(xp, **options),
                   lambda x, options=options: np.sqrt(np.sum(x * x, **options)), 4 * count)
    yield Case("highest of rows, a tree", [square], highest, lambda x: np.max(x, axis=1), 4 * count)
    yield Case("chain around a kernel", [square, floats(rows, rows)], chain,
               lambda x, y: np.sum(np.where(x * 2 - y > 0, np.sqrt(np.abs(x * 2 - y)) + y + 1, y + 1) * y, axis=1),
               8 * count)
    small = [floats(1000), floats(1000)]
    yield Case("saxpy f32, 1000 elements", small, saxpy, lambda x, y: 2.5 * x + y, 12000)
    yield Case("RawKernel, 1000 elements", small, raw_add, np.add, 12000, jits=False, needs_gpu=True)


def peer_of(on_cpu):
    """The peer's name, and its function for a case: of arrays of its own."""
    if on_cpu:
        return "numpy", lambda case: (case.in_numpy, case.inputs, lambda: None)
    try:
        import cupy
    except ImportError as problem:
        print("cupy:", problem)
        return "cupy", None
    return "cupy", lambda case: (case.of_kernels(cupy), [cupy.asarray(value) for value in case.inputs],
                                 cupy.cuda.Device().synchronize)


def ours(case, jitted):
    """Heddle's function, its arrays, and how to wait. As it is, a call is read at once."""
    function = case.of_kernels(hd)
    call = hd.jit(lambda *values: function(*values)) if jitted \
        else lambda *values: function(*values).eval()
    return call, [hd.asarray(value) for value in case.inputs], hd.synchronize


def microseconds(function, values, wait, least_seconds=0.02):
    """The time of one call, of as many in a row as take about least_seconds."""
    repeats = 1
    while True:
        wait()
        start = time.perf_counter()
        for _ in range(repeats):
            function(*values)
        wait()
        spent = time.perf_counter() - start
        if spent >= least_seconds or repeats >= 10000:
            return spent / repeats * 1e6
        repeats = min(10000, max(2 * repeats, math.ceil(1.2 * repeats * least_seconds / max(spent, 1e-7))))


def measure(calls, rounds):
    """The least time of each call, in alternating rounds."""
    best = {}
    for _ in range(rounds + 1):  # the first one compiles
        for name, call in calls.items():
            best.setdefault(name, []).append(microseconds(*call))
    return {name: min(times[1:]) for name, times in best.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a 64th of the elements")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="*", help="beginnings of titles")
    options = parser.parse_args()
    on_cpu = hd.device() == "cpu"
    peer, peers_call = peer_of(on_cpu)
    print(f"{hd.device()}, us per call".ljust(28), *(name.rjust(10) for name in (
        "heddle", "in jit", peer, "peer/ours", "GB/s")))
    for case in cases(options.quick):
        if case.needs_gpu and on_cpu or options.only and not case.title.startswith(tuple(options.only)):
            continue
        calls = {"heddle": ours(case, False)}
        if case.jits:
            calls["in jit"] = ours(case, True)
        if peers_call is not None:
            calls[peer] = peers_call(case)
        best = measure(calls, options.rounds)
        nan = float("nan")
        print(case.title.ljust(28),
              *(f"{best.get(name, nan):10.1f}" for name in ("heddle", "in jit", peer)),
              f"{best.get(peer, nan) / best['heddle']:10.2f}",
              f"{case.traffic / best['heddle'] / 1e3:10.1f}", flush=True)


if __name__ == "__main__":
    main()
