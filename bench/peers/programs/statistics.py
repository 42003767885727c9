"""Moments, likelihoods, clusters, orders."""

from peers.program import Input, Program, cast, line, rounding, side
from peers.programs.checks import nearest_error


def weighted_covariance(xp, x, w):
    total = xp.sum(w, axis=0)
    d = x - xp.sum(x * w[:, None], axis=0, keepdims=True) / total
    return xp.matmul((d * w[:, None]).T, d) / total


def correlation(xp, x):
    d = x - xp.mean(x, axis=0, keepdims=True)
    d = d / xp.sqrt(xp.sum(d * d, axis=0, keepdims=True))
    return xp.matmul(d.T, d)


def kurtosis(xp, x):
    d = x - xp.mean(x, axis=-1, keepdims=True)
    square = d * d
    return xp.mean(square * square, axis=-1) / xp.mean(square, axis=-1) ** 2 - 3.0


def z_scores(xp, x):
    d = x - xp.mean(x, axis=0, keepdims=True)
    return d / xp.sqrt(xp.mean(d * d, axis=0, keepdims=True))


def variance(xp, x):
    d = x - xp.mean(x)
    return xp.mean(d * d)


def median_of_rows(xp, x):
    return xp.sort(x, axis=-1)[:, x.shape[1] // 2]


def masked_mean(xp, x):
    """The mean of each column's numbers above a threshold."""
    kept = x > 0.3
    return xp.sum(xp.where(kept, x, 0.0), axis=0) / xp.sum(cast(xp, kept, "float32"), axis=0)


def mixture(xp, x, mean, deviation):
    """The log-likelihood of each number under 16 normal distributions."""
    z = (x[:, None] - mean) / deviation
    logs = -0.5 * z * z - xp.log(deviation)
    largest = xp.max(logs, axis=1, keepdims=True)
    return xp.log(xp.sum(xp.exp(logs - largest), axis=1)) + largest[:, 0]


def nearest_centre(xp, points, centres):
    """The step of k-means that assigns points to centres."""
    d = points[:, None, :] - centres[None, :, :]
    return xp.argmin(xp.sum(d * d, axis=-1), axis=1)


def powers(xp, x):
    """The matrix of a polynomial regression."""
    columns = [x * 0.0 + 1.0]
    for _ in range(7):
        columns.append(columns[-1] * x)
    return xp.stack(columns, axis=-1)


def place_among(xp, x):
    edges = cast(xp, xp.arange(63), "float32") * 0.015625
    return xp.searchsorted(edges, x)


def sum_of_two_axes(xp, x):
    return xp.sum(x, axis=(1, 3))


def statistics(scale):
    rows = line(2**20, scale)
    normal = Input((rows * 2,), -3, 3)
    return [
        Program("weighted covariance, 1 Mi x 32", weighted_covariance,
                (Input((rows, 32), -1, 1), Input((rows,))), kind="library",
                tolerance=rounding("float32", 6, rows), floor=0.3),
        Program("correlation, float64", correlation,
                (Input((side(32768, scale), side(512, scale)), -1, 1, "float64"),), kind="library",
                tolerance=rounding("float64", 6, side(32768, scale))),
        Program("kurtosis of rows", kurtosis, (Input((side(32768, scale), 2049), -1, 1),),
                tolerance=rounding("float32", 10, 2049), rows=(0,)),
        Program("z-scores, float64", z_scores,
                (Input((side(65537, scale), 301), -1, 1, "float64"),),
                tolerance=rounding("float64", 10, side(65537, scale))),
        Program("variance of all, float16", variance,
                (Input((line(2**27, scale),), -1, 1, "float16"),), tolerance=rounding("float16", 8)),
        Program("median of rows", median_of_rows, (Input((line(2**17, scale), 101),),),
                kind="library", tolerance=0, rows=(0,)),
        Program("masked mean of columns", masked_mean,
                (Input((side(32769, scale), side(2047, scale)), 0, 1),),
                tolerance=rounding("float32", 2, side(32769, scale))),
        Program("mixture of 16 normals", mixture,
                (normal, Input((16,), -2, 2), Input((16,), 0.5, 2)), kind="arithmetic",
                tolerance=rounding("float32", 12, 16), rows=(0,)),
        Program("k-means, nearest of 64", nearest_centre,
                (Input((rows // 2, 16), -1, 1), Input((64, 16), -1, 1)), kind="arithmetic",
                tolerance=1e-4, check=nearest_error, result="int64"),
        Program("powers, float64", powers, (Input((rows * 2,), -1, 1, "float64"),),
                tolerance=rounding("float64", 8), rows=(0,)),
        Program("place among 63 edges", place_among, (Input((rows * 16,), 0, 1),), tolerance=0,
                result="int64", rows=(0,)),
        Program("sum of two of 5 axes", sum_of_two_axes,
                (Input((line(2048, scale), 32, 33, 16, 31)),), tolerance=rounding("float32", 1, 512),
                rows=(0,)),
    ]
