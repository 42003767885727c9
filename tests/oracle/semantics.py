"""What one node computes, in NumPy.

Floating values come in two forms: in their dtype, or widened (dtypes.widen) when they stand for a
value that is known only up to some error. Inexact ops are evaluated widened and rounded once.
"""

import functools

import numpy as np

import dtypes
import op_table
from graph_text import GraphError


def literal(text, dtype):
    if text in ("true", "false"):
        return np.array(text == "true", dtypes.BY_NAME[dtype])
    if dtypes.is_floating(dtype) and text.startswith("0x"):  # a NaN, by its bits
        kind = dtypes.BY_NAME[dtype]
        return np.array(int(text, 16), f"u{kind.itemsize}").view(kind)
    if dtypes.is_complex(dtype):
        real, imaginary = text.strip("()").split(",")
        part = dtypes.part(dtype)
        return dtypes.whole(np.array([literal(real, part), literal(imaginary, part)]))
    if dtypes.is_floating(dtype):
        return dtypes.round_to(np.array(float(text)), dtype)
    return np.array(int(text), dtypes.BY_NAME[dtype])


@functools.lru_cache(maxsize=None)
def numpy_result(op, operand_dtypes):
    """The dtype that NumPy gives the op. ml_dtypes lacks some functions of bfloat16, which is to be
    treated as float32 is."""
    stand_ins = ["f32" if d == "bf16" else d for d in operand_dtypes]
    function = op_table.ELEMENTWISE[op].function
    found = function(*[np.ones(1, dtypes.BY_NAME[d]) for d in stand_ins]).dtype
    if found == np.float32 and "bf16" in operand_dtypes:
        return "bf16"
    return dtypes.NAME_OF.get(found, str(found))


def elementwise(node, operands, operand_dtypes, widened):
    """The op's value, not yet rounded where the op is inexact or `widened` says that operands are."""
    entry = op_table.ELEMENTWISE[node.op]
    says = numpy_result(node.op, tuple(operand_dtypes))
    if says != node.dtype:
        raise GraphError(f"{node.op} of {operand_dtypes} is {says} in NumPy, {node.dtype} here")
    if entry.format_bound:
        operands = [dtypes.round_to(x, d) for x, d in zip(operands, operand_dtypes)]
    elif widened or entry.allowed(operand_dtypes[-1]) > 0:
        operands = [dtypes.widen(x, d) for x, d in zip(operands, operand_dtypes)]
    else:
        operands = [
            x.astype(np.float32) if d == "bf16" else x for x, d in zip(operands, operand_dtypes)
        ]
    return np.asarray(entry.reference(*operands))


def complex_hazard(op, operands, dtype):
    """Where a product or quotient may over- or underflow on its way to a result that does not."""
    largest = dtypes.widest_exponent(dtype)[0]
    sizes = [dtypes.magnitude(dtypes.widen(x, dtype)) for x in operands]
    if op in ("multiply", "square"):
        return sizes[0] * sizes[-1] >= 2.0 ** (largest - 2)
    if op == "exp2":
        # The product with log(2) is rounded, and so may be off by a turn.
        return sizes[0] >= 2.0**8
    if op not in ("divide", "reciprocal", "power"):
        return np.zeros(np.broadcast_shapes(*[x.shape for x in operands]), bool)

    def outside(value):
        return (value != 0) & ((value >= 2.0 ** (largest - 8)) | (value <= 2.0 ** (8 - largest)))

    divisor = np.abs(dtypes.parts(operands[-1]).astype(np.longdouble))
    divisor = np.where(np.isfinite(divisor), divisor, 0)
    ratio = divisor.min(axis=-1) / np.where(sizes[-1] == 0, 1, sizes[-1])
    quotient = sizes[0] / np.where(sizes[-1] == 0, 1, sizes[-1])
    return outside(sizes[0]) | outside(sizes[-1]) | outside(ratio) | outside(quotient)


