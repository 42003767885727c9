"""The table of the performance page. bench/programs/cases.cpp has the same programs, with the same names
and sizes, in C++."""

from peers.program import Goal, Input, Program
from peers.programs.expressions import (black_scholes, chain_of_ten, jacobi, layernorm, norms_of_rows,
                                        perceptron, scaled_sum, softmax, standardize, transposed)

# Reasons for missing entries on a GPU: these peers are listed in the approximate row only.
DIVIDES = "divides within 2 ulp; compare with the approximate row"
EXACT = "divides as IEEE says; compare with the exact row"


def sums(n, side):
    """Reductions and scans with the listed shapes."""
    square = (Input((side, side)),)

    def reach(factor):
        return Goal(factor, "reach", 57)

    return [
        Program("sum of all", lambda xp, x: xp.sum(x), (Input((n,)),), reach(1.03)),
        Program("sum of rows", lambda xp, x: xp.sum(x, axis=-1), square, reach(1.03),
                rows=(0,)),
        Program("sum of columns", lambda xp, x: xp.sum(x, axis=0), square, reach(1.06)),
        # A sum accumulated tile after tile, as by some peers, has a far larger error bound than a
        # tree.
        Program("cumsum of all", lambda xp, x: xp.cumsum(x, axis=0), (Input((n,)),),
                Goal(1.25, "bytes"), tolerance=1e-4),
    ]


def listed(scale):
    """The table of the performance page."""
    n, side = 2**26 // scale**2, 8192 // scale
    line, square = Input((n,)), Input((side, side))
    prices = (Input((n,), 10, 100), Input((n,), 10, 100), Input((n,), 0.1, 2))
    wide = Input((256 // scale, 262144 // scale))
    rows = Input((65536 // scale**2, 1024))
    batch, width, hidden = 8192 // scale**2, 1024 // scale, 4096 // scale
    layers = (Input((batch, width), -1, 1), Input((width, hidden), -0.1, 0.1), Input((hidden,)),
              Input((hidden, width), -0.1, 0.1), Input((width,)))
    return [
        Program("x*w+b", scaled_sum, (line,) * 3, Goal(1.01, "reach", 243), rows=(0, 1, 2)),
        # Tolerance: the results are differences of prices near 100.
        Program("Black-Scholes", black_scholes, prices, Goal(1.0, "us", 340),
                kind="arithmetic", tolerance=1e-4,
                rows=(0, 1, 2), absent={"jax": DIVIDES, "inductor": DIVIDES}),
        Program("Black-Scholes, approximate", black_scholes, prices, Goal(1.0, "us", 285),
                kind="arithmetic", tolerance=1e-4, rows=(0, 1, 2), approximate=True,
                absent={"cupy": EXACT, "torch": EXACT}),
        Program(f"softmax {side} x {side}", softmax, (square,), Goal(1.06, "bytes"),
                floor=1 / side, rows=(0,)),
        Program("softmax {} x {}".format(*wide.shape), softmax, (wide,), Goal(1.20, "bytes"),
                floor=1 / wide.shape[1], rows=(0,)),
        Program("layernorm", layernorm, (rows, Input((1024,)), Input((1024,))),
                Goal(1.02, "peers"), rows=(0,)),
        *sums(n, side),
        Program("x.T*2+1", transposed, (square,), Goal(1.02, "bytes")),
        Program("Jacobi", jacobi, (square,), Goal(1.15, "bytes"), rows=(0,), halo=2),
        Program("standardize columns", standardize, (square,), Goal(1.30, "bytes")),
        Program(f"sort 1 x {n // 4}", lambda xp, x: xp.sort(x, axis=-1), (Input((1, n // 4)),),
                Goal(1.03, "reach", 429), kind="library"),
        Program("MLP", perceptron, layers, Goal(0.98, "peers"), tolerance=1e-4, kind="library"),
        # Operands have 11 bits. A sum of `hidden` products of about 0.06 has an error of 2^-11.5 of
        # that times sqrt(hidden); the largest error of all elements is some 5 times that.
        Program("MLP, tf32", perceptron, layers, Goal(0.98, "peers"), tolerance=1e-2,
                kind="library", tf32=True),
        Program("sqrt(sum(a*a, -1))", norms_of_rows, (Input((256, 1024)),), Goal(1.0, "us", 3.5),
                kind="dispatch", rows=(0,)),
        Program("ten-op chain", chain_of_ten, (Input((1024,)),) * 2, Goal(1.0, "us", 3.0),
                kind="dispatch"),
    ]
