"""What bench/fft.py and bench/linalg.py share: systems with NumPy's names, and times in turns."""

import time

import numpy as np

ROUNDS = 3


def systems(device):
    """{name: (namespace, function that puts an array on the device, jit, wait)}. JAX waits for a
    result: its `wait` is None."""
    import heddle as hd
    found = {"heddle": (hd, hd.asarray, hd.jit, hd.synchronize)}
    if device == "cpu":
        found["numpy"] = (np, lambda x: x, lambda f: f, lambda: None)
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
    print(title.ljust(28), *(name.rjust(10) for name in found), "best/ours".rjust(10), more)


def print_row(title, found, program, inputs, more=lambda result: ""):
    """Measures program(namespace) of the inputs in each system, in turns. `more` gives what is
    printed behind the row, from Heddle's result."""
    calls, times, suffix = {}, {}, ""
    for system, (namespace, put, jit, wait) in found.items():
        try:
            function, arrays = jit(program(namespace)), [put(value) for value in inputs]
            call = (lambda f=function, a=arrays: f(*a)), wait
            result = function(*arrays)
            timed(*call)
            if system == "heddle":
                suffix = more(result)
            calls[system] = call
        except Exception as problem:  # a peer that cannot run a case leaves its column empty
            print(f"{system} {title}: {str(problem)[:200]}")
    for _ in range(ROUNDS):
        for system, call in calls.items():
            times[system] = min(times.get(system, float("inf")), timed(*call))
    peers = [value for system, value in times.items() if system != "heddle"]
    ratio = min(peers) / times["heddle"] if peers and "heddle" in times else float("nan")
    print(title.ljust(28), *(f"{times.get(name, float('nan')):10.1f}" for name in found),
          f"{ratio:10.2f}", suffix, flush=True)


def timed(function, wait):
    """Microseconds per call: the best of some runs, each long enough to hide the wait at its end."""
    def run(count):
        start = time.perf_counter()
        for _ in range(count):
            result = function()
        if wait is None:
            last = result[-1] if isinstance(result, (tuple, list)) else result
            last.block_until_ready()
        else:
            wait()
        return time.perf_counter() - start

    once = run(1)
    if once > 0.5:
        return once * 1e6
    once = run(3) / 3
    count = max(1, min(2000, int(0.03 / max(once, 1e-6))))
    return min(run(count) for _ in range(4)) / count * 1e6
