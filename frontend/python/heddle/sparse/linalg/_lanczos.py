"""Lanczos iterations with thick restarts, for a few eigenvalues of a Hermitian operator.

A cycle extends an orthonormal basis of ncv vectors, the rows of `basis`. Each new vector is made
orthogonal to all vectors before, twice, so that the basis stays orthogonal. `matrix` is the operator in
this basis; its lower triangle is kept. A restart keeps the best Ritz vectors, in which the matrix is
diagonal, and the vector that comes next. All cycles are one loop on the device.
"""

import heddle as hd
from heddle.sparse.linalg._systems import length, run

# Names of SciPy -> the indices of increasing values, those that are wanted first.
_ORDERS = {
    "LA": lambda values: hd.arange(values.shape[0])[::-1],
    "SA": lambda values: hd.arange(values.shape[0]),
    "LM": lambda values: hd.argsort(-hd.abs(values)),
    "SM": lambda values: hd.argsort(hd.abs(values)),
    "BE": lambda values: hd.stack([hd.arange(values.shape[0])[::-1], hd.arange(values.shape[0])],
                                  axis=1).reshape(-1)[:values.shape[0]],
}
WHICH = tuple(_ORDERS)


def _appended(j, w, state, noise):
    """The state with the next vector, from w, the product with vector j."""
    basis, matrix = state["basis"], state["matrix"]
    size = matrix.shape[0]
    eps = float(hd.finfo(noise.dtype).eps)
    before = length(w)
    along = hd.conj(basis) @ w
    w = w - along @ basis
    # The basis spans an invariant subspace: it goes on with a vector that has no part in it.
    closed = length(w) <= 10 * eps * before
    w = hd.where(closed, hd.sin(noise * (997.0 * (j + 1.0))).astype(w.dtype), w)
    # A random vector may lie almost inside of a basis of nearly the whole space.
    for _ in range(2 if noise.shape[0] < 4 * size else 1):
        rest = hd.conj(basis) @ w
        w = w - rest @ basis
        along = along + hd.where(closed, hd.zeros_like(rest), rest)
    after = length(w)
    vector = w / hd.where(after == 0, hd.ones_like(after), after)
    return {"basis": hd.dynamic_update_index_in_dim(basis, vector, j + 1, 0),
            "matrix": hd.dynamic_update_index_in_dim(matrix, hd.conj(along[:size]), j, 0),
            "next": hd.where(closed, hd.zeros_like(after), after)}


def _extend(matvec, state, first, noise, step_by_step):
    """The basis from vector `first` on, of which that vector is there."""
    size = state["matrix"].shape[0]
    if not step_by_step:
        return hd.fori_loop(first, size, lambda j, inner: _appended(j, matvec(inner["basis"][j]), inner,
                                                                    noise), state)
    row, appended = hd.jit(lambda basis, j: basis[j]), hd.jit(_appended)
    for j in map(hd.asarray, range(first, size)):
        state = appended(j, matvec(row(state["basis"], j)), state, noise)
    return state


def _restarted(state, ritz, keep):
    """The basis of the best Ritz vectors and the vector that comes next."""
    values, vectors = ritz
    size, dtype = state["matrix"].shape[0], state["matrix"].dtype
    basis = state["basis"]
    empty = hd.zeros((size - keep, basis.shape[1]), dtype=dtype)
    basis = hd.concatenate([vectors[:, :keep].T @ basis[:size], basis[size:], empty])
    diagonal = hd.where(hd.arange(size) < keep, values, hd.zeros_like(values)).astype(dtype)
    return {"basis": basis, "matrix": hd.diag(diagonal), "next": state["next"]}


def lanczos(matvec, start, noise, k, ncv, which, tol, maxiter, step_by_step=False):
    """(values, vectors, converged) for k eigenvalues: [k], [n, k] and bool [k], the most wanted first.
    `start` is the first vector, which is not 0; `noise` is real, and needed in invariant subspaces.
    With step_by_step the loops are not recorded: for a matvec that reads values."""
    n, dtype = start.shape[0], start.dtype
    keep = min(k + (ncv - k) // 2, ncv - 1)
    eps = float(hd.finfo(dtype).eps)
    least = eps ** (2 / 3)

    def solved(state):
        values, vectors = hd.linalg.eigh(state["matrix"])
        order = _ORDERS[which](values)
        return values[order], vectors[:, order]

    def converged(state, ritz):
        # ARPACK's condition, and what rounding makes of it for values far below the greatest.
        size = hd.abs(ritz[0])
        error = state["next"] * hd.abs(ritz[1][-1, :k])
        rounding = eps * hd.max(size)
        return error <= hd.maximum(max(tol, eps) * hd.maximum(size[:k], least), rounding)

    def cycle(state):
        kept = restarted(state)
        made = _extend(matvec, kept, keep, noise, step_by_step)
        return described(made, state["cycles"] + 1)

    def described(made, cycles):
        ritz = solved(made)
        return {**made, "values": ritz[0], "vectors": ritz[1], "cycles": cycles,
                "converged": converged(made, ritz)}

    def restarted(state):
        return _restarted(state, (state["values"], state["vectors"]), keep)

    if step_by_step:
        described, restarted = hd.jit(described), hd.jit(restarted)

    def running(state):
        far = ~hd.all(state["converged"]) & (state["cycles"] < maxiter)
        return far & hd.all(hd.isfinite(state["values"]))

    basis = hd.concatenate([(start / length(start))[None], hd.zeros((ncv, n), dtype=dtype)])
    made = {"basis": basis, "matrix": hd.zeros((ncv, ncv), dtype=dtype),
            "next": hd.zeros((), dtype=noise.dtype)}
    state = described(_extend(matvec, made, 0, noise, step_by_step), hd.asarray(1))
    state = run(running, cycle, state, (lambda state: None) if step_by_step else None)
    vectors = state["basis"][:ncv].T @ state["vectors"][:, :k]
    return state["values"][:k], vectors, state["converged"]
