"""Pinned memory of the host, as cupy.cuda.pinned_memory has it."""

from heddle.cuda._pinned import (PinnedMemory, PinnedMemoryPointer, PinnedMemoryPool,
                                 alloc_pinned_memory, set_pinned_memory_allocator)

__all__ = ["PinnedMemory", "PinnedMemoryPointer", "PinnedMemoryPool", "alloc_pinned_memory",
           "set_pinned_memory_allocator"]
