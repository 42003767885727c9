"""The Game of Life on a torus. A generation is shifted sums of bytes and a comparison: one kernel."""

import argparse
from dataclasses import dataclass

import heddle as hd


@dataclass
class World:
    cells: hd.Array  # uint8, 1 where there is life
    trail: hd.Array  # float32, fades where there was life


def soup(size):
    """A random-looking disc of cells in an empty world."""
    index = hd.arange(size)
    mixed = (index[:, None] * 73856093) ^ (index[None, :] * 19349663)
    mixed = mixed ^ (mixed >> 11)
    away = index - size // 2
    disc = away[:, None]**2 + away[None, :]**2 < (size // 4)**2
    cells = (disc & (mixed % 3 == 0)).astype(hd.uint8)
    return World(cells, cells.astype(hd.float32))


@hd.jit
def generation(world):
    cells = world.cells
    p = hd.pad(cells, 1, mode="wrap")
    rows = p[:-2] + p[1:-1] + p[2:]
    around = rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]  # with the cell itself
    cells = ((around == 3) | ((around == 4) & (cells == 1))).astype(hd.uint8)
    return World(cells, hd.maximum(0.98 * world.trail, cells))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--out")
    options = parser.parse_args()

    world = soup(options.size)
    print(f"{options.size}x{options.size} cells, {hd.count_nonzero(world.cells).item()} alive")
    for _ in range(options.steps):
        world = generation(world)
    print(f"after {options.steps} generations {hd.count_nonzero(world.cells).item()} alive, "
          f"mean trail {world.trail.mean().item():.5f}")
    if options.out:
        hd.save(options.out, world.trail)


if __name__ == "__main__":
    main()
