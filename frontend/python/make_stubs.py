"""Writes the typed stub of the package: make_stubs.py FILE. Run by the build on the built module.

Functions and methods have a declaration attribute; nanobind's functions have a signature
attribute."""

import inspect
import pathlib
import re
import sys
import textwrap

sys.path.pop(0)  # this folder, whose heddle/ lacks the extension

import heddle as hd  # noqa: E402
from heddle import _heddle  # noqa: E402

HEAD = '''"""{doc}"""

import builtins
from collections.abc import Callable, Iterator, Sequence
from types import EllipsisType
from typing import Any, TypeAlias

import numpy

from heddle import sparse as sparse

Device: TypeAlias = str
Axis: TypeAlias = int | tuple[int, ...] | None
DTypeLike: TypeAlias = "DType | str | type | numpy.dtype"
Operand: TypeAlias = "Array | int | float | complex"
Index: TypeAlias = "int | slice | EllipsisType | None | Array | Sequence[Any]"

__array_api_version__: str
__version__: str
False_: builtins.bool
True_: builtins.bool
e: float
euler_gamma: float
inf: float
nan: float
newaxis: None
pi: float


class _Grid:
    """Coordinates by slices, a dimension each."""

    def __getitem__(self, key: slice | tuple[slice, ...]) -> Any: ...


mgrid: _Grid
ogrid: _Grid


class _Subscripted:
    """What a subscript stands for."""

    def __getitem__(self, key: Any) -> Any: ...


c_: _Subscripted
index_exp: _Subscripted
r_: _Subscripted
s_: _Subscripted


class matmul_precision:
    """{precision}"""

    def __init__(self, precision: str, /) -> None: ...
    def __enter__(self) -> None: ...
    def __exit__(self, *_: Any) -> None: ...


class errstate:
    """{errstate}"""

    def __init__(self, *, all: str | None = None, divide: str | None = None, over: str | None = None,
                 under: str | None = None, invalid: str | None = None, call: Any = None,
                 linalg: str | None = None) -> None: ...
    def __call__(self, function: Callable) -> Callable: ...
    def __enter__(self) -> None: ...
    def __exit__(self, *_: Any) -> None: ...
'''

BINARY = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor",
          "lshift", "rshift"]
COMPARISONS = ["lt", "le", "eq", "ne", "gt", "ge"]
OPERATORS = [f"def __{p}{name}__(self, other: Operand, /) -> Array: ..."
             for name in BINARY for p in ("", "r", "i")]
OPERATORS += [f"def __{name}__(self, other: Operand, /) -> Array: ...  # type: ignore[override]"
              for name in COMPARISONS]
OPERATORS += [f"def __{name}__(self, /) -> Array: ..." for name in ("neg", "pos", "abs", "invert")]
OPERATORS += [f"def __{name}__(self, /) -> {result}: ..." for name, result in
              {"bool": "bool", "int": "int", "float": "float", "index": "int", "len": "int",
               "iter": "Iterator[Array]"}.items()]
OPERATORS += ["def __divmod__(self, other: Operand, /) -> tuple[Array, Array]: ...",
              "def __getitem__(self, key: Index | tuple[Index, ...], /) -> Array: ...",
              "def __setitem__(self, key: Index | tuple[Index, ...], value: Operand | "
              "Sequence[Any], /) -> None: ...",
              "def __contains__(self, value: Operand, /) -> bool: ..."]
PROPERTIES = {"dtype": "DType", "device": "Device", "shape": "tuple[int, ...]",
              "strides": "tuple[int, ...]", "T": "Array", "mT": "Array", "name": "str",
              "kind": "str", "real": "Array", "imag": "Array", "base": "Array | None",
              "data": "memoryview", "flat": "Any", "flags": "Any",
              "__cuda_array_interface__": "dict[str, Any]"}


def typed(text):
    """Qualifies Python's bool, which the module's own name hides, and omits default objects."""
    return re.sub(r"(?<![.\w])bool(?!\w)", "builtins.bool", re.sub("=( ?)<[^>]*>", r"=\1...", text))


def indented(documentation, indent):
    # A class whose instances define __doc__ has no documentation text.
    text = documentation if isinstance(documentation, str) else ""
    return textwrap.indent(inspect.cleandoc(text), indent).strip().replace("\\", "\\\\")


def documented(line, documentation, indent=""):
    body = indented(documentation, indent + "    ")
    lines = f'"""{body}"""' if body else "..."
    return f"{indent}{typed(line)}:\n{indent}    {lines}\n"


def function(value, name, indent=""):
    declaration = name + value.__declaration__[len(value.__name__):]
    return documented("def " + declaration, value.__doc__, indent)


