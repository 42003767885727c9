"""Generalised minimal residuals."""

import heddle as hd
from heddle.sparse.linalg._minimal_residuals import minimise
from heddle.sparse.linalg._systems import length, make_system, run, status


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
    system = make_system("gmres", A, M, x0, b)
    A, psolve, x, b = system.A, system.psolve, system.x, system.b
    n, dtype = b.shape[0], b.dtype
    b_norm = length(b)
    limit = system.tolerance(b_norm, atol, rtol)
    maxiter = 10 * n if maxiter is None else int(maxiter)
    restart = min(20 if restart is None else int(restart), n)
    eps = float(hd.finfo(dtype).eps)
    x = hd.where(b_norm == 0, hd.zeros_like(x), x)
    safe_norm = hd.where(b_norm == 0, hd.ones_like(b_norm), b_norm)
    scale = length(psolve(b))

    report = None
    if callback is not None and callback_type != "x":
        report = lambda left: callback(float(left / safe_norm))  # noqa: E731

    def cycle(state):
        inner = minimise(lambda v: psolve(A.matvec(v)), state["x"], psolve(state["r"]), state["goal"],
                         restart, report=report)
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

    r = hd.where(b_norm == 0, hd.zeros_like(b), system.r)
    state = {"cycles": hd.asarray(0), "x": x, "r": r, "size": length(r),
             "factor": hd.ones_like(b_norm), "goal": scale * hd.minimum(limit / safe_norm, 1.0),
             "stuck": hd.asarray(False)}

    def report_cycle(state):
        if callback_type == "x":
            callback(state["x"] * system.unit)

    state = run(outside, cycle, state, None if callback is None else report_cycle)
    return state["x"] * system.unit, status(hd.where(state["size"] <= limit, 0, maxiter))
