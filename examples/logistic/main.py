"""Logistic regression by gradient descent with momentum: two half moons, told apart by polynomials."""

import argparse
import math
from dataclasses import dataclass

import heddle as hd

DEGREE = 4


@dataclass
class Model:
    weights: hd.Array
    momentum: hd.Array


def half_moons(count):
    """Points [n, 2] of two half moons that reach into each other, and which of the two they are of."""
    i = hd.arange(count)
    label = i % 2
    angle = math.pi * ((i * 0.7548776662466927) % 1)
    radius = 1 + 1.1 * ((i * 0.5698402909980532) % 1 - 0.5)
    x, y = radius * hd.cos(angle), radius * hd.sin(angle)
    points = [hd.where(label == 0, x, 1 - x) - 0.5, hd.where(label == 0, y, 0.35 - y) - 0.2]
    return hd.stack(points, axis=-1).astype(hd.float32), label.astype(hd.float32)


def features(points):
    """All products of powers of x and y up to the degree."""
    x, y = points[:, 0], points[:, 1]
    powers = [(i, j) for i in range(DEGREE + 1) for j in range(DEGREE + 1 - i)]
    return hd.stack([x**i * y**j for i, j in powers], axis=-1)


@hd.jit
def loss(inputs, labels, weights):
    """The mean of -log p(label). log(1 + exp(-|z|)) cannot overflow."""
    z = inputs @ weights
    return hd.mean(hd.maximum(z, 0) - z * labels + hd.log1p(hd.exp(-hd.abs(z))))


@hd.jit(donate=[0])
def step(model, inputs, labels, rate):
    """The gradient is that of the loss, and of a small penalty for large weights."""
    error = 1 / (1 + hd.exp(-(inputs @ model.weights))) - labels
    gradient = error @ inputs / inputs.shape[0] + 1e-5 * model.weights
    momentum = 0.9 * model.momentum - rate * gradient
    return Model(model.weights + momentum, momentum)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=20_000)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--out")
    options = parser.parse_args()

    points, labels = half_moons(options.size)
    inputs = features(points)
    count = inputs.shape[1]
    model = Model(hd.zeros(count, hd.float32), hd.zeros(count, hd.float32))
    print(f"{count} features, loss {loss(inputs, labels, model.weights).item():.5f}")
    for _ in range(options.steps):
        model = step(model, inputs, labels, 0.5)
    right = hd.mean((inputs @ model.weights > 0) == (labels > 0.5))
    print(f"after {options.steps} steps: loss {loss(inputs, labels, model.weights).item():.5f}, "
          f"{100 * right.item():.2f}% right")
    if options.out:
        place = hd.linspace(-2.0, 2.0, 200, dtype=hd.float32)
        grid = hd.stack(hd.meshgrid(place, place), axis=-1).reshape((-1, 2))
        hd.save(options.out, (1 / (1 + hd.exp(-(features(grid) @ model.weights)))).reshape((200, 200)))


if __name__ == "__main__":
    main()
