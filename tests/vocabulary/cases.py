"""The cases of a row: what is called, what NumPy says to it, and whether Heddle says the same."""

import warnings
from dataclasses import dataclass
from operator import attrgetter

import numpy as np
import operands
from op_table import ELEMENTWISE
from operands import FIXED, LAYOUTS, SETS, SHAPED, SHAPES, Operands

import heddle as hd

# Functions that NumPy lacks, or has under expressions.
REFERENCES = {
    "logsumexp": lambda *args, **kwargs: _logsumexp(*args, **kwargs),
    "nanargmax": lambda x, axis=None: _nan_index(np.argmax, -np.inf, x, axis),
    "nanargmin": lambda x, axis=None: _nan_index(np.argmin, np.inf, x, axis),
    "sinc": lambda x: _sinc(np.asarray(x)),
    "topk": lambda x, k, largest=True: _topk(x, k, largest),
}


def _topk(x, k, largest):
    keys = x.astype("float64")
    places = np.argsort(-keys if largest else keys, kind="stable")[:k]
    return x[places], places


def _nan_index(index_of, filling, x, axis):
    if x.dtype.kind != "f":
        return index_of(x, axis)
    found = index_of(np.where(np.isnan(x), x.dtype.type(filling), x), axis)
    return np.where(np.isnan(x).all(axis), -1, found)


def _sinc(x):
    """Where NumPy's is off near its zeros: the sine of an angle within half a turn of one."""
    wide = x if x.dtype.kind == "f" else x.astype("float64")
    rest = wide - 2 * np.round(wide / 2)
    near = np.where(np.abs(rest) > 0.5, np.sign(rest) - rest, rest)
    angle = np.pi * wide
    return np.where(wide == 0, 1, np.sin(np.pi * near) / np.where(wide == 0, 1, angle)).astype(
        wide.dtype)


def _logsumexp(x, axis=None, keepdims=False):
    wide = x if x.dtype.kind == "f" else x.astype("float64")
    return np.logaddexp.reduce(wide, axis=axis if axis is not None else tuple(range(x.ndim)),
                               keepdims=keepdims)


@dataclass
class Case:
    """A call with its operands."""

    row: object
    call: str
    operands: Operands

    def __str__(self):
        o = self.operands
        return f"{self.row.name}: {self.call} with {o.dtype}{list(o.shape)}, {o.layout}"

    @property
    def expression(self):
        """What is evaluated, in either namespace."""
        text = self.call.strip()
        return text[1:].strip() if text.startswith("=") else f"function_({text})"

    def used(self):
        """The operands that the call names."""
        code = compile(self.expression, "<call>", "eval")
        found = set(code.co_names)
        for constant in code.co_consts:
            if hasattr(constant, "co_names"):
                found |= set(constant.co_names)
        return found & (set(SHAPED) | set(FIXED))

    def run(self, xp, function, convert):
        """The result, or the exception that was raised."""
        names = vars(xp) | operands.names(xp) | {"function_": function}
        names |= {name: convert(name) for name in self.used()}
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return eval(self.expression, names)  # noqa: S307: our own table
        except Exception as error:  # noqa: BLE001: both sides' errors are compared
            return error

    def heddle(self):
        """What Heddle makes of it."""
        function = attrgetter(self.row.python_name)(hd)
        return self.run(hd, function, self.operands.heddle)

    def numpy(self, wide=False):
        """What NumPy makes of it; with `wide`, of the operands in float64."""
        def convert(name):
            array = self.operands.numpy(name)
            if wide and array.dtype.kind == "f":
                return array.astype("float64")
            return array.astype("complex128") if wide and array.dtype.kind == "c" else array
        return self.run(np, numpy_function(self.row), convert)


def numpy_function(row):
    """What a row is in NumPy."""
    if row.name in REFERENCES:
        return REFERENCES[row.name]
    path = row.numpy or row.python_name
    if row.op and "(" in path:
        names = {"numpy": np, "math": __import__("math")}
        return lambda x, y=None: eval(path, names | {"x": x, "y": y})  # noqa: S307
    if path == "math.erf":
        import math

        return lambda x: np.vectorize(math.erf, otypes=[float])(x).astype(np.sqrt(x).dtype)
    found = np
    for part in path.removeprefix("numpy.").split("."):
        found = getattr(found, part)
    return found


def bad_cases(row):
    """The calls that are to raise, once each."""
    dtype = SETS[row.dtypes][0]
    return [Case(row, call, Operands(dtype, SHAPES[0], "contiguous", row.domain))
            for call in row.bad]


def cases(row):
    """A row's calls over dtypes, over shapes, and over layouts, each once."""
    shapes = [eval(shape) for shape in row.shapes] if row.shapes else SHAPES  # noqa: S307
    dtypes = SETS[row.dtypes]
    if row.complex and hasattr(hd, "complex64"):
        dtypes = (*dtypes, "complex64", "complex128")
    found, seen = [], set()

    def add(call, dtype, shape, layout):
        case = Case(row, call, Operands(dtype, shape, layout, row.domain))
        used = case.used()
        key = (call, dtype if used else "", shape if used & set(SHAPED) else "",
               layout if used else "")
        if key not in seen:
            seen.add(key)
            found.append(case)

    others = len(LAYOUTS) - 1
    for i, call in enumerate(row.calls):
        for dtype in dtypes:
            add(call, dtype, shapes[0], "contiguous")
        for shape in shapes[1:]:
            add(call, dtypes[0], shape, "contiguous")
        # All layouts with the first call, then one with each: what reads them is the same.
        for layout in LAYOUTS[1:] if i == 0 else [LAYOUTS[1 + i % others]]:
            add(call, dtypes[0], shapes[0], layout)
    return found


