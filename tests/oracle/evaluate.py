"""Evaluates a graph: the values it should have, and how far an implementation may be from them.

Every node has its reference value, correctly rounded in its dtype. Beside it the graph runs a few
times more with the errors that an implementation is allowed put in on purpose: an inexact op is off
by its table's ulp, a sum by what its order may change, and a product that an addition may contract
(fma) by its rounding. Signs that no standard fixes, of computed NaNs and of zeros that a maximum or
a sum gives, are turned too. How far the outputs then move, times a margin, is the tolerance; where
a discrete outcome flips or a value overflows, it is infinite.
"""

import numpy as np

import control
import decompositions
import dtypes
import fft
import linalg_calls
import op_table
import semantics
from graph_text import GraphError

MARGIN = 4
RUNS = 10
CONTRACTED = {"multiply", "square"}
ZERO_OF_EITHER_SIGN = {"maximum", "minimum", "fmax", "fmin", "max", "min", "sum", "matmul", "sinc",
                       "cumsum", "cummax", "cummin", "logcumsumexp", *fft.OPS, *linalg_calls.CALLS}
# Functions that jump: between the jumps they are constant.
STEPS = {"floor", "ceil", "rint", "trunc", "cast"}
COMPARISONS = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}
# Outcomes that turn on whether an operand is 0.
TRUTHS = {"logical_and", "logical_or", "logical_xor", "logical_not", "cast"}
# Beside errors of full size all of one sign, errors of any size: where two errors are equal, they
# cancel in a difference, so that they must not be in every run. With few sizes or few runs they are
# for some of a thousand elements, which then have no tolerance at all.
SIGNS = [lambda rng, shape: 1.0, lambda rng, shape: -1.0] + [
    lambda rng, shape: rng.uniform(-1.0, 1.0, shape)
] * (RUNS - 2)
# What a sum or product may be whose parts overflow in one order and not in another.
OPEN_ENDED = [np.inf, -np.inf, np.nan, 0.0]


