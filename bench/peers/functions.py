"""Every function of the op table, and every reduction, scan and sort, as single-function programs.

The functions are read from the tables that the library is built from. Dtypes are common ones that
NumPy has; sizes are those of the performance page.
"""

import dataclasses
import functools
import pathlib
import re

import numpy as np

from peers.program import Input, Program

TABLES = pathlib.Path(__file__).resolve().parents[2] / "ir" / "include" / "heddle"
SIZES = (10**5, 10**7)
DTYPES = ("bool", "int32", "float16", "float32", "float64")
FLOATING = {"all_dtypes", "numbers", "reals", "inexact", "floats"}
# For each dtype, the sets of the table (ir/types/op.h) that contain it.
SETS = {"bool": {"all_dtypes", "booleans"},
        "int32": {"all_dtypes", "numbers", "reals", "integers"},
        "float16": FLOATING, "float32": FLOATING | {"parts_of_complexes"},
        "float64": FLOATING | {"parts_of_complexes"}}
# Allowed error, relative to the larger of 1 and the value. It includes NumPy's own error.
TOLERANCES = {"bool": 0, "int32": 0, "float16": 2**-7, "float32": 1e-5, "float64": 1e-13}
# Inputs are uniform over [low, high), chosen so that no result is infinite or NaN.
DOMAINS = {"any": (-10, 10), "exponent": (-5, 5), "positive": (0.1, 100),
           "above_minus_one": (-0.9, 100), "at_least_one": (1, 100), "unit": (-1, 1),
           "inside_unit": (-0.99, 0.99), "angle": (-100, 100), "power": (0.1, 4),
           "small_exponent": (-10, 10)}
