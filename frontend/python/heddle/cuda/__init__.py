"""Devices, streams, events and memory, with the names of cupy.cuda.

Most programs need none of this: Heddle orders its work by the arrays that it reads and writes.
Operations are recorded and run later. What marks, orders or waits for work here first evaluates what
the calling thread has recorded, so a CuPy program means the same.

Everything runs on the CPU, too, where work is done when a call returns. There, getDeviceCount() is 0
unless the machine has a GPU, and Device() is the CPU.
"""

from heddle.cuda import nccl, runtime
from heddle.cuda._device import Device, get_device_id
from heddle.cuda._event import Event, get_elapsed_time
from heddle.cuda._graph import Graph
from heddle.cuda._memory import (MemoryPool, PinnedMemoryPointer, PinnedMemoryPool,
                                 alloc_pinned_memory, get_default_memory_pool,
                                 get_default_pinned_memory_pool)
from heddle.cuda._stream import ExternalStream, Stream, get_current_stream
from heddle.profiler import benchmark, profile


def is_available():
    """Whether this process can use a GPU: cupy.cuda.is_available."""
    return runtime.getDeviceCount() > 0


__all__ = ["Device", "Event", "ExternalStream", "Graph", "MemoryPool", "PinnedMemoryPointer",
           "PinnedMemoryPool", "Stream", "alloc_pinned_memory", "benchmark", "get_current_stream",
           "get_default_memory_pool", "get_default_pinned_memory_pool", "get_device_id",
           "get_elapsed_time", "is_available", "nccl", "profile", "runtime"]