class Evaluation:
    """`contract` says that products may be contracted into the additions that use them."""

    def __init__(self, graph, inputs, contract):
        self.contract = contract
        self.nodes = {node.id: node for node in graph.parameters}
        self.values = {}  # reference, in the dtype
        self.errors = {}  # float64, where the op itself may be off
        self.tolerances = {}  # float64, once asked for
        self.perturbed = [{} for _ in range(RUNS)]  # only where it differs from the reference
        self.clean = [{} for _ in range(RUNS)]  # perturbed operands, no error of the op's own
        self.last_id = 0  # of the nodes that control.py adds, which count down
        self.rngs = [np.random.default_rng(seed) for seed in range(RUNS)]
        for node, value in zip(graph.parameters, inputs):
            expected = (dtypes.BY_NAME[node.dtype], node.shape)
            if (value.dtype, value.shape) != expected:
                raise GraphError(f"input {value.dtype}{list(value.shape)} for {expected}")
            self.values[node.id] = value
        with np.errstate(all="ignore"):
            for node in graph.nodes:
                self.add(node)

    def add(self, node):
        """Adds a node. Of a loop or a branch, adds the nodes that it runs."""
        if node.op in control.CALLS:
            return control.add(self, node)
        self.nodes[node.id] = node
        operands = [self.values[id] for id in node.operands]
        raw = self.compute(node, operands, widened=False)
        if raw.shape != node.shape:
            raise GraphError(f"{node.op} has shape {list(raw.shape)}, not {list(node.shape)}")
        value = self.finish(node, raw)
        self.values[node.id] = value
        error = self.own_error(node, operands, raw)
        if error is not None:
            self.errors[node.id] = error
        open_outcomes = (self.open_extremes(node) or self.open_exponents(node)
                         or self.open_outcomes(node))
        for run in range(RUNS):
            self.perturb(run, node, error, open_outcomes)

    def compute(self, node, operands, widened):
        kinds = [self.nodes[id].dtype for id in node.operands]
        if node.op in op_table.ELEMENTWISE:
            return semantics.elementwise(node, operands, kinds, widened)
        if node.op == "cast":
            if widened and dtypes.is_inexact(kinds[0]) and dtypes.is_inexact(node.dtype):
                return semantics.widened_cast(operands[0], kinds[0], node.dtype)
            return semantics.cast(operands[0], kinds[0], node.dtype)
        if node.op in op_table.REDUCTIONS and len(operands) > 1:
            return semantics.segments_reduction(node, operands, kinds[0])
        if node.op in op_table.REDUCTIONS:
            return semantics.reduction(node, operands[0], kinds[0])
        if node.op in op_table.SCANS:
            return semantics.scan(node, operands, kinds[0])
        if node.op == "matmul":
            return semantics.matmul(operands, node.dtype)
        if node.op in fft.OPS:
            return fft.transform(node, operands[0])
        if node.op in linalg_calls.CALLS:
            return linalg_calls.CALLS[node.op][0](node, *operands)
        if node.op in op_table.SCATTERS:
            return semantics.scatter(node, operands)
        if node.op in ("searchsorted_left", "searchsorted_right"):
            return semantics.search(node, operands, kinds[0])
        if node.op in ("sort", "argsort"):
            return semantics.sort(node, operands[0], kinds[0], widened)
        if node.op == control.OPEN:
            return operands[0]
        if node.op == "constant":
            return semantics.literal(node.attributes["literal"], node.dtype)
        if node.op == "iota":
            axis = node.attributes["axes"][0]
            column = [-1 if i == axis else 1 for i in range(len(node.shape))]
            index = np.arange(node.shape[axis]).reshape(column)
            return dtypes.round_to(np.broadcast_to(index, node.shape), node.dtype)
        if widened:
            operands = [dtypes.widen(x, k) for x, k in zip(operands, kinds)]
        return semantics.move(node, operands)

    def finish(self, node, raw):
        """`raw` in the node's dtype."""
        if dtypes.is_inexact(node.dtype):
            return dtypes.round_to(raw, node.dtype)
        return raw.astype(dtypes.BY_NAME[node.dtype])

    def own_error(self, node, operands, raw):
        """What the op itself may be off by, elementwise; None for exact ones."""
        if node.op == control.OPEN:
            return np.full(node.shape, np.inf)
        kind = self.nodes[node.operands[-1]].dtype if node.operands else node.dtype
        if node.op in linalg_calls.CALLS and not dtypes.is_inexact(node.dtype):
            allowed = linalg_calls.CALLS[node.op][1]
            return None if allowed is None else allowed(node, operands, kind)
        if not dtypes.is_inexact(node.dtype):
            return None
        if node.op in op_table.ELEMENTWISE:
            allowed = op_table.ELEMENTWISE[node.op].allowed(kind)
            if allowed == 0:
                return None
            # The table counts ulp of float32 for the two 16-bit formats, which round after that.
            # A function that is 0 is so exactly, as sin(0) and log(1) are.
            unit = dtypes.ulp(raw, dtypes.accumulator(node.dtype))
            error = np.where(raw == 0, 0, allowed * unit)
            if dtypes.is_complex(kind):
                hazard = semantics.complex_hazard(node.op, operands, kind)
                error = np.where(hazard, np.inf, error)
        elif node.op in ("sum", "prod") or (
                node.op in ("min", "max") and dtypes.is_complex(node.dtype)):
            in_segments = len(operands) > 1
            error = (semantics.segments_error(node, operands, node.dtype, raw) if in_segments
                     else semantics.reduction_error(node, operands[0], node.dtype, raw))
        elif node.op in ("cumsum", "cumprod", "logcumsumexp"):
            error = semantics.scan_error(node, operands, node.dtype, raw)
        elif node.op == "matmul":
            error = semantics.matmul_error(node, operands)
        elif node.op in fft.OPS:
            error = fft.error(node, operands[0], kind)
        elif node.op in linalg_calls.CALLS:
            error = linalg_calls.CALLS[node.op][1](node, operands, kind)
        else:
            return None
        # Two roundings of half a unit: the implementation's and the reference's.
        error = np.where(error == 0, 0, error + dtypes.ulp(raw, node.dtype))
        return np.where(may_overflow(raw, error, node.dtype), np.inf, error)

    def open_outcomes(self, node):
        """Where a comparison, or a float taken as bool, may go either way, and its other values: few
        runs hit just the value at which it turns. A count of them is least where all are false and
        largest where all are true. None where it does so nowhere."""
        if node.op in STEPS and node.dtype != "bool":
            return self.open_steps(node)
        if node.dtype != "bool" or node.op not in COMPARISONS | TRUTHS:
            return None
        kind = self.nodes[node.operands[0]].dtype
        if not dtypes.is_inexact(kind):
            return None
        values = [dtypes.widen(self.values[id], self.nodes[id].dtype) for id in node.operands]
        tolerances = [self.tolerance(id) for id in node.operands]
        if not any(tolerance.any() for tolerance in tolerances):
            return None
        if node.op in COMPARISONS:
            values, tolerances = [values[0] - values[1]], [tolerances[0] + tolerances[1]]
        outcomes = np.zeros(node.shape, bool)
        for value, tolerance in zip(values, tolerances):
            if dtypes.is_complex(kind):
                # An order turns on the real parts first; a truth on both.
                value = value.real if node.op in COMPARISONS else dtypes.magnitude(value)
            outcomes |= (np.abs(value) <= tolerance) & (tolerance > 0)
        return outcomes, [~self.values[node.id], False, True]

    def open_extremes(self, node):
        """Where the least or the largest element is one of several, the first and the last of them:
        few runs hit these. None where it is so nowhere."""
        if node.op not in ("argmin", "argmax"):
            return None
        operand, kind = node.operands[0], self.nodes[node.operands[0]].dtype
        if not dtypes.is_inexact(kind):
            return None
        tolerance = self.tolerance(operand)
        if not tolerance.any():
            return None
        first, last, is_open = semantics.places_of_extreme(node, self.values[operand], tolerance, kind)
        return (is_open, [first, last]) if is_open.any() else None

    def open_exponents(self, node):
        """Where a number may be 0, whose exponent is 0, or smaller than any: those exponents. None where
        it may be so nowhere."""
        if node.op != "frexp_exponent":
            return None
        operand, kind = node.operands[0], self.nodes[node.operands[0]].dtype
        tolerance = self.tolerance(operand)
        value = dtypes.widen(self.values[operand], kind)
        is_open = (tolerance > 0) & (np.abs(value) <= tolerance)
        mantissa, smallest = dtypes.FORMATS[kind]
        return (is_open, [0, smallest - mantissa]) if is_open.any() else None

    def open_steps(self, node):
        """Where a real number may be rounded, or converted to an integer, to another one: the least
        and the greatest of them. None where it may be so nowhere."""
        operand, kind = node.operands[0], self.nodes[node.operands[0]].dtype
        is_step = node.op != "cast" or not dtypes.is_inexact(node.dtype)
        if not is_step or not dtypes.is_inexact(kind) or dtypes.is_complex(kind):
            return None
        tolerance = self.tolerance(operand)
        if not tolerance.any():
            return None
        value = dtypes.widen(self.values[operand], kind)
        others = [self.finish(node, self.compute(node, [dtypes.round_to(value + off, kind)], False))
                  for off in (-tolerance, tolerance)]
        is_open = np.isfinite(tolerance) & (others[0] != others[1])
        return (is_open, others) if is_open.any() else None

    def perturb(self, run, node, error, open_outcomes):
        value = self.values[node.id]
        if node.op in decompositions.OPS:
            operand, kind = node.operands[0], self.nodes[node.operands[0]].dtype
            value = decompositions.other_result(
                node, self.perturbed[run].get(operand, self.values[operand]), kind, run)
            self.clean[run][node.id] = value
            self.perturbed[run][node.id] = self.finish(node, value)
        elif any(id in self.perturbed[run] for id in node.operands):
            operands = [self.perturbed[run].get(id, self.values[id]) for id in node.operands]
            value = self.compute(node, operands, widened=True)
            if open_outcomes is not None and run % 2 == 1:
                places, others = open_outcomes
                value = np.where(places, others[run // 2 % len(others)], value)
            if node.op in op_table.SCATTERS and run % 2 == 1:
                value = np.where(self.open_places(run, node), self.other_integers(run, value), value)
            self.clean[run][node.id] = value
            moved = node.op in op_table.MOVES and dtypes.is_inexact(node.dtype)
            self.perturbed[run][node.id] = value if moved else self.finish(node, value)

        if self.contract and node.op in CONTRACTED and node.dtype in ("f32", "f64"):
            self.contract_product(run, node)
        elif error is not None and not dtypes.is_inexact(node.dtype):
            if run % 2 == 1 and error.any():
                value = self.perturbed[run].get(node.id, value)
                self.perturbed[run][node.id] = np.where(error > 0, value == 0, value).astype(value.dtype)
        elif error is not None:
            off = np.where(np.isfinite(error), error, 0) * self.signs(run, node)
            if node.op in op_table.ELEMENTWISE:
                off = np.where(value == 0, 0, off)  # of the operands at hand too, zeros are exact
            wide = dtypes.widen(value, node.dtype) + off
            wide = np.where(np.isinf(error), OPEN_ENDED[run % len(OPEN_ENDED)], wide)
            self.perturbed[run][node.id] = self.finish(node, wide)
        if run % 2 == 1:
            self.turn_signs(run, node)

    def open_places(self, run, node):
        """The rows of a scatter's result in which some element's place is open: it may be any other
        one too, not only those that the runs meet."""
        axes = tuple(node.attributes["axes"])
        rows = np.zeros([1 if i in axes else n for i, n in enumerate(node.shape)], bool)
        for id in node.operands[1:]:
            moved = self.perturbed[run].get(id, self.values[id]) != self.values[id]
            moved = np.broadcast_to(moved, np.broadcast_shapes(moved.shape, rows.shape))
            rows = rows | moved.any(axis=axes, keepdims=True)
        return rows

    def other_integers(self, run, values):
        """Integers other than these, zeros, or any: what uses them may give the same for two of them."""
        if run == 1:
            return ~values
        if run == 3:
            return np.zeros_like(values)
        limits = np.iinfo(values.dtype)
        return self.rngs[run].integers(limits.min, limits.max, values.shape, values.dtype, True)

    def signs(self, run, node):
        if not dtypes.is_complex(node.dtype):
            return SIGNS[run](self.rngs[run], node.shape)
        values = np.empty(node.shape + (2,))
        values[...] = SIGNS[run](self.rngs[run], values.shape)
        return dtypes.whole(values)

    def contract_product(self, run, node):
        """Some uses of a product see it before it is rounded."""
        kinds = [self.nodes[id].dtype for id in node.operands]
        operands = [self.perturbed[run].get(id, self.values[id]) for id in node.operands]
        exact = self.compute(node, [dtypes.widen(x, k) for x, k in zip(operands, kinds)], True)
        rounded = self.finish(node, exact)
        if (exact != rounded).any():
            seen = np.where(self.signs(run, node) > 0, exact, dtypes.widen(rounded, node.dtype))
            self.perturbed[run][node.id] = seen

    def turn_signs(self, run, node):
        if not dtypes.is_inexact(node.dtype) or node.op in op_table.MOVES | {"constant"}:
            return
        value = self.perturbed[run].get(node.id, self.values[node.id])
        values = dtypes.parts(value) if dtypes.is_complex(node.dtype) else value
        open_signs = np.isnan(values)
        if node.op in ZERO_OF_EITHER_SIGN:
            open_signs |= values == 0
        if open_signs.any():
            turned = np.where(open_signs, -values, values)
            complex_node = dtypes.is_complex(node.dtype)
            self.perturbed[run][node.id] = dtypes.whole(turned) if complex_node else turned

    def tolerance(self, id):
        if id not in self.tolerances:
            with np.errstate(all="ignore"):
                self.tolerances[id] = self.compute_tolerance(self.nodes[id])
        return self.tolerances[id]

    def compute_tolerance(self, node):
        if node.op == "gather":
            indices = [self.values[id] for id in node.operands[1:]]
            result = semantics.gather(node, self.tolerance(node.operands[0]), indices)
            for id in node.operands[1:]:
                result = np.where(self.tolerance(id) > 0, np.inf, result)
            return result
        if node.op in op_table.MOVES:
            return semantics.move(node, [self.tolerance(id) for id in node.operands])
        reference = self.values[node.id]
        total = np.broadcast_to(self.errors.get(node.id, 0.0), node.shape).astype(np.float64)
        raw = None
        if node.op in decompositions.OPS:
            operand = node.operands[0]
            is_open = decompositions.open_places(node, self.values[operand], self.nodes[operand].dtype)
            total = np.where(is_open, np.inf, total)
        if node.op == "argsort" or (node.op == "sort" and dtypes.is_complex(node.dtype)):
            total = np.where(self.open_order(node), np.inf, total)
        for run in self.clean:
            if node.id not in run:
                continue
            if raw is None:
                raw = self.compute(node, [self.values[id] for id in node.operands], widened=True)
            total = np.maximum(total, self.errors.get(node.id, 0.0)
                               + self.spread(node, run[node.id], raw))
        return total

    def open_order(self, node):
        """Where a sorted element may change places with its neighbour: few runs hit just the order
        that an implementation has. Complex numbers go by their real parts first."""
        operand = node.operands[0]
        axis = node.attributes["axis"]
        keys = dtypes.widen(self.values[operand], self.nodes[operand].dtype)
        keys = np.sort(keys.real if dtypes.is_complex(self.nodes[operand].dtype) else keys, axis=axis)
        tolerance = self.tolerance(operand).max(axis=axis, keepdims=True, initial=0)
        close = (np.diff(keys, axis=axis) <= 2 * tolerance) & (tolerance > 0)
        edge = np.zeros_like(np.take(keys, [0] if keys.shape[axis] else [], axis), bool)
        return np.concatenate([edge, close], axis) | np.concatenate([close, edge], axis)

    def spread(self, node, value, raw):
        """How far operands that are off move the result: as far as they did in this run, and as far
        as the margin takes it before it is rounded, which may be over the edge of a rounding."""
        reference = self.values[node.id]
        gap = MARGIN * distance(self.finish(node, value), reference, node.dtype)
        if dtypes.is_inexact(node.dtype):
            value, raw = dtypes.widen(value, node.dtype), dtypes.widen(raw, node.dtype)
            moved = MARGIN * np.abs(value - raw)
            moved = np.where(np.isfinite(moved), moved, 0)
            if dtypes.is_complex(node.dtype):
                moved = dtypes.whole(np.stack([moved, moved], axis=-1))
            for end in (raw - moved, raw + moved):
                gap = np.maximum(gap, distance(self.finish(node, end), reference, node.dtype))
        return gap


def may_overflow(raw, error, dtype):
    """Where the rounding threshold between the largest number and infinity is within the error."""
    mantissa, smallest = dtypes.FORMATS[dtypes.part(dtype)]
    threshold = np.ldexp(np.longdouble(2.0 - 2.0 ** -(mantissa + 1)), 1 - smallest)
    if dtypes.is_complex(dtype):
        ends = [may_overflow(part, error, dtypes.part(dtype)) for part in (raw.real, raw.imag)]
        return ends[0] | ends[1]
    magnitude = np.abs(raw.astype(np.longdouble))
    return (magnitude + error >= threshold) & (magnitude - error < threshold)


def distance(a, b, dtype):
    """|a - b|; infinite where a discrete outcome, a NaN or an infinity differs. Of complex numbers
    the larger of their parts'."""
    if dtypes.is_complex(dtype):
        a, b = np.broadcast_arrays(a, b)
        return distance(dtypes.parts(a), dtypes.parts(b), dtypes.part(dtype)).max(axis=-1)
    if not dtypes.is_floating(dtype):
        return np.where(a == b, 0.0, np.inf)
    a, b = dtypes.widen(a, dtype), dtypes.widen(b, dtype)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    gap = np.abs(a - b).astype(np.float64)
    return np.where(same, 0.0, np.where(np.isfinite(gap), gap, np.inf))
