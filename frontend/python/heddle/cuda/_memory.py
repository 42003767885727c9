"""Memory pools and pinned memory: cupy.get_default_memory_pool, cupy.cuda.alloc_pinned_memory."""

from heddle import _heddle

_cuda = _heddle._cuda
PinnedMemoryPointer = _cuda.PinnedMemory


class MemoryPool:
    """The memory of this thread's device: cupy.cuda.MemoryPool, without an allocator of its own.
    hd.memory_statistics and hd.describe_memory say more."""

    def used_bytes(self):
        """Bytes of blocks in use."""
        return _heddle.memory_statistics()["in_use"]

    def free_bytes(self):
        """Bytes that the pool has taken from the device and that are not in use."""
        return self.total_bytes() - self.used_bytes()

    def total_bytes(self):
        """Bytes that the pool has taken from the device."""
        return _heddle.memory_statistics()["reserved"]

    def n_free_blocks(self):
        """The number of free blocks."""
        return _heddle.memory_statistics()["free_blocks"]

    def free_all_blocks(self, stream=None):
        """Returns free memory to the device. Waits for work that still uses freed blocks. All
        streams' memory is returned, whatever `stream` is."""
        _heddle.trim_memory()

    free_all_free = free_all_blocks

    def get_limit(self):
        """The most bytes that the pool may take from the device; 0 for no limit."""
        return _heddle.memory_statistics()["limit"]

    def set_limit(self, size=None, fraction=None):
        """Sets the most bytes that the pool may take from the device, or the fraction of the
        device's memory; 0 or nothing for no limit. Raises ValueError for both, for a negative size,
        and for a fraction beyond 0 to 1."""
        if fraction is not None:
            if size is not None:
                raise ValueError("set_limit: takes a size or a fraction, not both")
            if not 0 <= fraction <= 1:
                raise ValueError(f"set_limit: fraction must be from 0 to 1, not {fraction}")
            size = int(_cuda.memory(_heddle.device())[1] * fraction)
        _heddle.set_memory_limit(0 if size is None else size)


class PinnedMemoryPool:
    """The pool of pinned memory of the host: cupy.cuda.PinnedMemoryPool."""

    def n_free_blocks(self):
        """The number of free blocks."""
        return _cuda.free_pinned_blocks(_heddle.device())

    def free_all_blocks(self):
        """Returns free blocks to the system."""
        _cuda.trim_pinned_memory(_heddle.device())


_pool, _pinned_pool = MemoryPool(), PinnedMemoryPool()


def get_default_memory_pool():
    """The pool of device memory: cupy.get_default_memory_pool. It tells of this thread's device."""
    return _pool


def get_default_pinned_memory_pool():
    """The pool of pinned host memory: cupy.get_default_pinned_memory_pool."""
    return _pinned_pool


def alloc_pinned_memory(size):
    """Memory of the host that a GPU reads and writes without the host, so that copies run while
    other work does: cupy.cuda.alloc_pinned_memory. It has the buffer protocol, `ptr` and size().
    Keep it until enqueued copies are done. On the CPU it is ordinary memory.

    >>> buffer = np.frombuffer(hd.cuda.alloc_pinned_memory(800), np.float64, 100)
    """
    return PinnedMemoryPointer(size)
