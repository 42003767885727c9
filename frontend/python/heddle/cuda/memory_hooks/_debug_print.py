"""A hook that prints each event: cupy.cuda.memory_hooks.DebugPrintHook."""

import json
import sys

from heddle.cuda.memory_hook import MemoryHook


class DebugPrintHook(MemoryHook):
    """Prints a line of JSON for each block that is given and freed, and for memory that is taken from
    the device: cupy.cuda.memory_hooks.DebugPrintHook. `file` is sys.stdout by default. Unlike CuPy's,
    the lines of blocks that are given also have `what`, dtype, shape and op, and `where`, the line of
    your program, if they are known.

    >>> with hd.cuda.memory_hooks.DebugPrintHook():
    ...     x = hd.ones(1000).eval()
    """

    name = "DebugPrintHook"

    def __init__(self, file=None, flush=True):
        self.file, self.flush = file, flush

    def _print(self, hook, facts):
        if "pmem_id" in facts:
            facts["pmem_id"] = hex(facts["pmem_id"])
        text = json.dumps({"hook": hook, **facts}, separators=(",", ":"))
        print(text, file=sys.stdout if self.file is None else self.file, flush=self.flush)

    def alloc_postprocess(self, **kwargs):
        self._print("alloc", kwargs)

    def malloc_postprocess(self, **kwargs):
        what, file, line = self.location()
        if what:
            kwargs["what"] = what
        if file:
            kwargs["where"] = f"{file}:{line}"
        self._print("malloc", kwargs)

    def free_postprocess(self, **kwargs):
        self._print("free", kwargs)
