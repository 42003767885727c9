"""Loops and branches. The steps that a loop makes, and the branch that is taken, are added to the
evaluation node by node, as if they were written out in the graph. So errors run from step to step.

Where errors may decide how many steps there are, or which branch is taken, all results are open.
"""

import dataclasses

import numpy as np

import graph_text
from graph_text import GraphError, Node

OPEN = "control.open"  # passes its operand on; any other value is right too


def add(run, call):
    """Adds a call to an evaluation (evaluate.Evaluation)."""
    made, is_open = CALLS[call.op](run, call)
    if len(made) != len(call.types):
        raise GraphError(f"{call.op} makes {len(made)} results, not {len(call.types)}")
    for id, value, (dtype, shape) in zip(call.ids, made, call.types):
        require_type(run, value, dtype, shape, f"a result of {call.op}")
        if id is not None:
            run.add(Node(id, OPEN if is_open else "reshape", [value], {}, dtype, shape))


def require_type(run, id, dtype, shape, what):
    node = run.nodes[id]
    if (node.dtype, node.shape) != (dtype, shape):
        raise GraphError(f"{what} is {node.dtype}{list(node.shape)}, not {dtype}{list(shape)}")


def new_node(run, op, operands, attributes, dtype, shape):
    """Adds a node that the text does not have."""
    node = Node(new_id(run), op, operands, attributes, dtype, shape)
    run.add(node)
    return node.id


def new_id(run):
    run.last_id -= 1
    return run.last_id


def add_region(run, region, bindings, operands):
    """Adds the nodes of a region, for these values of its parameters; the ids of its results."""
    graph = graph_text.bind(region, bindings)
    if len(operands) != len(graph.parameters):
        raise GraphError(f"{len(operands)} operands for {len(graph.parameters)} parameters")
    ids = {}
    for parameter, operand in zip(graph.parameters, operands):
        if operand is not None:
            require_type(run, operand, parameter.dtype, parameter.shape, "an operand of a region")
            ids[parameter.id] = operand
    for node in graph.nodes:
        own = [id for id in getattr(node, "ids", None) or [node.id] if id is not None]
        ids |= {id: new_id(run) for id in own}
        run.add(renamed(node, ids))
    return [ids[id] for id in graph.outputs]


def renamed(node, ids):
    operands = [ids[id] for id in node.operands]
    if isinstance(node, Node):
        return dataclasses.replace(node, id=ids[node.id], operands=operands)
    return dataclasses.replace(node, ids=[ids.get(id) for id in node.ids], operands=operands)


def element(run, sequence, step):
    """Element `step` along the first axis."""
    node = run.nodes[sequence]
    starts, steps = [step] + [0] * (len(node.shape) - 1), [1] * len(node.shape)
    part = new_node(run, "slice", [sequence], {"starts": starts, "steps": steps}, node.dtype,
                    (1,) + node.shape[1:])
    return new_node(run, "reshape", [part], {}, node.dtype, node.shape[1:])


def stacked(run, elements, dtype, shape):
    """One value after another along a new first axis."""
    if not elements:
        literal = {"bool": "false", "c64": "(0,0)", "c128": "(0,0)"}.get(dtype, "0")
        zero = new_node(run, "constant", [], {"literal": literal}, dtype, ())
        return new_node(run, "broadcast_to", [zero], {}, dtype, shape)
    rows = [new_node(run, "reshape", [id], {}, dtype, (1,) + shape[1:]) for id in elements]
    return new_node(run, "concatenate", rows, {"axes": [0]}, dtype, shape)


def scan(run, call):
    carries = call.attributes.get("carries", 0)
    sequences = len(call.operands) - call.attributes.get("sequences", 0)
    constants, carried = call.operands[:sequences - carries], call.operands[sequences - carries:sequences]
    length = call.attributes.get("length", [0])[0]
    [region] = call.regions
    counter, _ = graph_text.split_list(region.parameters[0][2])
    rows = {}
    for step in reversed(range(length)) if call.attributes.get("reverse") else range(length):
        number = new_node(run, "constant", [], {"literal": str(step)}, "i64", ())
        elements = [element(run, id, step) for id in call.operands[sequences:]]
        made = add_region(run, region, call.bindings | {counter: step},
                          [None, number, *constants, *carried, *elements])
        carried, rows[step] = made[:carries], made[carries:]
    stacks = [
        stacked(run, [rows[step][i] for step in range(length)], dtype, shape)
        for i, (dtype, shape) in enumerate(call.types[carries:])
    ]
    return carried + stacks, False


def may_differ(run, id):
    """Whether a value may be another one than the reference."""
    return bool((run.tolerance(id) > 0).any())


def while_loop(run, call):
    constants = len(call.operands) - call.attributes.get("carries", 0)
    condition, body = call.regions
    values, is_open = list(call.operands), False
    while True:
        [truth] = add_region(run, condition, call.bindings, values)
        is_open = is_open or may_differ(run, truth)
        if not run.values[truth]:
            return values[constants:], is_open
        values[constants:] = add_region(run, body, call.bindings, values)


def switch(run, call):
    index, operands = call.operands[0], call.operands[1:]
    region = call.regions[int(np.clip(run.values[index], 0, len(call.regions) - 1))]
    return add_region(run, region, call.bindings, operands), may_differ(run, index)


CALLS = {"control.scan": scan, "control.while": while_loop, "control.switch": switch}
