"""Devices, streams, events and memory, with the names of cupy.cuda.

Most programs need none of this: Heddle orders its work by the arrays that it reads and writes.
Operations are recorded and run later. What marks, orders or waits for work here first evaluates what
the calling thread has recorded, so a CuPy program means the same.

Everything runs on the CPU, too, where work is done when a call returns. There, getDeviceCount() is 0
unless the machine has a GPU, and Device() is the CPU.
"""

from heddle.cuda import (device, memory, memory_hook, memory_hooks, nccl, nvtx, pinned_memory,
                         runtime, stream)
from heddle.cuda._allocators import (CFunctionAllocator, MemoryAsyncPool, MemoryPool,
                                     PythonFunctionAllocator, alloc, get_allocator,
                                     get_default_memory_pool, rmm_allocator, set_allocator,
                                     using_allocator)
from heddle.cuda._device import Device, get_device_id
from heddle.cuda._event import Event, get_elapsed_time
from heddle.cuda._graph import Graph
from heddle.cuda._memory import (BaseMemory, ManagedMemory, Memory, MemoryAsync, MemoryPointer,
                                 UnownedMemory, malloc_async, malloc_managed)
from heddle.cuda._pinned import (PinnedMemory, PinnedMemoryPointer, PinnedMemoryPool,
                                 alloc_pinned_memory, empty_like_pinned, empty_pinned,
                                 get_default_pinned_memory_pool, set_pinned_memory_allocator,
                                 zeros_like_pinned, zeros_pinned)
from heddle.cuda._sharing import open_shared_memory, share_memory
from heddle.cuda._stream import ExternalStream, Stream, get_current_stream
from heddle.cuda.memory_hook import MemoryHook
from heddle.profiler import benchmark, profile


def is_available():
    """Whether this process can use a GPU: cupy.cuda.is_available."""
    return runtime.getDeviceCount() > 0


__all__ = ["BaseMemory", "CFunctionAllocator", "Device", "Event", "ExternalStream", "Graph",
           "ManagedMemory", "Memory", "MemoryAsync", "MemoryAsyncPool", "MemoryHook", "MemoryPointer",
           "MemoryPool", "PinnedMemory", "PinnedMemoryPointer", "PinnedMemoryPool",
           "PythonFunctionAllocator", "Stream", "UnownedMemory", "alloc", "alloc_pinned_memory",
           "benchmark", "device", "empty_like_pinned", "empty_pinned", "get_allocator",
           "get_current_stream", "get_default_memory_pool", "get_default_pinned_memory_pool",
           "get_device_id", "get_elapsed_time", "is_available", "malloc_async", "malloc_managed",
           "memory", "memory_hook", "memory_hooks", "nccl", "nvtx", "open_shared_memory",
           "pinned_memory", "profile", "rmm_allocator", "runtime", "set_allocator",
           "set_pinned_memory_allocator", "share_memory", "stream", "using_allocator", "zeros_like_pinned", "zeros_pinned"]
