"""k-means of points in a plane, with plain array code and with kernels from text."""

import common
import numpy


def samples(count, clusters):
    """Points around centers on a circle, in random order, and the first centers."""
    random = numpy.random.default_rng(1)
    angles = 2 * numpy.pi * random.integers(0, clusters, count) / clusters
    points = 4 * numpy.stack([numpy.cos(angles), numpy.sin(angles)], axis=1)
    points += random.normal(0, 0.6, (count, 2))
    return points.astype(numpy.float32), points[:clusters].astype(numpy.float32)


class ArrayCode:
    """Steps in the library's own functions."""

    def __init__(self, xp):
        self.xp = xp

    def distances(self, points, centers):
        return self.xp.sum((points[:, None, :] - centers[None, :, :]) ** 2, axis=2)

    def sums(self, points, members):
        return self.xp.sum(self.xp.where(members[:, :, None], points[:, None, :], 0), axis=0)


class Kernels(ArrayCode):
    """The same steps, each as one kernel."""

    def __init__(self, xp):
        super().__init__(xp)
        self.distance = xp.ElementwiseKernel(
            "T x0, T y0, T x1, T y1", "T distance",
            "distance = (x0 - x1) * (x0 - x1) + (y0 - y1) * (y0 - y1)", "squared_distance")
        self.sum_of_members = xp.ReductionKernel(
            "T x, bool member", "T total", "member ? x : T(0)", "a + b", "total = a", "0",
            "sum_of_members")

    def distances(self, points, centers):
        return self.distance(points[:, None, 0], points[:, None, 1], centers[None, :, 0],
                             centers[None, :, 1])

    def sums(self, points, members):
        return self.sum_of_members(points[:, None, :], members[:, :, None], axis=0)


def kmeans(xp, steps, points, centers, iterations):
    """The centers and each point's cluster after `iterations` steps."""
    clusters = xp.arange(centers.shape[0])
    labels = None
    for _ in range(iterations):
        labels = xp.argmin(steps.distances(points, centers), axis=1)
        members = labels[:, None] == clusters[None, :]
        counts = xp.maximum(xp.sum(members, axis=0), 1).astype(xp.float32)
        centers = steps.sums(points, members) / counts[:, None]
    return centers, labels


def main():
    options = common.arguments(__doc__, size=1000000, clusters=5, iterations=20)
    xp = common.library(options)
    points, centers = samples(options.size, options.clusters)
    wanted = kmeans(numpy, ArrayCode(numpy), points, centers, options.iterations)[0] \
        if options.check else None
    on_device = xp.asarray(points), xp.asarray(centers)
    for name, steps in ("array code", ArrayCode(xp)), ("kernels", Kernels(xp)):
        found, _ = common.timed(xp, name, lambda: kmeans(xp, steps, *on_device, options.iterations))
        common.check(options, xp, name, found, wanted, 1e-3)
    print("centers:", *(f"({x:.2f}, {y:.2f})" for x, y in xp.asnumpy(found)))


if __name__ == "__main__":
    main()
