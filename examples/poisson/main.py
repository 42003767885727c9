"""The Poisson equation on a square: a sparse matrix of differences, solved by conjugate gradients,
which are one loop on the device."""

import argparse

import heddle as hd


def laplacian(size):
    """Minus the sum of the second differences of a grid, 0 around it: 5 points each."""
    line = hd.sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(size, size))
    return hd.sparse.kronsum(line, line).tocsr()


def charges(size):
    """A positive disc and a negative one."""
    place = hd.linspace(-1.0, 1.0, size)
    x, y = place[None, :], place[:, None]
    positive, negative = hd.hypot(x + 0.4, y + 0.1) < 0.2, hd.hypot(x - 0.3, y - 0.4) < 0.15
    return hd.where(positive, 1.0, hd.where(negative, -1.5, 0.0)) / size**2


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--out")
    options = parser.parse_args()

    a, b = laplacian(options.size), charges(options.size).ravel()
    u, info = hd.sparse.linalg.cg(a, b, rtol=1e-10)
    assert info == 0
    print(f"{a.shape[0]} unknowns, {a.nnz} stored elements")
    print(f"potential: highest {u.max().item():.5f}, lowest {u.min().item():.5f}, "
          f"mean {u.mean().item():.5f}")
    if options.out:
        hd.save(options.out, u.reshape(options.size, options.size))


if __name__ == "__main__":
    main()
