"""Parts of SciPy, with its names: the module heddle.scipy."""

from heddle import _scipy_linalg as linalg

__all__ = ["linalg"]
