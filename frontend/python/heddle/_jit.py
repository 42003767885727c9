"""heddle.jit, as a function and as a decorator."""

import functools
import inspect

from heddle import _heddle


def jit(function=None, /, *, name=None, donate=(), dynamic=None, strict=False, approximate=False,
        disable=(), matmul_precision=None):
    if function is None:
        return functools.partial(jit, name=name, donate=donate, dynamic=dynamic, strict=strict,
                                 approximate=approximate, disable=disable,
                                 matmul_precision=matmul_precision)
    made = _heddle._make_jit(function, name, donate, dynamic, strict, approximate, disable,
                             matmul_precision)
    return functools.update_wrapper(made, function)


jit.__doc__ = _heddle._make_jit.__doc__


def parameter_names(function, count):
    """The names by which a function knows its first `count` positional arguments: those of its
    parameters, "rest[0]" of *rest, or their numbers where Python knows no signature."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except Exception:  # noqa: BLE001: whatever a __signature__ raises, a number is a name as well
        return [str(i) for i in range(count)]
    names = []
    for parameter in parameters:
        if parameter.kind is parameter.VAR_POSITIONAL:
            names += [f"{parameter.name}[{i}]" for i in range(count - len(names))]
        elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            names.append(parameter.name)
    return names + [str(i) for i in range(len(names), count)]
