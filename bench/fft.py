"""Fourier transforms beside CuPy, JAX and PyTorch on a GPU, or NumPy on the CPU, in microseconds per
call, with the largest error relative to the largest element.

python bench/fft.py [--device cuda|cpu] [--quick]
"""

import argparse

import numpy as np

from side_by_side import print_heading, print_row, systems


def cases(quick):
    """Title, shape and kind of program."""
    total = 22 if quick else 24
    for log in range(4, total + 1, 2):
        yield f"fft 2^{log} x 2^{total - log}", (1 << (total - log), 1 << log), "fft"
    for log in (8, 10, 12, 16, 20):
        yield f"rfft 2^{log} x 2^{total - log}", (1 << (total - log), 1 << log), "rfft"
    for shape in ((1, 1 << 12), (1, 1 << 16), (1, 1 << 20), (1000, 1000), (4096, 1001)):
        yield f"fft {shape[0]} x {shape[1]}", shape, "fft"
    yield "fft2 2048 x 2048", (2048, 2048), "fft2"
    for log in (8, 10, 12):
        yield f"convolve 2^{log}", (1 << (total - log), 1 << log), "convolve"


def program(kind, xp):
    if kind == "convolve":
        return lambda x, h: xp.fft.irfft(xp.fft.rfft(x) * h)
    return lambda x: getattr(xp.fft, kind)(x)


def inputs_of(kind, shape, rng):
    x = rng.standard_normal(shape, dtype=np.float32)
    if kind in ("fft", "fft2"):
        x = (x + 1j * x[:, ::-1]).astype(np.complex64)
    if kind != "convolve":
        return [x]
    return [x, (rng.standard_normal(shape[1] // 2 + 1) + 0j).astype(np.complex64)]


def error_of(kind, inputs, result):
    """Of the first row, or of the whole of two dimensions, against NumPy in double precision."""
    x = inputs[0] if kind == "fft2" else inputs[0][:1]
    wide = x.astype(np.result_type(x, np.float64))
    reference = program(kind, np)(wide, *inputs[1:])
    error = np.abs(np.asarray(result)[:len(reference)] - reference).max()
    return f"{error / np.abs(reference).max():9.1e}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--quick", action="store_true", help="a quarter of the elements")
    options = parser.parse_args()
    found = systems(options.device)
    rng = np.random.default_rng(0)
    print_heading("us per call", found, "    error")
    for title, shape, kind in cases(options.quick):
        inputs = inputs_of(kind, shape, rng)
        print_row(title, found, lambda xp: program(kind, xp), inputs,
                  lambda result: error_of(kind, inputs, result))


if __name__ == "__main__":
    main()
