"""Linear algebra beside CuPy, JAX and PyTorch on a GPU, or NumPy and SciPy on the CPU, in
microseconds per call.

python bench/linalg.py [--device cuda|cpu] [--dtype float32] [--only NAME ...]
"""

import argparse
import time

import numpy as np

ROUNDS = 3
SHAPES = ((64, 64), (512, 512), (2048, 2048), (4096, 32, 32), (100000, 8, 8))
ROUTINES = ("matmul", "cholesky", "solve", "inv", "det", "qr", "svd", "eigh", "eigvals", "gram")
SLOW = {"svd", "eigvals", "eigh"}  # not of the largest matrices


def systems(device):
    """{name: (namespace, function that puts an array on the device, jit, wait)}"""
    found = {}
    import heddle as hd
    found["heddle"] = (hd, hd.asarray, hd.jit, hd.synchronize)
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


def program(name, xp):
    """A function of matrices and right-hand sides."""
    if name == "matmul":
        return lambda a, b: a @ a
    if name == "gram":
        return lambda a, b: a.T @ a if a.ndim == 2 else a.swapaxes(-1, -2) @ a
    if name == "solve":
        return lambda a, b: xp.linalg.solve(a, b)
    return lambda a, b: getattr(xp.linalg, name)(a)


def leaves(result):
    return list(result) if isinstance(result, (tuple, list)) else [result]


def timed(function, wait):
    """Microseconds per call: the best of some runs, each long enough to hide the wait at its end."""
    def run(count):
        start = time.perf_counter()
        for _ in range(count):
            result = function()
        if wait is None:
            leaves(result)[-1].block_until_ready()
        else:
            wait()
        return time.perf_counter() - start

    once = run(1)
    if once > 0.5:
        return once * 1e6
    once = run(2) / 2
    count = max(1, min(1000, int(0.02 / max(once, 1e-6))))
    return min(run(count) for _ in range(3)) / count * 1e6


def matrices(name, shape, dtype):
    rng = np.random.default_rng(0)
    a = rng.standard_normal(shape).astype(dtype)
    if name in ("cholesky", "eigh"):
        a = (a @ a.swapaxes(-1, -2) + shape[-1] * np.eye(shape[-1])).astype(dtype)
    elif name in ("solve", "inv", "det"):
        a = (a / np.sqrt(shape[-1]) + 2 * np.eye(shape[-1])).astype(dtype)
    return a, rng.standard_normal(shape[:-1] + (1,)).astype(dtype)


def cases(names):
    for name in names:
        shapes = ((1 << 20, 32),) if name == "gram" else SHAPES
        for shape in shapes:
            large = shape[-1] >= 2048 and name in SLOW
            many = shape[0] * shape[-1] > 500000 and name in ("eigvals", "svd", "qr", "eigh")
            if not large and not many and not (name == "eigvals" and len(shape) > 2):
                yield name, shape


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--only", nargs="*", default=ROUTINES)
    options = parser.parse_args()
    found = systems(options.device)
    print(f"{options.dtype}, us per call".ljust(28), *(name.rjust(10) for name in found),
          "best/ours".rjust(10))
    for name, shape in cases(options.only):
        a, b = matrices(name, shape, options.dtype)
        calls, times = {}, {}
        for system, (xp, put, jit, wait) in found.items():
            try:
                function, arrays = jit(program(name, xp)), [put(a), put(b)]
                timed(lambda f=function, v=arrays: f(*v), wait)
                calls[system] = (lambda f=function, v=arrays: f(*v)), wait
            except Exception as problem:  # a peer that cannot run a case leaves its column empty
                print(f"{system} {name}: {str(problem)[:200]}")
        for _ in range(ROUNDS):
            for system, (call, wait) in calls.items():
                times[system] = min(times.get(system, float("inf")), timed(call, wait))
        peers = [value for system, value in times.items() if system != "heddle"]
        ratio = min(peers) / times["heddle"] if peers and "heddle" in times else float("nan")
        print(f"{name} {'x'.join(map(str, shape))}".ljust(28),
              *(f"{times.get(s, float('nan')):10.1f}" for s in found), f"{ratio:10.2f}", flush=True)


if __name__ == "__main__":
    main()
