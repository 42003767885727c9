"""numpy.lib: the functions of stride_tricks. Except for as_strided they are also in heddle
itself."""

import sys
import types

from heddle import _heddle


def as_strided(x, shape=None, strides=None, subok=False, writeable=False):
    """A read-only Array with the elements of a C-ordered Array, and a new shape and strides in
    bytes: numpy.lib.stride_tricks.as_strided, whose result may be writable. Raises ValueError for
    strides that lead outside x or between its elements, for an x in another order, and for
    writeable=True.

    Example: hd.lib.stride_tricks.as_strided(hd.arange(5), (3, 3), (8, 8))
    """
    x = _heddle.asarray(x)
    shape = x.shape if shape is None else tuple(shape)
    strides = x.strides if strides is None else tuple(strides)
    if writeable:
        raise ValueError("as_strided: the result is read-only; omit writeable=True")
    if len(shape) != len(strides):
        raise ValueError(f"as_strided: {len(strides)} strides for {len(shape)} axes")
    if x.size > 1 and x.strides != _heddle.zeros(x.shape, x.dtype).strides:
        raise ValueError("as_strided: x is not in C order; see heddle.ascontiguousarray")
    reach = [(extent - 1) * stride for extent, stride in zip(shape, strides)]
    low, high = sum(min(each, 0) for each in reach), sum(max(each, 0) for each in reach)
    if any(stride % x.itemsize for stride in strides):
        raise ValueError("as_strided: strides must be multiples of the element's size")
    if 0 not in shape and (low < 0 or high >= x.nbytes):
        raise ValueError("as_strided: the strides lead outside x")
    places = _heddle.zeros((1,) * len(shape), _heddle.int64)
    for axis, (extent, stride) in enumerate(zip(shape, strides)):
        along = _heddle.arange(extent) * (stride // x.itemsize)
        places = places + along.reshape((-1,) + (1,) * (len(shape) - axis - 1))
    return _heddle.broadcast_to(_heddle.take(_heddle.ravel(x), places), shape)


stride_tricks = types.ModuleType("heddle.lib.stride_tricks", "Read-only views with other shapes and strides.")
stride_tricks.as_strided = as_strided
for _name in ("broadcast_arrays", "broadcast_shapes", "broadcast_to", "sliding_window_view"):
    setattr(stride_tricks, _name, getattr(_heddle, _name))
sys.modules[stride_tricks.__name__] = stride_tricks
__all__ = ["stride_tricks"]