def truncate(value, target):
    """A float to an integer. Where C++ and NumPy leave the result open, because no integer of the
    target is near, Heddle has NumPy's of x86-64 on every target (ir/scalar/cast.h)."""

    def fitting(x, kind):
        limits = np.iinfo(kind)
        fits = (x > np.longdouble(limits.min) - 1) & (x < np.longdouble(limits.max) + 1)
        return np.where(fits, np.trunc(np.where(fits, x, 0)).astype(kind), limits.min).astype(kind)

    wide = value.astype(np.longdouble)
    kind = dtypes.BY_NAME[target]
    if target in ("u32", "u64"):
        signed = np.int32 if target == "u32" else np.int64
        half_range = np.longdouble(2) ** (8 * kind.itemsize - 1)
        upper = wide >= half_range
        low = fitting(np.where(upper, wide - half_range, wide), signed)
        return low.view(kind) ^ np.where(upper, kind.type(int(half_range)), kind.type(0))
    return fitting(wide, np.int64 if target == "i64" else np.int32).astype(kind)


def cast(value, source, target):
    """NumPy's astype, and ml_dtypes'."""
    if dtypes.is_complex(source) and not dtypes.is_complex(target) and target != "bool":
        return cast(value.real, dtypes.part(source), target)
    if dtypes.is_complex(source):
        return value.astype(dtypes.BY_NAME[target])
    if dtypes.is_floating(source) and not dtypes.is_inexact(target) and target != "bool":
        return truncate(value, target)
    if value.dtype == dtypes.BY_NAME["bf16"] or target == "bf16":
        value = value.astype(np.float32)
    return value.astype(dtypes.BY_NAME[target])


def widened_cast(value, source, target):
    """Among inexact dtypes, before the result is rounded."""
    wide = dtypes.widen(value, source)
    if dtypes.is_complex(source) and not dtypes.is_complex(target):
        return wide.real
    if dtypes.is_complex(target) and not dtypes.is_complex(source):
        return wide.astype(np.result_type(wide.dtype, np.complex64))
    return wide


def slice_index(node, shape):
    """The open mesh of the positions start + i * step that a slice reads, or an update writes."""
    starts, steps = node.attributes["starts"], node.attributes["steps"]
    return np.ix_(*[s + d * np.arange(n) for s, d, n in zip(starts, steps, shape)])


def positions(node, indices, shape, region):
    """Where each element of a region lies along the axes of `shape`, and whether it does: indices
    along the indexed axes, its own coordinates along all others."""
    places = list(np.indices(region, sparse=True))
    inside = np.ones(region, bool)
    for axis, index in zip(node.attributes["axes"], indices):
        index = np.broadcast_to(index.astype(np.int64), region)
        inside &= (index >= -shape[axis]) & (index < shape[axis])
        index = np.where(index < 0, index + shape[axis], index)
        places[axis] = np.clip(index, 0, max(shape[axis] - 1, 0))
    return tuple(places), inside


def gather(node, operand, indices):
    """The nearest element for indices that are outside."""
    shape = tuple(n if axis in node.attributes["axes"] else m
                  for axis, (n, m) in enumerate(zip(operand.shape, node.shape)))
    if 0 in node.shape:
        return np.zeros(node.shape, operand.dtype)
    return np.broadcast_to(operand, shape)[positions(node, indices, shape, node.shape)[0]]


def scatter(node, operands):
    """Values whose index is outside are left out."""
    region = np.broadcast_shapes(*[x.shape for x in operands])
    places, inside = positions(node, operands[1:], node.shape, region)
    places = tuple(np.broadcast_to(place, region)[inside] for place in places)
    values = np.broadcast_to(operands[0], region)[inside]
    result = np.zeros(node.shape, operands[0].dtype)
    (np.add if node.op == "scatter_add" else np.maximum).at(result, places, values)
    return result


