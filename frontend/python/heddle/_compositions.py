"""Functions composed of others, with NumPy's names and meanings."""

import math

from heddle import _heddle


def apply_over_axes(func, a, axes):
    """The result of func(a, axis) for each axis in turn, on the previous result: numpy.apply_over_axes.
    Axes that func removes are kept with extent 1. Raises ValueError for a result of another rank.

    Example: hd.apply_over_axes(hd.sum, x, (0, 2))
    """
    result = _heddle.asarray(a)
    rank = result.ndim
    for axis in axes if isinstance(axes, (tuple, list)) else _heddle.atleast_1d(axes).tolist():
        axis = axis + rank if axis < 0 else axis
        found = func(result, axis)
        if found.ndim == rank - 1:
            found = _heddle.expand_dims(found, axis)
        if found.ndim != rank:
            raise ValueError(f"apply_over_axes: the function returned {found.ndim} axes instead of {rank}")
        result = found
    return result


def einsum_path(*operands, optimize="greedy", einsum_call=False):
    """The order in which NumPy would multiply the operands of an einsum, and a text that explains
    it: numpy.einsum_path. Only shapes are used. hd.einsum chooses its own order."""
    import numpy

    def outline(value):
        if not isinstance(value, _heddle.Array):
            return value
        return numpy.broadcast_to(numpy.zeros((), value.dtype.dtype), value.shape)

    return numpy.einsum_path(*[outline(each) for each in operands], optimize=optimize,
                             einsum_call=einsum_call)


def mask_indices(n, mask_func, k=0):
    """Row and column indices where mask_func(ones, k) is not 0, for an n x n matrix of ones:
    numpy.mask_indices.

    Example: x[hd.mask_indices(3, hd.triu, 1)]
    """
    return _heddle.nonzero(mask_func(_heddle.ones((n, n), _heddle.int64), k) != 0)


def real_if_close(a, tol=100):
    """The real part of a if all imaginary parts are near 0, else a: numpy.real_if_close. The limit
    is tol times the dtype's eps, or tol itself if tol <= 1. Evaluates and waits."""
    x = _heddle.asarray(a)
    if x.dtype.kind != "c":
        return x
    bound = tol * _heddle.finfo(x.dtype).eps if tol > 1 else tol
    return x.real if _heddle.all(_heddle.absolute(x.imag) < bound) else x


def sort_complex(a):
    """A complex copy, sorted by real part and then by imaginary part: numpy.sort_complex."""
    x = _heddle.sort(_heddle.asarray(a))
    if x.dtype.kind == "c":
        return x
    narrow = ("int8", "uint8", "int16", "uint16")
    return x.astype(_heddle.complex64 if x.dtype.name in narrow else _heddle.complex128)


class broadcast:
    """The shape that arrays broadcast to, and an iterator over their elements there: numpy.broadcast.
    Raises ShapeError.

    Example: hd.broadcast(x, y).shape
    """

    def __init__(self, *args):
        self._arrays = [_heddle.asarray(each) for each in args]
        self._views = _heddle.broadcast_arrays(*self._arrays)
        self.shape = _heddle.broadcast_shapes(*(each.shape for each in self._arrays))
        self.reset()

    ndim = nd = property(lambda self: len(self.shape))
    size = property(lambda self: math.prod(self.shape))
    numiter = property(lambda self: len(self._arrays))
    index = property(lambda self: self._index)
    iters = property(lambda self: tuple(each.flat for each in self._views))

    @property
    def values(self):
        """The arrays, broadcast to the shape: cupy.broadcast.values."""
        return tuple(self._views)

    def reset(self):
        """Begins the iteration again."""
        self._index = 0

    def __iter__(self):
        return self

    def __next__(self):
        if self._index >= self.size:
            raise StopIteration
        place, left = [], self._index
        for extent in reversed(self.shape):
            left, along = divmod(left, extent)
            place.insert(0, along)
        self._index += 1
        return tuple(view[tuple(place)] for view in self._views)
