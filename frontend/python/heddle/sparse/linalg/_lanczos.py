"""Lanczos iterations with thick restarts, for a few eigenvalues of a Hermitian operator.

A cycle extends an orthonormal basis of ncv vectors, the rows of `basis`. Each new vector is made
orthogonal to all vectors before, twice, so that the basis stays orthogonal. `matrix` is the operator in
this basis; its lower triangle is kept. A restart keeps the best Ritz vectors, in which the matrix is
diagonal, and the vector that comes next. All cycles are one loop on the device.
"""

import heddle as hd
from heddle.sparse.linalg._systems import length

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


def _extend(matvec, state, first, noise):
    """The basis from vector `first` on, of which that vector is there."""
    size = state["matrix"].shape[0]
    eps = float(hd.finfo(noise.dtype).eps)
    # A random vector may lie almost inside of a basis of nearly the whole space.
    passes = 2 if noise.shape[0] < 4 * size else 1

    def step(j, inner):
        basis, matrix = inner["basis"], inner["matrix"]
        w = matvec(basis[j])
        before = length(w)
        along = hd.conj(basis) @ w
        w = w - along @ basis
        # The basis spans an invariant subspace: it goes on with a vector that has no part in it.
        closed = length(w) <= 10 * eps * before
        w = hd.where(closed, hd.sin(noise * (997.0 * (j + 1.0))).astype(w.dtype), w)
        for _ in range(passes):
            rest = hd.conj(basis) @ w
            w = w - rest @ basis
            along = along + hd.where(closed, hd.zeros_like(rest), rest)
        after = length(w)
        basis[j + 1] = w / hd.where(after == 0, hd.ones_like(after), after)
        matrix[j] = hd.conj(along[:size])
        return {"basis": basis, "matrix": matrix,
                "next": hd.where(closed, hd.zeros_like(after), after)}

    return hd.fori_loop(first, size, step, state)


def _restarted(state, ritz, keep):
    """The basis of the best Ritz vectors and the vector that comes next."""
    values, vectors = ritz
    size, dtype = state["matrix"].shape[0], state["matrix"].dtype
    basis = state["basis"]
    empty = hd.zeros((size - keep, basis.shape[1]), dtype=dtype)
    basis = hd.concatenate([vectors[:, :keep].T @ basis[:size], basis[size:], empty])
    diagonal = hd.where(hd.arange(size) < keep, values, hd.zeros_like(values)).astype(dtype)
    return {"basis": basis, "matrix": hd.diag(diagonal), "next": state["next"]}


def lanczos(matvec, start, noise, k, ncv, which, tol, maxiter):
    """(values, vectors, converged) for k eigenvalues: [k], [n, k] and bool [k], the most wanted first.
    `start` is the first vector, which is not 0; `noise` is real, and needed in invariant subspaces."""
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
        made = _extend(matvec, _restarted(state, (state["values"], state["vectors"]), keep), keep, noise)
        return described(made, state["cycles"] + 1)

    def described(made, cycles):
        ritz = solved(made)
        return {**made, "values": ritz[0], "vectors": ritz[1], "cycles": cycles,
                "converged": converged(made, ritz)}

    def running(state):
        far = ~hd.all(state["converged"]) & (state["cycles"] < maxiter)
        return far & hd.all(hd.isfinite(state["values"]))

    basis = hd.concatenate([(start / length(start))[None], hd.zeros((ncv, n), dtype=dtype)])
    made = {"basis": basis, "matrix": hd.zeros((ncv, ncv), dtype=dtype),
            "next": hd.zeros((), dtype=noise.dtype)}
    state = described(_extend(matvec, made, 0, noise), hd.asarray(1))
    state = hd.while_loop(running, cycle, state)
    vectors = state["basis"][:ncv].T @ state["vectors"][:, :k]
    return state["values"][:k], vectors, state["converged"]