def move(node, operands):
    """Views, concatenation, gathers and slice updates: of any array, values or tolerances."""
    first = operands[0]
    if node.op == "gather":
        return gather(node, first, operands[1:])
    if node.op == "reshape":
        return first.reshape(node.shape)
    if node.op == "transpose":
        return first.transpose(node.attributes["axes"])
    if node.op == "broadcast_to":
        return np.broadcast_to(first, node.shape)
    if node.op == "slice":
        return first[slice_index(node, node.shape)] if node.shape else first
    if node.op == "concatenate":
        return np.concatenate(operands, node.attributes["axes"][0])
    if node.op == "slice_update":
        region = node.attributes["shape"]
        result = first.copy()
        if not region:
            return operands[1].copy()
        result[slice_index(node, region)] = np.broadcast_to(operands[1], region)
        return result
    raise GraphError(f"no op is called {node.op!r}")


def rows_of(node, operand):
    """The operand with all reduced axes as one last axis, in C order, and the kept shape."""
    axes = node.attributes.get("axes", [])
    kept = [axis for axis in range(operand.ndim) if axis not in axes]
    rows = operand.transpose(kept + list(axes))
    outer = tuple(operand.shape[axis] for axis in kept)
    count = int(np.prod([operand.shape[axis] for axis in axes], dtype=np.int64))
    return rows.reshape(outer + (count,))


def with_kept_axes(node, result, operand):
    if "keepdims" in node.attributes:
        axes = node.attributes.get("axes", [])
        return result.reshape([1 if i in axes else n for i, n in enumerate(operand.shape)])
    return result


def bounds_of(index, length):
    """Begins or ends of segments, clipped to an axis of this length."""
    return np.clip(index, 0, length).astype(np.int64)


def least_or_greatest(op, dtype):
    """What a minimum or maximum of no elements is."""
    sign = 1 if op == "min" else -1
    if dtypes.is_complex(dtype):
        return complex(sign * np.inf, sign * np.inf)
    if dtypes.is_inexact(dtype):
        return sign * np.inf
    if dtype == "bool":
        return op == "min"
    limits = np.iinfo(dtypes.BY_NAME[dtype])
    return limits.max if op == "min" else limits.min


def of_segments(function, node, operands, empty, dtype):
    """The function of each segment of the axis, side by side; `empty` where there is no element."""
    axis, values = node.attributes["axes"][0], operands[0]
    begins, ends = (bounds_of(index, values.shape[axis]) for index in operands[1:])
    results = []
    for begin, end in zip(begins, ends):
        part = values.take(range(begin, end), axis)
        kept = np.delete(values.shape, axis)
        results.append(function(part) if begin < end else np.full(kept, empty(part), dtype))
    return np.stack(results, axis) if results else np.empty(node.shape, dtype)


def segments_reduction(node, operands, dtype):
    """As reduction, of segments of the axis."""
    def empty(part):
        if node.op in ("min", "max"):
            return least_or_greatest(node.op, dtype)
        return {"sum": 0, "prod": 1, "any": False, "all": True}[node.op]

    one = np.ones([1] * operands[0].ndim, operands[0].dtype)
    kind = reduction(node, one, dtype).dtype
    return of_segments(lambda part: reduction(node, part, dtype), node, operands, empty, kind)


def segments_error(node, operands, dtype, result):
    """As reduction_error, of segments of the axis."""
    axis = node.attributes["axes"][0]
    rows = iter(np.moveaxis(result, axis, 0))

    def error(part):
        return reduction_error(node, part, dtype, next(rows))

    def empty(part):
        next(rows)
        return 0.0

    return of_segments(error, node, operands, empty, np.float64)


def reduction(node, operand, dtype):
    """The reduction's value, widened for the sums and products of floats."""
    rows = rows_of(node, operand)
    if node.op in ("sum", "prod"):
        rows = dtypes.widen(rows, dtype)
        result = getattr(np, node.op)(rows, axis=-1, dtype=rows.dtype)
    else:
        rows = rows.astype(np.float32) if rows.dtype == dtypes.BY_NAME["bf16"] else rows
        result = getattr(np, node.op)(rows, axis=-1)
        expected = np.float32 if node.dtype == "bf16" else dtypes.BY_NAME[node.dtype]
        if result.dtype != expected and not dtypes.is_inexact(dtype):
            raise GraphError(f"{node.op} of {dtype} is {result.dtype} in NumPy, {node.dtype} here")
    return with_kept_axes(node, np.asarray(result), operand)


