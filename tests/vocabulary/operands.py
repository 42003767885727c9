"""What calls of frontend/functions.toml are made with: the same values for NumPy and for Heddle,
over dtypes, shapes and layouts.

    x, y, z   of the shape under test; z of small integers
    b         a vector that broadcasts against x
    m, c      bool and small int64, of the shape of x
    v, w, b4  vectors of 5, 3 and 4 elements
    p, q, s   matrices of 3x4, 4x2 and 4x4
    k         two vectors of 3
    ramp(n)   coordinates 0, 1, 4, 9 ... in float64
    written(f, x, ...)   x after f wrote into it
    zeros_of(x)          what has its shape and dtype only
    put_in(x, i, v)      a copy of x with x[i] = v
"""

import zlib

import numpy as np

import heddle as hd

DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
          "float16", "float32", "float64", "complex64", "complex128")
SETS = {
    "all": ("float32", "bool", "int8", "int32", "uint8", "int64", "float16", "float64"),
    "numbers": ("float32", "int8", "int32", "uint8", "int64", "float16", "float64"),
    "reals": ("float32", "int8", "int32", "uint8", "int64", "float16", "float64"),
    "floats": ("float32", "float16", "float64"),
    "ints": ("int32", "bool", "int8", "uint8", "int64"),
}
SHAPES = ((2, 3, 4), (3, 4), (5,), (), (0, 3), (1, 1))
LAYOUTS = ("contiguous", "offset", "strided", "reversed", "transposed", "broadcast")

FIXED = {"v": (5,), "w": (3,), "b4": (4,), "p": (3, 4), "q": (4, 2), "s": (4, 4), "k": (2, 3)}
SHAPED = ("x", "y", "z", "b", "m", "c")


def values(name, dtype, shape, domain):
    """Values of a dtype that a domain names; the same for the same arguments."""
    rng = np.random.default_rng(zlib.crc32(f"{name} {dtype} {shape}".encode()))
    kind = np.dtype(dtype).kind
    if domain in RANGES:
        low, high = RANGES[domain]
        found = rng.uniform(low, high, shape)
        if kind in "iub" and domain != "unit":
            found = np.ceil(found)
    else:
        found = rng.integers(0, 5, shape).astype(float)
        if kind in "ifc":
            found -= 2
        if kind in "fc":
            found /= 2
    if domain == "nonzero":
        found = np.where(found == 0, 1, found)
    if kind == "c":
        found = found + 1j * np.roll(np.ravel(found), 1).reshape(shape)
    found = np.asarray(found).astype(dtype)
    if kind in SPECIAL.get(domain, "") and found.size > 0:
        special = [np.nan, np.inf, -np.inf, -0.0] if domain == "any" else [np.nan]
        places = rng.permutation(found.size)[:max(1, found.size // 4)]
        found.flat[places] = np.resize(np.asarray(special, dtype), len(places))
    return found


# The kinds of dtype that get special values.
SPECIAL = {"any": "f", "nan": "fc"}
RANGES = {"exponent": (-4, 4), "positive": (0.1, 8), "above_minus_one": (-0.9, 8),
          "at_least_one": (1, 8), "unit": (-1, 1), "inside_unit": (-0.9, 0.9), "angle": (-20, 20),
          "shift": (0, 6), "power": (0.1, 3)}


def lay_out(array, layout):
    """A Heddle Array of NumPy's values, laid out so in memory; None where there is no such one."""
    if layout == "contiguous":
        return hd.asarray(array)
    if layout == "offset":
        base = np.concatenate([array.ravel()[:1], array.ravel()])
        return hd.asarray(base)[len(base) - array.size:].reshape(array.shape)
    if array.ndim == 0:
        return None
    if layout == "strided":
        return hd.asarray(np.repeat(array, 2, axis=-1))[..., ::2]
    if layout == "reversed":
        return hd.asarray(np.ascontiguousarray(array[::-1]))[::-1]
    if layout == "transposed":
        return hd.asarray(np.ascontiguousarray(array.T)).T
    return hd.broadcast_to(hd.asarray(array[:1]), array.shape)


class Operands:
    """The operands of one case by name, for both sides."""

    def __init__(self, dtype, shape, layout, domain):
        self.dtype, self.shape, self.layout, self.domain = dtype, shape, layout, domain

    def numpy(self, name):
        """The values that NumPy gets."""
        if name == "m":
            found = values(name, "bool", self.shape, "small")
        elif name in ("c", "z"):
            found = values(name, "uint8", self.shape, "small").astype("int64") % 2
            found = found.astype(self.dtype) if name == "z" else found
        elif name == "b":
            found = values(name, self.dtype, self.shape[-1:], self.domain)
        else:
            found = values(name, self.dtype, FIXED.get(name, self.shape), self.domain)
        if self.layout == "broadcast" and found.ndim > 0:
            found = np.broadcast_to(found[:1], found.shape)
        return found

    def heddle(self, name):
        """The same values, laid out."""
        array = self.numpy(name)
        laid_out = lay_out(array, self.layout)
        return hd.asarray(array) if laid_out is None else laid_out


def _written(copy):
    def written(function, x, *args, **kwargs):
        target = copy(x)
        function(target, *args, **kwargs)
        return target
    return written


def _with_item(copy):
    def put_in(x, place, value):
        target = copy(x)
        target[place] = value
        return target
    return put_in


def names(xp):
    """The other names of calls: dtypes and helpers."""
    dtypes = {name: getattr(xp, name) for name in DTYPES if name != "bool" and hasattr(xp, name)}
    dtypes["bool_"] = np.bool_ if xp is np else hd.bool
    as_array = np.asarray if xp is np else hd.asarray
    return dtypes | {
        "ramp": lambda n: as_array(np.arange(n, dtype=float) ** 2),
        "written": _written(xp.copy),
        "zeros_of": xp.zeros_like,
        "put_in": _with_item(xp.copy),
    }
