"""The programs: each has a name, its inputs, and one expression over an array namespace.

Names and sizes are those of bench/programs/cases.cpp, which contains the same programs in C++.
`scale` reduces the work for machines slower than a GPU: it divides the extents of matrices, and its
square divides the number of elements of arrays with one long axis.
"""

import dataclasses
from typing import Callable, Mapping, Optional, Sequence

import numpy as np


@dataclasses.dataclass(frozen=True)
class Input:
    """Uniform numbers over [low, high)."""

    shape: Sequence[int]
    low: float = 0.1
    high: float = 1.0
    dtype: str = "float32"

    def make(self, seed):
        random = np.random.default_rng(seed)
        if self.dtype.startswith(("int", "bool")):
            return random.integers(int(self.low), int(self.high), self.shape, self.dtype)
        drawn = np.float64 if self.dtype == "float64" else np.float32
        numbers = random.random(self.shape, drawn)
        numbers *= drawn(self.high - self.low)
        numbers += drawn(self.low)
        return numbers.astype(self.dtype, copy=False)


@dataclasses.dataclass(frozen=True)
class Goal:
    """The goal: Heddle's microseconds per call are at most `factor` times those of `basis`.

    The basis is one of: bytes, the fewest bytes over the bandwidth of a copy; reach, a hand-written
    kernel, measured where a copy moved 4.26 TB/s; us, microseconds; peers, the fastest correct peer
    of the run.
    """

    factor: float
    basis: str
    microseconds: float = 1.0


BEST = Goal(1.0, "peers")


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    function: Optional[Callable]  # of a namespace and the arrays; None for random numbers
    inputs: Sequence[Input]
    goal: Goal = BEST
    listed: bool = False  # in the table of the performance page
    tolerance: float = 1e-5  # relative to the larger of `floor` and the value
    floor: float = 1.0
    rows: Sequence[int] = ()  # indices of inputs along whose first axis the program is independent
    memory: bool = True  # limited by memory, not by arithmetic
    approximate: bool = False
    tf32: bool = False
    draws: int = 0  # number of normal float32 numbers to generate
    check: Optional[Callable] = None  # error of (result, inputs), if there is no reference
    absent: Mapping[str, str] = dataclasses.field(default_factory=dict)  # system -> why

    def bind(self, namespace):
        function = self.function

        def program(*arrays):
            return function(namespace, *arrays)

        return program


def scaled_sum(xp, x, w, b):
    return x * w + b


def normal_distribution(xp, x):  # Abramowitz and Stegun 26.2.17
    k = 1.0 / (1.0 + 0.2316419 * xp.abs(x))
    tail = -1.821255978 + k * 1.330274429
    p = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * tail)))
    c = 1.0 - 0.3989422804014327 * xp.exp(-0.5 * x * x) * p
    return xp.where(x > 0, c, 1.0 - c)


def black_scholes(xp, s, k, t):
    rate, volatility = 0.02, 0.30
    root = xp.sqrt(t)
    d1 = (xp.log(s / k) + (rate + 0.5 * volatility * volatility) * t) / (volatility * root)
    d2 = d1 - volatility * root
    present = xp.exp(-rate * t)
    return s * normal_distribution(xp, d1) - k * present * normal_distribution(xp, d2)


def softmax(xp, x, axis=-1):
    e = xp.exp(x - xp.max(x, axis=axis, keepdims=True))
    return e / xp.sum(e, axis=axis, keepdims=True)


def softmax_of_columns(xp, x):
    return softmax(xp, x, axis=0)


def layernorm(xp, x, g, b):
    d = x - xp.mean(x, axis=-1, keepdims=True)
    return d / xp.sqrt(xp.mean(d * d, axis=-1, keepdims=True) + 1e-5) * g + b


def rms_norm(xp, x, g):
    return x / xp.sqrt(xp.mean(x * x, axis=-1, keepdims=True) + 1e-5) * g


def standardize(xp, x, axis=0):
    d = x - xp.mean(x, axis=axis, keepdims=True)
    return d / xp.sqrt(xp.mean(d * d, axis=axis, keepdims=True) + 1e-6)


def standardize_middle(xp, x):
    return standardize(xp, x, axis=1)


def standardize_all(xp, x):
    return standardize(xp, x, axis=None)


def in_c_order(xp, x):
    """Makes the copy in C order. NumPy, CuPy and torch would otherwise keep the input's memory
    order and transpose nothing. Libraries without this function have only one order."""
    return xp.ascontiguousarray(x) if hasattr(xp, "ascontiguousarray") else x


def transposed(xp, x):
    return in_c_order(xp, x.T * 2 + 1)


def permuted(xp, x):
    return in_c_order(xp, xp.transpose(x, (2, 0, 1)) * 2 + 1)


def jacobi(xp, u):
    return 0.2 * (u[1:-1, 1:-1] + u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])


def heat(xp, u):
    middle = u[1:-1, 1:-1, 1:-1]
    around = (u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1] + u[1:-1, :-2, 1:-1] + u[1:-1, 2:, 1:-1]
              + u[1:-1, 1:-1, :-2] + u[1:-1, 1:-1, 2:])
    return middle + 0.1 * (around - 6.0 * middle)


def perceptron(xp, x, w1, b1, w2, b2):
    h = xp.matmul(x, w1) + b1
    h = 0.5 * h * (1.0 + xp.tanh(0.7978845608 * (h + 0.044715 * h * h * h)))
    return xp.matmul(h, w2) + b2


