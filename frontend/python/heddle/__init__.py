"""Heddle: a JIT tracing array compiler with NumPy's vocabulary.

Operations are recorded, not run; what is asked for is compiled into as few kernels as its memory
traffic allows, for a GPU or the host, and kept in a cache.

>>> import heddle as hd
>>> x = hd.linspace(0.0, 1.0, 5)
>>> hd.sum(hd.sin(x) * 2)
"""

import sys

from heddle import _heddle
from heddle._heddle import *  # noqa: F401,F403
from heddle._errstate import errstate
from heddle._grids import mgrid, ogrid
from heddle._jit import jit
from heddle import _numpy
from heddle._namespace import __array_namespace_info__, get_array_module
from heddle._precision import matmul_precision

sys.modules[__name__ + ".random"] = random  # noqa: F405
sys.modules[__name__ + ".linalg"] = linalg  # noqa: F405

_numpy.install()

bool_ = bool  # noqa: F405
int_ = intp = int64  # noqa: F405
uint = uint64  # noqa: F405
half, single, double, float_ = float16, float32, float64, float64  # noqa: F405
csingle, cdouble = complex64, complex128  # noqa: F405
e = 2.718281828459045
inf = float("inf")
nan = float("nan")
newaxis = None
pi = 3.141592653589793

__array_api_version__ = "2024.12"
__version__ = _heddle.__version__
__all__ = [name for name in _heddle.__dict__ if not name.startswith("_")]
__all__ += ["bool_", "cdouble", "csingle", "double", "float_", "half", "int_", "intp", "single",
            "uint"]
__all__ += ["e", "errstate", "get_array_module", "inf", "jit", "matmul_precision", "mgrid", "nan",
            "newaxis", "ogrid", "pi"]
