"""The base class of memory hooks: cupy.cuda.memory_hook.MemoryHook."""

import threading

from heddle import _heddle

_cuda = _heddle._cuda


class _Entered(threading.local):
    """The names and numbers of the hooks that this thread has entered."""

    def __init__(self):
        self.numbers = {}


_entered = _Entered()


class MemoryHook:
    """Functions that are called for each block of memory, in a with statement: cupy.cuda.MemoryHook.
    Derive from it, and override what you need. All arguments are by name. `malloc` is a block for an
    array or for temporaries; `alloc` is memory that is taken from the device, for a pool.

    A hook is called for the memory of all threads, by whichever thread evaluates. Both ends of the with
    statement evaluate what this thread has recorded. What a function raises, the call raises that
    allocates, such as eval() or asnumpy(); what the functions for freed blocks raise goes to
    sys.unraisablehook. Memory that a hook allocates itself is not reported.

    Entering a hook of the same `name` twice on a thread is a KeyError.

    >>> class Biggest(hd.cuda.MemoryHook):
    ...     size = 0
    ...     def malloc_postprocess(self, size, **_):
    ...         self.size = max(self.size, size)
    """

    name = "MemoryHook"

    def __enter__(self):
        if self.name in _entered.numbers:
            raise KeyError(f"memory hook {self.name} is entered already; give the other one a name")
        _entered.numbers[self.name] = _cuda.add_memory_hook(self)
        return self

    def __exit__(self, *_):
        _cuda.remove_memory_hook(_entered.numbers.pop(self.name))

    def location(self):
        """What the memory is of which this thread's hook is told now: the text of its dtype, shape and
        op, and the file and the line that recorded it; '' and 0 if unknown. None outside of the
        functions of a hook. CuPy does not have it: there, arrays are made by the line that is
        running."""
        return _cuda.hooked_memory()

    def alloc_preprocess(self, **kwargs):
        """Before memory is taken from the device: device_id, mem_size in bytes."""

    def alloc_postprocess(self, **kwargs):
        """After that, also with mem_ptr, its address; 0 if there was not enough."""

    def malloc_preprocess(self, **kwargs):
        """Before a block is given: device_id, size in bytes, and mem_size, rounded up."""

    def malloc_postprocess(self, **kwargs):
        """After that, also with mem_ptr and pmem_id, a number of the block; 0 if there was no memory."""

    def free_preprocess(self, **kwargs):
        """Before a block is freed: device_id, mem_size, mem_ptr, pmem_id. A block that is freed while a
        program is launched is reported right after that."""

    def free_postprocess(self, **kwargs):
        """After a block was freed: device_id, mem_size, mem_ptr, pmem_id."""
