"""Generalised minimal residuals."""

import heddle as hd
from heddle.sparse.linalg._systems import length, make_system, run, status, tolerance

# A cycle keeps, for each of its steps, a basis vector v, and a direction p in which the solution moves.
# `turn` is the product of all rotations so far, so that a column of the Hessenberg matrix is turned by
# one small product. The column of the triangular factor says how p follows from v and the directions
# before: so the solution is there after each step, and nothing is solved at the end of a cycle.


def _rotation(a, b):
    """(c, s, r) with c real, c a + s b = r and -conj(s) a + c b = 0, for a real b that is not
    negative."""
    size = hd.abs(a)
    r = hd.sqrt(size * size + b * b)
    safe = hd.where(r == 0, hd.ones_like(r), r)
    phase = hd.where(size == 0, hd.ones_like(a), a / hd.where(size == 0, hd.ones_like(size), size))
    return hd.where(r == 0, hd.ones_like(r), size / safe), phase * (b / safe), phase * r


def gmres(A, b, x0=None, *, rtol=1e-5, atol=0.0, restart=None, maxiter=None, M=None, callback=None,
          callback_type=None):
    """Solves A x = b by minimal residuals, restarted after `restart` steps (20):
    scipy.sparse.linalg.gmres.

    Arguments and results as cg; maxiter counts restarts. callback is called with x after each restart
    for callback_type "x", else with the relative residual after each step. Raises ValueError for
    another callback_type.

    >>> x, info = hd.sparse.linalg.gmres(hd.sparse.diags([2.0, 3.0, 4.0]), hd.ones(3))
    """
    if callback_type not in (None, "x", "pr_norm", "legacy"):
        raise ValueError(f"gmres: unknown callback_type {callback_type!r}")
    A, psolve, x, b = make_system("gmres", A, M, x0, b)
    n, dtype = b.shape[0], b.dtype
    b_norm = length(b)
    limit = tolerance("gmres", b_norm, atol, rtol)
    maxiter = 10 * n if maxiter is None else int(maxiter)
    restart = min(20 if restart is None else int(restart), n)
    eps = float(hd.finfo(dtype).eps)
    x = hd.where(b_norm == 0, hd.zeros_like(x), x)
    rows = hd.arange(restart + 1)
    safe_norm = hd.where(b_norm == 0, hd.ones_like(b_norm), b_norm)
    scale = length(psolve(b))

    def step(state):
        k, basis, turn = state["k"], state["basis"], state["turn"]
        v = hd.sum(hd.where((rows == k)[:, None], basis, hd.zeros_like(basis)), axis=0)
        w = psolve(A.matvec(v))
        before = length(w)
        # Gram-Schmidt twice, which is as good as orthogonal. Rows that are not there yet are 0.
        first = hd.conj(basis) @ w
        w = w - first @ basis
        second = hd.conj(basis) @ w
        w = w - second @ basis
        after = length(w)
        exact = after <= eps * before
        after = hd.where(exact, hd.zeros_like(after), after)
        w = w / hd.where(exact, hd.ones_like(after), after)
        column = first + second + hd.where(rows == k + 1, after, hd.zeros_like(after)).astype(dtype)
        column = turn @ column
        at_k, behind = (hd.sum(hd.where(rows == i, column, hd.zeros_like(column))) for i in (k, k + 1))
        c, s, pivot = _rotation(at_k, hd.real(behind))
        row_k, row_next = (hd.sum(hd.where((rows == i)[:, None], turn, hd.zeros_like(turn)), axis=0)
                           for i in (k, k + 1))
        turn = hd.where((rows == k)[:, None], c * row_k + s * row_next,
                        hd.where((rows == k + 1)[:, None], c * row_next - hd.conj(s) * row_k, turn))
        above = hd.where(rows < k, column, hd.zeros_like(column))[:restart]
        p = (v - above @ state["moves"]) / hd.where(pivot == 0, hd.ones_like(pivot), pivot)
        side = state["length"] * hd.sum(hd.where(rows == k, turn[:, 0], hd.zeros_like(column)))
        side = hd.where(pivot == 0, hd.zeros_like(side), side)
        left = state["length"] * hd.abs(hd.sum(hd.where(rows == k + 1, turn[:, 0],
                                                        hd.zeros_like(column))))
        return {**state, "k": k + 1, "x": state["x"] + side * p, "turn": turn,
                "basis": hd.where((rows == k + 1)[:, None], w, basis),
                "moves": hd.where((rows[:restart] == k)[:, None], p, state["moves"]),
                "left": left, "exact": exact}

    def inside(state):
        return (state["k"] < restart) & ~state["exact"] & ((state["k"] == 0) |
                                                           (state["left"] > state["goal"]))

    report = None
    if callback is not None and callback_type != "x":
        report = lambda state: callback(float(state["left"] / safe_norm))  # noqa: E731

    def cycle(state):
        r = psolve(state["r"])
        size = length(r)
        v = r / hd.where(size == 0, hd.ones_like(size), size)
        inner = {"k": hd.asarray(0), "x": state["x"], "length": size, "goal": state["goal"],
                 "basis": hd.where((rows == 0)[:, None], v, hd.zeros_like(v)),
                 "moves": hd.zeros((restart, n), dtype=dtype), "left": size,
                 "turn": hd.eye(restart + 1, dtype=dtype), "exact": hd.asarray(False)}
        inner = run(inside, step, inner, report)
        residual = b - A.matvec(inner["x"])
        left = length(residual)
        factor = hd.where(inner["left"] <= state["goal"], hd.maximum(0.25 * state["factor"], eps),
                          hd.minimum(1.5 * state["factor"], 1.0))
        goal = inner["left"] * hd.minimum(factor, limit / hd.where(left == 0, hd.ones_like(left), left))
        return {"cycles": state["cycles"] + 1, "x": inner["x"], "r": residual, "size": left,
                "factor": factor, "goal": goal, "stuck": inner["exact"]}

    def outside(state):
        # The residual at the start has to be below the tolerance, later ones may equal it.
        far = hd.where(state["cycles"] == 0, state["size"] >= limit, state["size"] > limit)
        return far & (state["cycles"] < maxiter) & ~state["stuck"] & (b_norm > 0)

    r = b if x0 is None else b - A.matvec(x)
    r = hd.where(b_norm == 0, hd.zeros_like(r), r)
    state = {"cycles": hd.asarray(0), "x": x, "r": r, "size": length(r),
             "factor": hd.ones_like(b_norm), "goal": scale * hd.minimum(limit / safe_norm, 1.0),
             "stuck": hd.asarray(False)}

    def report_cycle(state):
        if callback_type == "x":
            callback(state["x"])

    state = run(outside, cycle, state, None if callback is None else report_cycle)
    return state["x"], status(hd.where(state["size"] <= limit, 0, maxiter))
