"""Properties of Arrays, numbers and dtypes, with NumPy's names and meanings."""

import numbers

from heddle import _heddle


def _array(a):
    return a if isinstance(a, _heddle.Array) else _heddle.asarray(a)


def ndim(a):
    """Number of axes: numpy.ndim."""
    return _array(a).ndim


def shape(a):
    """The tuple of extents: numpy.shape."""
    return _array(a).shape


def size(a, axis=None):
    """Number of elements, or the product of the extents of one or more axes: numpy.size. Raises
    AxisError."""
    x = _array(a)
    if axis is None:
        return x.size
    extents = x.shape
    count = 1
    for each in axis if isinstance(axis, tuple) else (axis,):
        if not -x.ndim <= each < x.ndim:
            raise _heddle.AxisError(each, x.ndim, "size")
        count *= extents[each]
    return count


def iscomplexobj(x):
    """True if the dtype is complex, for any object with a dtype: numpy.iscomplexobj."""
    dtype = getattr(x, "dtype", None)
    kind = getattr(dtype, "kind", None)
    if kind is not None:
        return kind == "c"
    scalar_type = getattr(dtype, "type", None)
    if scalar_type is not None:
        return _heddle.asarray(scalar_type()).dtype.kind == "c"
    return _array(x).dtype.kind == "c"


def isrealobj(x):
    """True if the dtype is not complex: numpy.isrealobj."""
    return not iscomplexobj(x)


def isscalar(element):
    """True for a number, a string or bytes, but not for an Array: numpy.isscalar."""
    if isinstance(element, (numbers.Number, str, bytes)):
        return True
    return type(element).__module__ == "numpy" and hasattr(element, "dtype") and not hasattr(
        element, "__setitem__")


def iterable(y):
    """True if iter(y) works: numpy.iterable."""
    try:
        iter(y)
    except TypeError:
        return False
    return True


def issubdtype(arg1, arg2):
    """True if a dtype equals another, or belongs to one of NumPy's kinds: numpy.issubdtype.

    Example: hd.issubdtype(x.dtype, hd.floating)
    """
    import numpy

    def plain(dtype):
        return dtype.dtype if isinstance(dtype, _heddle.DType) else dtype

    return numpy.issubdtype(plain(arg1), plain(arg2))


def common_type(*arrays):
    """The common floating or complex dtype of the arrays; an integer array counts as float64:
    numpy.common_type. Raises TypeError for bools."""
    result = _heddle.float16
    for array in arrays:
        dtype = _array(array).dtype
        if dtype.kind == "b":
            raise TypeError("common_type: bools have no floating dtype; cast them first")
        result = _heddle.promote_types(result, _heddle.float64 if dtype.kind in "iu" else dtype)
    return result


def min_scalar_type(a, /):
    """The smallest dtype of a number's kind that holds it; for an array, its dtype:
    numpy.min_scalar_type."""
    import numpy

    if isinstance(a, _heddle.Array):
        if a.ndim > 0:
            return a.dtype
        a = a.item()
    return _heddle.result_type(numpy.min_scalar_type(a))


def ndindex(*shape):
    """An iterator over the indices of a shape: numpy.ndindex."""
    import numpy

    return numpy.ndindex(*shape)


def ndenumerate(arr):
    """An iterator over indices and elements: numpy.ndenumerate. Evaluates and waits."""
    import numpy

    return numpy.ndenumerate(_heddle.asnumpy(_array(arr)))


def shares_memory(a, b, /, max_work=-1):
    """True if the two Arrays share memory of an element: numpy.shares_memory. Memory of other
    libraries is recognised if it was imported without a copy. Raises numpy.exceptions.TooHardError for
    strides whose comparison takes more than `max_work`.

    Example: hd.shares_memory(x, x[1:])
    """
    import numpy

    if not isinstance(a, _heddle.Array) and not isinstance(b, _heddle.Array):
        return numpy.shares_memory(a, b, max_work)
    if not (isinstance(a, _heddle.Array) and isinstance(b, _heddle.Array)):
        return False
    places = a._placement, b._placement
    if places[0][0] != places[1][0] or 0 in (a.size, b.size):
        return False
    spans = [_span(x, *place[1:]) for x, place in zip((a, b), places)]
    low, high = min(spans)[0], max(span[1] for span in spans)
    if max(spans)[0] >= min(span[1] for span in spans):
        return False
    memory = numpy.empty(high - low, numpy.uint8)
    seen = [numpy.ndarray(x.shape, f"V{x.itemsize}", memory, place[1] - low, place[2])
            for x, place in zip((a, b), places)]
    return numpy.shares_memory(*seen, max_work)


def _span(x, offset, strides):
    """The first byte of x, and the one behind its last."""
    reach = [(extent - 1) * stride for extent, stride in zip(x.shape, strides)]
    return (offset + sum(min(each, 0) for each in reach),
            offset + sum(max(each, 0) for each in reach) + x.itemsize)


def may_share_memory(a, b, /, max_work=0):
    """The same as shares_memory: numpy.may_share_memory, which may also return True for disjoint arrays."""
    return shares_memory(a, b)
