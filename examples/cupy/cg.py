"""Solves a symmetric positive definite system by conjugate gradients."""

import common
import numpy


def system(size):
    """A well conditioned matrix and a right side, in float64."""
    random = numpy.random.default_rng(3)
    factor = random.standard_normal((size, size)) / numpy.sqrt(size)
    return factor @ factor.T + numpy.eye(size), random.standard_normal(size)


def solve(xp, matrix, right, tolerance, most_steps):
    """The solution and the number of steps. Each step waits for one number, the residual."""
    solution = xp.zeros_like(right)
    residual = right.copy()
    direction = residual.copy()
    square = xp.dot(residual, residual)
    wanted = tolerance ** 2 * float(square)
    for step in range(most_steps):
        if float(square) <= wanted:
            return solution, step
        image = xp.dot(matrix, direction)
        length = square / xp.dot(direction, image)
        solution = solution + length * direction
        residual = residual - length * image
        new_square = xp.dot(residual, residual)
        direction = residual + new_square / square * direction
        square = new_square
    return solution, most_steps


def main():
    options = common.arguments(__doc__, size=4000, steps=200)
    xp = common.library(options)
    matrix, right = system(options.size)
    on_device = xp.asarray(matrix), xp.asarray(right)
    steps = []

    def work():
        solution, count = solve(xp, *on_device, 1e-10, options.steps)
        steps.append(count)
        return solution

    solution = common.timed(xp, "solve", work)
    if options.check:
        common.check(options, xp, "solution", solution, numpy.linalg.solve(matrix, right), 1e-7)
    rest = numpy.linalg.norm(matrix @ xp.asnumpy(solution) - right) / numpy.linalg.norm(right)
    print(f"{steps[-1]} steps, relative residual below 1e-9: {bool(rest < 1e-9)}")


if __name__ == "__main__":
    main()
