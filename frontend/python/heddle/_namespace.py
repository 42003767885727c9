"""Introspection of this module for array-agnostic code."""

import sys

from heddle import _heddle

_KINDS = ("bool", "signed integer", "unsigned integer", "integral", "real floating",
          "complex floating", "numeric")
_STANDARD = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
             "float32", "float64", "complex64", "complex128")


class _Info:
    """The result of __array_namespace_info__: the inspection API of the array API standard."""

    def capabilities(self):
        """The supported optional parts of the standard. Data-dependent shapes evaluate and wait."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 32}

    def default_device(self):
        """The device that new arrays are on: 'cpu' or 'cuda:0'."""
        return _heddle.device()

    def devices(self):
        """All devices of this machine."""
        return _heddle.devices()

    def default_dtypes(self, *, device=None):
        """The dtypes that creation functions use when none is given."""
        dtypes = {"real floating": _heddle.float64, "complex floating": "complex128",
                  "integral": _heddle.int64, "indexing": _heddle.int64}
        name = dtypes["complex floating"]
        dtypes["complex floating"] = getattr(_heddle, name, None)
        return dtypes

    def dtypes(self, *, device=None, kind=None):
        """The standard's dtypes by name; only those of the given kind or kinds, if any."""
        found = {name: getattr(_heddle, name) for name in _STANDARD if hasattr(_heddle, name)}
        if kind is None:
            return found
        return {name: dtype for name, dtype in found.items() if _heddle.isdtype(dtype, kind)}


def __array_namespace_info__():
    """The inspection API of the array API standard: capabilities, devices and dtypes.

    Example: hd.__array_namespace_info__().default_device()
    """
    return _Info()


def has_arrays(args):
    """True if one of the arguments is an Array or a sparse array of Heddle."""
    if any(isinstance(arg, _heddle.Array) for arg in args):
        return True
    sparse = sys.modules.get("heddle.sparse")  # without it there are no sparse arrays
    return sparse is not None and any(map(sparse.issparse, args))


def get_array_module(*args):
    """heddle if one of the arguments is its Array or sparse array, else numpy:
    cupy.get_array_module.

    Example: xp = hd.get_array_module(x)
    """
    import heddle

    if has_arrays(args):
        return heddle
    import numpy

    return sys.modules.get("numpy", numpy)
