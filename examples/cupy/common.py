"""What the programs share: the library that computes, times, and the comparison with NumPy."""

import argparse
import importlib
import time

import numpy


def arguments(description, **sizes):
    """The command's options: --library, --check, and an integer for each name in `sizes`."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--library", choices=("heddle", "cupy"), default="heddle",
                        help="which library computes")
    parser.add_argument("--check", action="store_true", help="compare the result with NumPy's")
    for name, value in sizes.items():
        parser.add_argument(f"--{name}", type=int, default=value, help=f"by default {value}")
    return parser.parse_args()


def library(options):
    """The module that --library names."""
    return importlib.import_module(options.library)


def has_gpu(xp):
    """Whether the library computes on a GPU. CuPy always does."""
    return xp.__name__ != "heddle" or xp.device() != "cpu"


def wait(xp):
    """Waits until all work is done."""
    if xp.__name__ == "heddle":
        xp.synchronize()
    else:
        xp.cuda.Device().synchronize()


def timed(xp, name, work, repeats=1):
    """Calls `work` once, and then `repeats` times for a time, which it prints. Returns the result."""
    result = evaluated(work())
    wait(xp)
    start = time.perf_counter()
    for _ in range(repeats):
        result = evaluated(work())
    wait(xp)
    print(f"{name}: {(time.perf_counter() - start) / repeats * 1e3:.3f} ms", flush=True)
    return result


def evaluated(result):
    """Heddle records and computes when a value is read: here that has to be now."""
    for array in result if isinstance(result, tuple) else (result,):
        if hasattr(array, "eval"):
            array.eval()
    return result


def check(options, xp, name, got, expected, tolerance):
    """With --check, ends the program if an array is not near NumPy's."""
    if not options.check:
        return
    got = xp.asnumpy(got) if not isinstance(got, (float, numpy.ndarray)) else got
    numpy.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance, err_msg=name)
    print(f"{name}: as NumPy's")