def methods_of(cls):
    for name, value in sorted(vars(cls).items()):
        if isinstance(value, _heddle.Function) and not name.startswith("_cuda"):
            yield function(value, name, "    ")
        elif inspect.isfunction(value) and not name.startswith("_"):
            yield documented(f"def {name}{inspect.signature(value)} -> Any", value.__doc__, "    ")
        elif isinstance(value, property):
            kind = PROPERTIES.get(name, "int")
            text = documented(f"def {name}(self) -> {kind}", value.__doc__, "    ")
            yield "    @property\n" + text
        elif hasattr(value, "__nb_signature__") and name not in ("__get__",):
            signature, documentation, defaults = value.__nb_signature__[0]
            for place, default in enumerate(defaults or ()):
                signature = signature.replace(f"\\{place}", repr(default))
            signature = re.sub(r"heddle\._heddle\.(random\.)?", "", signature)
            yield documented(signature, documentation, "    ")


def class_of(cls):
    bases = ", ".join(base.__name__ if base.__module__ != "builtins" else f"builtins.{base.__name__}"
                      for base in cls.__bases__ if base is not object)
    text = f"class {cls.__name__}({bases}):\n" if bases else f"class {cls.__name__}:\n"
    text += f'    """{indented(cls.__doc__, "    ")}"""\n\n'
    text += "\n".join(methods_of(cls))
    if cls is hd.Array:
        text += "\n" + "\n".join("    " + typed(line) for line in OPERATORS) + "\n"
    return text


def main():
    parts = [HEAD.format(doc=inspect.cleandoc(hd.__doc__),
                         precision=indented(hd.matmul_precision.__doc__, "    "),
                         errstate=indented(hd.errstate.__doc__, "    "))]
    names = sorted(hd.__all__)
    for name in names:
        value = getattr(hd, name)
        if not inspect.isclass(value) or value in (hd.matmul_precision, hd.errstate):
            continue
        if name == value.__name__:
            parts.append(class_of(value))
        else:
            parts.append(f"{name}: TypeAlias = {value.__name__}\n")
    for name in names:
        value = getattr(hd, name)
        if isinstance(value, hd.DType):
            parts.append(f"{name}: DType\n")
        elif isinstance(value, _heddle.Function):
            parts.append(function(value, name))
        elif inspect.isfunction(value) and name not in ("get_array_module", "jit"):
            parts.append(documented(f"def {name}{inspect.signature(value)} -> Any", value.__doc__))
    for value in (hd.get_array_module, hd.__array_namespace_info__):
        parts.append(documented(f"def {value.__name__}{inspect.signature(value)} -> Any",
                                value.__doc__))
    jit = hd.jit.__doc__
    options = ("function: Callable | None = None, /, *, name: str | None = None, donate: Sequence[int]"
               " = (), dynamic: Any = None, strict: bool = False, approximate: bool = False, disable: "
               "Sequence[str] = (), matmul_precision: str | None = None")
    parts.append(documented(f"def jit({options}) -> Any", jit))
    for name in names:
        if inspect.ismodule(getattr(hd, name)):
            parts.append(f"from heddle import {name} as {name}\n")
            if name in ("cuda", "profiler"):
                continue  # written in Python, with their own signatures
            write_module(getattr(hd, name), pathlib.Path(sys.argv[1]).with_name(f"{name}.pyi"))
    with open(sys.argv[1], "w") as stub:
        stub.write("\n".join(parts))


def write_module(module, path):
    """Writes the stub of a module of the extension: its classes and functions."""
    parts = [f'"""{module.__doc__}"""\n\nimport builtins\n\n'
             "from typing import Any\n\nfrom heddle import Array, DTypeLike, Operand\n"]
    for name, value in sorted(vars(module).items()):
        if name.startswith("_") or name not in getattr(module, "__all__", vars(module)):
            continue
        if inspect.ismodule(value):
            parts.append(f"{name}: Any\n")
        elif inspect.isclass(value) and value.__module__ == "heddle":
            parts.append(f"from heddle import {name} as {name}\n")
        elif inspect.isclass(value):
            parts.append(class_of(value))
        elif isinstance(value, _heddle.Function):
            parts.append(function(value, name))
        elif inspect.isfunction(value):
            parts.append(documented(f"def {name}{inspect.signature(value)} -> Any", value.__doc__))
        elif hasattr(value, "__nb_signature__"):
            signature, documentation, defaults = value.__nb_signature__[0]
            for place, default in enumerate(defaults or ()):
                signature = signature.replace(f"\\{place}", repr(default))
            signature = signature.replace(f"{module.__name__}.", "")
            parts.append(documented(signature, documentation))
    path.write_text("\n".join(parts))


main()
