"""Products of sparse matrices (CSR, float32 and float64) with vectors and with dense matrices, beside
CuPy and PyTorch (both cuSPARSE) on a GPU and SciPy on the CPU: microseconds per call, and the time
that the bytes take at the rate of a copy.

python bench/sparse.py [--device cuda|cpu] [--rounds N] [--rows N] [--only NAME ...]
"""

import argparse
import time
import warnings
from types import SimpleNamespace

import numpy as np

from side_by_side import add_options, timed

RNG = np.random.default_rng(11)


def of_lengths(lengths, columns):
    """(columns, offsets) of a matrix whose rows have these lengths, with random sorted columns."""
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    indices = RNG.integers(0, columns, offsets[-1], dtype=np.int32)
    rows = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
    return indices[np.lexsort((indices, rows))], offsets.astype(np.int32)


def banded(n, offsets):
    """A matrix with diagonals."""
    columns = np.arange(n)[:, None] + np.asarray(offsets)[None, :]
    inside = (columns >= 0) & (columns < n)
    return columns[inside].astype(np.int32), np.concatenate(
        [[0], np.cumsum(inside.sum(axis=1))]).astype(np.int32)


def blocks(n, size):
    """Dense blocks on the diagonal."""
    first = np.arange(n) // size * size
    return (first[:, None] + np.arange(size)[None, :]).astype(np.int32).ravel(), np.arange(
        0, n * size + 1, size, dtype=np.int32)


