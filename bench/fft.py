"""Fourier transforms beside CuPy, JAX and PyTorch on a GPU, or NumPy and SciPy on the CPU, in
microseconds per call, with the largest error relative to the largest element.

python bench/fft.py [--device cuda|cpu] [--dtype float32|float64] [--quick] [--rounds N]
                    [--only TITLE ...]
"""

import argparse

import numpy as np

from side_by_side import add_options, print_heading, print_row, systems


def cases(quick):
    """Title, shape and kind of program."""
    total = 20 if quick else 24
    for log in range(4, total + 1, 2):
        yield f"fft 2^{log} x 2^{total - log}", (1 << (total - log), 1 << log), "fft"
    for log in (8, 10, 12, 16, 20):
        yield f"rfft 2^{log} x 2^{total - log}", (1 << (total - log), 1 << log), "rfft"
    for log in (8, 12, 16, 20):
        yield f"irfft 2^{log} x 2^{total - log}", (1 << (total - log), 1 << log), "irfft"
    for shape in ((1, 1 << 12), (1, 1 << 16), (1, 1 << 20), (1000, 1000), (4096, 1001),
                  (1, 10007), (64, 10007), (1, 100003)):
        yield f"fft {shape[0]} x {shape[1]}", shape, "fft"
    yield "fft2 2048 x 2048", (2048, 2048), "fft2"
    for log in (8, 10, 12):
        yield f"convolve 2^{log}", (1 << (total - log), 1 << log), "convolve"


def program(kind, xp):
    if kind == "convolve":
        return lambda x, h: xp.fft.irfft(xp.fft.rfft(x) * h)
    return lambda x: getattr(xp.fft, kind)(x)


def inputs_of(kind, shape, dtype, rng):
    x = rng.standard_normal(shape, dtype=dtype)
    if kind in ("fft", "fft2"):
        x = x + 1j * x[:, ::-1]
    if kind == "irfft":
        x = np.fft.rfft(x)
    if kind != "convolve":
        return [x]
    window = rng.standard_normal(shape[1] // 2 + 1) + 0j
    return [x, window.astype(np.result_type(dtype, np.complex64))]


def error_of(kind, inputs, result):
    """Of the first row, or of the whole of two dimensions, against NumPy in double precision."""
    x = inputs[0] if kind == "fft2" else inputs[0][:1]
    wide = x.astype(np.result_type(x, np.float64))
    reference = program(kind, np)(wide, *inputs[1:])
    error = np.abs(np.asarray(result)[:len(reference)] - reference).max()
    return f"{error / np.abs(reference).max():9.1e}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser)
    parser.add_argument("--dtype", default="float32", choices=["float32", "float64"])
    parser.add_argument("--quick", action="store_true", help="a sixteenth of the elements")
    parser.add_argument("--only", nargs="*", help="beginnings of titles")
    options = parser.parse_args()
    found = systems(options.device)
    rng = np.random.default_rng(0)
    print_heading(f"{options.dtype}, us per call", found, "    error")
    for title, shape, kind in cases(options.quick):
        if options.only and not title.startswith(tuple(options.only)):
            continue
        inputs = inputs_of(kind, shape, options.dtype, rng)
        print_row(title, found, lambda xp: program(kind, xp), inputs,
                  options, lambda result: error_of(kind, inputs, result))


if __name__ == "__main__":
    main()
