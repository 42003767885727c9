"""Pools and allocators: cupy.cuda.MemoryPool, set_allocator, using_allocator and others."""

import contextlib
import ctypes
import threading

from heddle import _heddle
from heddle.cuda._device import CPU, get_device_id, name_of
from heddle.cuda._memory import (BaseMemory, Memory, MemoryPointer, PooledMemory, UnownedMemory, _direct,
                                 malloc_async, malloc_managed)
from heddle.cuda._stream import ExternalStream, get_current_stream

_cuda = _heddle._cuda


def _source(allocator):
    """What an allocator function is for the library: a kind of memory, or the function itself."""
    if allocator is None:
        return "device"
    if allocator is malloc_managed:
        return "managed"
    if allocator is malloc_async or isinstance(getattr(allocator, "__self__", None), MemoryAsyncPool):
        return "ordered"
    if not callable(allocator):
        raise TypeError(f"an allocator must be a function of a size, not {type(allocator).__name__}")
    return allocator


class MemoryPool:
    """A pool of device memory: cupy.cuda.MemoryPool. It keeps freed memory for later arrays.
    `allocator` is a function that takes a number of bytes and returns a MemoryPointer: malloc_managed,
    malloc_async, or your own. By default the memory is the device's.

    There is a pool on each device; the functions tell of this thread's device. Memory is taken from
    the device, or from the allocator, in units of 2 MiB.

    >>> pool = hd.cuda.MemoryPool(hd.cuda.malloc_managed)
    >>> hd.cuda.set_allocator(pool.malloc)
    """

    def __init__(self, allocator=None):
        self._native = _cuda.Allocator.pooled(_source(allocator))

    def _statistics(self):
        return self._native.statistics(_heddle.device())

    def malloc(self, size):
        """A MemoryPointer to new memory of the pool. As an argument of set_allocator, it makes this pool
        the one of all arrays. Raises OutOfMemory."""
        return MemoryPointer(PooledMemory(size, self._native), 0)

    def used_bytes(self):
        """Bytes of blocks in use."""
        return self._statistics()["in_use"]

    def free_bytes(self):
        """Bytes that the pool has taken from the device and that are not in use."""
        return self.total_bytes() - self.used_bytes()

    def total_bytes(self):
        """Bytes that the pool has taken from the device."""
        return self._statistics()["reserved"]

    def n_free_blocks(self):
        """The number of free blocks."""
        return self._statistics()["free_blocks"]

    def free_all_blocks(self, stream=None):
        """Returns free memory to the device. Waits for work that still uses freed blocks. All
        streams' memory is returned, whatever `stream` is."""
        self._native.trim(_heddle.device())

    def free_all_free(self):
        """The same as free_all_blocks()."""
        self.free_all_blocks()

    def get_limit(self):
        """The most bytes that the pool may take from the device; 0 for no limit."""
        return self._statistics()["limit"]

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
        size = 0 if size is None else size
        if size < 0:
            raise ValueError("the memory limit must not be negative; 0 means no limit")
        self._set_limit(size)

    def _set_limit(self, size):
        self._native.set_limit(size, _heddle.device())


class _DefaultPool(MemoryPool):
    """The pool of arrays for which no allocator was set. hd.memory_statistics and hd.describe_memory
    say more."""

    def __init__(self):
        self._native = None  # for the library, the default pools

    def _statistics(self):
        return _heddle.memory_statistics()

    def free_all_blocks(self, stream=None):
        """Returns free memory to the device. Waits for work that still uses freed blocks. All
        streams' memory is returned, whatever `stream` is."""
        _heddle.trim_memory()

    def _set_limit(self, size):
        _heddle.set_memory_limit(size)


class MemoryAsyncPool:
    """The driver's own pool of this thread's GPU, which other libraries of the process share:
    cupy.cuda.MemoryAsyncPool. `pool_handles` is 'current' or 'default'. On the CPU, malloc gives
    ordinary memory, and the sizes raise DeviceError.

    >>> hd.cuda.set_allocator(hd.cuda.MemoryAsyncPool().malloc)
    """

    def __init__(self, pool_handles="current"):
        if pool_handles not in ("current", "default"):
            raise ValueError("MemoryAsyncPool: pool_handles must be 'current' or 'default'; pools of a "
                             f"handle of your own are not supported: {pool_handles!r}")

    def malloc(self, size):
        """A MemoryPointer to new memory of the pool. Raises OutOfMemory."""
        return malloc_async(size)

    def used_bytes(self):
        """Bytes in use, by all libraries."""
        return _cuda.ordered_pool(_heddle.device())[0]

    def total_bytes(self):
        """Bytes that the pool has taken from the device."""
        return _cuda.ordered_pool(_heddle.device())[1]

    def free_bytes(self):
        """Bytes that the pool has taken from the device and that are not in use."""
        used, total = _cuda.ordered_pool(_heddle.device())
        return total - used

    def free_all_blocks(self, stream=None):
        """Returns free memory to the device. Freed memory whose work is not done yet is kept."""
        if stream is not None:
            stream.synchronize()
        _direct["ordered"].trim(_heddle.device())
        _cuda.trim_ordered(_heddle.device(), 0)

    def n_free_blocks(self):
        """Raises NotImplementedError, as in CuPy: the driver does not tell."""
        raise NotImplementedError("the driver does not tell the number of free blocks of its pool")

    def get_limit(self):
        """Raises NotImplementedError: the driver's pool has no limit."""
        raise NotImplementedError("the driver's pool has no limit; MemoryPool has one")

    def set_limit(self, size=None, fraction=None):
        """Raises NotImplementedError: the driver's pool has no limit."""
        raise NotImplementedError("the driver's pool has no limit; MemoryPool has one")


