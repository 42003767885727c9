"""Products of matrices, and equations."""

from peers.program import Input, Program, cast, line, rounding, side
from peers.programs.expressions import in_c_order


def product(xp, a, b):
    return xp.matmul(a, b)


def definite(xp, a):
    """Symmetric positive definite matrices from any."""
    n = a.shape[-1]
    return xp.matmul(a, xp.swapaxes(a, -1, -2)) + n * xp.eye(n, dtype=a.dtype)


def cholesky(xp, a):
    return xp.linalg.cholesky(definite(xp, a))


def solve(xp, a, b):
    return xp.linalg.solve(a + 4.0 * xp.eye(a.shape[-1], dtype=a.dtype), b)


def determinants(xp, a):
    return xp.linalg.det(a)


def transform_points(xp, points, rotation, shift):
    return xp.matmul(points, rotation) + shift


def quadratic_forms(xp, x, a):
    return xp.sum(xp.matmul(x, a) * x, axis=1)


def rank_one_update(xp, a, x, y):
    return a - x[:, None] * y[None, :]


def cosines(xp, x):
    """The directions of a transform, as a product with a matrix on both sides of 8 x 8 blocks."""
    n = 8
    k = cast(xp, xp.arange(n), "float32")
    basis = xp.cos((k[None, :] + 0.5) * k[:, None] * (3.141592653589793 / n))
    return xp.matmul(xp.matmul(basis, x), in_c_order(xp, basis.T))


def linalg(scale):
    small = Input((line(100_000, scale), 8, 8), -1, 1)
    sums = rounding("float32", 2, 8)
    wide = side(4096, scale)
    brain = (Input((side(8192, scale), wide), -1, 1, "bfloat16"),
             Input((wide, wide), -0.1, 0.1, "bfloat16"))
    complexes = (Input((side(1500, scale), side(1501, scale)), -1, 1, "complex64"),
                 Input((side(1501, scale), side(1499, scale)), -1, 1, "complex64"))
    doubles = (Input((side(2048, scale), side(2048, scale)), -1, 1, "float64"),) * 2
    return [
        Program("100,000 products of 8 x 8", product, (small,) * 2, kind="library", tolerance=sums,
                rows=(0, 1)),
        Program("cosine transform of 8 x 8", cosines, (Input((line(2**18, scale), 8, 8), -1, 1),),
                kind="library", tolerance=rounding("float32", 16, 64), floor=4, rows=(0,)),
        Program("points @ rotation", transform_points,
                (Input((line(2**23, scale), 3), -1, 1), Input((3, 3), -1, 1), Input((3,))),
                tolerance=rounding("float32", 4), rows=(0,)),
        Program("quadratic forms", quadratic_forms,
                (Input((line(2**18, scale), 128), -1, 1), Input((128, 128), -1, 1)),
                kind="library", tolerance=rounding("float32", 4, 128**2), floor=10, rows=(0,)),
        Program("rank-one update, float64", rank_one_update,
                (Input((side(5001, scale), side(5003, scale)), dtype="float64"),
                 Input((side(5001, scale),), dtype="float64"),
                 Input((side(5003, scale),), dtype="float64")), tolerance=rounding("float64", 2),
                rows=(0, 1)),
        # A sum of products of random sign grows with the square root of their number, as its rounding
        # errors do.
        Program("x@w, bfloat16", product, brain, kind="library", tolerance=rounding("bfloat16", 1),
                floor=4),
        Program("x@w, float64", product, doubles, kind="library", floor=2048**0.5,
                tolerance=rounding("float64", 2, 2048)),
        Program("x@w, complex64", product, complexes, kind="library", floor=1501**0.5,
                tolerance=rounding("float32", 2, 1501)),
        Program("cholesky, 10,000 of 8 x 8", cholesky, (Input((line(10_000, scale), 8, 8), -1, 1),),
                kind="library", tolerance=rounding("float32", 16, 8), rows=(0,)),
        Program("solve, 100,000 of 4 x 4", solve,
                (Input((line(100_000, scale), 4, 4), -0.5, 0.5), Input((line(100_000, scale), 4, 1))),
                kind="library", tolerance=rounding("float32", 30, 4), rows=(0, 1)),
        Program("determinants, 1 Mi of 3 x 3", determinants, (Input((line(2**20, scale), 3, 3), -1, 1),),
                kind="library", tolerance=rounding("float32", 8, 3), rows=(0,)),
    ]
