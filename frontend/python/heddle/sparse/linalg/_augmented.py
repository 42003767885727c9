"""Minimal residuals with vectors that are kept from cycle to cycle: lgmres and gcrotmk."""

import heddle as hd
from heddle import _heddle
from heddle.sparse.linalg._minimal_residuals import minimise, row, unit
from heddle.sparse.linalg._systems import inner, length, make_system, run, status

_sparse = _heddle._sparse


def _count(name, what, value, least):
    """A number of vectors. Raises ValueError if it is less than `least`."""
    if int(value) < least:
        raise ValueError(f"{name}: {what} must be at least {least}, not {value}")
    return int(value)


def _rows(vectors, k, n, dtype):
    """A matrix of k rows whose last ones are the vectors."""
    rows = [hd.asarray(each).reshape(1, n).astype(dtype) for each in vectors]
    return hd.concatenate([hd.zeros((k - len(rows), n), dtype=dtype), *rows])


def _pushed(matrix, vector, is_new):
    """The matrix without its first row and with the vector as the last one, where is_new."""
    return hd.where(is_new, hd.concatenate([matrix[1:], vector[None]]), matrix)


def _solve(system, cycle, state, b_norm, limit, maxiter, callback):
    """(x, state, info) after the cycles of a solver. The callback gets x before each of them."""
    callback = system.report(callback)
    most = hd.asarray(maxiter)  # an argument of the loop, not a constant

    def running(state):
        return (state["size"] > limit) & (state["cycles"] < most) & ~state["stuck"] & (b_norm > 0)

    def report(state):
        if int(state["cycles"]) < maxiter:
            callback(state["x"])

    if callback is not None and maxiter > 0 and bool(b_norm > 0):
        callback(state["x"])
    state = run(running, cycle, state, None if callback is None else report)
    return state["x"] * system.unit, state, status(hd.where(state["size"] <= limit, 0, maxiter))


def _start(system, b_norm):
    """The state before the first cycle. Of b = 0 the solution is 0."""
    x, r = (hd.where(b_norm == 0, hd.zeros_like(each), each) for each in (system.x, system.r))
    return {"cycles": hd.asarray(0), "x": x, "r": r, "size": length(r), "stuck": hd.asarray(False)}


def lgmres(A, b, x0=None, *, rtol=1e-5, atol=0.0, maxiter=1000, M=None, callback=None, inner_m=30,
           outer_k=3, outer_v=None, store_outer_Av=True, prepend_outer_v=False):
    """Solves A x = b by minimal residuals in cycles of inner_m steps, which also search along the last
    outer_k changes of x: scipy.sparse.linalg.lgmres. It often needs fewer steps than gmres.

    Arguments and results as cg; maxiter counts cycles. A list outer_v holds pairs (v, A v) of vectors
    to begin with, and those of the end afterwards, for similar systems; the products are None without
    store_outer_Av, and need not be given. prepend_outer_v searches along these vectors first. callback
    is called with x before each cycle. Raises ValueError for numbers of vectors out of range.

    >>> x, info = hd.sparse.linalg.lgmres(hd.sparse.diags([2.0, 3.0, 4.0]), hd.ones(3))
    """
    system = make_system("lgmres", A, M, x0, b)
    A, psolve, b = system.A, system.psolve, system.b
    n, dtype = b.shape[0], b.dtype
    steps, kept = min(_count("lgmres", "inner_m", inner_m, 1), n), _count("lgmres", "outer_k", outer_k, 0)
    b_norm = length(b)
    limit = system.tolerance(b_norm, atol, rtol)
    eps = float(hd.finfo(dtype).eps)
    given = [v for v, _ in outer_v or ()][-kept:] if kept else []
    first = 0 if prepend_outer_v else steps

    def product(v):
        return psolve(A.matvec(v))

    def cycle(state):
        outer, count = state["outer"], state["count"]

        def direction(k, v):
            at = k - first
            return hd.where((at >= 0) & (at < count), row(outer, at + kept - count), v)

        r = psolve(state["r"])
        goal = length(r) * hd.minimum(state["factor"], limit / state["size"])
        made = minimise(product, hd.zeros_like(b), r, goal, steps + kept, steps + count,
                        direction if kept else None)
        moved = made["x"]
        is_new = hd.any(moved != 0)
        x = state["x"] + moved
        residual = b - A.matvec(x)
        factor = hd.where(made["left"] <= goal, hd.maximum(0.25 * state["factor"], eps),
                          hd.minimum(1.5 * state["factor"], 1.0))
        return {**state, "cycles": state["cycles"] + 1, "x": x, "r": residual, "size": length(residual),
                "stuck": ~is_new, "factor": factor,
                "outer": _pushed(outer, unit(moved), is_new) if kept else outer,
                "count": hd.where(is_new, hd.minimum(count + 1, kept), count)}

    state = {**_start(system, b_norm), "factor": hd.ones_like(b_norm),
             "outer": _rows(given, kept, n, dtype), "count": hd.asarray(len(given))}
    x, state, info = _solve(system, cycle, state, b_norm, limit, int(maxiter), callback)
    if outer_v is not None and not _sparse.is_tracing():
        vectors = [state["outer"][i] for i in range(kept - int(state["count"]), kept)]
        outer_v[:] = [(v, product(v) if store_outer_Av else None) for v in vectors]
    return x, info