def places_of_extreme(node, operand, tolerance, dtype):
    """Of argmin or argmax the first and the last index that errors of the operand may make the
    result, and where these are not exactly one."""
    rows, off = dtypes.widen(rows_of(node, operand), dtype), rows_of(node, tolerance)
    keys = rows.real if dtypes.is_complex(dtype) else rows  # real parts count first
    keys = np.where(np.isnan(rows), np.inf, -keys if node.op == "argmin" else keys)
    low = np.where(np.isinf(off), -np.inf, keys - np.where(np.isinf(off), 0, off))
    high = np.where(np.isinf(off), np.inf, keys + np.where(np.isinf(off), 0, off))
    may_be = high >= low.max(axis=-1, keepdims=True)
    is_open = (may_be.sum(axis=-1) > 1) & (may_be & (off > 0)).any(axis=-1)
    first, last = may_be.argmax(axis=-1), rows.shape[-1] - 1 - may_be[..., ::-1].argmax(axis=-1)
    return [with_kept_axes(node, np.asarray(x), operand) for x in (first, last, is_open)]


def reduction_error(node, operand, dtype, result):
    """What the order of a float sum or product may change, and where it may even overflow."""
    rows = dtypes.widen(rows_of(node, operand), dtype)
    count = max(rows.shape[-1], 2)
    accumulator = dtypes.accumulator(dtype)
    largest, smallest = dtypes.widest_exponent(dtype)
    finite = np.where(np.isfinite(rows), rows, 0)
    if node.op in ("min", "max"):
        # Which of several NaNs it is turns on the order.
        error = np.where(np.isnan(rows).sum(axis=-1) > 1, np.inf, 0.0)
        return with_kept_axes(node, error, operand)
    if node.op == "sum":
        size = np.abs(finite).sum(axis=-1)
        error = np.log2(count) * dtypes.epsilon(accumulator) * size
        ambiguous = size >= 2.0**largest
    else:
        relative = min(count, 4 * np.sqrt(count) + np.log2(count)) / 2
        error = relative * dtypes.epsilon(accumulator) * np.abs(np.where(np.isfinite(result), result, 0))
        error = error.reshape(rows.shape[:-1])
        logs = np.log2(np.abs(np.where(finite == 0, 1, finite)))
        ambiguous = (np.where(logs > 0, logs, 0).sum(axis=-1) >= largest) | (
            np.where(logs < 0, logs, 0).sum(axis=-1) <= smallest)
        if dtypes.is_complex(dtype):
            # A product is three roundings, and one of an infinite number depends on the order.
            error = error * 4
            ambiguous |= ~np.isfinite(rows).all(axis=-1)
    error = np.where(ambiguous, np.inf, error.astype(np.float64))
    return with_kept_axes(node, error, operand)


def accumulate(function, node, values, begins):
    """The function of a row's elements so far; a second operand says where to begin anew."""
    axis = node.attributes["axes"][0]
    if not begins:
        return function(values, axis=axis)
    result = np.empty_like(np.moveaxis(values, axis, -1))
    rows, anew = np.moveaxis(values, axis, -1), np.moveaxis(begins[0], axis, -1)
    for row in np.ndindex(rows.shape[:-1]):
        parts = np.split(rows[row], np.flatnonzero(anew[row]))
        result[row] = np.concatenate([function(part, axis=0) for part in parts])
    return np.moveaxis(result, -1, axis)


def scan(node, operands, dtype):
    """The scan's value, widened for the sums and products of floats."""
    function, values = op_table.SCANS[node.op], operands[0]
    if node.op not in ("cumsum", "cumprod", "logcumsumexp"):
        values = values.astype(np.float32) if dtype == "bf16" else values
        return accumulate(function, node, values, operands[1:])
    wide = dtypes.widen(values, dtype)
    in_dtype = functools.partial(function, dtype=wide.dtype)
    return accumulate(in_dtype, node, wide, operands[1:])


