"""Krylov iterations with thick restarts, for a few eigenvalues of an operator.

A cycle extends an orthonormal basis of ncv vectors, the rows of `basis`. Each new vector is made
orthogonal to all vectors before, twice, so that the basis stays orthogonal. `matrix` is the operator in
this basis. A restart keeps the best Ritz vectors and the vector that comes next.

One vector leads to one eigenvector of an eigenvalue that occurs several times. So once the wanted values
have converged, a round begins: cycles go on from a random vector that is orthogonal to theirs. If a round
finds better values, another one follows. Cycles and rounds are loops on the device.

What differs between Hermitian and other operators is a method: `Lanczos`, `Arnoldi`.
"""

import heddle as hd
from heddle.sparse.linalg._systems import length, run


class Wanted:
    """Which Ritz pairs are wanted, and whether they are found. `key` says how much a value is wanted;
    with both_ends the least keys are wanted as much as the greatest."""

    def __init__(self, k, key, tol, dtype, both_ends=False):
        self._k, self._key, self._ends = k, key, 2 if both_ends else 1
        self._eps = float(hd.finfo(dtype).eps)
        self._tol, self._least = max(tol, self._eps), self._eps ** (2 / 3)

    def order(self, values, held):
        """The indices of values, the most wanted first; of equal values those that are held."""
        key = self._key(values)
        better = hd.where(held, self.equal(values), hd.zeros_like(key))
        if self._ends == 1:
            return hd.argsort(-(key + better))
        ranked = hd.argsort(-(key + better * hd.sign(key - hd.mean(key))))
        return hd.stack([ranked, ranked[::-1]], axis=1).reshape(-1)[:values.shape[0]]

    def allowed(self, values):
        """The greatest errors with which values have converged: ARPACK's bound, but at least 4 units of
        rounding of the greatest value. Small values are bounded relative to the greatest, too."""
        size = hd.abs(values)
        greatest = hd.max(size)
        return hd.maximum(self._tol * hd.maximum(size, self._least * greatest), 4 * self._eps * greatest)

    def equal(self, values):
        """Distances below which values count as equal."""
        return 2 * self.allowed(values) + 100 * self._eps * hd.max(hd.abs(values))

    def converged(self, values, errors):
        """Of the first k."""
        return (errors <= self.allowed(values))[:self._k]

    def unrivalled(self, values, errors):
        """Whether the next values have come close enough to say that they are not wanted."""
        rivals = [i for i in range(self._k, self._k + self._ends) if self._ends <= i < values.shape[0]]
        rivals = hd.asarray(rivals, dtype=hd.int64)
        keys = self._key(values)
        gaps = hd.abs(keys[rivals] - keys[rivals - self._ends])
        # The error of a value is about the square of its vector's.
        bound = hd.sqrt(self.allowed(values)[rivals]) * hd.sqrt(hd.max(hd.abs(values)))
        return hd.all(errors[rivals] <= hd.maximum(0.01 * gaps, bound))

    def differ(self, before, after):
        """Whether a round found other values."""
        return hd.any((hd.abs(self._key(before) - self._key(after)) > self.equal(after))[:self._k])


def _appended(method, j, w, inner, locked, noise):
    """The basis with the next vector, from w, the product with vector j."""
    basis, size = inner["basis"], inner["matrix"].shape[0]
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
    after = hd.where(closed, hd.zeros_like(after), after)
    return {"basis": hd.dynamic_update_index_in_dim(basis, vector, j + 1, 0),
            "matrix": method.with_products(inner["matrix"], j, along[:size], after, locked),
            "next": after}


def _extend(method, matvec, state, first, noise, step_by_step):
    """The state with its basis from vector `first` on, of which that vector is there."""
    inner, locked = {name: state[name] for name in ("basis", "matrix", "next")}, state["locked"]
    size = state["matrix"].shape[0]

    def appended(j, w, inner, locked, noise):
        return _appended(method, j, w, inner, locked, noise)

    if not step_by_step:
        return {**state, **hd.fori_loop(
            first, size, lambda j, inner: appended(j, matvec(inner["basis"][j]), inner, locked, noise),
            inner)}
    row, appended = hd.jit(lambda basis, j: basis[j]), hd.jit(appended)
    for j in map(hd.asarray, range(int(first), size)):
        inner = appended(j, matvec(row(inner["basis"], j)), inner, locked, noise)
    return {**state, **inner}


