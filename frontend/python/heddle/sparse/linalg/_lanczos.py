"""Lanczos iterations with thick restarts, for a few eigenvalues of a Hermitian operator.

A cycle extends an orthonormal basis of ncv vectors, the rows of `basis`. Each new vector is made
orthogonal to all vectors before, twice, so that the basis stays orthogonal. `matrix` is the operator in
this basis; its lower triangle is kept. A restart keeps the best Ritz vectors, in which the matrix is
diagonal, and the vector that comes next.

One vector leads to one eigenvector of an eigenvalue that occurs several times. So once the wanted values
have converged, a round begins: cycles go on from a random vector that is orthogonal to theirs. If a round
finds better values, another one follows. Vectors that have converged are locked: the matrix keeps their
values only, so that they do not mix with other vectors of the same value. Cycles and rounds are loops
on the device.
"""

import heddle as hd
from heddle.sparse.linalg._systems import length, run

# Names of SciPy -> the indices of values in the order in which they are wanted.
_ORDERS = {
    "LA": lambda values: hd.argsort(-values),
    "SA": hd.argsort,
    "LM": lambda values: hd.argsort(-hd.abs(values)),
    "SM": lambda values: hd.argsort(hd.abs(values)),
    "BE": lambda values: hd.stack([hd.argsort(values)[::-1], hd.argsort(values)],
                                  axis=1).reshape(-1)[:values.shape[0]],
}
# The sign of a small number that, added to a value, makes it more wanted.
_BETTER = {"LA": hd.ones_like, "SA": lambda values: -hd.ones_like(values), "LM": hd.sign,
           "SM": lambda values: -hd.sign(values), "BE": lambda values: hd.sign(values - hd.mean(values))}
WHICH = tuple(_ORDERS)


def _appended(j, w, state, locked, noise):
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
    along = hd.where(locked, hd.zeros_like(along[:size]), along[:size])
    return {"basis": hd.dynamic_update_index_in_dim(basis, vector, j + 1, 0),
            "matrix": hd.dynamic_update_index_in_dim(matrix, hd.conj(along), j, 0),
            "next": hd.where(closed, hd.zeros_like(after), after)}


def _extend(matvec, state, first, noise, step_by_step):
    """The state with its basis from vector `first` on, of which that vector is there."""
    size = state["matrix"].shape[0]
    inner, locked = {name: state[name] for name in ("basis", "matrix", "next")}, state["locked"]
    if not step_by_step:
        return {**state, **hd.fori_loop(
            first, size,
            lambda j, inner: _appended(j, matvec(inner["basis"][j]), inner, locked, noise), inner)}
    row, appended = hd.jit(lambda basis, j: basis[j]), hd.jit(_appended)
    for j in map(hd.asarray, range(int(first), size)):
        inner = appended(j, matvec(row(inner["basis"], j)), inner, locked, noise)
    return {**state, **inner}


def _restarted(state, keep):
    """The state with the best Ritz vectors, and the vector that comes next, as its basis."""
    values, vectors = state["values"], state["vectors"]
    size, dtype = state["matrix"].shape[0], state["matrix"].dtype
    basis = state["basis"]
    empty = hd.zeros((size - keep, basis.shape[1]), dtype=dtype)
    basis = hd.concatenate([vectors[:, :keep].T @ basis[:size], basis[size:], empty])
    diagonal = hd.where(hd.arange(size) < keep, values, hd.zeros_like(values)).astype(dtype)
    k = state["converged"].shape[0]
    locked = hd.concatenate([state["converged"], hd.zeros(size - k, dtype=hd.bool)])
    return {**state, "basis": basis, "matrix": hd.diag(diagonal), "locked": locked}


def _locked(state, start, noise, k):
    """A basis of the k best Ritz vectors and a random one; in round 0 of the vector `start`."""
    n, size, dtype = start.shape[0], state["matrix"].shape[0], state["matrix"].dtype
    is_first = state["round"] == 0
    locked = state["vectors"][:, :k].T @ state["basis"][:size]
    locked = hd.where(is_first, hd.zeros_like(locked), locked)
    vector = hd.where(is_first, start, hd.sin(noise * (991.0 * (state["round"] + 1.0))).astype(dtype))
    for _ in range(2):
        vector = vector - (hd.conj(locked) @ vector) @ locked
    basis = hd.concatenate([locked, hd.zeros((size + 1 - k, n), dtype=dtype)])
    first = hd.where(is_first, 0, k)
    is_locked = hd.arange(size) < first
    diagonal = hd.where(is_locked, state["values"], hd.zeros_like(state["values"]))
    return {**state, "matrix": hd.diag(diagonal.astype(dtype)), "locked": is_locked,
            "basis": hd.dynamic_update_index_in_dim(basis, vector / length(vector), first, 0)}, first