def arrays_in(result):
    """The Arrays of a result, to be evaluated together."""
    if isinstance(result, hd.Array):
        return [result]
    if isinstance(result, (list, tuple)):
        return [array for each in result for array in arrays_in(each)]
    return []


# Exceptions that stand for the same mistake.
KINDS = ((ValueError, LookupError, ZeroDivisionError), (TypeError, OverflowError))


def same_kind_of_error(got, want):
    """NumPy's AxisError is ValueError and IndexError; its choice between the two is not kept."""
    return any(isinstance(got, kind) and isinstance(want, kind) for kind in KINDS)


def refused(result):
    """True for an error about arguments. A NameError or AttributeError is the case's own fault."""
    return any(isinstance(result, kind) for kind in KINDS)


def difference(case, got, want, wide):
    """How the results differ; None where they agree, or where both refuse the arguments."""
    if isinstance(got, Exception) or isinstance(want, Exception):
        both = refused(got) and refused(want)
        return None if both else f"got {got!r}, NumPy {want!r}"
    if isinstance(want, (list, tuple)) and not isinstance(want, np.ndarray):
        if not isinstance(got, (list, tuple)) or len(got) != len(want):
            return f"got {got!r}, NumPy {want!r}"
        wides = wide if isinstance(wide, (list, tuple)) else [None] * len(want)
        for one, other, accurate in zip(got, want, wides, strict=True):
            found = difference(case, one, other, accurate)
            if found:
                return found
        return None
    if isinstance(got, hd.DType):
        return None if str(got) == str(want) else f"got {got}, NumPy {want}"
    if not isinstance(got, hd.Array):
        return None if got == want else f"got {got!r}, NumPy {want!r}"
    return array_difference(case, got, np.asarray(want), wide)


def array_difference(case, got, want, wide):
    """How an Array differs from NumPy's."""
    if got.shape != want.shape or str(got.dtype) != str(want.dtype):
        return f"got {got.dtype}{list(got.shape)}, NumPy {want.dtype}{list(want.shape)}"
    found = hd.asnumpy(got)
    row = case.row
    exact = row.ulp == 0 and row.spread == 0
    if exact or want.dtype.kind not in "fc":
        equal = (found == want) | ((found != found) & (want != want))
        if want.dtype.kind == "f" and row.signs and not row.op:
            equal &= (np.signbit(found) == np.signbit(want)) | (found != found) | (want != 0)
        return None if np.all(equal) else f"got\n{found}\nNumPy\n{want}"
    with np.errstate(all="ignore"):
        reference = np.asarray(want if wide is None or isinstance(wide, Exception) else wide)
        reference = reference.astype("complex128" if want.dtype.kind == "c" else "float64")
        rounded = reference.astype(want.dtype)
        eps = float(np.finfo(want.dtype).eps)
        tiny = float(np.finfo(want.dtype).smallest_subnormal)
        bound = (allowed_ulp(row, want.dtype) * np.maximum(eps * np.abs(reference), tiny)
                 + row.spread * eps * magnitude(case))
        if want.dtype == np.float16 and row.op:
            bound = bound * 0 + np.maximum(eps * np.abs(reference), tiny)
        close = np.abs(found.astype(reference.dtype) - reference) <= bound
        same = (found == rounded) | ((found != found) & (rounded != rounded)) | close
    return None if np.all(same) else f"got\n{found}\nNumPy\n{rounded}"


def allowed_ulp(row, dtype):
    """The op table allows complex numbers more, in ulp of the larger part."""
    if row.op and dtype.kind == "c":
        return ELEMENTWISE[row.name].complex_ulp
    return row.ulp


def magnitude(case):
    """The largest number that the operands, or their squares, bring in."""
    largest = 1.0
    for name in case.used():
        array = case.operands.numpy(name)
        if array.dtype.kind in "fciu" and array.size:
            wide = "complex128" if array.dtype.kind == "c" else "float64"
            finite = np.abs(array[np.isfinite(array)].astype(wide))
            largest = max([largest, *finite.ravel()])
    return largest * largest


def check_calls(row):
    """The differences over all cases of a row, evaluated together."""
    todo = []
    for case in cases(row):
        wide = case.numpy(wide=True) if row.ulp or row.spread else None
        todo.append((case, case.heddle(), case.numpy(), wide))
    evaluate([array for _, got, _, _ in todo for array in arrays_in(got)])
    found = [(case, difference(case, got, want, wide)) for case, got, want, wide in todo]
    compared = {case.call for case, got, _, _ in todo if not isinstance(got, Exception)}
    return [f"{case}: {text}" for case, text in found if text] + [
        f"{row.name}: no case of {call} gives a result; calls that raise belong in `bad`"
        for call in row.calls if call not in compared]


def check_bad(row):
    """Where a bad call does not raise what NumPy raises."""
    found = [(case, case.heddle(), case.numpy()) for case in bad_cases(row)]
    return [f"{case}: got {got!r}, NumPy {want!r}" for case, got, want in found
            if not same_kind_of_error(got, want)]


def evaluate(arrays):
    """All at once, so that their kernels are compiled together."""
    for start in range(0, len(arrays), 200):
        hd.eval(*arrays[start:start + 200])
