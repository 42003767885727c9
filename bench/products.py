"""Products with vectors beside CuPy, JAX and PyTorch on a GPU, or NumPy and SciPy on the CPU, in
microseconds per call.

python bench/products.py [--device cuda|cpu] [--quick] [--rounds N] [--only TITLE ...]
"""

import argparse

import numpy as np

from side_by_side import add_options, print_heading, print_row, systems

MATRICES = ((240, 200), (1024, 1024), (4096, 4096), (16384, 16384), (64, 1 << 20), (1 << 20, 64))
DTYPES = ("float32", "float64", "float16")


def cases(quick):
    """Title, shapes of the two operands, dtype and program."""
    shrink = 16 if quick else 1
    for dtype in DTYPES:
        for rows, columns in MATRICES:
            rows, columns = (max(1, n // shrink) if n > 4096 else n for n in (rows, columns))
            title = f"{dtype} {rows} x {columns}"
            yield f"{title} @ v", ((rows, columns), (columns,)), dtype, lambda a, b: a @ b
            yield f"v @ {title}", ((rows,), (rows, columns)), dtype, lambda a, b: a @ b
        count = (1 << 26) // shrink
        yield f"{dtype} dot {count}", ((count,), (count,)), dtype, lambda a, b: a @ b
        yield (f"{dtype} outer 8192", ((8192,), (8192,)), dtype,
               lambda a, b: a[:, None] * b[None, :])
        yield (f"{dtype} stack of 4096 32 x 32 @ v", ((4096, 32, 32), (4096, 32, 1)), dtype,
               lambda a, b: a @ b)
        yield f"{dtype} 4096 x 4096 @ 4096 x 4", ((4096, 4096), (4096, 4)), dtype, lambda a, b: a @ b


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser)
    parser.add_argument("--quick", action="store_true", help="a sixteenth of the longest extents")
    parser.add_argument("--only", nargs="*", help="beginnings of titles")
    options = parser.parse_args()
    found = systems(options.device)
    rng = np.random.default_rng(0)
    print_heading("us per call", found)
    for title, shapes, dtype, program in cases(options.quick):
        if options.only and not title.startswith(tuple(options.only)):
            continue
        inputs = [rng.standard_normal(shape, dtype=np.float32).astype(dtype) for shape in shapes]
        print_row(title, found, lambda xp: program, inputs, options)


if __name__ == "__main__":
    main()
