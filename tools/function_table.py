#!/usr/bin/env python3
"""The table of functions, collected from frontend/functions.toml, ir/include/heddle/ops.def and the
public headers; and the tables of docs/reference/functions.md, generated from these and the Python
module.

    tools/function_table.py [--check]   writes the page's tables, or fails when they are stale
"""

import argparse
import inspect
import re
import sys
import tomllib
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADERS = ROOT / "frontend/include/heddle"
# Headers of classes, settings, tools, loops and exchanges, which declare no functions of NumPy.
NOT_VOCABULARY = {"allocator", "array", "bulk_random", "control", "csgraph", "device", "distributed", "dlpack",
                  "fields", "half", "heddle", "host_view", "indexing", "ipc", "jit", "memory", "profile", "program",
                  "random", "settings", "source_location", "sparse", "sparse_eigen", "sparse_linalg", "stream", "vmap"}
SETTINGS = {"set_linalg_errors"}  # settings declared in headers of functions
PAGE = ROOT / "docs/reference/functions.md"
BEGIN, END = "<!-- functions: tools/function_table.py -->\n", "<!-- end of functions -->\n"


@dataclass
class Row:
    """One function, such as "roll" or "linalg.cholesky". frontend/functions.toml documents the
    fields."""

    name: str
    calls: list = field(default_factory=list)
    bad: list = field(default_factory=list)
    dtypes: str = "all"
    complex: bool = False
    domain: str = "small"
    shapes: list = None
    ulp: float = 0
    spread: float = 0
    signs: bool = True
    numpy: str = None
    kernel: str = None
    deviates: str = ""
    python: object = True
    cpp: object = True
    tested: str = None
    op: bool = False  # listed in ops.def

    @property
    def python_name(self):
        return self.name if self.python is True else self.python or None

    @property
    def cpp_name(self):
        return self.name.replace(".", "::") if self.cpp is True else self.cpp or None


def op_rows():
    """The rows of ops.def."""
    text = (ROOT / "ir/include/heddle/ops.def").read_text()
    pattern = r'^HD_OP\((\w+), (\d), (\w+), ([^,]+), ([^,]+), "([^"]+)", (\w+), ([\d.]+), \d+\)'
    rows = {}
    for name, arity, rule, dtypes, _, numpy, domain, ulp in re.findall(pattern, text, re.M):
        operands = ["x", "y", "z", "u", "v"][:int(arity)]
        if rule == "load_exponent":
            operands[1] = "c"
        rows[name] = Row(name, [", ".join(operands)], numpy=numpy, domain=domain, ulp=float(ulp),
                         complex="numbers" in dtypes or "complex" in dtypes, op=True)
    return rows


def rows():
    """All rows by name. An entry of functions.toml replaces a line of ops.def."""
    result = op_rows()
    with open(ROOT / "frontend/functions.toml", "rb") as file:
        for name, fields in tomllib.load(file).items():
            result[name] = Row(name, **fields)
    return result


def declarations():
    """The declarations in public headers: {name: [(parameters, header)]}. A name in a nested
    namespace is qualified relative to heddle: "linalg::cholesky"."""
    result = {}
    for path in sorted(HEADERS.glob("*.h")):
        if path.stem in NOT_VOCABULARY:
            continue
        text = re.sub(r"//[^\n]*|^#[^\n]*(?:\\\n[^\n]*)*", "", path.read_text(), flags=re.M)
        returned = r"^(?:[A-Z]\w*|bool|void|std::pair<.*>|std::vector<.*>)\s+"
        for match in re.finditer(returned + r"(\w+)\(", text, re.M):
            name = "::".join([*namespaces(text[:match.start()])[1:], match.group(1)])
            if name not in SETTINGS:
                parameters = until_closed(text[match.end():])
                result.setdefault(name, []).append((parameters, path.stem))
    for name, row in op_rows().items():
        parameters = ["x", "y", "z", "u", "v"][:len(row.calls[0].split(","))]
        result.setdefault(name, []).insert(0, (", ".join(parameters), "elementwise"))
    return result


