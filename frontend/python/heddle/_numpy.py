"""NumPy's functions and operators called with Arrays: numpy.sin(x), numpy.add.reduce(x), n + x.

They are computed by Heddle's function of the same name. If there is none, or it does not accept the
arguments, NumPy computes the result from copies of the elements, as for any object with __array__.
"""

import functools
import inspect
import sys

from heddle import _heddle

# Properties of an Array that do not need its elements.
_FACTS = {"shape": lambda x: x.shape, "ndim": lambda x: x.ndim, "size": lambda x: x.size,
          "iscomplexobj": lambda x: x.dtype.kind == "c",
          "isrealobj": lambda x: x.dtype.kind != "c"}
# Functions that write to their first argument, which may be NumPy's.
_WRITERS = ("copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask")


@functools.lru_cache(maxsize=None)
def _signature(function):
    return inspect.signature(function)


def _takes(function, args, kwargs):
    try:
        _signature(function).bind(*args, **kwargs)
    except (TypeError, ValueError):
        return False
    return True


def _on_host(value):
    if isinstance(value, _heddle.Array):
        return _heddle.asnumpy(value)
    if type(value) in (list, tuple):
        return type(value)(_on_host(each) for each in value)
    if type(value) is dict:
        return {key: _on_host(each) for key, each in value.items()}
    return value


def _stored(result, out):
    """Stores the result in `out`, an Array or a NumPy array, with the casting of NumPy's ufuncs."""
    import numpy

    if isinstance(out, _heddle.Array):
        out[...] = result
    else:
        numpy.copyto(out, numpy.asarray(result), casting="same_kind")
    return out


def _written_on_host(function, args, kwargs):
    """Calls NumPy's function, which writes to its first argument, on a copy, and stores the copy
    back."""
    target = args[0]
    copy = _on_host(target)
    result = function(copy, *_on_host(args[1:]), **_on_host(kwargs))
    if copy is not target:
        target[...] = copy
    return result


def _written(function, fallback, args, kwargs):
    if isinstance(args[0], _heddle.Array) and function and _takes(function, args, kwargs):
        return function(*args, **kwargs)
    return _written_on_host(fallback, args, kwargs)


def _computed(function, args, kwargs):
    """function(*args, **kwargs); NotImplemented if it is None or does not accept the arguments."""
    if function is None or not _takes(function, args, kwargs):
        return NotImplemented
    try:
        return function(*args, **kwargs)
    except TypeError:  # an argument that only NumPy accepts, or an error that NumPy reports
        return NotImplemented


def _called(function, fallback, args, kwargs, out):
    """function(*args, **kwargs), or NumPy's function on copies; the results are stored in `out`."""
    given = {name: value for name, value in kwargs.items() if value is not None}
    result = _computed(function, args, given)
    if result is NotImplemented:
        result = fallback(*_on_host(args), **_on_host(kwargs))
    return result if not out or all(each is None for each in out) else _in_outs(result, out)


def _in_outs(result, out):
    """Stores each result in its array of `out`."""
    results = result if isinstance(result, tuple) else (result,)
    stored = tuple(each if into is None else _stored(each, into)
                   for each, into in zip(results, out, strict=True))
    return stored if isinstance(result, tuple) else stored[0]


def _ufunc_on_host(method, args, kwargs, out):
    """Calls NumPy's ufunc method on copies, and stores written copies back to their Arrays."""
    if out is None:
        return method(*_on_host(args), **_on_host(kwargs))
    copies = _on_host(out)
    result = method(*_on_host(args), out=copies, **_on_host(kwargs))
    for into, copy in zip(out, copies, strict=True):
        if into is not copy:
            into[...] = copy
    results = result if isinstance(result, tuple) else (result,)
    stored = tuple(each if into is None else into for each, into in zip(results, out))
    return stored if isinstance(result, tuple) else stored[0]


def _carries_more(value):
    """True for instances of NumPy's subclasses that add a mask or units to the elements."""
    import numpy

    if type(value) is numpy.ndarray or not isinstance(value, numpy.ndarray):
        return False
    return type(value).__array_ufunc__ is not numpy.ndarray.__array_ufunc__ or hasattr(value, "mask")


@functools.cache
def _plain_types():
    """Types whose instances are only numbers: those of Array and of NumPy's scalars."""
    import numpy

    numbers = {kind for kind in numpy.sctypeDict.values() if issubclass(kind, numpy.number | numpy.bool_)}
    return frozenset(numbers | {_heddle.Array})


@functools.cache
def _function_of(ufunc):
    return getattr(_heddle, ufunc.__name__, None)


def _called_plainly(ufunc, inputs):
    """A ufunc of Arrays and numbers alone; NotImplemented if NumPy has to look at the call."""
    plain = _plain_types()
    for each in inputs:
        if type(each) not in plain:
            return NotImplemented
    function = _function_of(ufunc)
    if function is None:
        return NotImplemented
    try:
        return function(*inputs)
    except TypeError:  # as in _computed()
        return NotImplemented


def _array_ufunc(self, ufunc, method, *inputs, out=None, **kwargs):
    """NumPy's ufuncs with an Array among their operands: see heddle/_numpy.py."""
    if method == "__call__" and out is None and not kwargs:
        result = _called_plainly(ufunc, inputs)
        if result is not NotImplemented:
            return result
    if any(map(_carries_more, inputs)):
        return _ufunc_on_host(getattr(ufunc, method), inputs, kwargs, out)
    function = getattr(_heddle, ufunc.__name__, None)
    if method != "__call__":
        function = getattr(function, method, None) if isinstance(function, _heddle.ufunc) else None
    if method == "at":
        return _written(function, ufunc.at, inputs, kwargs)
    if out is None or any(isinstance(each, _heddle.Array) for each in out):
        into = {} if out is None else {"out": out}
        result = _computed(function, inputs, {**kwargs, **into})
    elif "where" in kwargs:  # the NumPy array keeps some elements
        result = NotImplemented
    else:
        result = _computed(function, inputs, kwargs)
        if result is not NotImplemented:
            return _in_outs(result, out)
    if result is NotImplemented:
        result = _ufunc_on_host(getattr(ufunc, method), inputs, kwargs, out)
    return result


def _array_function(self, func, types, args, kwargs):
    """NumPy's other functions with an Array among their arguments: see heddle/_numpy.py."""
    import numpy

    if not all(issubclass(each, (_heddle.Array, numpy.ndarray)) for each in types):
        return NotImplemented
    if func.__name__ in _FACTS and len(args) == 1 and not kwargs:
        return _FACTS[func.__name__](args[0])
    module = sys.modules["heddle"]
    for name in (func.__module__ or "").split(".")[1:]:
        module = getattr(module, name, None)
    function = getattr(module, func.__name__, None)
    if func.__name__ in _WRITERS and args:
        return _written(function, func, args, kwargs)
    out = kwargs.get("out")
    rest = {name: value for name, value in kwargs.items() if name != "out"}
    return _called(function, func, args, rest, out if isinstance(out, tuple) else (out,))


def install():
    _heddle.Array.__array_ufunc__ = _array_ufunc
    _heddle.Array.__array_function__ = _array_function
