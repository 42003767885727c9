"""heddle.jit, as a function and as a decorator."""

import functools

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
