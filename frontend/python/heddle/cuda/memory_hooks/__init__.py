"""Memory hooks that are ready to use: cupy.cuda.memory_hooks."""

from heddle.cuda.memory_hooks._debug_print import DebugPrintHook
from heddle.cuda.memory_hooks._line_profile import LineProfileHook

__all__ = ["DebugPrintHook", "LineProfileHook"]
