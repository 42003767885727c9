"""Device memory, as cupy.cuda.memory has it."""

from heddle.cuda._allocators import (CFunctionAllocator, MemoryAsyncPool, MemoryPool,
                                     PythonFunctionAllocator, alloc, get_allocator, set_allocator,
                                     using_allocator)
from heddle.cuda._memory import (BaseMemory, ManagedMemory, Memory, MemoryAsync, MemoryPointer,
                                 OutOfMemoryError, PooledMemory, UnownedMemory, malloc_async,
                                 malloc_managed)

__all__ = ["BaseMemory", "CFunctionAllocator", "ManagedMemory", "Memory", "MemoryAsync",
           "MemoryAsyncPool", "MemoryPointer", "MemoryPool", "OutOfMemoryError", "PooledMemory",
           "PythonFunctionAllocator", "UnownedMemory", "alloc", "get_allocator", "malloc_async",
           "malloc_managed", "set_allocator", "using_allocator"]
