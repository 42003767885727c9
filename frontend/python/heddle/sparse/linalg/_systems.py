"""What the solvers share: their arguments, their loops, and what they return."""

import contextvars

import heddle as hd
from heddle import _heddle
from heddle.sparse.linalg._operators import aslinearoperator

_sparse = _heddle._sparse


class System:
    """Operators and vectors of one floating dtype: `A`, `matvec`, the preconditioner `psolve`, the first
    `x`, the right side `b` and its residual `r`. The vectors are in multiples of `unit`, so that their
    squares are in range."""

    def __init__(self, name, A, psolve, x, b, r):
        self._name, self.A, self.matvec, self.psolve = name, A, A.matvec, psolve
        self.unit = _sparse.unit_of(b, r)
        self.x, self.b, self.r = x / self.unit, b / self.unit, r / self.unit

    def tolerance(self, norm, atol, rtol):
        """The residual to reach: max(atol, rtol * norm). Raises ValueError for a negative atol."""
        if atol is None or isinstance(atol, str) or atol < 0:
            raise ValueError(f"{self._name}: atol is {atol!r}, but must be a number that is not negative")
        return hd.maximum(norm * rtol, atol / self.unit)

    def report(self, callback):
        """A function that calls `callback` with values multiplied by the unit; None if it is None."""
        return None if callback is None else lambda x: callback(x * self.unit)


def make_system(name, A, M, x0, b):
    """A System. Raises ValueError for shapes that do not fit, and for an A that is not square."""
    A = aslinearoperator(A)
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"{name}: A must be square, not {A.shape}")
    n = A.shape[0]
    b = hd.asarray(b)
    if b.shape not in ((n,), (n, 1)):
        raise ValueError(f"{name}: shapes of A {A.shape} and b {b.shape} are incompatible")
    dtype = hd.result_type(A.dtype, b.dtype)
    if dtype.kind not in "fc":
        dtype = hd.float64
    b = b.reshape(n).astype(dtype)
    if x0 is None:
        x = hd.zeros(n, dtype=dtype)
    else:
        x = hd.asarray(x0)
        if x.shape not in ((n,), (n, 1)):
            raise ValueError(f"{name}: shapes of A {A.shape} and x0 {x.shape} are incompatible")
        x = x.reshape(n).astype(dtype)
    M = None if M is None else aslinearoperator(M)
    if M is not None and M.shape != A.shape:
        raise ValueError(f"{name}: matrix A {A.shape} and preconditioner M {M.shape} have different "
                         "shapes")
    r = b if x0 is None else b - A.matvec(x)
    return System(name, A, (lambda v: v) if M is None else M.matvec, x, b, r)


def inner(x, y):
    """The inner product, with x conjugated."""
    return hd.sum(hd.conj(x) * y)


length = _sparse.length


class _StepByStep(Exception):
    """A loop that is recorded runs faster step by step, with values."""


_MAY_STEP = contextvars.ContextVar("whether the loop that is recorded may run step by step", default=False)


def ask_for_values():
    """For what is recorded, but is faster with values: if it is part of a loop of run() that does not
    belong to a traced function, that loop runs step by step instead."""
    if _MAY_STEP.get():
        raise _StepByStep


def run(condition, step, state, callback=None):
    """while condition(state): state = step(state). On the device, without waits; step by step with a
    callback, and if a step asks for values."""
    if callback is None and _sparse.is_tracing():
        return hd.while_loop(condition, step, state)
    if callback is None:
        before = _MAY_STEP.set(True)
        try:
            return hd.while_loop(condition, step, state)
        except _StepByStep:
            pass
        finally:
            _MAY_STEP.reset(before)
    while bool(condition(state)):
        state = step(state)
        hd.eval(*state.values())  # so that every step runs the same programs
        if callback is not None:
            callback(state)
    return state


def status(code):
    """A computed integer; inside jit, an Array."""
    return code if _sparse.is_tracing() else int(code)
