"""Triangular systems."""

import heddle as hd
from heddle import _heddle
from heddle.sparse._base import as_sparse

_sparse = _heddle._sparse


def spsolve_triangular(A, b, lower=True, overwrite_A=False, overwrite_b=False, unit_diagonal=False):
    """Solves A x = b for a triangular A: scipy.sparse.linalg.spsolve_triangular. b is [n] or [n, k].

    All rows are computed at once from the values before, until nothing changes: row i is right after
    as many steps as its longest chain of rows that need each other. That is exact, and fast where
    chains are short. Raises ValueError for shapes that do not fit and for elements on the wrong side
    of the diagonal, LinAlgError for a 0 on the diagonal.

    >>> hd.sparse.linalg.spsolve_triangular(hd.sparse.eye(3, format="csr"), hd.ones(3))
    """
    A = as_sparse(A).tocsr()
    rows, columns = A._extents
    b = hd.asarray(b)
    if rows != columns:
        raise ValueError(f"spsolve_triangular: A must be square, not {A.shape}")
    if b.ndim not in (1, 2) or b.shape[0] != rows:
        raise ValueError(f"spsolve_triangular: shapes of A {A.shape} and b {b.shape} are incompatible")
    row = A._lines
    beyond = (A.indices > row) if lower else (A.indices < row)
    diagonal = A.diagonal()
    wrong = hd.stack([hd.any(beyond), hd.any(diagonal == 0)]).tolist()
    if wrong[0]:
        raise ValueError(f"spsolve_triangular: A is not {'lower' if lower else 'upper'} triangular")
    if wrong[1] and not unit_diagonal:
        raise _heddle.LinAlgError("spsolve_triangular: A is singular, its diagonal has zeros")
    dtype = hd.result_type(A.dtype, b.dtype)
    dtype = dtype if dtype.kind in "fc" else hd.float64
    off = hd.where(A.indices == row, hd.zeros((), dtype=A.dtype), A.data).astype(dtype)
    parts = (off, *A._parts[1:])
    scale = hd.ones(rows, dtype=dtype) if unit_diagonal else diagonal.astype(dtype)
    b = b.astype(dtype)
    scale = scale if b.ndim == 1 else scale[:, None]

    def step(state):
        x = (b - _sparse.csr_matmul(parts, state["x"])) / scale
        return {"k": state["k"] + 1, "x": x, "changed": hd.any(x != state["x"])}

    state = {"k": hd.asarray(0), "x": b / scale, "changed": hd.asarray(True)}
    return hd.while_loop(lambda state: state["changed"] & (state["k"] < rows), step, state)["x"]
