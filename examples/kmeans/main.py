"""k-means: a step is a broadcast difference of all points with all centres, reduced twice.

The arrays of points x centres never exist: each becomes part of the reduction that reads it.
"""

import argparse
import math

import heddle as hd

CLUSTERS = 6


def clouds(count):
    """Six clouds on a circle. Fractions of multiples of irrational numbers fill them evenly."""
    i = hd.arange(count)
    cloud = i % CLUSTERS
    radius = (0.15 + 0.04 * cloud) * ((i * 0.7548776662466927) % 1)
    turn = 2 * math.pi * ((i * 0.5698402909980532) % 1)
    around = 2 * math.pi / CLUSTERS * cloud
    points = [0.6 * hd.cos(around) + radius * hd.cos(turn), 0.6 * hd.sin(around) + radius * hd.sin(turn)]
    return hd.stack(points, axis=-1).astype(hd.float32)


@hd.jit
def step(points, centers):
    """The nearest centre of each point, the mean square distance, and the centres of mass."""
    away = points[:, None, :] - centers[None, :, :]
    distance2 = hd.sum(away * away, axis=-1)
    labels = hd.argmin(distance2, axis=-1)
    member = labels[:, None] == hd.arange(CLUSTERS)
    counts = hd.sum(member, axis=0)
    sums = hd.sum(hd.where(member[:, :, None], points[:, None, :], 0), axis=0)
    means = (sums / hd.maximum(counts, 1)[:, None]).astype(hd.float32)
    centers = hd.where(counts[:, None] > 0, means, centers)
    return labels, hd.mean(hd.min(distance2, axis=-1)), centers


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=200_000)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--out")
    options = parser.parse_args()

    points = clouds(options.size)
    centers = points[:3 * CLUSTERS:3]  # all of two clouds
    labels, spread, centers = step(points, centers)
    print(f"first step: mean square distance {spread.item():.5f}")
    for _ in range(options.steps - 1):
        labels, spread, centers = step(points, centers)
    print(f"step {options.steps}: mean square distance {spread.item():.5f}")
    print("sizes:", *hd.bincount(labels, minlength=CLUSTERS).tolist())
    if options.out:
        hd.save(options.out, hd.column_stack([points, labels]))


if __name__ == "__main__":
    main()
