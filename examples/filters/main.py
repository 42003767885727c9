"""Three filters of an image: a Gaussian, edges by Sobel, and the median of 3x3 pixels.

Each is a few slices of a padded image, and becomes kernels that keep what they need in registers.
"""

import argparse
import math

import heddle as hd

RADIUS, SIGMA = 6, 2.0
WEIGHTS = [math.exp(-k * k / (2 * SIGMA * SIGMA)) for k in range(-RADIUS, RADIUS + 1)]
WEIGHTS = [weight / sum(WEIGHTS) for weight in WEIGHTS]


def test_image(size):
    """Discs and stripes, and a few pixels that are black or white by mistake."""
    place = hd.linspace(0.0, 1.0, size, dtype=hd.float32)
    x, y = place[None, :], place[:, None]
    stripes = 0.5 + 0.25 * hd.sin(40 * x * (x + y))
    discs = hd.hypot((3 * x) % 1 - 0.5, (3 * y) % 1 - 0.5) < 0.3
    image = hd.where(discs, 0.9 - 0.5 * y, stripes)
    index = hd.arange(size)
    mixed = (index[:, None] * 73856093) ^ (index[None, :] * 19349663)
    mixed = (mixed ^ (mixed >> 13)) % 64
    return hd.where(mixed == 0, 0.0, hd.where(mixed == 1, 1.0, image))


def blur_columns(x):
    padded = hd.pad(x, [(RADIUS, RADIUS), (0, 0)], mode="reflect")
    return sum(weight * padded[k:k + x.shape[0]] for k, weight in enumerate(WEIGHTS))


@hd.jit
def gaussian(x):
    return blur_columns(blur_columns(x).T).T


@hd.jit
def sobel(x):
    p = hd.pad(x, 1, mode="edge")
    right = p[:, 2:] - p[:, :-2]
    down = p[2:, :] - p[:-2, :]
    gradient_x = right[:-2] + 2 * right[1:-1] + right[2:]
    gradient_y = down[:, :-2] + 2 * down[:, 1:-1] + down[:, 2:]
    return hd.hypot(gradient_x, gradient_y) / 4


def ordered(a, b, c):
    """Three images, such that each pixel is in order."""
    low, high = hd.minimum(a, b), hd.maximum(a, b)
    return hd.minimum(low, c), hd.maximum(low, hd.minimum(high, c)), hd.maximum(high, c)


@hd.jit
def median(x):
    p = hd.pad(x, 1, mode="edge")
    columns = ordered(p[:-2], p[1:-1], p[2:])
    low, middle, high = (ordered(c[:, :-2], c[:, 1:-1], c[:, 2:]) for c in columns)
    return ordered(low[2], middle[1], high[0])[1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--out")
    options = parser.parse_args()

    image = test_image(options.size)
    smooth, clean = gaussian(image), median(image)
    edges = sobel(clean)
    print(f"image: mean {image.mean().item():.5f}, deviation {image.std().item():.5f}")
    print(f"gaussian: mean {smooth.mean().item():.5f}, deviation {smooth.std().item():.5f}")
    print(f"sobel: mean {edges.mean().item():.5f}, highest {edges.max().item():.5f}")
    changed = hd.count_nonzero(hd.abs(clean - image) > 0.25)
    print(f"median: mean {clean.mean().item():.5f}, {changed.item()} pixels changed by over 0.25")
    if options.out:
        hd.save(options.out, hd.stack([image, smooth, edges, clean]))


if __name__ == "__main__":
    main()
