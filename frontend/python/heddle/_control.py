"""Loops and branches as operations: the functions of jax.lax, with its names and meaning.

A body is called once, to record what a step does; the loop then runs without Python. What goes from
step to step is the carry: an Array, or a list, tuple, dict or dataclass of Arrays. A body may use
Arrays from outside, which keep their values in all steps.
"""

import dataclasses

from heddle import _heddle


def _is_named_tuple(tree):
    return isinstance(tree, tuple) and hasattr(tree, "_fields")


def _children(tree):
    """The accessors and values of a container's children; None for a leaf."""
    if isinstance(tree, dict):
        return [(f"[{key!r}]", value) for key, value in tree.items()]
    if _is_named_tuple(tree):
        return [(f".{name}", value) for name, value in zip(tree._fields, tree)]
    if isinstance(tree, (list, tuple)):
        return [(f"[{i}]", value) for i, value in enumerate(tree)]
    if dataclasses.is_dataclass(tree) and not isinstance(tree, type):
        return [(f".{field.name}", getattr(tree, field.name)) for field in dataclasses.fields(tree)]
    return [] if tree is None else None


def _leaves(tree, name=""):
    """(name, value) of each leaf, in order."""
    children = _children(tree)
    if children is None:
        return [(name, tree)]
    return [leaf for accessor, child in children for leaf in _leaves(child, name + accessor)]


def _rebuilt(tree, leaves):
    """The tree with its leaves taken from an iterator."""
    children = _children(tree)
    if children is None:
        return next(leaves)
    if tree is None:
        return None
    values = [_rebuilt(child, leaves) for _, child in children]
    if isinstance(tree, dict):
        return type(tree)(zip(tree, values))
    if _is_named_tuple(tree):
        return type(tree)(*values)
    if isinstance(tree, (list, tuple)):
        return type(tree)(values)
    return dataclasses.replace(tree, **{field.name: value for field, value
                                        in zip(dataclasses.fields(tree), values)})


class _Tree:
    """A container of values: its structure, and its leaves as Arrays."""

    def __init__(self, tree, name):
        leaves = _leaves(tree, name)
        self.tree, self.name = tree, name
        self.names = [name for name, _ in leaves]
        self.arrays = [_heddle.asarray(value) for _, value in leaves]
        self.dtypes = [array.dtype for array in self.arrays]

    def filled(self, arrays):
        return _rebuilt(self.tree, iter(arrays))

    def values(self, tree, op, function="the body"):
        """The leaves of a tree of the same structure, which a function returned."""
        leaves = _leaves(tree, self.name)
        if [name for name, _ in leaves] != self.names:
            raise TypeError(f"{op}: the {self.name} is {', '.join(self.names) or 'empty'}, but "
                            f"{function} returns "
                            f"{', '.join(name for name, _ in leaves) or 'nothing'}")
        return [_like(value, dtype) for (_, value), dtype in zip(leaves, self.dtypes)]


def _like(value, dtype):
    """A Python number takes the dtype that the carry has, if it is of that kind or a lower one."""
    kinds = {bool: 0, int: 1, float: 2, complex: 3}
    kind = kinds.get(type(value))
    own = next(i for i, name in enumerate(("bool", "integral", "real floating", "complex floating"))
               if _heddle.isdtype(dtype, name))
    return value if kind is None or kind > own else _heddle.asarray(value, dtype=dtype)


def _pair(made, op):
    if not isinstance(made, tuple) or len(made) != 2:
        raise TypeError(f"{op}: the body must return a tuple of the carry and what is stacked, not "
                        f"{type(made).__name__}")
    return made


def _known(bound):
    try:
        return int(bound.__index__())
    except (AttributeError, TypeError, _heddle.TraceError):
        return None


def fori_loop(lower, upper, body_fun, init_val):
    """val = body_fun(i, val) for i from lower up to upper, which is not included: jax.lax.fori_loop.
    `i` is an Array of one int64, which combines with Arrays like a plain number. Subscripts that
    are i, or i and a number by +, - and *, are as fast as numbers. Bounds may be computed Arrays of
    one integer; the loop is then a while_loop.

    Raises TypeError, DTypeError or ShapeError if the body returns another structure, dtype or
    shape than init_val has, TraceError if it reads a value or draws random numbers.

    >>> hd.fori_loop(0, 10, lambda i, total: total + i * i, 0)
    """
    init = _Tree(init_val, "carry")
    first, last = _known(lower), _known(upper)
    if first is None or last is None:
        return _counted_while(lower, upper, body_fun, init_val)

    def step(i, carries, _):
        return init.values(body_fun(i, init.filled(carries)), "fori_loop"), []

    made, _ = _heddle._scan(step, init.arrays, [], max(last - first, 0), False, first, "fori_loop",
                            init.names)
    return init.filled(made)


def _counted_while(lower, upper, body_fun, init_val):
    last = _heddle.asarray(upper, dtype=_heddle.int64)

    def step(state):
        i, value = state
        return i + 1, body_fun(i, value)

    state = _heddle.asarray(lower, dtype=_heddle.int64), init_val
    return while_loop(lambda state: state[0] < last, step, state)[1]