def _orthonormal(A, pairs, n, dtype):
    """The pairs (c, u) with orthonormal c = A u, as two lists. Of dependent ones some become 0."""
    eps = float(hd.finfo(dtype).eps)
    cs, us = [], []
    for c, u in pairs:
        u = hd.asarray(u).reshape(n).astype(dtype)
        c = A.matvec(u) if c is None else hd.asarray(c).reshape(n).astype(dtype)
        before = length(c)
        for _ in range(2):
            for other, its in zip(list(cs), list(us)):
                part = inner(other, c)
                c, u = c - part * other, u - part * its
        size = length(c)
        scale = hd.where(size <= n * eps * before, hd.zeros_like(size),
                         1 / hd.where(size == 0, hd.ones_like(size), size))
        cs.append(c * scale)
        us.append(u * scale)
    return cs, us


def _without_smallest(C, U, parts, is_full):
    """Where is_full, other bases of the spaces of the rows of C and U: first a row that is to be
    dropped, the direction that has the least part in what a cycle multiplied."""
    turn = hd.linalg.svd(parts.T, full_matrices=True)[0][:, ::-1].T
    return tuple(hd.where(is_full, turn @ rows, rows) for rows in (C, U))


def gcrotmk(A, b, x0=None, *, rtol=1e-5, atol=0.0, maxiter=1000, M=None, callback=None, m=20, k=None,
            CU=None, discard_C=False, truncate="oldest"):
    """Solves A x = b by minimal residuals in cycles of m steps, orthogonal to what the last k cycles (m)
    multiplied: scipy.sparse.linalg.gcrotmk, the method GCROT(m, k).

    Arguments and results as cg; maxiter counts cycles. A list CU holds pairs (c, u) with c = A u to
    begin with, and those of the end afterwards, for similar systems; c may be None, and is None
    afterwards with discard_C. truncate says what is dropped for a new pair: the "oldest", or what a
    cycle multiplied least with, "smallest". callback is called with x before each cycle. Raises
    ValueError for numbers of vectors out of range and for an unknown `truncate`.

    >>> x, info = hd.sparse.linalg.gcrotmk(hd.sparse.diags([2.0, 3.0, 4.0]), hd.ones(3))
    """
    if truncate not in ("oldest", "smallest"):
        raise ValueError(f"gcrotmk: truncate must be 'oldest' or 'smallest', not {truncate!r}")
    system = make_system("gcrotmk", A, M, x0, b)
    A, psolve, b = system.A, system.psolve, system.b
    n, dtype = b.shape[0], b.dtype
    m = min(_count("gcrotmk", "m", m, 1), n)
    k = m if k is None else _count("gcrotmk", "k", k, 0)
    b_norm = length(b)
    limit = system.tolerance(b_norm, atol, rtol)

    def cycle(state):
        C, U, count = state["C"], state["U"], state["count"]

        def project(z, w):
            part = hd.conj(C) @ w
            return part, z - part @ U, w - part @ C

        made = minimise(A.matvec, hd.zeros_like(b), state["r"], limit, m + k, m + k - count,
                        lambda _, v: psolve(v), project if k else None, space=k)
        if truncate == "smallest" and k > 1:
            C, U = _without_smallest(C, U, made["parts"], count == k)
        u = made["x"]
        c = A.matvec(u)
        size = length(c)
        is_new = size > 0
        scale = 1 / hd.where(is_new, size, hd.ones_like(size))
        c, u = c * scale, u * scale
        moved = state["x"] + inner(c, state["r"]) * u
        residual = b - A.matvec(moved)
        return {**state, "cycles": state["cycles"] + 1, "x": moved, "r": residual, "size": length(residual),
                "stuck": ~is_new, "C": _pushed(C, c, is_new) if k else C,
                "U": _pushed(U, u, is_new) if k else U,
                "count": hd.where(is_new, hd.minimum(count + 1, k), count)}

    cs, us = _orthonormal(A, list(CU or ())[-k:] if k else [], n, dtype)
    state = _start(system, b_norm)
    for c, u in zip(cs, us):
        state["x"] = state["x"] + inner(c, state["r"]) * u
        state["r"] = b - A.matvec(state["x"])
    state = {**state, "size": length(state["r"]), "C": _rows(cs, k, n, dtype), "U": _rows(us, k, n, dtype),
             "count": hd.asarray(len(cs))}
    x, state, info = _solve(system, cycle, state, b_norm, limit, int(maxiter), callback)
    if CU is not None and not _sparse.is_tracing():
        CU[:] = [(None if discard_C else state["C"][i], state["U"][i])
                 for i in range(k - int(state["count"]), k)]
    return x, info
