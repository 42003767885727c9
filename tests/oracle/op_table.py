"""The op tables of the IR, read from the very files that the library is built from."""

import dataclasses
import functools
import math
import pathlib
import re

import numpy as np

import draws
import dtypes

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "ir" / "include" / "heddle"


@dataclasses.dataclass
class Elementwise:
    name: str
    function: object  # NumPy's, which says the dtype
    reference: object  # what says the value
    ulp: float
    complex_ulp: float  # of the result's larger part; ir/types/op.h

    def allowed(self, dtype):
        """The error that operands of a dtype may lead to, in ulp; 0 for an exact op."""
        return self.complex_ulp if dtypes.is_complex(dtype) else self.ulp

    @property
    def format_bound(self):
        return self.name in FORMAT_BOUND


def lines_of(file, macro):
    text = re.sub(r"//.*", "", (FOLDER / file).read_text())
    for match in re.finditer(macro + r"\(((?:[^()\"]|\"[^\"]*\"|\([^()]*\))*)\)", text):
        yield [field.strip() for field in re.findall(r"((?:\"[^\"]*\"|[^,])+)", match.group(1))]


def sinc(x):
    """numpy.sinc, accurate beside its zeros too: numpy's own multiplies by a rounded pi."""
    pi = np.arctan(x.dtype.type(1)) * 4
    nearest = np.rint(x)
    sine = np.sin(pi * (x - nearest)) * np.where(np.fmod(nearest, 2) == 0, 1, -1)
    return np.where(x == 0, x.dtype.type(1), sine / np.where(x == 0, 1, pi * x))


def erf(x):
    return np.vectorize(math.erf, otypes=[np.float64])(x).astype(x.dtype)


def log1p(x):
    """numpy.log1p, of complex numbers accurate near 0 too: numpy's own adds 1 first."""
    if not np.iscomplexobj(x):
        return np.log1p(x)
    near = np.maximum(np.abs(x.real), np.abs(x.imag)) < 0.5
    real = np.where(near, np.log1p(x.real * (2 + x.real) + x.imag**2) / 2, np.log(1 + x).real)
    result = np.empty_like(x)
    result.real, result.imag = real, np.arctan2(x.imag, 1 + x.real)
    return result


# Where NumPy's own function is not accurate enough to judge by.
REFERENCES = {"sinc": sinc, "log1p": log1p}
# What NumPy does not have.
OWN = {"math.erf": erf, **{f.__name__: f for f in draws.FUNCTIONS}}
# Functions of a dtype's own format, which no wider one can stand in for.
FORMAT_BOUND = {"nextafter", "spacing"}


def resolve(field):
    """The function that a table's field stands for: "numpy.add", or an expression of x and y."""
    text = field.strip('"')
    if text in OWN:
        return OWN[text]
    if re.fullmatch(r"numpy(\.\w+)+", text):
        return functools.reduce(getattr, text.split(".")[1:], np)
    return eval(f"lambda x, y=None: {text}", {"numpy": np})


def complex_ulp(name, traits, ulp):
    if name in ("power", "exp2"):
        return 40.0 if name == "power" else 16.0
    return 0.0 if ulp == 0 and "rounds_complex" not in traits else max(ulp, 4.0)


def load_elementwise():
    table = {}
    for fields in lines_of("ops.def", "HD_OP"):
        name, numpy_name, ulp = fields[0], fields[5], float(fields[7])
        function = resolve(numpy_name)
        reference = REFERENCES.get(name, function)
        table[name] = Elementwise(name, function, reference, ulp, complex_ulp(name, fields[4], ulp))
    return table


def load_reductions():
    return {fields[0] for fields in lines_of("reductions.def", "HD_REDUCTION")}


def load_scans():
    return {fields[0]: resolve(fields[2]) for fields in lines_of("scans.def", "HD_SCAN")}


ELEMENTWISE = load_elementwise()
REDUCTIONS = load_reductions()
SCANS = load_scans()
VIEWS = {"reshape", "transpose", "broadcast_to", "slice"}
SCATTERS = {"scatter_add", "scatter_max"}
MOVES = VIEWS | {"concatenate", "slice_update", "gather"}  # carry values without changing them