def dense(xp, x, w, b):
    return xp.maximum(xp.matmul(x, w) + b, 0)


def norms_of_rows(xp, a):
    return xp.sqrt(xp.sum(a * a, axis=-1))


def chain_of_ten(xp, x, y):
    z = x + y
    for _ in range(3):
        z = (z * y + x) * 0.5
    return xp.exp(-z)


def order_error(order, inputs):
    """0 if `order` sorts the input, with ties in any order; else infinite."""
    (x,) = inputs
    order = order.astype(np.int64)
    every = np.sort(order) if order.size < 2**20 else np.flatnonzero(np.bincount(order) == 1)
    if not np.array_equal(every, np.arange(x.size)):
        return np.inf
    sorted_numbers = x[order]
    return 0.0 if np.all(sorted_numbers[1:] >= sorted_numbers[:-1]) else np.inf


def normal_error(numbers, inputs):
    """The deviation of the moments in standard errors, divided by six. Above 1 is not due to
    chance."""
    exact = numbers.astype(np.float64)
    square = exact * exact
    moments = exact.mean(), (square.mean() - 1) / 2**0.5, (square * exact).mean() / 15**0.5
    return max(map(abs, moments)) * numbers.size**0.5 / 6


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
    programs = [
        Program("x*w+b", scaled_sum, (line,) * 3, Goal(1.01, "reach", 243), rows=(0, 1, 2)),
        # Tolerance: the results are differences of prices near 100.
        Program("Black-Scholes", black_scholes, prices, Goal(1.0, "us", 340), tolerance=1e-4,
                rows=(0, 1, 2), absent={"jax": DIVIDES, "inductor": DIVIDES}),
        Program("Black-Scholes, approximate", black_scholes, prices, Goal(1.0, "us", 285),
                tolerance=1e-4, rows=(0, 1, 2), approximate=True,
                absent={"cupy": EXACT, "torch": EXACT}),
        Program(f"softmax {side} x {side}", softmax, (square,), Goal(1.06, "bytes"),
                floor=1 / side, rows=(0,)),
        Program("softmax {} x {}".format(*wide.shape), softmax, (wide,), Goal(1.20, "bytes"),
                floor=1 / wide.shape[1], rows=(0,)),
        Program("layernorm", layernorm, (rows, Input((1024,)), Input((1024,))),
                Goal(1.02, "peers"), rows=(0,)),
        *sums(n, side),
        Program("x.T*2+1", transposed, (square,), Goal(1.02, "bytes")),
        Program("Jacobi", jacobi, (square,), Goal(1.15, "bytes")),
        Program("standardize columns", standardize, (square,), Goal(1.30, "bytes")),
        Program(f"sort 1 x {n // 4}", lambda xp, x: xp.sort(x, axis=-1), (Input((1, n // 4)),),
                Goal(1.03, "reach", 429), memory=False),
        Program("MLP", perceptron, layers, Goal(0.98, "peers"), tolerance=1e-4, memory=False),
        # Operands have 11 bits. A sum of `hidden` products of about 0.06 has an error of 2^-11.5 of
        # that times sqrt(hidden); the largest error of all elements is some 5 times that.
        Program("MLP, tf32", perceptron, layers, Goal(0.98, "peers"), tolerance=1e-2,
                memory=False, tf32=True),
        Program("sqrt(sum(a*a, -1))", norms_of_rows, (Input((256, 1024)),), Goal(1.0, "us", 3.5),
                rows=(0,)),
        Program("ten-op chain", chain_of_ten, (Input((1024,)),) * 2, Goal(1.0, "us", 3.0)),
    ]
    return [dataclasses.replace(program, listed=True) for program in programs]


def pointwise(scale):
    odd = 50_000_003 // scale**2
    half = Input((odd,), dtype="float16")
    return [
        Program("x*w+b, 1024 elements", scaled_sum, (Input((1024,)),) * 3),
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
        Program("heat, 7 points", heat, (Input((side, side, side)),)),
        Program("take of rows", lambda xp, x, i: x[i], table, tolerance=0),
        Program("sort {} x {}".format(*many.shape), lambda xp, x: xp.sort(x, axis=-1), (many,),
                memory=False, tolerance=0, rows=(0,)),
        Program("sort, int32", lambda xp, x: xp.sort(x, axis=-1),
                (Input((n // 4,), -2**31, 2**31, "int32"),), memory=False, tolerance=0),
        Program("argsort", lambda xp, x: xp.argsort(x, axis=-1), (Input((n // 4,)),),
                memory=False, tolerance=0, check=order_error),
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
        Program("MLP, float16", perceptron, layers, memory=False, tolerance=2**-5),
        # Results are up to 16, rounded to 11 bits once before the bias and once after it.
        Program("relu(x@w+b), float16", dense, half, memory=False, tolerance=2**-9, floor=16),
        Program("relu(x@w+b), uneven", dense, uneven, memory=False, tolerance=1e-4),
        Program("batched x@w", lambda xp, x, w: xp.matmul(x, w), batch, memory=False,
                tolerance=1e-4),
    ]


def all_programs(scale=1, device="cuda"):
    """The listed programs, and further ones of the same kinds, so that special cases for the listed
    ones do not help."""
    further = [pointwise, normalizations, reductions, movements, products]
    programs = listed(scale) + [program for kind in further for program in kind(scale)]
    if device == "cpu":  # without tf32, and with IEEE division in every system
        return [dataclasses.replace(program, absent={}) for program in programs
                if not program.tf32 and not program.approximate]
    return programs