HALF_BOUNDED = {"sqrt": "positive"}  # accepts any number, but is NaN below 0
# From a number of elements: a shape, and the axis to reduce.
LAYOUTS = {"all": lambda size: ((size,), None),
           "rows": lambda size: ((size // 1000, 1000), -1),
           "columns": lambda size: ((size // 1000, 1000), 0)}


@dataclasses.dataclass(frozen=True)
class Function(Program):
    op: str = ""
    dtype: str = ""
    size: int = 0
    widened: bool = False  # whether NumPy computes the reference in long double

    def reference(self, inputs):
        exact = [x.astype(np.longdouble) if self.widened and x.dtype.kind == "f" else x
                 for x in inputs]
        with np.errstate(all="ignore"):
            return np.asarray(self.function(np, *exact))


def lines_of(file, macro):
    text = re.sub(r"//.*", "", (TABLES / file).read_text())
    for match in re.finditer(macro + r"\(((?:[^()\"]|\"[^\"]*\"|\([^()]*\))*)\)", text):
        fields = re.findall(r"((?:\"[^\"]*\"|[^,])+)", match.group(1))
        yield [field.strip().strip('"') for field in fields]


def takes(dtypes, dtype):
    """Whether a set expression of the table, such as "booleans | integers", contains the dtype."""
    return not SETS[dtype].isdisjoint(dtypes.split(" | "))


def named(name, dtype, size, layout=""):
    return f"{name}{' of ' if layout else ''}{layout}, {dtype}, 1e{len(str(size)) - 1}"


def is_heddle(namespace):
    return namespace.__name__ == "heddle"


def expression(name, text):
    """The function of (namespace, arrays) for a NumPy expression of the table. If the expression is
    not a single NumPy function, Heddle uses its own function for the op."""
    if re.fullmatch(r"numpy\.\w+", text):
        return lambda xp, *arrays: getattr(xp, text.split(".")[1])(*arrays)
    code = compile(text, text, "eval")

    def function(xp, x, y=None):
        if is_heddle(xp) and hasattr(xp, name):
            return getattr(xp, name)(x) if y is None else getattr(xp, name)(x, y)
        return eval(code, {"numpy": xp, "x": x, "y": y})

    return function


def operand(k, rule, domain, dtype, shape):
    """Operand k of an elementwise function."""
    if dtype == "bool" or rule == "select" and k == 0:
        return Input(shape, 0, 2, "bool")
    if rule == "load_exponent" and k == 1:
        return Input(shape, -10, 10, "int32")
    if dtype == "int32":
        shifts_or_powers = {"shift": (0, 31), "power": (0, 8)}
        return Input(shape, *(shifts_or_powers.get(domain, (1, 1000)) if k else (-1000, 1000)),
                     "int32")
    low, high = DOMAINS[domain]
    return Input(shape, -4 if domain == "power" and k else low, high, dtype)


def elementwise(size, dtype):
    for name, arity, rule, dtypes, _, text, domain, _, _ in lines_of("ops.def", "HD_OP"):
        if "numpy." not in text or not takes(dtypes, dtype):
            continue  # functions that NumPy does not have
        domain = HALF_BOUNDED.get(name, domain)
        inputs = tuple(operand(k, rule, domain, dtype, (size,)) for k in range(int(arity)))
        yield Function(named(name, dtype, size), expression(name, text), inputs, op=name,
                       dtype=dtype, size=size, tolerance=TOLERANCES[dtype])


def numbers_for(op, dtype, shape):
    """Inputs for which products stay near 1, and which allow no early exit before the last
    element."""
    if op == "any" or op in ("max", "argmax") and dtype == "bool":
        return Input(shape, 0, 1 if dtype in ("bool", "int32") else 0, dtype)
    if op == "all" or op in ("min", "argmin") and dtype == "bool":
        return Input(shape, 1, 2, dtype)
    if dtype == "bool":
        return Input(shape, 0, 2, "bool")
    if dtype == "int32":
        return Input(shape, -1000, 1000, dtype)
    if op.endswith("prod"):
        return Input(shape, 1 - 2**-10, 1 + 2**-10, dtype)
    return Input(shape, -1, 1, dtype)


def tolerance_of(op, dtype, count):
    """Rounding errors of sums of mixed signs grow with the square root of the count."""
    if dtype in ("bool", "int32") or op not in ("sum", "prod", "cumsum", "cumprod", "logcumsumexp"):
        return 0
    return {"float16": 2**-7, "float32": 2**-19, "float64": 2**-48}[dtype] * count**0.5


def along_axes(op, dtype, size, function):
    """Yields the function of (namespace, array, axis) for every layout."""
    for layout, of_size in LAYOUTS.items():
        shape, axis = of_size(size)

        def program(xp, x, axis=axis):
            return function(xp, x, axis)

        tolerance = tolerance_of(op, dtype, size if axis is None else shape[axis])
        yield Function(named(op, dtype, size, layout), program,
                       (numbers_for(op, dtype, shape),), op=op, dtype=dtype, size=size,
                       widened=tolerance > 0, tolerance=tolerance)


def reductions(size, dtype):
    for name, _, dtypes, text in lines_of("reductions.def", "HD_REDUCTION"):
        if takes(dtypes, dtype):
            numpy_name = text.split(".")[1]
            yield from along_axes(name, dtype, size, lambda xp, x, axis, of=numpy_name:
                                  getattr(xp, of)(x, axis=axis))


def scans(size, dtype):
    for name, dtypes, text in lines_of("scans.def", "HD_SCAN"):
        def scan(xp, x, axis, name=name, names=tuple(text.split(".")[1:])):
            function = getattr(xp, name) if is_heddle(xp) else functools.reduce(getattr, names, xp)
            return function(x, axis=0 if axis is None else axis)

        if takes(dtypes, dtype):
            yield from along_axes(name, dtype, size, scan)


def order_error(result, inputs):
    """0 if the result is the sorted input, else infinite. The reference is a stable sort, because
    NumPy 2.4's default sort of float16 is not always correct."""
    return 0.0 if np.array_equal(result, np.sort(inputs[0], kind="stable")) else np.inf


def places_error(places, inputs):
    """The same for the result of argsort, which is not unique if there are ties."""
    (x,) = inputs
    once = np.array_equal(np.bincount(places, minlength=x.size), np.ones(x.size, np.int64))
    return order_error(x[places], inputs) if once else np.inf


def sorts(size, dtype):
    low, high = {"bool": (0, 2), "int32": (-2**31, 2**31)}.get(dtype, (-1000, 1000))
    line = (Input((size,), low, high, dtype),)
    yield Function(named("sort", dtype, size), lambda xp, x: xp.sort(x), line, op="sort",
                   dtype=dtype, size=size, check=order_error, tolerance=0)
    yield Function(named("argsort", dtype, size), lambda xp, x: xp.argsort(x), line, op="argsort",
                   dtype=dtype, size=size, tolerance=0, check=places_error)


def all_functions(sizes=SIZES):
    return [function for size in sizes for kind in (elementwise, reductions, scans, sorts)
            for dtype in DTYPES for function in kind(size, dtype)]
