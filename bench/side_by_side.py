"""What bench/fft.py and bench/linalg.py share: systems with NumPy's names, and times in turns."""

import time

import numpy as np



def systems(device):
    """{name: (namespace, function that puts an array on the device, jit, wait)}. JAX waits for a
    result: its `wait` is None. On the CPU, NumPy is there twice: "again" shows how far two
    measurements of the same are apart."""
    import heddle as hd
    found = {"heddle": (hd, hd.asarray, hd.jit, hd.synchronize)}
    if device == "cpu":
        alike = (lambda x: x, lambda f: f, lambda: None)
        found["numpy"] = found["again"] = (np, *alike)
        try:
            import scipy.fft
            import scipy.linalg
            found["scipy"] = (scipy, *alike)
        except ImportError as error:
            print("scipy:", error)
        return found
    try:
        import cupy
        found["cupy"] = (cupy, cupy.asarray, lambda f: f, cupy.cuda.Device().synchronize)
    except ImportError as error:
        print("cupy:", error)
    try:
        import jax
        jax.config.update("jax_enable_x64", True)
        jax.config.update("jax_default_matmul_precision", "highest")
        found["jax"] = (jax.numpy, jax.numpy.asarray, jax.jit, None)
    except ImportError as error:
        print("jax:", error)
    try:
        import torch
        found["torch"] = (torch, lambda x: torch.from_numpy(x).cuda(), lambda f: f,
                          torch.cuda.synchronize)
    except ImportError as error:
        print("torch:", error)
    return found


def print_heading(title, found, more=""):
    last = ("ours/numpy", "again/numpy") if "again" in found else ("best/ours",)
    print(title.ljust(28), *(name.rjust(10) for name in (*found, *last)), more)


def add_options(parser):
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--clock", default="wall", choices=["wall", "cpu"],
                        help="cpu: the time of this process, for a machine that others use, too; with one "
                             "thread (HEDDLE_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1)")


def print_row(title, found, program, inputs, options, more=lambda result: ""):
    """Measures program(namespace) of the inputs in each system, in alternating rounds; the least
    time counts. `more` gives what is printed behind the row, from Heddle's result."""
    calls, times, suffix = {}, {}, ""
    clock = time.process_time if options.clock == "cpu" else time.perf_counter
    for system, (namespace, put, jit, wait) in found.items():
        try:
            function, arrays = jit(program(namespace)), [put(value) for value in inputs]
            call = (lambda f=function, a=arrays: f(*a)), wait
            result = function(*arrays)
            timed(*call, clock)
            if system == "heddle":
                suffix = more(result)
            calls[system] = call
        except Exception as problem:  # a peer that cannot run a case leaves its column empty
            print(f"{system} {title}: {str(problem)[:200]}")
    for _ in range(options.rounds):
        for system, call in calls.items():
            times[system] = min(times.get(system, float("inf")), timed(*call, clock, 12 // options.rounds + 1))
    print(title.ljust(28), *(f"{times.get(name, float('nan')):10.1f}" for name in found),
          *(f"{ratio:10.2f}" for ratio in ratios(times)), suffix, flush=True)


def ratios(times):
    """The last columns of a row."""
    nan = float("nan")
    if "again" in times:
        return [times.get(name, nan) / times["numpy"] for name in ("heddle", "again")]
    peers = [value for system, value in times.items() if system != "heddle"]
    return [min(peers) / times["heddle"] if peers and "heddle" in times else nan]


def timed(function, wait, clock, runs=1):
    """Microseconds per call: the best of some runs, each long enough to hide the wait at its end."""
    def run(count):
        start = clock()
        for _ in range(count):
            result = function()
        if wait is None:
            last = result[-1] if isinstance(result, (tuple, list)) else result
            last.block_until_ready()
        else:
            wait()
        return clock() - start

    once = run(1)
    if once > 0.1:
        return once * 1e6
    once = run(3) / 3
    count = max(1, min(2000, int(0.02 / max(once, 1e-6))))
    return min(once, min(run(count) for _ in range(runs)) / count) * 1e6
