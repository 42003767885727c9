"""The methods of ufuncs: reduce, accumulate, reduceat, outer and at.

Sums, products, minima, maxima and similar reductions have their own functions. Any other
associative ufunc runs in log2(n) elementwise steps, which combine elements at distance 1, 2, 4 ...
Other ufuncs take one element after another: NumPy runs them on the host, on copies.
"""

import operator

from heddle import _heddle


class _NoValue:
    def __repr__(self):
        return "<no value>"


_NO_VALUE = _NoValue()

# Functions that reduce and scan with a ufunc.
_REDUCTIONS = {"add": _heddle.sum, "multiply": _heddle.prod, "maximum": _heddle.max,
               "minimum": _heddle.min, "logical_and": _heddle.all, "logical_or": _heddle.any,
               "fmax": _heddle.nanmax, "fmin": _heddle.nanmin}
_SCANS = {"add": _heddle.cumsum, "multiply": _heddle.cumprod, "maximum": _heddle.cummax,
          "minimum": _heddle.cummin, "logaddexp": _heddle.logcumsumexp,
          "logical_and": _heddle.cummin, "logical_or": _heddle.cummax}
_SEGMENTS = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min",
             "logical_and": "all", "logical_or": "any"}
_LOGICAL = ("logical_and", "logical_or", "logical_xor")
_ASSOCIATIVE = {*_REDUCTIONS, *_LOGICAL, "bitwise_and", "bitwise_or", "bitwise_xor", "gcd", "hypot",
                "lcm", "logaddexp", "logaddexp2"}


def _check_binary(ufunc, method):
    if ufunc.nin != 2:
        raise ValueError(f"{ufunc.__name__}.{method}: only ufuncs of two operands have it")
    if ufunc.nout != 1:
        raise ValueError(f"{ufunc.__name__}.{method}: only ufuncs of one result have it")


def _axis(ufunc, x, axis):
    """The axis in [0, ndim). A 0-d array is treated as one element."""
    axis = operator.index(axis)
    if x.ndim == 0 and axis in (0, -1):
        return 0
    if not -x.ndim <= axis < x.ndim:
        raise _heddle.AxisError(axis, x.ndim, ufunc.__name__)
    return axis % x.ndim


def _axes(ufunc, x, axis):
    if axis is None:
        axes = tuple(range(x.ndim))
    else:
        axes = tuple(_axis(ufunc, x, each) for each in (axis if type(axis) is tuple else (axis,)))
    if len(set(axes)) < len(axes):
        raise ValueError(f"{ufunc.__name__}.reduce: axis {axis} contains an axis twice")
    return axes if x.ndim else ()


def _operand(ufunc, x, dtype):
    """The elements, cast to the dtype in which they are combined."""
    if ufunc.__name__ in _LOGICAL:
        if dtype is not None and _heddle.zeros(0, dtype=dtype).dtype != _heddle.bool:
            raise _heddle.DTypeError(f"{ufunc.__name__}: the result is bool, not {dtype}")
        return x.astype(_heddle.bool)
    one = _heddle.zeros(1, dtype=x.dtype)
    if dtype is None:
        add_up = ufunc.__name__ in ("add", "multiply")
        found = (_heddle.sum(one) if add_up else ufunc(one, one)).dtype
        if found == _heddle.bool != x.dtype:
            raise _heddle.DTypeError(f"{ufunc.__name__}: elements of {x.dtype} combine to another "
                                     "dtype")
        return x.astype(found)
    dtype = _heddle.zeros(0, dtype=dtype).dtype
    if not _heddle.can_cast(x.dtype, dtype, casting="same_kind"):
        raise _heddle.DTypeError(f"{ufunc.__name__}: the operand is {x.dtype} and cannot be cast to "
                                 f"{dtype} under casting='same_kind'")
    return x.astype(dtype)


def _result(ufunc, value, out):
    """The value, stored in `out` if given, which may be a tuple of one Array."""
    if type(out) is tuple:
        if len(out) != 1:
            raise ValueError(f"{ufunc.__name__}: the tuple `out` has {len(out)} entries for 1 result")
        out = out[0]
    if out is None:
        return value
    if not isinstance(out, _heddle.Array):
        raise TypeError(f"{ufunc.__name__}: out must be an Array, not {type(out).__name__}")
    if out.shape != value.shape:
        raise _heddle.ShapeError(f"{ufunc.__name__}: the result's shape {value.shape} differs from out's "
                                 f"shape {out.shape}")
    _heddle.copyto(out, value)
    return out


