"""Memory of a GPU that several processes of a machine use."""

from heddle import _heddle

_cuda = _heddle._cuda


def share_memory(x):
    """A handle for an Array's memory on a GPU: a line of text, with which another process of the
    machine opens it. Evaluates, and waits for the elements.

    Both processes see each other's writes; interprocess events order them. Keep `x` as long as
    another process uses the memory. Raises DeviceError on the CPU and for memory without a handle:
    managed memory, memory of the driver's pool, memory of another process; ValueError for an array
    without elements.
    """
    return _cuda.share_memory(x)


def open_shared_memory(handle):
    """An Array that shares the memory of another process, of which `handle` is the result of its
    share_memory. A view of strided elements is one here, too.

    Raises DeviceError if this process does not see the GPU, the memory is gone, or this process made
    the handle; ValueError for another text.
    """
    return _cuda.open_shared_memory(handle)
