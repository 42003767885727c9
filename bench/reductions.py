"""Measures the accuracy and the speed of reductions.

    PYTHONPATH=build/python python bench/reductions.py                    the accuracy table
    PYTHONPATH=build/python python bench/reductions.py --speed FOLDER     times beside another build

FOLDER is the other build's python folder. Each program runs alternately in two processes, one for
each build; the least time of all turns counts. HEDDLE_DEVICE selects the device. --length N (10**8)
is the longest input of the accuracy table, --threads 1 keeps the CPU to one thread.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import time

import numpy as np

EPSILON = {"float16": 2.0**-23, "bfloat16": 2.0**-23, "float32": 2.0**-23, "float64": 2.0**-52,
           "complex64": 2.0**-23}
OUTPUT = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24, "float64": 2.0**-53,
          "complex64": 2.0**-24}


def exact_sum(values, power=1):
    """The sum of powers of the values: for float32 and narrower far more exact than their
    precision, for float64 correctly rounded."""
    if values.dtype == np.float64 and power == 1:
        return math.fsum(values)
    chunks = np.array_split(values, max(1, values.size // 2**20))
    return math.fsum(np.sum(chunk.astype(np.longdouble) ** power) for chunk in chunks)


def sum_bound(count, dtype, size, result):
    return (1 + 2 * math.log2(count)) * EPSILON[dtype] * size + OUTPUT[dtype] * abs(result)


def spread_bound(count, dtype, result):
    return 4 * (1 + math.log2(count)) * EPSILON[dtype] * abs(result)


def host(array):
    import heddle as hd
    return np.asarray(hd.asnumpy(hd.astype(array, "float64")), np.float64)


def accuracy_cases(length):
    """Yields name, result, exact value and allowed error."""
    import heddle as hd
    random = np.random.default_rng(1)
    tenth = float(np.float32(0.1))

    def of_sum(name, result, values, dtype):
        exact, size = exact_sum(values), exact_sum(np.abs(values))
        return name, float(result), exact, sum_bound(values.size, dtype, size, exact)

    for count in (10**6, 10**7, length, 10 * length):
        total = float(host(hd.sum(hd.full(count, 0.1, dtype="float32"))))
        yield (f"sum(full({count:.0e}, 0.1))", total, count * tenth,
               sum_bound(count, "float32", count * tenth, count * tenth))
    for count in (length // 100, length // 10, length // 5, length):  # the extent becomes a symbol
        total = float(host(hd.sum(hd.full(count, 0.1, dtype="float32") * 1.0)))
        exact = count * tenth
    yield (f"the same, 4th extent of a line", total, exact,
           sum_bound(count, "float32", exact, exact))

    uniform = random.random(length, np.float32)
    x = hd.asarray(uniform)
    yield of_sum(f"sum of {length:.0e} uniform", host(hd.sum(x)), uniform, "float32")
    mean = exact_sum(uniform) / length
    allowed = sum_bound(length, "float32", exact_sum(uniform), 0) / length
    yield "mean of uniform", float(host(hd.mean(x))), mean, allowed + OUTPUT["float32"] * mean
    squares = exact_sum(uniform, 2)
    yield ("sum of squares of uniform", float(host(hd.sum(x * x))), squares,
           sum_bound(length, "float32", squares, squares))
    variance = squares / length - mean**2
    yield ("var of uniform", float(host(hd.var(x))), variance,
           spread_bound(length, "float32", variance))
    # A source line that has seen several extents uses one kernel for all.
    for count in (length // 4, length // 3, length // 2, length):
        total = float(host(hd.sum(x[:count] * x[:count])))
    yield ("sum of squares, 4th extent of a line", total, squares,
           sum_bound(length, "float32", squares, squares))
    del x
    ordered = np.sort(uniform[:length // 10])
    yield of_sum("sum of a tenth of uniform, sorted", host(hd.sum(hd.asarray(ordered))), ordered,
                 "float32")
    rows = uniform[:length // 10 * 2].reshape(2, -1)
    got = host(hd.sum(hd.asarray(rows), axis=1))
    yield of_sum(f"rows of {rows.shape[1]:.0e}", got[1], rows[1], "float32")
    columns = np.ascontiguousarray(uniform[:length // 10 * 8].reshape(-1, 8))
    got = host(hd.sum(hd.asarray(columns), axis=0))
    yield of_sum(f"columns of {columns.shape[0]:.0e}", got[3], columns[:, 3], "float32")
    alternating = uniform[:length // 10] * np.where(np.arange(length // 10) % 2, -1, 1)
    alternating = alternating.astype(np.float32)
    yield of_sum("alternating", host(hd.sum(hd.asarray(alternating))), alternating, "float32")

    count = length // 10
    for dtype in ("float16", "bfloat16", "float64"):
        narrow = hd.astype(hd.asarray(uniform[:count]), dtype)
        values = host(narrow)
        # The sum overflows float16. Scaling the mean in float32 shows the accumulator's error.
        name, result, exact, allowed = of_sum(f"mean of {count:.0e} {dtype}",
                                              host(hd.mean(narrow)) * count, values, dtype)
        yield name, result / count, exact / count, allowed / count
    numbers = (uniform[:count] + 1j * uniform[count:2 * count]).astype(np.complex64)
    total = complex(hd.asnumpy(hd.sum(hd.asarray(numbers))))
    for part, value in (("real", total.real), ("imag", total.imag)):
        yield of_sum(f"sum of {count:.0e} complex64, {part}", value,
                     getattr(numbers, part).copy(), "complex64")
    factors = 1 + (random.random(10**6) - 0.5) * 1e-3
    product = float(np.prod(factors.astype(np.float32).astype(np.longdouble)))
    yield ("prod of 1e6 near 1", float(host(hd.prod(hd.asarray(factors.astype(np.float32))))),
           product, 10**6 * EPSILON["float32"] * product)

    for count in (10**3, 10**5, count):
        far = (1e4 + random.standard_normal(count)).astype(np.float32)
        wide = far.astype(np.float64)
        wide -= math.fsum(wide) / count
        variance = math.fsum(wide * wide) / count - (math.fsum(wide) / count) ** 2
        y = hd.asarray(far)
        yield (f"var of {count:.0e}, mean 1e4 deviations", float(host(hd.var(y))), variance,
               spread_bound(count, "float32", variance))
        yield (f"std of {count:.0e}, mean 1e4 deviations", float(host(hd.std(y))),
               math.sqrt(variance), spread_bound(count, "float32", math.sqrt(variance)))


def print_accuracy(length):
    print(f"{'':42}{'relative error':>16}{'share of the bound':>20}")
    failed = 0
    for name, result, exact, allowed in accuracy_cases(length):
        error = abs(result - exact)
        beyond = not error <= allowed
        failed += beyond
        print(f"{name:42}{error / abs(exact):16.2e}{error / allowed:20.4f}{' !' if beyond else ''}",
              flush=True)
    print("all errors are within their bounds" if not failed else f"{failed} errors exceed their bounds")
    return failed


def softmax(hd, x):
    e = hd.exp(x - hd.max(x, axis=-1, keepdims=True))
    return e / hd.sum(e, axis=-1, keepdims=True)


def layernorm(hd, x):
    m = hd.mean(x, axis=-1, keepdims=True)
    d = x - m
    return d / hd.sqrt(hd.mean(d * d, axis=-1, keepdims=True) + 1e-5)


PROGRAMS = {
    "sum": lambda hd, x: hd.sum(x),
    "mean": lambda hd, x: hd.mean(x),
    "var": lambda hd, x: hd.var(x),
    "sum of squares": lambda hd, x: hd.sum(x * x),
    "sum of exp": lambda hd, x: hd.sum(hd.exp(x)),
    "sum, rows": lambda hd, x: hd.sum(x, axis=-1),
    "var, rows": lambda hd, x: hd.var(x, axis=-1),
    "softmax": softmax,
    "layernorm": layernorm,
    "sum, columns": lambda hd, x: hd.sum(x, axis=0),
    "mean, columns": lambda hd, x: hd.mean(x, axis=0),
    "var, columns": lambda hd, x: hd.var(x, axis=0),
    "sum of the transpose": lambda hd, x: hd.sum(hd.transpose(x)),
    "sum, outer and inner": lambda hd, x: hd.sum(hd.reshape(x, (4, x.shape[0] // 4, -1)),
                                                 axis=(0, 2)),
}
VECTORS = ("sum", "mean", "var", "sum of squares", "sum of exp")
SHAPES = ((100, 10), (8, 125), (8, 12500), (1000, 100), (100, 1000), (12, 8192), (20, 50000),
          (10**6, 10), (10**5, 100), (10**4, 1000), (1000, 10**4), (100, 10**5))


def speed_cases(only):
    for dtype in ("float32", "float64", "float16"):
        for count in (10**3, 10**5, 10**7):
            for name in VECTORS:
                yield name, (count,), dtype
        for name in PROGRAMS:
            for shape in SHAPES if dtype == "float32" else SHAPES[1::3]:
                if name not in VECTORS and (name != "sum, outer and inner" or shape[0] % 4 == 0):
                    yield name, shape, dtype


def serve():
    """Runs the program named in each input line and prints its microseconds per call."""
    import heddle as hd
    compiled = {}
    for line in sys.stdin:
        name, shape, dtype = json.loads(line)
        key = (name, tuple(shape), dtype)
        if key not in compiled:
            compiled.clear()
            x = hd.asarray(np.random.default_rng(3).random(shape).astype(dtype))
            program = hd.jit(lambda y: PROGRAMS[name](hd, y))
            hd.asnumpy(program(x))
            start = time.perf_counter()
            for _ in range(3):
                hd.eval(program(x))
            hd.synchronize() if hasattr(hd, "synchronize") else None
            calls = max(3, int(3 * 0.02 / max(time.perf_counter() - start, 1e-6)))
            compiled[key] = program, x, calls
        program, x, calls = compiled[key]
        best = math.inf
        for _ in range(3):
            start = time.perf_counter()
            for _ in range(calls):
                y = program(x)
            hd.asnumpy(y)
            best = min(best, (time.perf_counter() - start) / calls)
        print(json.dumps(best * 1e6), flush=True)


def print_speed(other, rounds, only):
    def start(folder):
        environment = {**os.environ, "PYTHONPATH": folder}
        return subprocess.Popen([sys.executable, __file__, "--serve"], env=environment, text=True,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    builds = [start(other), start(os.environ["PYTHONPATH"])]
    print(f"{'microseconds a call':44}{'other':>10}{'this':>10}{'ratio':>8}")
    for case in speed_cases(only):
        if only and only not in f"{case[0]} {case[1]} {case[2]}":
            continue
        best = [math.inf, math.inf]
        for _ in range(rounds):
            for k, build in enumerate(builds):
                print(json.dumps(case), file=build.stdin, flush=True)
                best[k] = min(best[k], json.loads(build.stdout.readline()))
        name = f"{case[0]} {'x'.join(map(str, case[1]))} {case[2]}"
        print(f"{name:44}{best[0]:10.2f}{best[1]:10.2f}{best[1] / best[0]:8.3f}", flush=True)
    for build in builds:
        build.stdin.close()
        build.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--length", type=int, default=10**8)
    parser.add_argument("--speed", metavar="FOLDER")
    parser.add_argument("--only", default="", help="with --speed: only cases whose name contains this")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return serve()
    if options.speed:
        return print_speed(options.speed, options.rounds, options.only)
    return sys.exit(min(print_accuracy(options.length), 1))


if __name__ == "__main__":
    main()
