"""Further programs of the page's kinds, with other sizes, dtypes and axes, so that special cases for
the page's do not help. bench/programs/ has the same programs in C++."""

from peers.program import Input, Program
from peers.programs.checks import normal_error, order_error
from peers.programs.expressions import (dense, heat, perceptron, permuted, rms_norm, scaled_sum, softmax,
                                        softmax_of_columns, standardize_all, standardize_middle)


def pointwise(scale):
    odd = 50_000_003 // scale**2
    half = Input((odd,), dtype="float16")
    return [
        Program("x*w+b, 1024 elements", scaled_sum, (Input((1024,)),) * 3, kind="dispatch"),
        # Two roundings to 11 bits.
        Program("x*w+b, float16", scaled_sum, (half,) * 3, tolerance=2**-10, rows=(0, 1, 2)),
        Program("x*w+b, float64", scaled_sum, (Input((odd // 2,), dtype="float64"),) * 3,
                tolerance=1e-14, rows=(0, 1, 2)),
        Program("x*w+b, int32", scaled_sum, (Input((odd,), 1, 1000, "int32"),) * 3, tolerance=0,
                rows=(0, 1, 2)),
        Program("tanh of outer sum", lambda xp, x, y: xp.tanh(x[:, None] + y[None, :]),
                (Input((8191 // scale,)), Input((8193 // scale,))), rows=(0,)),
        Program("normal numbers", None, (), draws=odd, tolerance=1.0, check=normal_error),
    ]


def normalizations(scale):
    side = 8192 // scale
    narrow = Input((65535 // scale**2, 1000))
    half = Input((16384 // scale**2, 5120), dtype="float16")
    return [
        Program("softmax {} x {}".format(*narrow.shape), softmax, (narrow,), floor=1e-3,
                rows=(0,)),
        Program("softmax of columns", softmax_of_columns, (Input((side, side)),), floor=1 / side),
        # Up to four roundings to 11 bits, including the rounding of the exponent's argument.
        Program("softmax, float16", softmax, (half,), tolerance=2**-8, floor=1 / 5120, rows=(0,)),
        Program("RMS norm, float16", rms_norm, (half, Input((5120,), dtype="float16")),
                tolerance=2**-8, rows=(0,)),
        Program("standardize the middle", standardize_middle,
                (Input((512 // scale, 1000 // scale, 131)),), rows=(0,)),
        Program("standardize all", standardize_all, (Input((side, side + 1)),)),
    ]


def reductions(scale):
    n, side = 2**26 // scale**2, 8192 // scale
    uneven = Input((side - 1, side + 1))
    return [
        Program("sum of all, float64", lambda xp, x: xp.sum(x),
                (Input((n // 2,), dtype="float64"),), tolerance=1e-13),
        # The result has 11 bits; the sum must be accumulated with more.
        Program("sum of rows, float16", lambda xp, x: xp.sum(x, axis=-1),
                (Input((side, side), dtype="float16"),), tolerance=2**-10, rows=(0,)),
        Program("max of rows", lambda xp, x: xp.max(x, axis=-1), (uneven,), tolerance=0,
                rows=(0,)),
        Program("argmax of rows", lambda xp, x: xp.argmax(x, axis=-1), (uneven,), tolerance=0,
                rows=(0,)),
        Program("sum of the middle", lambda xp, x: xp.sum(x, axis=1),
                (Input((256 // scale, 512 // scale, 500)),), rows=(0,)),
        Program("cumsum of rows", lambda xp, x: xp.cumsum(x, axis=1), (Input((side, side)),),
                tolerance=1e-4, rows=(0,)),
        Program("cumsum of columns", lambda xp, x: xp.cumsum(x, axis=0), (Input((side, side)),),
                tolerance=1e-4),
    ]


def movements(scale):
    n, side = 2**26 // scale**2, 400 // scale
    table = (Input((50000 // scale**2, 512)), Input((100000 // scale**2,), 0, 50000 // scale**2,
                                                    "int64"))
    many = Input((65536 // scale**2, 1024))
    return [
        Program("permute and scale", permuted, (Input((side, side + 100, side - 100 // scale)),)),
        Program("heat, 7 points", heat, (Input((side, side, side)),), rows=(0,), halo=2),
        Program("take of rows", lambda xp, x, i: x[i], table, tolerance=0),
        Program("sort {} x {}".format(*many.shape), lambda xp, x: xp.sort(x, axis=-1), (many,),
                kind="library", tolerance=0, rows=(0,)),
        Program("sort, int32", lambda xp, x: xp.sort(x, axis=-1),
                (Input((n // 4,), -2**31, 2**31, "int32"),), kind="library", tolerance=0),
        Program("argsort", lambda xp, x: xp.argsort(x, axis=-1), (Input((n // 4,)),),
                kind="library", tolerance=0, check=order_error),
    ]


def products(scale):
    wide = 4096 // scale
    half = (Input((8192 // scale, wide), -1, 1, "float16"),
            Input((wide, wide), -0.1, 0.1, "float16"), Input((wide,), dtype="float16"))
    uneven = (Input((1000 // scale, 3001 // scale), -1, 1),
              Input((3001 // scale, 2003 // scale), -0.1, 0.1), Input((2003 // scale,)))
    batch = (Input((64, 512 // scale, 512 // scale), -1, 1),) * 2
    width, hidden = 1024 // scale, 4096 // scale
    layers = (Input((8192 // scale**2, width), -1, 1, "float16"),
              Input((width, hidden), -0.1, 0.1, "float16"), Input((hidden,), dtype="float16"),
              Input((hidden, width), -0.1, 0.1, "float16"), Input((width,), dtype="float16"))
    return [
        # Ten roundings to 11 bits per element of the hidden layer; the errors add up over its sums.
        Program("MLP, float16", perceptron, layers, kind="library", tolerance=2**-5),
        # Results are up to 16, rounded to 11 bits once before the bias and once after it.
        Program("relu(x@w+b), float16", dense, half, kind="library", tolerance=2**-9, floor=16),
        Program("relu(x@w+b), uneven", dense, uneven, kind="library", tolerance=1e-4),
        Program("batched x@w", lambda xp, x, w: xp.matmul(x, w), batch, kind="library",
                tolerance=1e-4),
    ]


def arrays(scale):
    return [program for kind in (pointwise, normalizations, reductions, movements, products)
            for program in kind(scale)]
