"""NumPy's functions and operators called with Arrays: numpy.sin(x), numpy.add.reduce(x), n + x.

They are computed by the function of the same name here. What there is none of, or what it does not
take, goes to NumPy with copies of the elements, as any object does that has __array__.
"""

import functools
import inspect

from heddle import _heddle

# Methods of ufuncs that functions here compute.
_REDUCTIONS = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min",
               "logical_and": "all", "logical_or": "any"}
_SCANS = {"add": "cumsum", "multiply": "cumprod"}
# What an Array knows without its elements.
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
    """The result in `out`, an Array or NumPy's array, cast as NumPy's ufuncs cast."""
    import numpy

    if isinstance(out, _heddle.Array):
        out[...] = result
    else:
        numpy.copyto(out, numpy.asarray(result), casting="same_kind")
    return out


def _written_on_host(function, args, kwargs):
    """NumPy's function, which writes to its first argument, on a copy of that, which is stored."""
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


def _called(function, fallback, args, kwargs, out):
    """function(*args, **kwargs), or NumPy's on copies, with what `out` asks for."""
    result = NotImplemented
    given = {name: value for name, value in kwargs.items() if value is not None}
    if function is not None and _takes(function, args, given):
        try:
            result = function(*args, **given)
        except TypeError:  # an argument that only NumPy takes, or a mistake, which NumPy names
            pass
    if result is NotImplemented:
        result = fallback(*_on_host(args), **_on_host(kwargs))
    if not out or all(each is None for each in out):
        return result
    results = result if isinstance(result, tuple) else (result,)
    stored = tuple(each if into is None else _stored(each, into)
                   for each, into in zip(results, out, strict=True))
    return stored if isinstance(result, tuple) else stored[0]


def _array_ufunc(self, ufunc, method, *inputs, out=None, **kwargs):
    """NumPy's ufuncs with an Array among their operands: see heddle/_numpy.py."""
    name = {"__call__": ufunc.__name__, "reduce": _REDUCTIONS.get(ufunc.__name__),
            "accumulate": _SCANS.get(ufunc.__name__)}.get(method)
    if method in ("reduce", "accumulate"):
        kwargs.setdefault("axis", 0)  # None, which is all axes, is the default of functions here
    if method == "at":
        return _written_on_host(ufunc.at, inputs, kwargs)
    function = getattr(_heddle, name, None) if name else None
    return _called(function, getattr(ufunc, method), inputs, kwargs, out)


def _array_function(self, func, types, args, kwargs):
    """NumPy's other functions with an Array among their arguments: see heddle/_numpy.py."""
    import numpy

    if not all(issubclass(each, (_heddle.Array, numpy.ndarray)) for each in types):
        return NotImplemented
    if func.__name__ in _FACTS and len(args) == 1 and not kwargs:
        return _FACTS[func.__name__](args[0])
    module = _heddle
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
