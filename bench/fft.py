"""Fourier transforms beside CuPy, JAX and PyTorch, in microseconds per call, with the time in which
a copy moves the same bytes.

python bench/fft.py [--device cuda|cpu] [--quick]
"""

import argparse
import time

import numpy as np

ROUNDS = 3


def systems(device):
    """{name: (namespace of fft, function that puts an array on the device, jit, wait)}"""
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


def timed(function, wait):
    """Microseconds per call: the best of some runs, each long enough to hide the wait at its end."""
    def run(count):
        start = time.perf_counter()
        for _ in range(count):
            result = function()
        if wait is None:
            result.block_until_ready()
        else:
            wait()
        return time.perf_counter() - start

    run(2)
    once = run(3) / 3
    count = max(1, min(2000, int(0.03 / max(once, 1e-6))))
    return min(run(count) for _ in range(5)) / count * 1e6


def cases(quick):
    total = 22 if quick else 24
    for log in (4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24):
        if log <= total:
            yield f"fft 2^{log} x 2^{total - log}", (1 << (total - log), 1 << log), "fft", 2 * 8
    for log in (8, 10, 12, 16, 20):
        yield f"rfft 2^{log} x 2^{total - log}", (1 << (total - log), 1 << log), "rfft", 2 * 4
    for shape in ((1, 1 << 12), (1, 1 << 16), (1, 1 << 20), (1000, 1000), (4096, 1001)):
        yield f"fft {shape[0]} x {shape[1]}", shape, "fft", 2 * 8
    yield "fft2 2048 x 2048", (2048, 2048), "fft2", 4 * 8
    for log in (8, 10, 12):
        yield f"convolve 2^{log}", (1 << (total - log), 1 << log), "convolve", 2 * 4


def program(kind, xp):
    if kind == "convolve":
        return lambda x, h: xp.fft.irfft(xp.fft.rfft(x) * h)
    return lambda x: getattr(xp.fft, kind)(x)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--quick", action="store_true", help="a quarter of the elements")
    options = parser.parse_args()
    found = systems(options.device)
    rng = np.random.default_rng(0)
    print("us per call".ljust(22), *(name.rjust(10) for name in found), "best/ours".rjust(10),
          "error".rjust(9))
    for name, shape, kind, bytes_moved in cases(options.quick):
        x = rng.standard_normal(shape, dtype=np.float32)
        if kind in ("fft", "fft2"):
            x = (x + 1j * x[:, ::-1]).astype(np.complex64)
        inputs = [x]
        if kind == "convolve":
            inputs.append((rng.standard_normal(shape[1] // 2 + 1) + 0j).astype(np.complex64))
        reference = program(kind, np)(*[v[:1] if v.ndim == 2 and kind != "fft2" else v
                                        for v in inputs])
        times, error = {}, float("nan")
        calls = {}
        for system, (xp, put, jit, wait) in found.items():
            try:
                function, arrays = jit(program(kind, xp)), [put(v) for v in inputs]
                result = function(*arrays)
                if system == "heddle":
                    first = np.asarray(result)[:len(reference)] if kind != "fft2" else np.asarray(result)
                    error = np.abs(first - reference).max() / np.abs(reference).max()
                calls[system] = (lambda f=function, a=arrays: f(*a)), wait
            except Exception as problem:  # a peer that cannot run a case leaves its column empty
                print(f"{system} {name}: {problem}")
        for _ in range(ROUNDS):
            for system, (call, wait) in calls.items():
                times[system] = min(times.get(system, float("inf")), timed(call, wait))
        peers = [value for system, value in times.items() if system != "heddle"]
        ratio = min(peers) / times["heddle"] if peers and "heddle" in times else float("nan")
        print(name.ljust(22), *(f"{times.get(s, float('nan')):10.1f}" for s in found),
              f"{ratio:10.2f}", f"{error:9.1e}", flush=True)


if __name__ == "__main__":
    main()
