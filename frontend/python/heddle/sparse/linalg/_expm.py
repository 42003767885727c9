"""The exponential of a matrix, times vectors."""

import heddle as hd
from heddle import _heddle
from heddle.sparse import _inputs
from heddle.sparse._base import as_sparse, issparse
from heddle.sparse.linalg._operators import aslinearoperator

_sparse = _heddle._sparse

# A step multiplies with exp(t A / steps), by Taylor's series up to this degree. The series has the
# accuracy of double precision if the 1-norm of t A / steps is at most _GREATEST (Al-Mohy and Higham
# 2011, table 3.1); for smaller norms it ends earlier.
_DEGREE, _GREATEST = 55, 9.9


def _magnitude(x):
    """The infinity norm."""
    return hd.max(hd.sum(hd.abs(x.reshape(x.shape[0], -1)), axis=1))


def _taylor(product, x, scale):
    """exp(scale * A) x for a small scale."""
    tol = float(hd.finfo(x.dtype).eps) / 2

    def step(state):
        term = product(state["term"]) * (scale / (state["k"] + 1)).astype(x.dtype)
        total = state["total"] + term
        size = _magnitude(term)
        # Two small terms in a row: one may be small by chance.
        done = state["size"] + size <= tol * _magnitude(total)
        return {"k": state["k"] + 1, "term": term, "total": total, "size": size, "done": done}

    state = {"k": hd.asarray(0), "term": x, "total": x, "size": _magnitude(x), "done": hd.asarray(False)}
    return hd.while_loop(lambda state: ~state["done"] & (state["k"] < _DEGREE), step, state)["total"]


def _exponential(product, x, t, norm, mean):
    """exp(t * (A + mean)) x, for an A of this norm."""
    steps = hd.maximum(hd.ceil(abs(t) * norm / _GREATEST), 1)
    factor = hd.exp(t * mean / steps).astype(x.dtype)
    return hd.fori_loop(0, steps.astype(hd.int64), lambda i, x: factor * _taylor(product, x, t / steps), x)


def _norm(A, mean):
    """The 1-norm of A - mean, or more if elements are stored twice."""
    data, _, indptr, *_ = A._columns_parts
    diagonal = A.diagonal()
    sums = _sparse.segment_sum(hd.abs(data), indptr)
    return hd.max(sums - hd.abs(diagonal) + hd.abs(diagonal - mean))


def expm_multiply(A, B, start=None, stop=None, num=None, endpoint=None, traceA=None):
    """exp(A) @ B for a square matrix A and a vector or matrix B: scipy.sparse.linalg.expm_multiply.

    With start, stop and num the result has an axis before the others: exp(t A) @ B for each t of
    linspace(start, stop, num, endpoint). The exponential itself is not computed, only products with
    A, in one loop on the device. traceA need not be exact. Raises ValueError for shapes that do not
    fit and for half of an interval, TypeError for a LinearOperator, whose norm is not known.

    >>> hd.sparse.linalg.expm_multiply(hd.sparse.eye(3), hd.ones(3))
    """
    if not (issparse(A) or _inputs.is_scipy(A) or _inputs.is_dense(A)) or hasattr(A, "matvec"):
        raise TypeError(f"expm_multiply: A must be a matrix, not {type(A).__name__}")
    A = as_sparse(A).tocsr()
    B = as_sparse(B).toarray() if issparse(B) or _inputs.is_scipy(B) else hd.asarray(B)
    n = A.shape[0]
    if A.shape != (n, n):
        raise ValueError(f"expm_multiply: A must be square, not {A.shape}")
    if B.ndim not in (1, 2) or B.shape[0] != n:
        raise ValueError(f"expm_multiply: shapes of A {A.shape} and B {B.shape} are incompatible")
    whole = (start, stop, num, endpoint) == (None,) * 4
    if not whole and None in (start, stop):
        raise ValueError("expm_multiply: an interval needs both start and stop")
    dtype = hd.result_type(A.dtype, B.dtype)
    dtype = hd.result_type(dtype, hd.float32) if dtype.kind in "fc" else hd.float64
    A, B = A.astype(dtype), B.astype(dtype)
    mean = (A.trace() if traceA is None else hd.asarray(traceA).astype(dtype)) / max(n, 1)
    operator = aslinearoperator(A)
    norm = _norm(A, mean)

    def product(x):
        return operator.matmat(x) - mean * x if x.ndim == 2 else operator.matvec(x) - mean * x

    if whole:
        return _exponential(product, B, 1.0, norm, mean)
    num = 50 if num is None else int(num)
    if num < 1:
        raise ValueError(f"expm_multiply: num must be at least 1, not {num}")
    times = hd.linspace(start, stop, num, endpoint is not False)
    first = _exponential(product, B, times[0], norm, mean)
    if num == 1:
        return first[None]

    def next_time(x, _):
        x = _exponential(product, x, times[1] - times[0], norm, mean)
        return x, x

    _, others = hd.scan(next_time, first, None, length=num - 1)
    return hd.concatenate([first[None], others])
