#!/usr/bin/env python3
"""The snippets of README.md and docs/: what they are, and that they run and print what the page says.

    snippets.py run PAGE.md ...       runs the Python blocks of pages
    snippets.py update PAGE.md ...    runs them, and writes what they print into the pages
    snippets.py cpp PAGE.md OUT.cpp   writes a program that runs a page's C++ blocks

The blocks of one language on a page run in order, in one process. In Python each sees the names of those
before it; in C++ each has a scope of its own. A block without a language that directly follows is what the block prints, and is compared.
Text that varies goes into a ```text block, which is not. Comments that no reader sees, before a block:

    <!-- setup                code that runs before the block
    x = hd.ones(3)
    -->
    <!-- needs: torch, gpu -->  Python: left out where one is missing: a module, a GPU, libzip,
                                NCCL. What needs a GPU runs on the first one
    <!-- declarations -->     C++: the block stands at namespace scope, not in a function

A C++ block with an `int main()` is a program of its own.
"""

import contextlib
import difflib
import importlib.util
import io
import re
import sys
import tempfile
import traceback
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PART = re.compile(r"^(?P<fence>```+)(?P<language>[\w{}]*)[^\n]*\n(?P<text>.*?)^(?P=fence)[ \t]*$"
                  r"|<!--[ \t]*(?P<comment>.*?)-->", re.M | re.S)


@dataclass
class Block:
    """One block of code. `line` is that of its first line in the page."""

    language: str
    text: str
    line: int
    setup: str = ""
    needs: str = ""
    declarations: bool = False
    printed: str = None
    span: tuple = None  # of what it prints, in the page's text


def is_here(name):
    """Whether a module can be imported, there is a "gpu", or heddle finds "libzip" or "nccl"."""
    import heddle

    if name == "gpu":
        return any(device.startswith("cuda") for device in heddle.devices())
    if name == "nccl":
        with contextlib.suppress(heddle.DeviceError):
            return heddle.cuda.nccl.get_version() > 0
        return False
    if name == "libzip":
        with tempfile.NamedTemporaryFile(suffix=".npz") as file, \
                contextlib.suppress(heddle.FileError):
            heddle.savez(file.name, heddle.ones(1))
            return True
        return False
    return importlib.util.find_spec(name) is not None


def pages():
    """README.md and every page of docs/."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page):
    """The blocks of a page that have a language."""
    text, found, end = page.read_text(), [], None
    comments = {}
    for part in PART.finditer(text):
        if part["comment"] is not None:
            word, _, rest = part["comment"].partition("\n")
            name, _, value = word.strip().partition(":")
            if name in ("setup", "needs", "declarations"):
                comments[name] = rest if name == "setup" else value.strip()
            continue
        if part["language"]:
            line = text.count("\n", 0, part.start("text")) + 1
            found.append(Block(part["language"], part["text"], line, comments.get("setup", ""),
                               comments.get("needs", ""), "declarations" in comments))
        elif found and end is not None and not text[end:part.start()].strip():
            found[-1].printed, found[-1].span = part["text"], part.span("text")
        comments, end = {}, part.end()
    return found


def difference(page, block, printed):
    """What the page says and what was printed, where they are not the same."""
    if block.printed is None or printed.rstrip("\n") == block.printed.rstrip("\n"):
        return ""
    lines = difflib.unified_diff(block.printed.splitlines(), printed.splitlines(), "the page",
                                 "printed", lineterm="")
    return f"{page.relative_to(ROOT)}:{block.line} prints something else:\n" + "\n".join(lines)


@contextlib.contextmanager
def on_gpu(block):
    """Blocks that need a GPU run on the first one, others on the default device."""
    import heddle
    before = heddle.device()
    if "gpu" in block.needs:
        heddle.set_device("cuda:0")
    try:
        yield
    finally:
        heddle.set_device(before)


def run_python(page):
    """Runs the Python blocks of a page; yields each with what it printed, or the error."""
    names = {"__name__": "program"}
    for block in blocks(page):
        if block.language != "python":
            continue
        if block.needs and not all(is_here(name.strip()) for name in block.needs.split(",")):
            continue
        out, error = io.StringIO(), ""
        try:
            with contextlib.redirect_stdout(out), on_gpu(block):
                exec(compile(block.setup, "setup.py", "exec"), names)  # noqa: S102: our own
                exec(compile(block.text, "program.py", "exec"), names)  # noqa: S102
        except BaseException:
            error = f"{page.relative_to(ROOT)}:{block.line} fails:\n{traceback.format_exc()}"
        yield block, out.getvalue(), error


def check_python(page):
    """Runs the Python blocks of a page. Returns what is wrong, in words."""
    wrong = []
    for block, printed, error in run_python(page):
        wrong.append(error or difference(page, block, printed))
    return "\n".join(filter(None, wrong))


def update_python(page):
    """Puts what the Python blocks print into the page."""
    text, wrong = page.read_text(), ""
    for block, printed, error in reversed(list(run_python(page))):
        wrong += error
        if block.span and not error:
            text = text[:block.span[0]] + printed.rstrip("\n") + "\n" + text[block.span[1]:]
    page.write_text(text)
    return wrong


FRAME = '''// Written by tests/documents/snippets.py from {page}.
{includes}
#include <heddle/heddle.h>

#include <iostream>
#include <sstream>
#include <string>

namespace hd = heddle;

namespace {{

int failures = 0;
std::ostringstream printed;

void compare(const char* page, int line, const std::string& wanted) {{
  std::string got = printed.str();
  while (!got.empty() && got.back() == '\\n') got.pop_back();
  if (got == wanted) return;
  ++failures;
  std::cerr << page << ":" << line << " prints something else. The page:\\n"
            << wanted << "\\nprinted:\\n" << got << "\\n";
}}

}}  // namespace

{scope}
void run_page() {{
{code}
}}

int main() {{
  std::cout.rdbuf(printed.rdbuf());
  try {{
    run_page();
  }} catch (const std::exception& error) {{
    std::cerr << "{page}: " << error.what() << "\\n";
    return 1;
  }}
  return failures == 0 ? 0 : 1;
}}
'''


def cpp_program(page):
    """A program that runs the C++ blocks of a page and compares what they print."""
    name = page.relative_to(ROOT).as_posix()
    includes, scope, code = [], [], []
    for block in blocks(page):
        if block.language != "cpp":
            continue
        lines = block.text.splitlines()
        includes += [line for line in lines if line.startswith("#include")]
        body = "\n".join("" if line.startswith("#include") else line for line in lines)
        body = f'#line {block.line} "{name}"\n{body}'
        if re.search(r"^int main\(", block.text, re.M):
            body = re.sub(r"\}\s*$", "return 0; }", body)
            scope.append(f"namespace program_{block.line} {{\n{body}\n}}")
            body = f"program_{block.line}::main();"
        elif block.declarations:
            scope.append(body)
            continue
        code.append(f'printed.str("");\n{{\n{block.setup}\n{body}\n}}')
        if block.printed is not None:
            wanted = block.printed.rstrip("\n")
            code.append(f'compare("{name}", {block.line}, R"~({wanted})~");')
    return FRAME.format(page=name, includes="\n".join(dict.fromkeys(includes)),
                        scope="\n\n".join(scope), code="\n".join(code))


def main(verb, *paths):
    """The command."""
    if verb == "cpp":
        Path(paths[1]).write_text(cpp_program(Path(paths[0]).resolve()))
        return ""
    action = {"run": check_python, "update": update_python}[verb]
    return "\n".join(filter(None, (action(Path(path).resolve()) for path in paths)))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) or 0)
