"""Heddle's element types in NumPy's terms, the precision that each is checked in, and rounding."""

import ml_dtypes
import numpy as np

BY_NAME = {
    "bool": np.dtype(np.bool_),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "u8": np.dtype(np.uint8),
    "u16": np.dtype(np.uint16),
    "u32": np.dtype(np.uint32),
    "u64": np.dtype(np.uint64),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "c64": np.dtype(np.complex64),
    "c128": np.dtype(np.complex128),
}
NAME_OF = {dtype: name for name, dtype in BY_NAME.items()}

# Explicit mantissa bits, and the exponent of the smallest normal number.
FORMATS = {"f16": (10, -14), "bf16": (7, -126), "f32": (23, -126), "f64": (52, -1022)}


def is_floating(name):
    return name in FORMATS


def is_complex(name):
    return name in ("c64", "c128")


def is_inexact(name):
    return is_floating(name) or is_complex(name)


def part(name):
    """The dtype of the parts of a complex one; any other itself."""
    return {"c64": "f32", "c128": "f64"}.get(name, name)


def epsilon(name):
    return 2.0 ** -FORMATS[part(name)][0]


def smallest(name):
    """The spacing of the numbers below the normal range, in the accumulator of a dtype."""
    bits, exponent = FORMATS[accumulator(name)]
    return 2.0 ** (exponent - bits)


def accumulator(name):
    """What sums of a dtype are kept in, part by part."""
    return "f32" if name in ("f16", "bf16") else part(name)


def widest_exponent(name):
    """Exponents beyond which the accumulator of a dtype overflows or loses bits."""
    return -FORMATS[accumulator(name)][1] + 1, FORMATS[accumulator(name)][1]


def widen(array, name):
    """The precision that a dtype is checked in: exact for its values, with bits to spare."""
    if is_complex(name):
        return array.astype(np.clongdouble if name == "c128" else np.complex128)
    if not is_floating(name):
        return array
    return array.astype(np.longdouble if name == "f64" else np.float64)


def parts(array):
    """A complex array with its real and imaginary parts along a last axis of 2."""
    array = np.ascontiguousarray(array).reshape(array.shape + (1,))
    return array.view(array.real.dtype)


def whole(values):
    """Inverse of parts."""
    values = np.ascontiguousarray(values)
    return values.view(np.result_type(values.dtype, np.complex64)).reshape(values.shape[:-1])


def magnitude(array):
    """The larger finite part of complex numbers, the absolute value of others."""
    if not np.iscomplexobj(array):
        return np.abs(array)
    values = np.abs(parts(array))
    return np.where(np.isfinite(values), values, 0).max(axis=-1)


def round_to(array, name):
    """Once, to nearest even. ml_dtypes' own cast from float64 rounds twice."""
    if name == "bf16" and array.dtype in (np.float64, np.longdouble):
        wide = array.astype(np.float64)
        single = wide.astype(np.float32)
        inexact = (single.astype(np.float64) != wide) & ~np.isnan(wide)
        away = np.abs(single.astype(np.float64)) > np.abs(wide)
        odd = (single.view(np.uint32) - away) | inexact
        return odd.astype(np.uint32).view(np.float32).astype(BY_NAME[name])
    return array.astype(BY_NAME[name])


def ulp(array, name):
    """The distance between neighbours at each value, as float64; 0 where it is not finite. Of
    complex numbers that at their larger part."""
    mantissa, smallest = FORMATS[part(name)]
    values = magnitude(np.asarray(array)).astype(np.float64)
    _, exponent = np.frexp(np.where(np.isfinite(values), values, 0))
    exponent = np.where(values == 0, smallest, np.maximum(exponent - 1, smallest))
    return np.where(np.isfinite(values), np.ldexp(1.0, exponent - mantissa), 0.0)