def scan_error(node, operands, dtype, result):
    """As reduction_error, of every prefix."""
    wide = dtypes.widen(operands[0], dtype)
    sums = functools.partial(accumulate, np.cumsum, node, begins=operands[1:])
    count = np.maximum(sums(values=np.ones(wide.shape)), 2.0)
    epsilon = dtypes.epsilon(dtypes.accumulator(dtype))
    largest, smallest = dtypes.widest_exponent(dtype)
    finite = np.where(np.isfinite(wide), wide, 0)
    if node.op == "cumsum":
        size = sums(values=np.abs(finite))
        error = np.log2(count) * epsilon * size
        ambiguous = size >= 2.0**largest
    elif node.op == "logcumsumexp":
        # Each level of a tree, of which there are at most twice the logarithm and one, scales by an
        # exponential of 2 ulp, multiplies and adds. The logarithm of the sum is at most log(count).
        finite_result = np.abs(np.where(np.isfinite(result), result, 0))
        error = epsilon * (4 * (2 * np.log2(count) + 1) + 2 * np.log(count) + finite_result)
        ambiguous = np.zeros(wide.shape, bool)
    else:
        relative = np.minimum(count, 4 * np.sqrt(count) + np.log2(count)) / 2
        error = relative * epsilon * np.abs(np.where(np.isfinite(result), result, 0))
        logs = np.log2(np.abs(np.where(finite == 0, 1, finite)))
        ambiguous = (sums(values=np.where(logs > 0, logs, 0)) >= largest) | (
            sums(values=np.where(logs < 0, logs, 0)) <= smallest)
        if dtypes.is_complex(dtype):
            # As of a product of complex numbers in reduction_error.
            error = error * 4
            ambiguous |= sums(values=np.where(np.isfinite(wide), 0.0, 1.0)) > 0
    return np.where(ambiguous, np.inf, error.astype(np.float64))


def sort(node, operand, dtype, widened):
    axis = node.attributes["axis"]
    # NumPy has no order of bfloat16 that puts NaN last; float32 holds all of its values.
    comparable = dtypes.widen(operand, dtype) if widened or dtype == "bf16" else operand
    order = np.argsort(comparable, axis=axis, kind="stable")
    return order if node.op == "argsort" else np.take_along_axis(comparable, order, axis)


def search(node, operands, dtype):
    haystack, needles = [dtypes.widen(x, dtype) if dtype == "bf16" else x for x in operands]
    return np.searchsorted(haystack, needles, node.op.removeprefix("searchsorted_"))


def matmul(operands, dtype):
    return np.matmul(*[dtypes.widen(x, dtype) for x in operands])


# How far off a product of two elements may be that a lower precision lets be rounded.
ROUNDED_OPERANDS = {"tf32": 2.0**-10, "bf16": 2.0**-7}


def matmul_error(node, operands):
    """What the order of the sums may change, and where it decides whether one overflows; and what
    rounded operands do."""
    dtype = node.dtype
    depth = max(operands[0].shape[-1], 2)
    size = np.matmul(*[np.abs(dtypes.widen(x, dtype)) for x in operands]).astype(np.float64)
    factor = max(np.log2(depth), np.sqrt(depth) / 2)
    rounded = ROUNDED_OPERANDS.get(node.attributes.get("precision"), 0)
    error = (factor * dtypes.epsilon(dtypes.accumulator(dtype)) + rounded) * size
    # Below the normal range each product is off by half a spacing, whatever its size.
    products = depth * (2 if dtypes.is_complex(dtype) else 1)
    error = error + np.where(size > 0, products * dtypes.smallest(dtype), 0)
    ambiguous = size >= 2.0 ** dtypes.widest_exponent(dtype)[0]
    return np.where(np.isfinite(error) & ~ambiguous, error, np.inf)