def matrices(n):
    """{name: function that makes (columns, offsets)}."""
    side = int(np.sqrt(n))
    dense_row = np.full(n, 8)
    dense_row[n // 2] = n // 2
    around = [a + b + c for a in (-10000, 0, 10000) for b in (-100, 0, 100) for c in (-1, 0, 1)]

    def power_law():
        return np.minimum((RNG.pareto(1.5, n) * 4 + 1).astype(np.int64), n // 4)

    return {
        "uniform 4 a row": lambda: of_lengths(np.full(n, 4), n),
        "uniform 16 a row": lambda: of_lengths(np.full(n, 16), n),
        "uniform 64 a row": lambda: of_lengths(np.full(n // 4, 64), n),
        "poisson 12 a row": lambda: of_lengths(RNG.poisson(12, n), n),
        "5-point stencil": lambda: banded(n, [-side, -1, 0, 1, side]),
        "27-point stencil": lambda: banded(n // 2, around),
        "tridiagonal": lambda: banded(n, [-1, 0, 1]),
        "blocks of 32": lambda: blocks(n // 2, 32),
        "power law": lambda: of_lengths(power_law(), n),
        "one dense row": lambda: of_lengths(dense_row, n),
        "70% empty rows": lambda: of_lengths(np.where(RNG.random(n) < 0.7, 0, 20), n),
        "512 long rows": lambda: of_lengths(np.full(512, n // 64), n),
    }


def systems(device):
    import heddle as hd

    def heddle(data, columns, offsets, x):
        matrix = hd.sparse.csr_array((data, columns, offsets), (len(offsets) - 1, len(x)))
        x = hd.asarray(x)
        matrix @ x  # finds long rows
        product = hd.jit(lambda x: matrix @ x)
        return lambda: product(x)

    found = {"heddle": SimpleNamespace(make=heddle, wait=hd.synchronize)}
    if device == "cpu":
        import scipy.sparse

        def scipy_product(data, columns, offsets, x):
            matrix = scipy.sparse.csr_array((data, columns, offsets), (len(offsets) - 1, len(x)))
            return lambda: matrix @ x

        found["scipy"] = SimpleNamespace(make=scipy_product, wait=lambda: None)
        return found
    import cupy
    import cupyx.scipy.sparse

    def cupy_product(data, columns, offsets, x):
        data, columns, offsets, x = map(cupy.asarray, (data, columns, offsets, x))
        matrix = cupyx.scipy.sparse.csr_matrix((data, columns, offsets), (len(offsets) - 1, len(x)))
        return lambda: matrix @ x

    found["cupy"] = SimpleNamespace(make=cupy_product, wait=cupy.cuda.Device().synchronize)
    try:
        import torch
        warnings.simplefilter("ignore")  # sparse CSR tensors are beta

        def torch_product(data, columns, offsets, x):
            data, columns, offsets, x = (torch.from_numpy(v).cuda() for v in (data, columns, offsets, x))
            matrix = torch.sparse_csr_tensor(offsets, columns, data, (len(offsets) - 1, len(x)))
            return lambda: matrix @ x

        found["torch"] = SimpleNamespace(make=torch_product, wait=torch.cuda.synchronize)
    except ImportError as error:
        print("torch:", error)
    return found


def copy_rate():
    """Bytes per microsecond of a large copy, read and written."""
    import heddle as hd
    x = hd.ones(1 << 28, dtype=hd.float32)
    copy = hd.jit(lambda x: x + 1)
    np.asarray(copy(x)[:1])  # compiles
    return 2 * x.nbytes / timed(lambda: copy(x), hd.synchronize, time.perf_counter)


def moved(data, columns, offsets, x, rows):
    """The fewest bytes: what is stored, the vector once, and the result."""
    width = 1 if x.ndim == 1 else x.shape[1]
    return data.nbytes + columns.nbytes + offsets.nbytes + x.nbytes + rows * width * data.itemsize


def main():
    parser = argparse.ArgumentParser()
    add_options(parser)
    parser.add_argument("--rows", type=int, default=1 << 20)
    parser.add_argument("--only", nargs="*", help="the beginnings of matrices' names")
    parser.add_argument("--vectors", action="store_true", help="no dense matrices")
    options = parser.parse_args()
    found, rate = systems(options.device), copy_rate()
    clock = time.process_time if options.clock == "cpu" else time.perf_counter
    print("matrix".ljust(34), "non-zeros".rjust(10), "floor".rjust(9),
          *(name.rjust(9) for name in found), "best/ours".rjust(10), "floor/ours".rjust(10))
    for name, make in matrices(options.rows).items():
        if options.only and not any(name.startswith(part) for part in options.only):
            continue
        columns, offsets = make()
        width = int(columns.max()) + 1
        for dtype in (np.float32, np.float64):
            for shape in ((width,), (width, 32)):
                if len(shape) == 2 and (dtype == np.float64 or options.vectors):
                    continue
                data, x = RNG.random(len(columns), dtype), RNG.random(shape, dtype)
                calls, times, results = {}, {}, {}
                for system, one in found.items():
                    call = one.make(data, columns, offsets, x)
                    result = call()
                    results[system] = result.cpu().numpy() if system == "torch" else (
                        result.get() if system == "cupy" else np.asarray(result))
                    timed(call, one.wait, clock)
                    calls[system] = call
                for _ in range(options.rounds):
                    for system, call in calls.items():
                        took = timed(call, found[system].wait, clock, 4)
                        times[system] = min(times.get(system, float("inf")), took)
                peers = [system for system in found if system != "heddle"]
                off = max(np.abs(results["heddle"] - results[peer]).max() /
                          max(np.abs(results[peer]).max(), 1e-30) for peer in peers)
                floor = moved(data, columns, offsets, x, len(offsets) - 1) / rate
                title = f"{name}, {np.dtype(dtype).name}{'' if len(shape) == 1 else ' x 32'}"
                print(title.ljust(34), f"{len(columns):10}", f"{floor:9.1f}",
                      *(f"{times[system]:9.1f}" for system in found),
                      f"{min(times[peer] for peer in peers) / times['heddle']:10.2f}",
                      f"{floor / times['heddle']:10.2f}", "" if off < 1e-4 else f"DIFFERS by {off:.1e}",
                      flush=True)


if __name__ == "__main__":
    main()
