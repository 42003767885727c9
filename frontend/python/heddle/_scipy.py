"""Parts of SciPy, with its names: the module heddle.scipy."""

import importlib
import sys

from heddle import _namespace
from heddle import _scipy_linalg as linalg
from heddle import _scipy_special as special

__all__ = ["get_array_module", "linalg", "sparse", "special"]


def __getattr__(name):
    """heddle.sparse is imported only for what asks for it."""
    if name == "sparse":
        return importlib.import_module("heddle.sparse")
    raise AttributeError(f"module 'heddle.scipy' has no attribute '{name}'")


def get_array_module(*args):
    """heddle.scipy if one of the arguments is an Array or a sparse array of Heddle, else scipy:
    cupyx.scipy.get_array_module.

    Example: p, l, u = hd.scipy.get_array_module(a).linalg.lu(a)
    """
    if _namespace.has_arrays(args):
        return sys.modules["heddle.scipy"]
    import scipy

    return scipy
