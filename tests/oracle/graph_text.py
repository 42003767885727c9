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
                   r"(?P<name>\w+) = (?:\"(?P<text>[^\"]*)\"|(?P<number>-?\d+)|(?P<truth>true|false)|"
                   r"\[(?P<extents>[^\]]*)\])|"
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
class Control:
    """A call that runs regions (control.py)."""

    ids: list  # of the results; None for one that nothing needs
    op: str
    operands: list
    attributes: dict
    types: list  # of the results, as (dtype, shape)
    regions: list  # Blocks
    bindings: dict  # of the symbols around it


@dataclasses.dataclass
class Graph:
    parameters: list  # Nodes of op `parameter`
    nodes: list  # Nodes and Controls
    outputs: list  # ids


@dataclasses.dataclass
class Block:
    """The text of a function or region, from which `bind` makes a graph."""

    parameters: list  # (id, dtype, extents)
    statements: list  # (line, the regions behind it)


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
    block, _ = read_block(QUOTED_NAME.sub("@name", lines[0]), iter(lines[1:]))
    if len(block.parameters) != len(input_shapes):
        raise GraphError(f"{len(input_shapes)} inputs for {len(block.parameters)} parameters")
    return bind(block, bind_symbols(block.parameters, input_shapes))


def read_block(header, lines):
    """The block that `header` opens, and the line that closes it, which may open another."""
    parameters = [
        (int(id), scalar or dtype, extents)
        for id, scalar, dtype, extents in PARAMETER.findall(header.split("->")[0])
    ]
    statements = []
    for line in lines:
        if line.startswith("}"):
            return Block(parameters, statements), line
        line, _, opened = line.partition(" region (")
        regions = []
        while opened:
            region, closing = read_block(opened, lines)
            regions.append(region)
            opened = closing.partition(" region (")[2]
        statements.append((line, regions))
    raise GraphError("a graph ends with }")


def bind(block, bindings):
    """The graph of a block for these values of its symbols."""
    parameters = [
        Node(id, "parameter", [], {}, dtype, tuple(integers(extents, bindings)))
        for id, dtype, extents in block.parameters
    ]
    nodes, outputs = [], None
    for line, regions in block.statements:
        if line.startswith("return"):
            outputs = [int(id) for id in re.findall(r"%(\d+)", line)]
        elif match := NODE.match(line):
            nodes += parse_call(match, bindings, regions) if regions else parse_nodes(match, bindings)
        else:
            raise GraphError(f"not a line of a graph: {line!r}")
    if outputs is None:
        raise GraphError("a graph ends with return")
    return Graph(parameters, nodes, outputs)


def parse_call(match, bindings, regions):
    ids, op, rest, types = match.groups()
    operands, attributes = parse_operands(op, rest, bindings)
    ids = [None if id == "_" else int(id[1:]) for id in ids.split(", ")]
    types = [(d, tuple(integers(e, bindings))) for d, e in re.findall(TYPE, types)]
    if len(ids) != len(types):
        raise GraphError(f"{op} has {len(types)} types for {len(ids)} results")
    return [Control(ids, op, operands, attributes, types, regions, bindings)]


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
            attributes[token["name"]] = value_of(token, bindings)
        elif token[0] in "{}":
            continue
        elif op == "constant":
            attributes["literal"] = token["word"]
        else:
            attributes[token["word"]] = True
    return operands, attributes


def value_of(token, bindings):
    if token["extents"] is not None:
        return integers(token["extents"], bindings)
    if token["truth"]:
        return token["truth"] == "true"
    return int(token["number"]) if token["number"] else token["text"]
