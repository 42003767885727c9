"""The Mandelbrot set. A loop on the host calls a jitted function that iterates eight times: one kernel.

Loops of Python are unrolled when a function is traced, so how many iterations a kernel has is a choice.
"""

import argparse
from dataclasses import dataclass

import heddle as hd

UNROLLED = 8


@dataclass
class Orbit:
    z: hd.Array  # complex64
    count: hd.Array  # iterations that stayed within the circle of radius 2


@hd.jit(donate=[0])
def iterate(orbit, c):
    z, count = orbit.z, orbit.count
    for _ in range(UNROLLED):
        z = z * z + c
        bounded = z.real * z.real + z.imag * z.imag <= 4.0
        z = hd.where(bounded, z, 4.0)  # what has left stays outside, and finite
        count = count + bounded
    return Orbit(z, count)


def plane(size):
    """Points of the complex plane around the set's seahorses."""
    x = hd.linspace(-0.755, -0.735, size, dtype=hd.float32)
    y = hd.linspace(0.1, 0.12, size, dtype=hd.float32)
    return x[None, :] + 1j * y[:, None]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--steps", type=int, default=320)
    parser.add_argument("--out")
    options = parser.parse_args()

    c = plane(options.size)
    orbit = Orbit(hd.zeros(c.shape, hd.complex64), hd.zeros(c.shape, hd.int32))
    for _ in range(options.steps // UNROLLED):
        orbit = iterate(orbit, c)
    inside = hd.count_nonzero(orbit.count == options.steps).item()
    print(f"{options.size}x{options.size} points, {options.steps} iterations")
    print(f"inside: {100 * inside / c.size:.2f}%, mean count {orbit.count.mean().item():.3f}")
    if options.out:
        hd.save(options.out, orbit.count)


if __name__ == "__main__":
    main()
