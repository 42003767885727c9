"""What constructors and operators of heddle.sparse take: arrays, indices, shapes, SciPy's objects."""

import operator

import heddle as hd
from heddle import _heddle

INT32_MAX = 2**31 - 1


def is_scipy(x):
    """Whether x is a sparse matrix or array of SciPy, or a copy of one: CuPy's, for example."""
    return "scipy.sparse" in type(x).__module__ and hasattr(x, "tocsr")


def is_scalar(x):
    """A number, or an array without axes."""
    if isinstance(x, (bool, int, float, complex)):
        return True
    return getattr(x, "shape", None) == () and hasattr(x, "dtype")


def is_dense(x):
    """Anything that becomes an Array: of Heddle, of another library, or nested lists."""
    return isinstance(x, (_heddle.Array, list, tuple)) or (
        hasattr(x, "shape") and hasattr(x, "dtype") and not hasattr(x, "tocsr"))


def is_shape(x):
    """Whether a tuple holds extents, and so describes a matrix without elements."""
    if not isinstance(x, tuple) or len(x) not in (1, 2):
        return False
    try:
        return all(operator.index(each) is not None for each in x)
    except TypeError:
        return False


def shape_of(shape, one_axis=False):
    """The two extents of a matrix. One extent, where it is allowed, is that of a row."""
    extents = tuple(operator.index(each) for each in shape)
    if len(extents) != 2 and not (one_axis and len(extents) == 1):
        raise ValueError(f"the shape {shape} must have two extents")
    if min(extents, default=0) < 0:
        raise ValueError(f"the shape {shape} is negative")
    return extents if len(extents) == 2 else (1, *extents)


def extents_given(shape):
    """The extents in *shape: integers, or one sequence of them."""
    return shape if len(shape) != 1 or not hasattr(shape[0], "__len__") else tuple(shape[0])


def dense(x, dtype=None, copy=False):
    """x as an Array."""
    if isinstance(x, _heddle.Array) and not copy and dtype is None:
        return x
    return hd.array(x, dtype=dtype) if copy else hd.asarray(x, dtype=dtype)


def indices(x, name, copy=False):
    """x as an Array of int32 or int64."""
    array = dense(x, copy=copy)
    if array.dtype in (hd.int32, hd.int64):
        return array
    if array.dtype.kind not in "iu" and array.size:
        raise _heddle.DTypeError(f"{name} is {array.dtype}; indices are integers")
    return array.astype(hd.int32 if array.dtype.kind in "iu" and array.dtype.itemsize < 4 else hd.int64)


def same_indices(arrays, shape, count, keep):
    """Index arrays with one dtype. int32 if it is enough: for arrays, which `keep` theirs, only if
    all are int32."""
    small = max(*shape, count) <= INT32_MAX
    narrow = small and (not keep or all(array.dtype == hd.int32 for array in arrays))
    dtype = hd.int32 if narrow else hd.int64
    return [array if array.dtype == dtype else array.astype(dtype) for array in arrays]


def index_dtype(shape, count=0):
    """The dtype of indices up to the extents and the number of elements."""
    return hd.int32 if max(*shape, count) <= INT32_MAX else hd.int64


def number_of(x):
    """An Array of one element as a Python number; a Python number stays."""
    return x if isinstance(x, (bool, int, float, complex)) else dense(x).item()