def _on_host(ufunc, method, *args, **kwargs):
    """Calls NumPy's method on copies."""
    import numpy

    function = getattr(numpy, ufunc.__name__, None)
    if not isinstance(function, numpy.ufunc):
        raise TypeError(f"{ufunc.__name__}.{method}: {ufunc.__name__} is neither associative nor a ufunc "
                        "of NumPy")
    copies = [_heddle.asnumpy(each) if isinstance(each, _heddle.Array) else each for each in args]
    if kwargs.get("dtype") is not None:
        kwargs["dtype"] = numpy.dtype(_heddle.zeros(0, dtype=kwargs["dtype"]).dtype)
    return getattr(function, method)(*copies, **kwargs)


def _folded(ufunc, x):
    """Combines all elements along the nonempty axis 0 by an associative ufunc."""
    odd = []
    while x.shape[0] > 1:
        half = x.shape[0] // 2
        if x.shape[0] % 2:
            odd.append(x[2 * half])
        x = ufunc(x[:half], x[half:2 * half])
    x = x[0]
    for each in odd:
        x = ufunc(x, each)
    return x


def _fold(ufunc, x, axes, keepdims, initial, where):
    """reduce() of an associative ufunc that has no reduction of its own."""
    name = ufunc.__name__
    if where is not True:
        start = initial if ufunc.identity is None else ufunc.identity
        if start is None or start is _NO_VALUE:
            raise ValueError(f"{name}.reduce: `where` needs a start value, as the ufunc has no "
                             "identity; pass `initial`")
        x = _heddle.where(where, x, _heddle.asarray(start).astype(x.dtype))
    kept = tuple(k for k in range(x.ndim) if k not in axes)
    shape = tuple(x.shape[k] for k in kept)
    last = x.size if not shape else -1
    rows = x.transpose(axes + kept)
    rows = rows.reshape((last if x.size else _product(x.shape[k] for k in axes),) + shape)
    if rows.shape[0] == 0:
        start = ufunc.identity if initial is _NO_VALUE else initial
        if start is None:
            raise ValueError(f"{name}.reduce: there are no elements and no start value; pass "
                             "`initial`")
        value = _heddle.broadcast_to(_heddle.asarray(start).astype(x.dtype), shape).copy()
    else:
        value = _folded(ufunc, rows)
        # As in NumPy, the identity is combined, too, so that hypot and gcd of one number are
        # not negative.
        start = ufunc.identity if initial is _NO_VALUE else initial
        if start is not None:
            value = ufunc(_heddle.asarray(start).astype(x.dtype), value)
    if keepdims:
        value = value.reshape(tuple(1 if k in axes else x.shape[k] for k in range(x.ndim)))
    return value


def _product(extents):
    result = 1
    for each in extents:
        result *= each
    return result


def reduce(self, array, /, axis=0, dtype=None, out=None, keepdims=False, initial=_NO_VALUE,
           where=True):
    """Combines all elements along axes: numpy.ufunc.reduce. The axes are removed or, with keepdims,
    have extent 1. `initial` is the start value, `where` selects the elements that count.

    Raises ValueError unless the ufunc has two operands and one result, over no elements without
    `initial` or an identity, and for several axes if the order matters; IndexError for an axis
    out of range. A ufunc that is not associative runs on the host: TraceError in a traced function.

    >>> hd.bitwise_or.reduce(x, axis=1)
    """
    _check_binary(self, "reduce")
    name = self.__name__
    x = _heddle.asarray(array)
    axes = _axes(self, x, axis)
    x = _operand(self, x, dtype)
    if len(axes) > 1 and (name not in _ASSOCIATIVE or name == "lcm"):  # as in NumPy
        raise ValueError(f"{name}.reduce: the order of the elements matters, so only one axis is allowed")
    given = {} if initial is _NO_VALUE or initial is None else {"initial": initial}
    if initial is None and any(x.shape[k] == 0 for k in axes):
        raise ValueError(f"{name}.reduce: there are no elements and no start value; pass `initial`")
    if name in _REDUCTIONS and not (name in _LOGICAL and given):
        if name in ("add", "multiply"):
            given["dtype"] = x.dtype
        value = _REDUCTIONS[name](x, axis=axes, keepdims=keepdims, where=where, **given)
    elif name in _ASSOCIATIVE:
        value = _fold(self, x, axes, keepdims, initial, where)
    else:
        given = {} if initial is _NO_VALUE else {"initial": initial}
        if where is not True:
            given["where"] = _heddle.asnumpy(where)
        value = _heddle.asarray(_on_host(self, "reduce", array, axis=axis, dtype=dtype,
                                         keepdims=keepdims, **given))
    return _result(self, value, out)