_pool = _DefaultPool()


def get_default_memory_pool():
    """The pool of device memory for which no allocator was set: cupy.get_default_memory_pool. It tells
    of this thread's device."""
    return _pool


class _Chosen(threading.local):
    """The allocators of the with statements that this thread is in."""

    def __init__(self):
        self.stack = []


_chosen = _Chosen()
_global = _pool.malloc


def _plain(size):
    """Memory without a pool: what None stands for."""
    return MemoryPointer(Memory(size), 0)


def _native_of(allocator):
    """The library's allocator for a function; None for the default pools."""
    pool = getattr(allocator, "__self__", None)
    if isinstance(pool, MemoryPool) and getattr(allocator, "__func__", None) is MemoryPool.malloc:
        return pool._native
    source = _source(None if allocator is _plain else allocator)
    return _direct[source] if isinstance(source, str) else _cuda.Allocator.direct(source)


def set_allocator(allocator=None):
    """Sets the function from which the arrays of all threads have their memory: cupy.cuda.set_allocator.
    It takes a number of bytes and returns a MemoryPointer: `pool.malloc`, malloc_managed,
    rmm_allocator, or your own. None is memory without a pool. It is called by whichever thread
    evaluates; MemoryError means that there is no more memory, and other exceptions are raised where
    the array is evaluated. Arrays that are there keep their memory.

    Evaluates first what this thread has recorded. Raises ValueError in a using_allocator statement.
    get_default_memory_pool().malloc is what is set at first.
    """
    global _global
    if _chosen.stack:
        raise ValueError("set_allocator: call it outside of using_allocator, which has set this thread's "
                         "allocator")
    allocator = _plain if allocator is None else allocator
    _cuda.set_allocator(_native_of(allocator))
    _global = allocator


def get_allocator():
    """The function from which this thread's arrays have their memory: cupy.cuda.get_allocator."""
    return _chosen.stack[-1] if _chosen.stack else _global


@contextlib.contextmanager
def using_allocator(allocator=None):
    """Sets the allocator of the calling thread in a with statement: cupy.cuda.using_allocator. See
    set_allocator. At both ends, what this thread has recorded is evaluated.

    >>> with hd.cuda.using_allocator(hd.cuda.malloc_managed):
    ...     x = hd.ones(1000)
    """
    allocator = _plain if allocator is None else allocator
    _cuda.enter_allocator(_native_of(allocator))
    _chosen.stack.append(allocator)
    try:
        yield
    finally:
        _chosen.stack.pop()
        _cuda.leave_allocator()


def alloc(size):
    """A MemoryPointer to new memory of this thread's allocator: cupy.cuda.alloc. Raises OutOfMemory."""
    return get_allocator()(size)


class _FunctionMemory(BaseMemory):
    """Memory of a pair of functions."""

    def __init__(self, size, device_id, allocate, free):
        self.size, self.device_id = size, device_id
        self.ptr = allocate(size, device_id) or 0
        if self.ptr == 0 and size:
            raise MemoryError(f"the allocator function gave no memory for {size} bytes")
        self._free = free

    def __del__(self):
        if self.ptr and self._free is not None:
            self._free(self.ptr, self.device_id)


class PythonFunctionAllocator:
    """An allocator of two Python functions: cupy.cuda.PythonFunctionAllocator.
    `malloc_func(size, device_id)` returns an address, and `free_func(address, device_id)` takes it
    back, when no work uses it. The device number of the CPU is -1.

    >>> hd.cuda.set_allocator(hd.cuda.PythonFunctionAllocator(malloc_func, free_func).malloc)
    """

    def __init__(self, malloc_func, free_func):
        self._malloc_func, self._free_func = malloc_func, free_func

    def malloc(self, size):
        """A MemoryPointer to new memory."""
        return MemoryPointer(_FunctionMemory(size, get_device_id(), self._malloc_func, self._free_func),
                             0)


class CFunctionAllocator:
    """An allocator of two C functions: cupy.cuda.CFunctionAllocator. `malloc_func` and `free_func` are
    the addresses of `void* malloc(void* param, size_t size, int device)` and
    `void free(void* param, void* pointer, int device)`; `param` is an address that they get, and
    `owner` an object that keeps all three."""

    def __init__(self, param, malloc_func, free_func, owner):
        self._owner = owner
        allocate = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t,
                                    ctypes.c_int)(malloc_func)
        free = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)(free_func)
        self._malloc = lambda size, device: allocate(param, size, device)
        self._free = lambda pointer, device, _owner=owner: free(param, pointer, device)

    def malloc(self, size):
        """A MemoryPointer to new memory."""
        return MemoryPointer(_FunctionMemory(size, get_device_id(), self._malloc, self._free), 0)


def rmm_allocator(size):
    """An allocator of the RAPIDS Memory Manager, for set_allocator: like
    rmm.allocators.cupy.rmm_cupy_allocator, but without CuPy. Raises ImportError if rmm is not
    installed, and DeviceError on the CPU.

    >>> hd.cuda.set_allocator(hd.cuda.rmm_allocator)
    """
    import rmm
    if get_device_id() == CPU:
        raise _heddle.DeviceError(f"rmm_allocator: rmm has memory of GPUs only, and the device is "
                                  f"{name_of(CPU)}; use MemoryPool().malloc there")
    stream = get_current_stream()
    try:
        buffer = rmm.DeviceBuffer(size=size, stream=rmm.pylibrmm.stream.Stream(obj=stream))
    except (AttributeError, TypeError):  # an rmm that does not take streams of other libraries
        buffer = rmm.DeviceBuffer(size=size)
        ExternalStream(0).synchronize()
    return MemoryPointer(UnownedMemory(buffer.ptr, buffer.size, buffer, get_device_id()), 0)
