"""A small scene by ray marching: each ray goes as far as the nearest thing is away, again and again.

Vectors are a dataclass of three arrays, so that their lengths are arithmetic and not reductions.
"""

import argparse
import math
from dataclasses import dataclass

import heddle as hd

UNROLLED, FAR = 8, 12.0


@dataclass
class Vec:
    x: hd.Array
    y: hd.Array
    z: hd.Array

    def __add__(self, other):
        return Vec(self.x + other.x, self.y + other.y, self.z + other.z)

    def __mul__(self, factor):
        return Vec(self.x * factor, self.y * factor, self.z * factor)

    def dot(self, other):
        return self.x * other.x + self.y * other.y + self.z * other.z


EYE = Vec(0.0, 1.4, -4.0)
SUN = Vec(-0.48, 0.64, -0.6)


def things(p):
    """Distances to the floor, to a ball and to a ring."""
    ball = hd.sqrt(p.x**2 + (p.y - 0.9)**2 + p.z**2) - 0.6
    ring = hd.sqrt((hd.hypot(p.x, p.z) - 1.3)**2 + (p.y - 0.3 - 0.2 * p.x)**2) - 0.18
    return p.y + 0.3, ball, ring


def distance(p):
    floor, ball, ring = things(p)
    return hd.minimum(floor, hd.minimum(ball, ring))


def rays(size):
    """Their directions, from the eye through the pixels."""
    place = hd.linspace(-1.0, 1.0, size, dtype=hd.float32)
    x, y = hd.meshgrid(place, -place - 0.25)
    length = hd.sqrt(x**2 + y**2 + 2.25)
    return Vec(x / length, y / length, 1.5 / length)


@hd.jit
def march(t, ray):
    for _ in range(UNROLLED):
        t = hd.minimum(t + distance(EYE + ray * t), FAR)
    return t


@hd.jit
def shade(t, ray):
    """The picture: sunlight, soft shadows, and haze towards the horizon."""
    p = EYE + ray * t
    here, h = distance(p), 1e-3
    slope = Vec(distance(p + Vec(h, 0, 0)) - here, distance(p + Vec(0, h, 0)) - here,
                distance(p + Vec(0, 0, h)) - here)
    light = hd.maximum(slope.dot(SUN) / hd.sqrt(slope.dot(slope) + 1e-12), 0)
    way = hd.full_like(t, 0.03)
    for _ in range(16):
        gap = distance(p + SUN * way)
        light = hd.minimum(light, hd.maximum(10 * gap / way, 0))
        way = way + hd.clip(gap, 0.02, 0.3)
    floor, ball, ring = things(p)
    dark = hd.full_like(t, 0.35)  # float32: where() of two numbers is float64
    tiles = hd.where((hd.floor(2 * p.x) + hd.floor(2 * p.z)) % 2 == 0, 0.9, dark)
    colors = [hd.where(floor < hd.minimum(ball, ring), tiles,
                       hd.where(ball < ring, on_ball, hd.full_like(t, on_ring)))
              for on_ball, on_ring in [(0.9, 0.2), (0.35, 0.5), (0.2, 0.9)]]
    haze = hd.minimum(t / FAR, 1)**3
    return hd.stack([color * (0.15 + 0.85 * light) * (1 - haze) + sky * haze
                     for color, sky in zip(colors, [0.75, 0.85, 1.0])], axis=-1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--steps", type=int, default=64)
    parser.add_argument("--out")
    options = parser.parse_args()

    ray = rays(options.size)
    t = hd.zeros_like(ray.x)
    for _ in range(options.steps // UNROLLED):
        t = march(t, ray)
    picture = shade(t, ray)
    print(f"{options.size}x{options.size} rays, mean distance {t.mean().item():.4f}, "
          f"{100 * hd.mean(t < FAR).item():.2f}% meet a thing")
    print("mean color: {:.4f} {:.4f} {:.4f}".format(*picture.mean(axis=(0, 1)).tolist()))
    if options.out:
        hd.save(options.out, hd.round(255 * picture).astype(hd.uint8))


if __name__ == "__main__":
    main()
