"""Linear algebra beside CuPy, JAX and PyTorch on a GPU, or NumPy and SciPy on the CPU, in
microseconds per call.

python bench/linalg.py [--device cuda|cpu] [--dtype float32] [--quick] [--rounds N] [--stacks]
    [--only NAME ...] [--large]
"""

import argparse

import numpy as np

from side_by_side import add_options, print_heading, print_row, systems

SHAPES = ((64, 64), (512, 512), (2048, 2048), (4096, 32, 32), (100000, 8, 8))
QUICK_SHAPES = ((64, 64), (256, 256), (256, 32, 32), (5000, 8, 8))
LARGE_SHAPES = ((4096, 4096),)
ROUTINES = ("matmul", "cholesky", "solve", "inv", "det", "slogdet", "qr", "svd", "svdvals", "eigh", "eigvalsh",
            "eigvals", "pinv", "lstsq", "matrix_rank", "cond", "norm", "gram")
SLOW = {"svd", "svdvals", "eigvals", "eigh", "eigvalsh", "pinv", "lstsq", "matrix_rank", "cond"}  # not of the largest matrices
SINGLE = {"eigvals", "lstsq"}  # not of stacks


def program(name, xp):
    """A function of matrices and right-hand sides."""
    if name == "matmul":
        return lambda a, b: a @ a
    if name == "gram":
        return lambda a, b: a.T @ a if a.ndim == 2 else a.swapaxes(-1, -2) @ a
    if name in ("solve", "lstsq"):
        return lambda a, b: getattr(xp.linalg, name)(a, b)
    return lambda a, b: getattr(xp.linalg, name)(a)


def matrices(name, shape, dtype):
    rng = np.random.default_rng(0)
    a = rng.standard_normal(shape).astype(dtype)
    if name in ("cholesky", "eigh", "eigvalsh"):
        a = (a @ a.swapaxes(-1, -2) + shape[-1] * np.eye(shape[-1])).astype(dtype)
    elif name in ("solve", "inv", "det", "slogdet"):
        a = (a / np.sqrt(shape[-1]) + 2 * np.eye(shape[-1])).astype(dtype)
    return a, rng.standard_normal(shape[:-1] + (1,)).astype(dtype)


def cases(names, quick, stacks, large):
    for name in names:
        shapes = QUICK_SHAPES if quick else LARGE_SHAPES if large else SHAPES
        if stacks:
            shapes = [shape for shape in shapes if len(shape) > 2]
        if name == "gram":
            shapes = ((1 << (16 if quick else 20), 32),)
        for shape in shapes:
            too_large = shape[-1] >= 2048 and name in SLOW
            if len(shape) > 2 and name in SLOW | {"qr"}:
                shape = (min(shape[0], 10000), *shape[1:])
            if not too_large and not (name in SINGLE and len(shape) > 2):
                yield name, shape


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser)
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--quick", action="store_true", help="smaller matrices")
    parser.add_argument("--stacks", action="store_true", help="only stacks of matrices")
    parser.add_argument("--large", action="store_true", help="only the largest matrices")
    parser.add_argument("--only", nargs="*", default=ROUTINES)
    options = parser.parse_args()
    found = systems(options.device)
    print_heading(f"{options.dtype}, us per call", found)
    for name, shape in cases(options.only, options.quick, options.stacks, options.large):
        print_row(f"{name} {'x'.join(map(str, shape))}", found, lambda xp: program(name, xp),
                  matrices(name, shape, options.dtype), options)


if __name__ == "__main__":
    main()
