"""The table of functions names what the headers declare and what the module has, both ways, says
how each is tested, and is what docs/reference/functions.md shows."""

import ast
import functools
import re
from operator import attrgetter

import function_table

import heddle as hd

ROOT, ROWS = function_table.ROOT, function_table.rows()
MODULE = {prefix + name for prefix, module in {"": hd, "fft.": hd.fft, "linalg.": hd.linalg}.items()
          for name, f in vars(module).items()
          if isinstance(f, hd.Function) and not name.startswith("_")}
# Settings and facts about the process rather than functions of arrays.
NOT_VOCABULARY = {"auto_eval", "describe_memory", "devices", "eval", "jit", "kernel_history",
                  "load_bundle", "load_program", "memory_statistics", "record", "reset_memory_peak",
                  "set_autotune", "set_device", "set_kernel_history", "set_matmul_precision",
                  "set_memory_limit", "spec", "statistics", "synchronize", "trim_memory"}


def aliases():
    """Other names of a function that has a row: they need none."""
    return {name for name in MODULE - set(ROWS) if attrgetter(name)(hd).__name__ in ROWS}


def test_headers_and_table_agree():
    declared = set(function_table.declarations())
    listed = {row.cpp_name for row in ROWS.values() if row.cpp_name}
    listed_aliases = {name for name in declared - listed if name in aliases()}
    assert declared - listed - listed_aliases == set(), "declared, but in no row"
    assert listed - declared == set(), "in the table, but declared nowhere"


def test_module_and_table_agree():
    listed = {row.python_name for row in ROWS.values() if row.python_name}
    assert MODULE - listed - aliases() - NOT_VOCABULARY == set(), "in the module, but in no row"
    assert {name for name in listed if not has(hd, name)} == set(), "in no module"


def has(module, name):
    first, _, rest = name.partition(".")
    return hasattr(module, first) and (not rest or has(getattr(module, first), rest))


def test_every_row_is_tested():
    for row in ROWS.values():
        assert bool(row.calls) != bool(row.tested), row.name
        if row.tested:
            path = ROOT / row.tested
            files = [*path.rglob("*.py"), *path.rglob("*.cpp")] if path.is_dir() else [path]
            paths = {path for path in (row.cpp_name, row.python_name) if path}
            names = {re.split(r"\.|::", path)[-1] for path in paths}
            assert any(names & called_names(file) for file in files), row.name


@functools.cache
def called_names(file):
    """The names that a test file calls; those in comments and strings do not count."""
    text = file.read_text()
    if file.suffix == ".py":
        calls = [node.func for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
        return {getattr(call, "attr", getattr(call, "id", "")) for call in calls}
    code = re.sub(r'//[^\n]*|"(?:\\.|[^"\\\n])*"', '""', text)
    return set(re.findall(r"\b(\w+)(?:<[^<>;()]*>)?\(", code))


def test_page_is_fresh():
    wanted = function_table.page_with(function_table.table(hd))
    assert function_table.PAGE.read_text() == wanted, "run tools/function_table.py"
