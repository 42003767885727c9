"""Heddle: a JIT tracing array compiler with NumPy's vocabulary.

Operations are recorded, not run. When a value is read, its operations are compiled, for a GPU or
the host, into few kernels that minimise memory traffic. The kernels are kept in a cache.

>>> import heddle as hd
>>> x = hd.linspace(0.0, 1.0, 5)
>>> hd.sum(hd.sin(x) * 2)
"""

import importlib
import sys

import numpy  # noqa: F401: before _heddle, after which PyTorch 2.11 did not load on Ubuntu 24.04

from heddle import _heddle
from heddle._heddle import *  # noqa: F401,F403
from heddle import exceptions, lib
from heddle._compositions import (apply_over_axes, broadcast, einsum_path, mask_indices, real_if_close,
                                  sort_complex)
from heddle._conversions import (array2string, array_repr, array_str, asanyarray, asarray_chkfinite,
                                 ascontiguousarray, asfortranarray, frombuffer, fromfile, fromiter,
                                 fromstring, genfromtxt, isfortran, require)
from heddle._control import associative_scan, cond, fori_loop, map, scan, switch, while_loop
from heddle._errstate import errstate, geterr, seterr
from heddle._facts import (common_type, iscomplexobj, isrealobj, isscalar, issubdtype, iterable,
                           may_share_memory, min_scalar_type, ndenumerate, ndim, ndindex,
                           shape, shares_memory, size)
from heddle import _legacy_random, _nnet
from heddle._grids import mgrid, ogrid
from heddle._index_tricks import c_, index_exp, r_, s_
from heddle._jit import jit
from heddle._kernels import ElementwiseKernel, ReductionKernel, fuse
from heddle import _array, _libraries, _numpy, _ufunc
from heddle._namespace import __array_namespace_info__, get_array_module
from heddle._poly1d import poly1d, polyadd, polyder, polydiv, polyint, polymul, polysub, polyval
from heddle._polynomials import poly, polyfit, roots
from heddle._precision import matmul_precision
from heddle._printing import get_printoptions, printoptions, set_printoptions
from heddle._raw_kernels import RawKernel, RawModule
from heddle._transform import vmap
from heddle._vectorize import vectorize

sys.modules[__name__ + ".random"] = random  # noqa: F405
sys.modules[__name__ + ".fft"] = fft  # noqa: F405
sys.modules[__name__ + ".linalg"] = linalg  # noqa: F405
sys.modules[__name__ + ".nnet"] = nnet  # noqa: F405
linalg.tensordot, linalg.matrix_transpose = tensordot, matrix_transpose  # noqa: F405

from heddle import cuda, distributed, profiler  # noqa: E402
from heddle import _scipy as scipy  # noqa: E402
from heddle.cuda import get_default_memory_pool, get_default_pinned_memory_pool, is_available  # noqa: E402
sys.modules[__name__ + ".scipy"] = scipy
sys.modules[__name__ + ".scipy.linalg"] = scipy.linalg
sys.modules[__name__ + ".scipy.special"] = scipy.special

_numpy.install()
_legacy_random.install(random)  # noqa: F405
_nnet.install(nnet)  # noqa: F405
_ufunc.install()
_array.install()
_libraries.add_folders()
_heddle._set_package_folder(__file__.removesuffix("__init__.py"))

bool_ = bool  # noqa: F405
int_ = intp = long = longlong = int64  # noqa: F405
uint = uintp = ulong = ulonglong = uint64  # noqa: F405
byte, short, intc = int8, int16, int32  # noqa: F405
ubyte, ushort, uintc = uint8, uint16, uint32  # noqa: F405
half, single, double, float_ = float16, float32, float64, float64  # noqa: F405
csingle, cdouble = complex64, complex128  # noqa: F405
ndarray = Array  # noqa: F405
dtype = DType  # noqa: F405
flatiter = _array.flatiter
row_stack = vstack  # noqa: F405
True_, False_ = True, False
e = 2.718281828459045
euler_gamma = 0.5772156649015329
inf = float("inf")
nan = float("nan")
newaxis = None
pi = 3.141592653589793

__array_api_version__ = "2024.12"
__version__ = _heddle.__version__
__all__ = [name for name in _heddle.__dict__ if not name.startswith("_")]
__all__ += ["bool_", "byte", "cdouble", "csingle", "double", "float_", "half", "int_", "intc", "intp",
            "long", "longlong", "short", "single", "ubyte", "uint", "uintc", "uintp", "ulong",
            "ulonglong", "ushort"]
__all__ += ["cuda", "distributed", "get_default_memory_pool", "get_default_pinned_memory_pool", "is_available", "profiler"]
__all__ += ["False_", "True_", "e", "errstate", "euler_gamma", "exceptions", "get_array_module", "inf",
            "jit", "lib", "matmul_precision", "mgrid", "nan", "newaxis", "ogrid", "pi", "row_stack", "scipy"]
__all__ += ["apply_over_axes", "array2string", "array_repr", "array_str", "asanyarray",
            "asarray_chkfinite", "ascontiguousarray", "asfortranarray", "common_type", "einsum_path",
            "frombuffer", "fromfile", "fromiter", "fromstring", "genfromtxt", "iscomplexobj",
            "isfortran", "isrealobj", "isscalar", "issubdtype", "iterable", "mask_indices",
            "may_share_memory", "min_scalar_type", "ndenumerate", "ndim", "ndindex", "poly", "polyadd",
            "get_printoptions", "poly1d", "polyder", "polydiv", "polyfit", "polyint", "polymul", "polysub",
            "printoptions", "set_printoptions",
            "real_if_close", "roots",
            "require", "shape", "shares_memory", "size", "sort_complex"]
__all__ += ["broadcast", "c_", "dtype", "flatiter", "geterr", "index_exp", "ndarray", "r_", "s_", "seterr", "vectorize"]
# What has nothing to do with where elements are: NumPy's kinds of dtypes, its scalar types for dtypes
# that there are none of here, and its texts of numbers.
_FROM_NUMPY = ("base_repr", "binary_repr", "bytes_", "character", "clongdouble", "complexfloating",
               "datetime64", "flexible", "floating", "format_float_positional",
               "format_float_scientific", "generic", "inexact", "integer", "longdouble", "mintypecode",
               "number", "object_", "signedinteger", "str_", "timedelta64", "typecodes", "typename",
               "unsignedinteger", "void")


def __getattr__(name):
    """NumPy, and modules that few programs use, are imported only for what asks for them."""
    if name in _FROM_NUMPY:
        import numpy

        return getattr(numpy, name)
    if name in ("sparse", "testing"):
        return importlib.import_module("heddle." + name)
    raise AttributeError(f"module 'heddle' has no attribute '{name}'")