def accumulate(self, array, axis=0, dtype=None, out=None):
    """Combines, for each element, all elements up to it along an axis: numpy.ufunc.accumulate.

    Raises ValueError unless the ufunc has two operands and one result, TypeError for 0
    dimensions, IndexError for an axis out of range. A ufunc that is not associative runs on the
    host: TraceError in a traced function.

    >>> hd.maximum.accumulate(x, axis=1)
    """
    _check_binary(self, "accumulate")
    x = _heddle.asarray(array)
    axis = _axis(self, x, axis)
    if x.ndim == 0:
        raise TypeError(f"{self.__name__}.accumulate: a 0-d array has no axis")
    x = _operand(self, x, dtype)
    if self.__name__ in _SCANS:
        value = _SCANS[self.__name__](x, axis=axis)
    elif self.__name__ in _ASSOCIATIVE:
        rows, distance = _heddle.moveaxis(x, axis, 0), 1
        while distance < rows.shape[0]:
            further = self(rows[:-distance], rows[distance:])
            rows = _heddle.concatenate([rows[:distance], further])
            distance *= 2
        value = _heddle.moveaxis(rows, 0, axis)
    else:
        value = _heddle.asarray(_on_host(self, "accumulate", array, axis=axis, dtype=dtype))
    return _result(self, value, out)


def _segments(ufunc, x, starts, counts, longest):
    """Combines x[start], ..., x[start + count - 1] along axis 0 for each of `starts`; the result
    for count 0 is arbitrary. At step k, `spans` holds the combinations of 2**k neighbours. The
    binary digits of a count select the spans to combine."""
    spans, extent = x, x.shape[0]
    column = (-1,) + (1,) * (x.ndim - 1)
    found = value = None
    for step in range(longest.bit_length()):
        bit = (counts >> step) & 1
        wanted = (bit == 1).reshape(column)
        span = _heddle.take(spans, _heddle.clip(starts, 0, extent - 1), axis=0)
        if value is None:
            found, value = wanted, span
        else:
            both = _heddle.where(found, ufunc(value, span), span)
            found, value = found | wanted, _heddle.where(wanted, both, value)
        starts = starts + (bit << step)
        distance = 1 << step
        if distance < extent:
            combined = ufunc(spans[:-distance], spans[distance:])
            spans = _heddle.concatenate([combined, spans[-distance:]])
    return value


def _checked_indices(ufunc, indices, extent):
    """The indices of reduceat(). Indices with known values are checked to be in range."""
    if not isinstance(indices, _heddle.Array):
        import numpy

        indices = numpy.asarray(indices)
        indices = indices.astype(int) if indices.size == 0 else indices
        for each in indices[(indices < 0) | (indices >= extent)][:1]:
            raise _heddle.IndexError(f"{ufunc.__name__}.reduceat: index {each} is out of range for an "
                                     f"axis of {extent} elements")
        indices = _heddle.asarray(indices)
    if indices.ndim != 1 or indices.dtype.kind not in "iu":
        raise TypeError(f"{ufunc.__name__}.reduceat: indices must be a 1-d array of integers")
    return _heddle.clip(indices, 0, max(extent - 1, 0)).astype(_heddle.int64)


def reduceat(self, array, indices, axis=0, dtype=None, out=None):
    """For each index, combines the elements from there up to the next index, or to the end for the
    last: numpy.ufunc.reduceat. If the next index is not larger, the result is the element itself.

    Raises ValueError unless the ufunc has two operands and one result, IndexError for an axis or
    an index out of range. Indices in an Array are clipped. A ufunc that is not associative
    runs on the host: TraceError in a traced function.

    >>> hd.add.reduceat(x, [0, 3, 5])
    """
    _check_binary(self, "reduceat")
    x = _heddle.asarray(array)
    axis = _axis(self, x, axis)
    if x.ndim == 0:
        raise TypeError(f"{self.__name__}.reduceat: a 0-d array has no axis")
    x = _operand(self, x, dtype)
    extent = x.shape[axis]
    starts = _checked_indices(self, indices, extent)
    if self.__name__ not in _ASSOCIATIVE:
        value = _heddle.asarray(_on_host(self, "reduceat", array, starts, axis=axis, dtype=dtype))
        return _result(self, value, out)
    stops = _heddle.concatenate([starts[1:], _heddle.full(min(1, starts.shape[0]), extent)])
    stops = _heddle.maximum(stops, starts + 1)
    if self.__name__ in _SEGMENTS and x.dtype.kind != "b":
        value = _heddle.reduce_segments(_SEGMENTS[self.__name__], x, starts, stops, axis)
        return _result(self, value.astype(x.dtype), out)
    rows = _heddle.moveaxis(x, axis, 0)
    value = _segments(self, rows, starts, stops - starts, max(extent, 1))
    return _result(self, _heddle.moveaxis(value, 0, axis), out)


