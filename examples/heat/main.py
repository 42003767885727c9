"""The heat equation on a square plate: explicit steps, written with slices. A step is one kernel."""

import argparse

import heddle as hd


def plate(size):
    """A hot ring and a hot bar on a cold plate."""
    place = hd.linspace(-1.0, 1.0, size, dtype=hd.float32)
    x, y = place[None, :], place[:, None]
    ring = hd.abs(hd.hypot(x, y) - 0.6) < 0.1
    bar = (hd.abs(x) < 0.35) & (hd.abs(y) < 0.05)
    return (ring | bar).astype(hd.float32)


@hd.jit
def step(u, rate):
    """One step of du/dt = laplacian(u). The border stays as cold as it is."""
    inner = u[1:-1, 1:-1]
    laplacian = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * inner
    u[1:-1, 1:-1] = inner + rate * laplacian
    return u


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--out")
    options = parser.parse_args()

    u = plate(options.size)
    print(f"before: mean {u.mean().item():.5f}, highest {u.max().item():.5f}")
    for i in range(options.steps):
        rate = 0.1 if i < 100 else 0.24  # a new number compiles nothing
        u = step(u, rate)
    middle = u[options.size // 2, options.size // 2]
    print(f"after {options.steps} steps: mean {u.mean().item():.5f}, highest {u.max().item():.5f}, "
          f"in the middle {middle.item():.5f}")
    if options.out:
        hd.save(options.out, u)


if __name__ == "__main__":
    main()
