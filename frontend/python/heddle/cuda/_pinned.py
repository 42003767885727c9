"""Pinned memory of the host: cupy.cuda.alloc_pinned_memory, PinnedMemoryPool, cupyx.empty_pinned."""

import math
import operator

from heddle import _heddle

_cuda = _heddle._cuda
PinnedMemoryPointer = _cuda.PinnedMemory


class PinnedMemory(PinnedMemoryPointer):
    """Pinned memory: cupy.cuda.PinnedMemory. `flags` has no effect: the memory is portable."""

    def __init__(self, size, flags=0):
        super().__init__(size)


class PinnedMemoryPool:
    """The pool of pinned memory of the host: cupy.cuda.PinnedMemoryPool. All objects are the same pool:
    it belongs to this thread's device."""

    def malloc(self, size):
        """Pinned memory of the pool. Raises OutOfMemory."""
        return PinnedMemoryPointer(size)

    def n_free_blocks(self):
        """The number of free blocks."""
        return _cuda.free_pinned_blocks(_heddle.device())

    def free_all_blocks(self):
        """Returns free blocks to the system."""
        _cuda.trim_pinned_memory(_heddle.device())


_pool = PinnedMemoryPool()
_allocator = _pool.malloc


def get_default_pinned_memory_pool():
    """The pool of pinned host memory: cupy.get_default_pinned_memory_pool."""
    return _pool


def set_pinned_memory_allocator(allocator=None):
    """Sets the function that alloc_pinned_memory calls with a number of bytes, for all threads:
    cupy.cuda.set_pinned_memory_allocator. None is the pool. Copies that Heddle makes itself keep using
    the pool."""
    global _allocator
    if allocator is not None and not callable(allocator):
        raise TypeError(f"an allocator must be a function of a size, not {type(allocator).__name__}")
    _allocator = _pool.malloc if allocator is None else allocator


def alloc_pinned_memory(size):
    """Memory of the host that a GPU reads and writes without the host, so that copies run while
    other work does: cupy.cuda.alloc_pinned_memory. It has the buffer protocol, `ptr` and size().
    Keep it until enqueued copies are done. On the CPU it is ordinary memory.

    >>> buffer = np.frombuffer(hd.cuda.alloc_pinned_memory(800), np.float64, 100)
    """
    return _allocator(size)


def empty_pinned(shape, dtype=float, order="C"):
    """A NumPy array in pinned memory, not initialised: cupyx.empty_pinned. On the CPU it is in
    ordinary memory.

    >>> x = hd.cuda.empty_pinned((2, 3), np.float32)
    """
    import numpy

    shape = tuple(shape) if hasattr(shape, "__iter__") else (operator.index(shape),)
    dtype = numpy.dtype(dtype)
    if any(extent < 0 for extent in shape):
        raise ValueError(f"empty_pinned: extents must not be negative: {shape}")
    memory = alloc_pinned_memory(max(math.prod(shape) * dtype.itemsize, 1))
    return numpy.ndarray(shape, dtype, memory, order=order)


def zeros_pinned(shape, dtype=float, order="C"):
    """A NumPy array of zeros in pinned memory: cupyx.zeros_pinned. See empty_pinned."""
    array = empty_pinned(shape, dtype, order)
    array.fill(0)
    return array


def empty_like_pinned(a, dtype=None, order="K", subok=None, shape=None):
    """A NumPy array in pinned memory with the shape and dtype of an array `a`:
    cupyx.empty_like_pinned. `order` is 'C', 'F', or 'A' or 'K', which are 'F' if `a` is in that order.
    Raises TypeError for subok."""
    import numpy

    if subok is not None:
        raise TypeError("empty_like_pinned: subok is not supported; the array is a numpy.ndarray")
    if order not in ("C", "F", "A", "K"):
        raise ValueError(f"empty_like_pinned: order must be 'C', 'F', 'A' or 'K', not {order!r}")
    if order in ("A", "K"):
        order = "F" if a.flags.f_contiguous and not a.flags.c_contiguous else "C"
    dtype = numpy.empty(0, str(a.dtype)).dtype if dtype is None else dtype
    return empty_pinned(a.shape if shape is None else shape, dtype, order)


def zeros_like_pinned(a, dtype=None, order="K", subok=None, shape=None):
    """A NumPy array of zeros in pinned memory with the shape and dtype of an array `a`:
    cupyx.zeros_like_pinned. See empty_like_pinned."""
    array = empty_like_pinned(a, dtype, order, subok, shape)
    array.fill(0)
    return array