def namespaces(text):
    """The namespaces that are open at the end of the text."""
    scopes = []
    for match in re.finditer(r"namespace ([\w:]+) {|[{}]", text):
        if match[0] == "}":
            scopes.pop()
        else:
            scopes.append(match[1])
    return [part for name in scopes if name for part in name.split("::")]


def until_closed(text):
    """The text up to the parenthesis that closes one opened before the text."""
    depth = 1
    for i, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if depth == 0:
            return text[:i]
    return text


def split_parameters(text):
    """Splits the text at commas that are outside of brackets."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "([{<") - (c in ")]}>")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts if part.strip()]


def short_parameters(text):
    """Parameter names and defaults, without the source location parameter that every function
    has."""
    result = []
    for part in split_parameters(" ".join(text.split())):
        declared, _, default = part.partition("=")
        name = re.search(r"(\w+)$", declared.strip()).group(1)
        if "SourceLocation" not in declared:
            result.append(name + (" = " + default.strip() if default else ""))
    return "(" + ", ".join(result) + ")"


# What follows the operands of every ufunc, which the page says once.
UFUNC = re.compile(r", out=(?:None|\(None, None\)), \*, where=True, casting='same_kind', order='K', "
                   r"dtype=None, subok=True, signature=None")
TITLES = {"dtype_info": "Facts about dtypes", "functional": "Functions of lines", "io": "Files and text",
          "linalg": "linalg: factorisations", "nnet": "nnet: neural networks", "kernels": "Kernels from text", "linear_algebra": "Products of matrices",
          "python": "Python only", "take": "Taking and finding elements"}


def table(module):
    """The page's tables, in Markdown: one for each header."""
    declared = declarations()
    by_header = {}
    for row in sorted(rows().values(), key=lambda row: row.name):
        places = declared.get(row.cpp_name, [])
        header = places[0][1] if places else "python"
        by_header.setdefault(header, []).append((row, places))
    lines = []
    for header in sorted(by_header, key=lambda name: (name == "python", name)):
        title = TITLES.get(header, header.replace("_", " ").capitalize())
        lines += ["", f"## {title}", ""]
        if header != "python":
            lines += [f"In C++: `#include <heddle/{header}.h>`.", ""]
        has_cpp = header != "python"
        heads = (["C++"] if has_cpp else []) + ["Python", "kernel", "differs from NumPy"]
        lines += ["| " + " | ".join(heads) + " |", "| " + " | ".join(["---"] * len(heads)) + " |"]
        for row, places in by_header[header]:
            cells = [row.cpp_name + short_parameters(places[0][0]) if places else ""] * has_cpp
            cells.append(row.python_name + signature(module, row) if row.python_name else "")
            cells = [f"`{cell}`" if cell else "" for cell in cells]
            kernel = ("fuses" if row.calls else "") if row.kernel is None else row.kernel
            lines.append("| " + " | ".join([*cells, kernel, row.deviates]) + " |")
    return "\n".join(lines) + "\n\n"


def signature(module, row):
    """The parameters of a Python function, those of every ufunc as three dots."""
    function = attrgetter(row.python_name)(module)
    text = getattr(function, "__text_signature__", None) or str(inspect.signature(function))
    return UFUNC.sub(", ...", text)


def page_with(text):
    """The page with those tables in their place."""
    page = PAGE.read_text()
    begin, end = page.index(BEGIN) + len(BEGIN), page.index(END)
    return page[:begin] + text + page[end:]


def main():
    """Writes the page's tables, or checks them."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="fail if the page is out of date")
    arguments = parser.parse_args()
    import heddle

    wanted = page_with(table(heddle))
    if arguments.check:
        return 0 if PAGE.read_text() == wanted else 1
    PAGE.write_text(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
