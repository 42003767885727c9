"""Parts of SciPy, with its names: the module heddle.scipy."""

import sys

from heddle import _namespace
from heddle import _scipy_linalg as linalg

__all__ = ["get_array_module", "linalg"]


def get_array_module(*args):
    """heddle.scipy if one of the arguments is an Array or a sparse array of Heddle, else scipy:
    cupyx.scipy.get_array_module.

    Example: p, l, u = hd.scipy.get_array_module(a).linalg.lu(a)
    """
    if _namespace.has_arrays(args):
        return sys.modules["heddle.scipy"]
    import scipy

    return scipy
