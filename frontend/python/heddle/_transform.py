"""Functions of functions, after JAX: vmap."""

import functools
import numbers

from heddle import _heddle
from heddle._control import _children, _leaves, _rebuilt


def vmap(fun, in_axes=0, out_axes=0, axis_size=None):
    """A function of Arrays, made of a function of one of their slices: jax.vmap. The result takes
    the same arguments with a further axis, and returns the results of fun with one.

    in_axes says where that axis is in the arguments: an integer for all, or a tuple with one for each,
    which is an integer, None if the argument is the same for all slices, or a container of these
    for a list, tuple, dict or dataclass of Arrays. Keyword arguments have it first. out_axes says
    where it is in the results, likewise; None for a result that is the same for all slices.
    axis_size is the number of slices, needed if no argument is mapped.

    fun is called once for each call, to record what it does with one slice. Its operations are then
    vectorised over all slices, loops and branches included: where a condition differs from slice
    to slice, slices that are done keep their values, and all branches of a cond are computed.
    Failures of linear algebra are raised by the next wait.

    Raises ShapeError if arguments have different numbers of slices, AxisError for an axis out of
    range, ValueError if in_axes or out_axes do not fit the arguments or results, TypeError if they
    are not integers, TraceError if fun reads values or draws random numbers.

    >>> rows = hd.vmap(lambda row, weights: hd.sum(row * weights), in_axes=(0, None))
    >>> rows(hd.ones((2, 3)), hd.arange(3.0))
    """
    if not callable(fun):
        raise TypeError(f"vmap: fun must be a function, not {type(fun).__name__}")

    @functools.wraps(fun)
    def mapped(*args, **kwargs):
        axes = _argument_axes(in_axes, args)
        tree = args, kwargs
        leaves = [leaf for _, leaf in _leaves(tree)]
        names = ([name for i, arg in enumerate(args) for name, _ in _leaves(arg, f"args[{i}]")]
                 + [name for name, _ in _leaves(kwargs, "kwargs")])
        axes += [0] * (len(leaves) - len(axes))
        places = [i for i, axis in enumerate(axes) if axis is not None]
        structure = []

        def of_slice(slices):
            given = list(leaves)
            for place, each in zip(places, slices):
                given[place] = each
            args, kwargs = _rebuilt(tree, iter(given))
            structure[:] = [fun(*args, **kwargs)]
            return [value for _, value in _leaves(structure[0])], _axes(out_axes, structure[0], "out_axes")

        made = _heddle._vmap(of_slice, [_heddle.asarray(leaves[i]) for i in places],
                             [axes[i] for i in places], axis_size, [names[i] for i in places])
        return _rebuilt(structure[0], iter(made))

    return mapped


def _argument_axes(in_axes, args):
    """The axis of each leaf of the positional arguments."""
    if in_axes is None or isinstance(in_axes, numbers.Integral):
        return _axes(in_axes, args, "in_axes")
    if not isinstance(in_axes, (list, tuple)):
        raise TypeError(f"vmap: in_axes must be an integer, None or a tuple of them, not "
                        f"{type(in_axes).__name__}")
    if len(in_axes) != len(args):
        raise ValueError(f"vmap: in_axes has {len(in_axes)} entries, but the call has {len(args)} "
                         "positional arguments")
    return [axis for each, arg in zip(in_axes, args) for axis in _axes(each, arg, "in_axes")]


def _axes(axes, tree, what):
    """The axis of each leaf of a tree; `axes` has its structure, or one axis for all of a part."""
    if axes is None or (isinstance(axes, numbers.Integral) and not isinstance(axes, bool)):
        return [axes] * len(_leaves(tree))
    parts, children = _children(axes), _children(tree)
    if parts is None:
        raise TypeError(f"vmap: {what} must hold integers and None, not {type(axes).__name__}")
    parts = dict(parts)
    if children is None or parts.keys() != {name for name, _ in children}:
        raise ValueError(f"vmap: {what} has a part {axes!r}, which does not fit the structure of "
                         f"{type(tree).__name__}")
    return [axis for name, child in children for axis in _axes(parts[name], child, what)]
