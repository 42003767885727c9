"""Gravity between all pairs of bodies, by leapfrog steps.

The differences of all pairs are arrays of bodies x bodies, written as in NumPy. They never exist: the three
sums over them are one kernel. That is why x, y and z are rows: a sum over an axis of 3 would be a kernel
of its own.
"""

import argparse
import math
from dataclasses import dataclass

import heddle as hd

SOFTENING = 0.05


@dataclass
class Bodies:
    position: hd.Array  # [3, n]
    velocity: hd.Array  # [3, n]
    mass: hd.Array  # [n]


def disc(count):
    """A heavy body, and light ones that circle around it in a disc."""
    i = hd.arange(count, dtype=hd.float64)
    radius = 0.2 + 0.8 * hd.sqrt(i / count)
    angle = i * (math.pi * (3 - math.sqrt(5)))
    x, y, z = radius * hd.cos(angle), radius * hd.sin(angle), 0.05 * hd.sin(7 * angle)
    speed = hd.sqrt((1 + 0.3 * radius**2) / radius)
    position = hd.stack([x, y, z])
    velocity = hd.stack([-speed * y / radius, speed * x / radius, hd.zeros(count)])
    mass = hd.where(i == 0, 1.0, 0.3 / count)
    return Bodies(hd.where(i == 0, 0.0, position), hd.where(i == 0, 0.0, velocity), mass)


def pairs(position):
    """What leads from each body to each other, as x, y and z, and the square of its length."""
    away = [x[None, :] - x[:, None] for x in position]
    return away, away[0]**2 + away[1]**2 + away[2]**2 + SOFTENING**2


def acceleration(position, mass):
    away, distance2 = pairs(position)
    pull = mass / (distance2 * hd.sqrt(distance2))
    return hd.stack([hd.sum(pull * x, axis=-1) for x in away])


@hd.jit
def step(bodies, dt):
    velocity = bodies.velocity + 0.5 * dt * acceleration(bodies.position, bodies.mass)
    position = bodies.position + dt * velocity
    velocity = velocity + 0.5 * dt * acceleration(position, bodies.mass)
    return Bodies(position, velocity, bodies.mass)


@hd.jit
def energy(bodies):
    kinetic = 0.5 * hd.sum(bodies.mass * bodies.velocity**2)
    distance = hd.sqrt(pairs(bodies.position)[1])
    potential = bodies.mass[:, None] * bodies.mass[None, :] / distance
    return kinetic - 0.5 * (hd.sum(potential) - hd.sum(bodies.mass**2) / SOFTENING)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--out")
    options = parser.parse_args()

    bodies = disc(options.size)
    print(f"{options.size} bodies, energy {energy(bodies).item():.6f}")
    for _ in range(options.steps):
        bodies = step(bodies, 0.01)
    spread = hd.sqrt(hd.mean(hd.sum(bodies.position**2, axis=0)))
    print(f"after {options.steps} steps: energy {energy(bodies).item():.6f}, "
          f"mean distance {spread.item():.5f}")
    if options.out:
        hd.save(options.out, hd.vstack([bodies.position, bodies.velocity]))


if __name__ == "__main__":
    main()
