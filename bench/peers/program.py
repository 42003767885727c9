"""What a program is: a name, its inputs, and one expression over an array namespace."""

import dataclasses
from typing import Callable, Mapping, Optional, Sequence

import numpy as np

# What limits a program, and the goal for the geometric mean of Heddle's time over the best peer's.
CLASSES = {"dispatch": 0.25, "bandwidth": 0.85, "arithmetic": 0.80, "library": 1.00}
# The goal over all programs.
OVERALL = 0.70
# Half of the distance from 1 to the next number.
ROUNDOFF = {"float16": 2**-11, "bfloat16": 2**-8, "float32": 2**-24, "float64": 2**-53,
            "complex64": 2**-24, "complex128": 2**-53}
# What sums are accumulated in.
ACCUMULATOR = {"float16": "float32", "bfloat16": "float32"}


def rounding(dtype, operations, length=1):
    """The tolerance of a chain of `operations` and sums of `length` terms: four roundings an
    operation, for peers whose division and functions are not exact, and one a term of a sum in any
    order, errors of random sign."""
    return (4 * ROUNDOFF[dtype] * operations
            + 4 * ROUNDOFF[ACCUMULATOR.get(dtype, dtype)] * (length - 1)**0.5)


def dtype_named(name):
    """NumPy's dtype of the name; bfloat16 is that of the package ml_dtypes."""
    if name == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)


def cast(xp, x, dtype):
    """x converted to the dtype of the name."""
    return xp.astype(x, dtype) if hasattr(xp, "astype") else x.astype(dtype)


@dataclasses.dataclass(frozen=True)
class Input:
    """Uniform numbers over [low, high); of a complex number, both parts."""

    shape: Sequence[int]
    low: float = 0.1
    high: float = 1.0
    dtype: str = "float32"

    def make(self, seed):
        random = np.random.default_rng(seed)
        if self.dtype.startswith(("int", "uint", "bool")):
            return random.integers(int(self.low), int(self.high), self.shape, self.dtype)
        drawn = np.float64 if self.dtype in ("float64", "complex128") else np.float32
        parts = 2 if self.dtype.startswith("complex") else 1
        numbers = random.random((*self.shape[:-1], self.shape[-1] * parts), drawn)
        numbers *= drawn(self.high - self.low)
        numbers += drawn(self.low)
        if parts == 2:
            return numbers.view(self.dtype)
        return numbers.astype(dtype_named(self.dtype), copy=False)


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
    kind: str = "bandwidth"  # of CLASSES: what limits it
    field: str = ""  # of programs.FIELDS: where it is from
    tolerance: float = 1e-5  # relative to the larger of `floor` and the value
    floor: float = 1.0
    rows: Sequence[int] = ()  # indices of inputs along whose first axis the program is independent
    halo: int = 0  # of these inputs' rows, beside its own, that a row of the result needs
    result: Optional[str] = None  # the result's dtype, if it is not the inputs'
    approximate: bool = False
    tf32: bool = False
    draws: int = 0  # number of normal float32 numbers to generate
    check: Optional[Callable] = None  # error of (result, inputs), if there is no reference
    absent: Mapping[str, str] = dataclasses.field(default_factory=dict)  # system -> why
    own: Mapping[str, Callable] = dataclasses.field(default_factory=dict)  # system -> its function
    in_cpp: bool = False  # whether bench/programs/ contains it

    @property
    def listed(self):
        """Whether it is in the table of the performance page."""
        return self.field == "page"

    def bind(self, namespace, system=""):
        function = self.own.get(system, self.function)

        def program(*arrays):
            return function(namespace, *arrays)

        return program


def line(count, scale):
    """The scaled length of a long axis."""
    return max(1, count // scale**2)


def side(extent, scale):
    """The scaled side of a matrix."""
    return max(1, extent // scale)
