"""A mixture of Gaussians with diagonal covariances, fitted by expectation and maximisation."""

import math

import common
import numpy


def samples(count):
    """Points of two Gaussians in a plane."""
    random = numpy.random.default_rng(2)
    first = random.random(count) < 0.3
    points = numpy.where(first[:, None], random.normal((-1, 1), (0.5, 1), (count, 2)),
                         random.normal((2, -0.5), (1, 0.4), (count, 2)))
    return points.astype(numpy.float32)


def log_densities(xp, points, weights, means, variances):
    """The logarithm of each component's weighted density at each point."""
    offsets = points[:, None, :] - means[None, :, :]
    exponents = -0.5 * xp.sum(offsets * offsets / variances[None, :, :], axis=2)
    scales = xp.log(weights) - 0.5 * xp.sum(xp.log(2 * math.pi * variances), axis=1)
    return exponents + scales[None, :]


def expectation(xp, points, weights, means, variances):
    """The mean log-likelihood, and each point's probabilities of the components."""
    logs = log_densities(xp, points, weights, means, variances)
    highest = xp.max(logs, axis=1, keepdims=True)
    totals = highest + xp.log(xp.sum(xp.exp(logs - highest), axis=1, keepdims=True))
    return xp.mean(totals), xp.exp(logs - totals)


def maximisation(xp, points, probabilities):
    """The weights, means and variances that fit these probabilities best."""
    counts = xp.sum(probabilities, axis=0)
    means = xp.matmul(probabilities.T, points) / counts[:, None]
    squares = xp.matmul(probabilities.T, points * points) / counts[:, None]
    return counts / points.shape[0], means, squares - means * means + 1e-6


def fit(xp, points, iterations):
    """The mean log-likelihood and the means after `iterations` steps."""
    weights = xp.full(2, 0.5, dtype=xp.float32)
    means = xp.asarray(numpy.asarray([[-0.5, 0.5], [0.5, -0.5]], numpy.float32))
    variances = xp.ones((2, 2), dtype=xp.float32)
    likelihood = None
    for _ in range(iterations):
        likelihood, probabilities = expectation(xp, points, weights, means, variances)
        weights, means, variances = maximisation(xp, points, probabilities)
    return likelihood, means


def main():
    options = common.arguments(__doc__, size=1000000, iterations=30)
    xp = common.library(options)
    points = samples(options.size)
    on_device = xp.asarray(points)
    likelihood, means = common.timed(xp, "fit",
                                     lambda: fit(xp, on_device, options.iterations))
    if options.check:
        wanted = fit(numpy, points, options.iterations)
        common.check(options, xp, "likelihood", float(likelihood), float(wanted[0]), 1e-3)
        common.check(options, xp, "means", means, wanted[1], 1e-2)
    print(f"log-likelihood {float(likelihood):.3f}, means:",
          *(f"({x:.2f}, {y:.2f})" for x, y in xp.asnumpy(means)))


if __name__ == "__main__":
    main()
