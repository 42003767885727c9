"""Parses the text form of Heddle's IR, with symbols bound to the extents of the inputs at hand.

This is a second reader of the grammar on purpose: what C++ prints is checked by someone else.
"""

import dataclasses
import re

import dtypes

TYPE = r"(\w+)\[([^\]]*)\]"
PARAMETER = re.compile(r"%(\d+): (?:scalar (\w+)|" + TYPE + ")")
QUOTED_NAME = re.compile(r'@"(?:[^"\\]|\\.)*"')
IDS = r"((?:%\d+|_)(?:, (?:%\d+|_))*)"
TYPES = r"(\w+\[[^\]]*\](?:, \w+\[[^\]]*\])*)"
NODE = re.compile("^" + IDS + r" = (?:call )?([\w.]+)(.*?)\s*:\s*" + TYPES + "$")
TOKEN = re.compile(r"%(?P<operand>\d+)|(?P<key>\w+)=\[(?P<list>[^\]]*)\]|"
                   r"(?P<name>\w+) = (?:\"(?P<text>[^\"]*)\"|(?P<number>-?\d+)|(?P<truth>true|false))|"
                   r"[{}]|"
                   r"(?P<word>\([^)]*\)|[^\s,]+)")


class GraphError(ValueError):
    """The text is not a graph, or the graph's types are not what NumPy says."""


@dataclasses.dataclass
class Node:
    id: int
    op: str
    operands: list
    # axes, starts, steps ... to lists of int; flags to True; `literal` to a word; of calls strings,
    # ints and bools, and `result` to which of the call's results it is.
    attributes: dict
    dtype: str
    shape: tuple


@dataclasses.dataclass
class Graph:
    parameters: list  # Nodes of op `parameter`
    nodes: list
    outputs: list  # ids


def bind_symbols(types, shapes):
    bindings = {}
    for (_, _, extents), shape in zip(types, shapes):
        names = split_list(extents)
        if len(names) != len(shape):
            raise GraphError(f"an input of shape {list(shape)} for a parameter of shape [{extents}]")
        for name, extent in zip(names, shape):
            if name.isidentifier() and bindings.setdefault(name, extent) != extent:
                raise GraphError(f"{name} is both {bindings[name]} and {extent}")
    return bindings


def split_list(text):
    return [item.strip() for item in text.split(",") if item.strip()]


def integers(text, bindings):
    """Extents and offsets: integers and polynomials over symbols."""
    return [int(eval(item, {"__builtins__": {}}, bindings)) for item in split_list(text)]


def parse(text, input_shapes):
    lines = [line.split("  //")[0].strip() for line in text.splitlines()]
    lines = [line for line in lines if line]
    if not lines or not lines[0].startswith("func "):
        raise GraphError(f"a graph starts with func: {text[:80]!r}")
    header = QUOTED_NAME.sub("@name", lines[0]).split("->")[0]
    types = [
        (int(id), scalar or dtype, extents)
        for id, scalar, dtype, extents in PARAMETER.findall(header)
    ]
    if len(types) != len(input_shapes):
        raise GraphError(f"{len(input_shapes)} inputs for {len(types)} parameters")
    bindings = bind_symbols(types, input_shapes)

    parameters = [
        Node(id, "parameter", [], {}, dtype, tuple(integers(extents, bindings)))
        for id, dtype, extents in types
    ]
    nodes, outputs = [], None
    for line in lines[1:]:
        if line.startswith("return"):
            outputs = [int(id) for id in re.findall(r"%(\d+)", line)]
        elif match := NODE.match(line):
            nodes += parse_nodes(match, bindings)
        elif line != "}":
            raise GraphError(f"not a line of a graph: {line!r}")
    if outputs is None:
        raise GraphError("a graph ends with return")
    return Graph(parameters, nodes, outputs)


def parse_nodes(match, bindings):
    """A node for each result that a line names: "_" is one that nothing needs."""
    ids, op, rest, types = match.groups()
    operands, attributes = parse_operands(op, rest, bindings)
    ids, types = ids.split(", "), re.findall(TYPE, types)
    if len(ids) != len(types):
        raise GraphError(f"{op} has {len(types)} types for {len(ids)} results")
    nodes = []
    for index, (id, (dtype, extents)) in enumerate(zip(ids, types)):
        if dtype not in dtypes.BY_NAME:
            raise GraphError(f"no dtype is called {dtype!r}")
        own = attributes | ({"result": index} if len(ids) > 1 else {})
        if id != "_":
            shape = tuple(integers(extents, bindings))
            nodes.append(Node(int(id[1:]), op, operands, own, dtype, shape))
    return nodes


def parse_operands(op, rest, bindings):
    operands, attributes = [], {}
    for token in TOKEN.finditer(rest):
        if token["operand"]:
            operands.append(int(token["operand"]))
        elif token["key"]:
            attributes[token["key"]] = integers(token["list"], bindings)
        elif token["name"]:
            attributes[token["name"]] = value_of(token)
        elif token[0] in "{}":
            continue
        elif op == "constant":
            attributes["literal"] = token["word"]
        else:
            attributes[token["word"]] = True
    return operands, attributes


def value_of(token):
    if token["truth"]:
        return token["truth"] == "true"
    return int(token["number"]) if token["number"] else token["text"]
