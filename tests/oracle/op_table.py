"""The op tables of the IR, read from the very files that the library is built from."""

import dataclasses
import functools
import math
import pathlib
import re

import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "ir" / "include" / "heddle"


@dataclasses.dataclass
class Elementwise:
    name: str
    function: object  # NumPy's, which says the dtype
    reference: object  # what says the value
    ulp: float

    @property
    def exact(self):
        return self.ulp == 0

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


# Where NumPy's own function is not accurate enough to judge by.
REFERENCES = {"sinc": sinc}
# Functions of a dtype's own format, which no wider one can stand in for.
FORMAT_BOUND = {"nextafter", "spacing"}


def resolve(field):
    """The function that a table's field stands for: "numpy.add", or an expression of x and y."""
    text = field.strip('"')
    if text == "math.erf":
        return erf
    if re.fullmatch(r"numpy(\.\w+)+", text):
        return functools.reduce(getattr, text.split(".")[1:], np)
    return eval(f"lambda x, y=None: {text}", {"numpy": np})


def load_elementwise():
    table = {}
    for fields in lines_of("ops.def", "HD_OP"):
        name, numpy_name, ulp = fields[0], fields[5], float(fields[7])
        function = resolve(numpy_name)
        table[name] = Elementwise(name, function, REFERENCES.get(name, function), ulp)
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