def outer(self, A, B, /, **kwargs):
    """Applies the ufunc to all pairs of an element of A and one of B: numpy.ufunc.outer. The shape
    is A.shape + B.shape.

    Raises ValueError unless the ufunc has two operands.

    >>> hd.subtract.outer(x, y)
    """
    if self.nin != 2:
        raise ValueError(f"{self.__name__}.outer: only ufuncs of two operands have it")
    a, b = _heddle.asarray(A), _heddle.asarray(B)
    return self(a.reshape(a.shape + (1,) * b.ndim), b, **kwargs)


def _sums_at(keys, values, length):
    """The sums of float or complex values for each of `length` keys."""
    if values.dtype.kind == "c":
        return _sums_at(keys, values.real, length) + 1j * _sums_at(keys, values.imag, length)
    return _heddle.bincount(keys, weights=values, minlength=length)


def _combined_at(ufunc, flat, keys, values, dtype):
    """flat[key] = ufunc(flat[key], value) for each pair, for a commutative and associative ufunc
    that combines elements of `dtype`."""
    order, every = _heddle.argsort(keys, stable=True), _heddle.arange(flat.shape[0])
    sorted_keys, values = keys[order], values.astype(dtype)
    starts = _heddle.searchsorted(sorted_keys, every)
    stops = _heddle.searchsorted(sorted_keys, every, side="right")
    if ufunc.__name__ not in ("add", "subtract") or dtype == _heddle.bool:
        combined = _segments(ufunc, values[order], starts, stops - starts, values.shape[0])
    elif dtype.kind in "fc":
        combined = _sums_at(keys, values, flat.shape[0])
    else:  # differences of cumulative sums are exact modulo the integer range
        sums = _heddle.cumsum(values[order], dtype=dtype)
        sums = _heddle.concatenate([_heddle.zeros(1, dtype=dtype), sums])
        combined = sums[stops] - sums[starts]
    result = ufunc(flat.astype(dtype), combined.astype(dtype))
    return _heddle.where(stops > starts, result.astype(flat.dtype), flat)


def _at_on_host(ufunc, a, indices, b):
    copy = _heddle.asnumpy(a)
    key = tuple(map(_host_index, indices)) if type(indices) is tuple else _host_index(indices)
    _on_host(ufunc, "at", copy, key, *([] if b is None else [b]))
    a[...] = copy


def at(self, a, indices, b=None, /):
    """a[indices] = ufunc(a[indices], b), where repeated indices apply repeatedly: numpy.ufunc.at.
    Writes to `a`, an Array.

    Raises TypeError if `a` is not an Array, IndexError for indices with known values out of range.
    A ufunc that is not associative (except subtract), or a result of a higher kind than a's, runs
    on the host: TraceError in a traced function.

    >>> hd.add.at(histogram, bins, 1)
    """
    name = self.__name__
    if not isinstance(a, _heddle.Array):
        raise TypeError(f"{name}.at: the first argument must be an Array, which is written to, not "
                        f"{type(a).__name__}")
    if self.nout != 1 or self.nin > 2:
        raise ValueError(f"{name}.at: only ufuncs of one or two operands and one result have it")
    if (self.nin == 2) != (b is not None):
        raise ValueError(f"{name}.at: takes {'two operands' if self.nin == 2 else 'one operand'}")
    if name not in _ASSOCIATIVE and name != "subtract":
        return _at_on_host(self, a, indices, b)
    places = _heddle.arange(a.size).reshape(a.shape)[indices]
    values = _heddle.broadcast_to(_heddle.asarray(b), places.shape).reshape(-1)
    dtype = self(_heddle.zeros(0, dtype=a.dtype), _heddle.zeros(0, dtype=values.dtype)).dtype
    if not _heddle.can_cast(dtype, a.dtype, casting="same_kind"):
        return _at_on_host(self, a, indices, b)  # each step is rounded
    if places.size > 0:
        result = _combined_at(self, a.reshape(-1), places.reshape(-1), values, dtype)
        a[...] = result.reshape(a.shape)


def _host_index(index):
    return _heddle.asnumpy(index) if isinstance(index, _heddle.Array) else index


def install():
    for method in (reduce, accumulate, reduceat, outer, at):
        setattr(_heddle.ufunc, method.__name__, method)