def _restarted(method, state, keep):
    """The state with the best Ritz vectors, and the vector that comes next, as its basis."""
    basis, size, dtype = state["basis"], state["matrix"].shape[0], state["matrix"].dtype
    turn, inner = method.projected(state, keep)
    matrix = hd.concatenate([inner, (state["next"] * turn[-1])[None],
                             hd.zeros((size - keep - 1, keep), dtype=dtype)])
    k = state["converged"].shape[0]
    return {**state,
            "basis": hd.concatenate([turn.T @ basis[:size], basis[size:],
                                     hd.zeros((size - keep, basis.shape[1]), dtype=dtype)]),
            "matrix": hd.concatenate([matrix, hd.zeros((size, size - keep), dtype=dtype)], axis=1),
            "locked": hd.concatenate([state["converged"], hd.zeros(size - k, dtype=hd.bool)])}


def _locked(method, state, start, noise, k):
    """A basis of the k best Ritz vectors and a random one; in round 0 of the vector `start`."""
    n, size, dtype = start.shape[0], state["matrix"].shape[0], state["matrix"].dtype
    is_first = state["round"] == 0
    turn, inner = method.projected(state, k)
    best = turn.T @ state["basis"][:size]
    best, inner = (hd.where(is_first, hd.zeros_like(each), each) for each in (best, inner))
    vector = hd.where(is_first, start, hd.sin(noise * (991.0 * (state["round"] + 1.0))).astype(dtype))
    for _ in range(2):
        vector = vector - (hd.conj(best) @ vector) @ best
    basis = hd.concatenate([best, hd.zeros((size + 1 - k, n), dtype=dtype)])
    first = hd.where(is_first, 0, k)
    return {**state, "matrix": hd.pad(inner, ((0, size - k), (0, size - k))),
            "locked": hd.arange(size) < first,
            "basis": hd.dynamic_update_index_in_dim(basis, vector / length(vector), first, 0)}, first


def iterate(method, matvec, start, noise, ncv, maxiter, step_by_step=False):
    """(values, vectors, converged) for the k values that method.wanted describes: [k], [n, k] and bool
    [k], the most wanted first. `start` is the first vector, which is not 0; `noise` is real and random.
    A round takes at most `maxiter` cycles. With step_by_step the loops are not recorded: for a matvec
    that reads values."""
    n, dtype, wanted, k = start.shape[0], start.dtype, method.wanted, method.k
    keep = min(k + (ncv - k) // 2, ncv - 1)

    def described(made, cycles):
        values, vectors, held = method.solved(made["matrix"], made["locked"])
        order = wanted.order(values, held)
        values, vectors = values[order], vectors[:, order]
        errors = made["next"] * hd.abs(vectors[-1])
        return {**made, "values": values, "vectors": vectors, "cycles": cycles,
                "converged": wanted.converged(values, errors),
                "unrivalled": (made["round"] == 0) | wanted.unrivalled(values, errors)}

    def restarted(state):
        return _restarted(method, state, keep)

    def locked(state):
        return _locked(method, state, start, noise, k)

    if step_by_step:
        described, restarted, locked = map(hd.jit, (described, restarted, locked))

    def cycle(state):
        made = _extend(method, matvec, restarted(state), keep, noise, step_by_step)
        return described(made, state["cycles"] + 1)

    def running(state):
        far = ~(hd.all(state["converged"]) & state["unrivalled"]) & (state["cycles"] < maxiter)
        return far & hd.all(hd.isfinite(state["values"]))

    report = (lambda state: None) if step_by_step else None

    def next_round(state):
        made, first = locked(state)
        made = described(_extend(method, matvec, made, first, noise, step_by_step), hd.asarray(1))
        made = run(running, cycle, made, report)
        # All is found if a round finds nothing else, and at once if the basis is the whole space.
        more = (made["round"] == 0) & (ncv < n) | wanted.differ(state["values"], made["values"])
        return {**made, "round": made["round"] + 1, "more": more & hd.all(made["converged"])}

    state = {"basis": hd.zeros((ncv + 1, n), dtype=dtype), "matrix": hd.zeros((ncv, ncv), dtype=dtype),
             "next": hd.zeros((), dtype=noise.dtype), "values": hd.zeros(ncv, dtype=method.value_dtype),
             "vectors": hd.zeros((ncv, ncv), dtype=dtype), "cycles": hd.asarray(0),
             "round": hd.asarray(0), "converged": hd.zeros(k, dtype=hd.bool),
             "locked": hd.zeros(ncv, dtype=hd.bool), "unrivalled": hd.asarray(False),
             "more": hd.asarray(True)}
    # A round that finds something finds one vector of each value at least.
    state = run(lambda state: state["more"] & (state["round"] < k + 2), next_round, state, report)
    vectors = state["basis"][:ncv].T @ state["vectors"][:, :k]
    return state["values"][:k], vectors, state["converged"]