def while_loop(cond_fun, body_fun, init_val):
    """While cond_fun(val), a 0-d bool Array, is true, val = body_fun(val): jax.lax.while_loop. If
    the condition is an array, each element takes steps until its own condition is false, and then
    keeps its values; carries broadcast to the condition's shape. A loop of elementwise functions
    runs inside one kernel. On a GPU the host waits in each step of others, until calls repeat: then
    the GPU decides.

    Raises as fori_loop, DTypeError if the condition is not bool, and ShapeError if a carry does not
    broadcast to its shape.

    >>> hd.while_loop(lambda x: x < 100, lambda x: x * 2, 1)
    """
    init = _Tree(init_val, "carry")

    def step(carries):
        return init.values(body_fun(init.filled(carries)), "while_loop")

    made = _heddle._while_loop(lambda carries: cond_fun(init.filled(carries)), step, init.arrays,
                               init.names)
    return init.filled(made)


def scan(f, init, xs=None, length=None, reverse=False):
    """carry, y = f(carry, x) for each element x of the Arrays in xs along their first axes. Returns
    the last carry, and the y of all steps along a new first axis: jax.lax.scan. `length` is needed
    where xs has no Arrays. `reverse` begins with the last element; y keeps its place.

    Raises as fori_loop, and ShapeError if the first extents of xs differ from each other or from
    length.

    >>> hd.scan(lambda total, x: (total + x, total), 0.0, hd.arange(5.0))
    """
    carry, sequences = _Tree(init, "carry"), _Tree(xs, "xs")
    structure = []

    def step(_, carries, elements):
        new, y = _pair(f(carry.filled(carries), sequences.filled(elements)), "scan")
        structure[:] = [y]
        return carry.values(new, "scan"), [value for _, value in _leaves(y)]

    made, stacked = _heddle._scan(step, carry.arrays, sequences.arrays, length, reverse, 0, "scan",
                                  carry.names)
    return carry.filled(made), _rebuilt(structure[0], iter(stacked))


def map(f, xs):
    """f(x) for each element of the Arrays in xs along their first axes; the results along a new
    first axis: jax.lax.map. Raises as scan.

    >>> hd.map(lambda row: hd.cumsum(row), hd.ones((3, 4)))
    """
    return scan(lambda carry, x: (carry, f(x)), None, xs)[1]


def associative_scan(fn, elems, reverse=False, axis=0):
    """The cumulative results of fn for the elements along an axis of the Arrays in elems: e0,
    fn(e0, e1), fn(fn(e0, e1), e2) ...: jax.lax.associative_scan. fn is associative, and works on
    slices of any length along the axis: it is called with two trees of slices, about 2 log2(n)
    times while recording, and returns one of the same dtypes and shapes. `reverse` begins with the
    last element.

    Raises TypeError, DTypeError or ShapeError if fn returns another structure, dtype or shape,
    ShapeError if the extents along the axis differ, AxisError if the first Array lacks the axis.

    >>> hd.associative_scan(hd.maximum, hd.asarray([1, 3, 2, 5, 4]))
    """
    if not callable(fn):
        raise TypeError(f"associative_scan: fn must be a function, not {type(fn).__name__}")
    tree = _Tree(elems, "elems")

    def combine(left, right):
        return tree.values(fn(tree.filled(left), tree.filled(right)), "associative_scan", "fn")

    return tree.filled(_heddle._associative_scan(combine, tree.arrays, bool(reverse), axis,
                                                 tree.names))


def cond(pred, true_fun, false_fun, *operands):
    """true_fun(*operands) if pred, an Array of one bool, is true, else false_fun(*operands); only
    one of them runs: jax.lax.cond. On a GPU the host waits for pred, until calls repeat: then the GPU
    decides.

    Raises as switch.

    >>> x = hd.arange(4.0)
    >>> hd.cond(hd.sum(x) > 1, lambda x: x / hd.sum(x), lambda x: x, x)
    """
    return _chosen(_heddle.asarray(pred, dtype=_heddle.bool), [false_fun, true_fun], operands, "cond")


def switch(index, branches, *operands):
    """branches[index](*operands), with index clamped to the branches that there are; only that one
    runs: jax.lax.switch. On a GPU the host waits for the index, until calls repeat: then the GPU
    decides.

    Raises ShapeError if the branches return different dtypes or shapes, TypeError if they return
    different structures, DTypeError if the index is not one integer, ValueError without branches.

    >>> hd.switch(1, [hd.sin, hd.cos], hd.arange(3.0))
    """
    return _chosen(index, list(branches), operands, "switch")


def _chosen(index, branches, operands, op):
    inputs = _Tree(operands, "operands")
    structures = []

    def branch_of(function):
        def branch(values):
            made = function(*inputs.filled(values))
            structures.append(made)
            return [value for _, value in _leaves(made)]
        return branch

    made = _heddle._switch(index, [branch_of(each) for each in branches], inputs.arrays, op)
    names = [[name for name, _ in _leaves(each)] for each in structures]
    if any(each != names[0] for each in names):
        raise TypeError(f"{op}: the functions return different structures")
    return _rebuilt(structures[0], iter(made))