class _Wanted:
    """Which Ritz pairs are wanted, and whether they are found."""

    def __init__(self, k, which, tol, dtype):
        self._k, self._which = k, which
        self._eps = float(hd.finfo(dtype).eps)
        self._tol, self._least = max(tol, self._eps), self._eps ** (2 / 3)

    def solved(self, matrix, locked):
        """Ritz values and vectors, the most wanted first; of equal values those that are locked."""
        values, vectors = hd.linalg.eigh(matrix)
        part = hd.sum(hd.where(locked[:, None], hd.abs(vectors) ** 2, hd.zeros_like(values)), axis=0)
        better = self.equal(values) * _BETTER[self._which](values)
        order = _ORDERS[self._which](hd.where(part > 0.5, values + better, values))
        return values[order], vectors[:, order]

    def allowed(self, values):
        """ARPACK's bound of errors, and what rounding makes of it for values far below the greatest."""
        size = hd.abs(values)
        return hd.maximum(self._tol * hd.maximum(size, self._least), 4 * self._eps * hd.max(size))

    def equal(self, values):
        """Distances below which values count as equal."""
        return 2 * self.allowed(values) + 100 * self._eps * hd.max(hd.abs(values))

    def converged(self, values, errors):
        """Of the first k."""
        return (errors <= self.allowed(values))[:self._k]

    def _key(self, values):
        """Distances between keys tell how much more one value is wanted than another."""
        return hd.abs(values) if self._which in ("LM", "SM") else values

    def unrivalled(self, values, errors):
        """Whether the next values have come close enough to say that they are not wanted."""
        ends = 2 if self._which == "BE" else 1
        rivals = [i for i in range(self._k, self._k + ends) if ends <= i < values.shape[0]]
        rivals = hd.asarray(rivals, dtype=hd.int64)
        keys = self._key(values)
        gaps = hd.abs(keys[rivals] - keys[rivals - ends])
        # The error of a value is about the square of its vector's.
        bound = hd.sqrt(self.allowed(values)[rivals] * hd.max(hd.abs(values)))
        return hd.all(errors[rivals] <= hd.maximum(0.01 * gaps, bound))

    def differ(self, before, after):
        """Whether a round found other values."""
        return hd.any((hd.abs(self._key(before) - self._key(after)) > self.equal(after))[:self._k])


def lanczos(matvec, start, noise, k, ncv, which, tol, maxiter, step_by_step=False):
    """(values, vectors, converged) for k eigenvalues: [k], [n, k] and bool [k], the most wanted first.
    `start` is the first vector, which is not 0; `noise` is real and random. A round takes at most
    `maxiter` cycles. With step_by_step the loops are not recorded: for a matvec that reads values."""
    n, dtype = start.shape[0], start.dtype
    keep = min(k + (ncv - k) // 2, ncv - 1)
    wanted = _Wanted(k, which, tol, dtype)

    def described(made, cycles):
        values, vectors = wanted.solved(made["matrix"], made["locked"])
        errors = made["next"] * hd.abs(vectors[-1])
        return {**made, "values": values, "vectors": vectors, "cycles": cycles,
                "converged": wanted.converged(values, errors),
                "unrivalled": (made["round"] == 0) | wanted.unrivalled(values, errors)}

    def restarted(state):
        return _restarted(state, keep)

    def locked(state):
        return _locked(state, start, noise, k)

    if step_by_step:
        described, restarted, locked = map(hd.jit, (described, restarted, locked))

    def cycle(state):
        made = _extend(matvec, restarted(state), keep, noise, step_by_step)
        return described(made, state["cycles"] + 1)

    def running(state):
        far = ~(hd.all(state["converged"]) & state["unrivalled"]) & (state["cycles"] < maxiter)
        return far & hd.all(hd.isfinite(state["values"]))

    report = (lambda state: None) if step_by_step else None

    def next_round(state):
        made, first = locked(state)
        made = described(_extend(matvec, made, first, noise, step_by_step), hd.asarray(1))
        made = run(running, cycle, made, report)
        # All is found if a round finds nothing else, and at once if the basis is the whole space.
        more = (made["round"] == 0) & (ncv < n) | wanted.differ(state["values"], made["values"])
        return {**made, "round": made["round"] + 1, "more": more & hd.all(made["converged"])}

    real = hd.zeros(ncv, dtype=noise.dtype)
    state = {"basis": hd.zeros((ncv + 1, n), dtype=dtype), "matrix": hd.zeros((ncv, ncv), dtype=dtype),
             "next": real[0], "values": real, "vectors": hd.zeros((ncv, ncv), dtype=dtype),
             "cycles": hd.asarray(0), "round": hd.asarray(0), "converged": hd.zeros(k, dtype=hd.bool),
             "locked": hd.zeros(ncv, dtype=hd.bool), "unrivalled": hd.asarray(False), "more": hd.asarray(True)}
    # A round that finds something finds one vector of each value at least.
    state = run(lambda state: state["more"] & (state["round"] < k + 2), next_round, state, report)
    vectors = state["basis"][:ncv].T @ state["vectors"][:, :k]
    return state["values"][:k], vectors, state["converged"]
