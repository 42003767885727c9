"""A hook that sums memory by line: cupy.cuda.memory_hooks.LineProfileHook."""

import html
import os
import sys
import threading

from heddle.cuda.memory_hook import MemoryHook

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep


def _in_words(size):
    """'1.50KB'"""
    for unit in ("B", "KB", "MB", "GB", "TB"):
        if size < 1024 or unit == "TB":
            return f"{size:.2f}{unit}"
        size /= 1024


def _stack():
    """The functions that run on this thread, the outermost first: tuples of file, line and function.
    Heddle's own are left out."""
    found, frame = [], sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith(_PACKAGE):
            found.append((code.co_filename, frame.f_lineno, code.co_name))
        frame = frame.f_back
    return found[::-1]


class MemoryFrame:
    """The memory that a line and the functions it calls allocated. `used_bytes` counts the blocks,
    `acquired_bytes` what the pool took from the device for them."""

    def __init__(self, file="", line=0, name="_root"):
        self.file, self.line, self.name = file, line, name
        self.used_bytes = self.acquired_bytes = 0
        self.children = {}

    def __str__(self):
        place = f"{self.file}:{self.line}:{self.name}" if self.file else self.name
        return f"{place} ({_in_words(self.used_bytes)}, {_in_words(self.acquired_bytes)})"


class LineProfileHook(MemoryHook):
    """Sums memory by the line of your program, in a with statement:
    cupy.cuda.memory_hooks.LineProfileHook. Operations are recorded and evaluated later, so a block counts
    for the line that recorded it, below the functions that were running when it was evaluated.

    `max_depth` is the number of innermost functions that are kept; 0 for all.

    >>> hook = hd.cuda.memory_hooks.LineProfileHook()
    >>> with hook:
    ...     x = hd.ones(1000).eval()
    >>> hook.print_report()
    """

    name = "LineProfileHook"

    def __init__(self, max_depth=0):
        if max_depth < 0:
            raise ValueError(f"LineProfileHook: max_depth must not be negative: {max_depth}")
        self._max_depth = max_depth
        self._lock = threading.Lock()
        self._root = MemoryFrame()
        self._lines = {}

    def malloc_postprocess(self, mem_size, mem_ptr, **kwargs):
        if mem_ptr:
            self._count(mem_size, 0)

    def alloc_postprocess(self, mem_size, mem_ptr, **kwargs):
        if mem_ptr:
            self._count(0, mem_size)

    def _count(self, used, acquired):
        stack = _stack()
        what, file, line = self.location()
        if file and (not stack or stack[-1][:2] != (file, line)):
            stack.append((file, line, what or "recorded here"))
        if self._max_depth:
            stack = stack[-self._max_depth:]
        place = (file, line) if file else stack[-1][:2] if stack else ("", 0)
        with self._lock:
            self._add(stack, used, acquired)
            blocks, total_used, total_acquired = self._lines.get(place, (0, 0, 0))
            self._lines[place] = (blocks + (used > 0), total_used + used, total_acquired + acquired)

    def _add(self, stack, used, acquired):
        frame = self._root
        for key in (None, *stack):
            if key is not None:
                if key not in frame.children:
                    frame.children[key] = MemoryFrame(*key)
                frame = frame.children[key]
            frame.used_bytes += used
            frame.acquired_bytes += acquired

    @property
    def memory_frames(self):
        """The functions and lines, the outermost first: a list of MemoryFrame."""
        return list(self._root.children.values())

    def print_report(self, file=None):
        """Prints the calls as a tree, each with the bytes of blocks and of memory taken from the device:
        file:line:function (used, acquired)."""
        file = sys.stdout if file is None else file
        self._print(self._root, 0, file)

    def _print(self, frame, depth, file):
        print("  " * depth + str(frame), file=file)
        for child in frame.children.values():
            self._print(child, depth + 1, file)

    def table(self, most=20):
        """A text with the lines of most bytes, one each: bytes of blocks, number of blocks, bytes taken
        from the device, file and line."""
        rows = sorted(self._lines.items(), key=lambda item: -item[1][1])[:most]
        text = f"{'used':>10} {'blocks':>7} {'acquired':>10}  line\n"
        for (name, line), (blocks, used, acquired) in rows:
            place = f"{name}:{line}" if name else "unknown"
            text += f"{_in_words(used):>10} {blocks:>7} {_in_words(acquired):>10}  {place}\n"
        return text

    def save_html(self, path):
        """Writes a page with a flame graph and the table: the width of a function or line is its part
        of all bytes of blocks. It has no scripts, and loads nothing."""
        total = max(self._root.used_bytes, 1)
        rows = []
        self._draw(self._root, 0.0, 0, total, rows)
        height = max((top for _, top in rows), default=0) + _ROW
        bars = "\n".join(bar for bar, _ in rows)
        page = _PAGE.format(total=_in_words(self._root.used_bytes),
                            acquired=_in_words(self._root.acquired_bytes), height=height, bars=bars,
                            table=html.escape(self.table()))
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)

    def _draw(self, frame, left, depth, total, rows):
        width = 100 * frame.used_bytes / total
        if width < 0.05:  # less than a pixel
            return
        name = frame.name if not frame.file else (
            f"{frame.name} ({os.path.basename(frame.file)}:{frame.line})")
        hue = 200 + ((frame.line * 37 + len(frame.file)) % 80)
        rows.append((f'<div class="bar" style="left:{left:.3f}%;width:{width:.3f}%;top:{depth * _ROW}px;'
                     f'background:hsl({hue},45%,75%)" title="{html.escape(str(frame))}">'
                     f"{html.escape(name)}</div>", depth * _ROW))
        for child in sorted(frame.children.values(), key=lambda each: -each.used_bytes):
            self._draw(child, left, depth + 1, total, rows)
            left += 100 * child.used_bytes / total


_ROW = 22
_PAGE = """<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><title>Memory by line</title>
<style>
body {{ font: 14px sans-serif; margin: 2em; }}
.graph {{ position: relative; height: {height}px; }}
.bar {{ position: absolute; box-sizing: border-box; height: 21px; padding: 2px 4px; overflow: hidden;
  white-space: nowrap; font-size: 12px; border-right: 1px solid white; }}
</style>
<h1>Memory by line</h1>
<p>{total} in blocks; {acquired} taken from the device. The widths are bytes of blocks. Each row is called
by the row above it.</p>
<div class="graph">
{bars}
</div>
<h2>Lines</h2>
<pre>{table}</pre>
</html>
"""
