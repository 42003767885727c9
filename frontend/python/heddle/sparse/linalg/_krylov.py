"""Conjugate gradients and their relatives: cg, cgs, bicgstab. Each step is SciPy's."""

import heddle as hd
from heddle.sparse.linalg._systems import inner, length, make_system, run, status

RUNNING = 1


def start(name, A, b, x0, rtol, atol, maxiter, M):
    """What a solver starts with: (system, limit, maxiter, state), of the state x, r and code."""
    system = make_system(name, A, M, x0, b)
    b_norm = length(system.b)
    limit = system.tolerance(b_norm, atol, rtol)
    maxiter = 10 * system.b.shape[0] if maxiter is None else int(maxiter)
    # Without a right side the result is 0, whatever x0 is.
    x, code = hd.where(b_norm == 0, hd.zeros_like(system.x), system.x), hd.where(b_norm == 0, 0, RUNNING)
    return system, limit, maxiter, {"x": x, "r": system.r, "code": code}


def _solved(state, unit, maxiter):
    """(x, info): 0 if the residual is below the tolerance, maxiter if not, negative for a
    breakdown."""
    code = state["code"]
    return state["x"] * unit, status(hd.where(code == RUNNING, maxiter, code))


def loop(step, state, system, limit, maxiter, callback):
    """Steps until the residual is small enough, `code` says to stop, or maxiter is reached."""
    def checked(state):
        if "r" not in state:  # the step itself tells
            return state["code"]
        done = (state["code"] == RUNNING) & (length(state["r"]) < limit)
        return hd.where(done, 0, state["code"])

    def running(state):
        return (state["code"] == RUNNING) & (state["k"] < maxiter)

    def next_state(state):
        made = step(state)
        # As in SciPy, the last residual is not looked at once maxiter is reached.
        made["k"] = state["k"] + 1
        made["code"] = hd.where(made["k"] < maxiter, checked(made), made["code"])
        return made

    state = {"k": hd.asarray(0), **state}
    if maxiter > 0:
        state["code"] = checked(state)
    callback = system.report(callback)

    def report(state):
        # As in SciPy, not after half of a step.
        if "half" not in state or not bool(state["half"]):
            callback(state["x"])

    report = None if callback is None else report
    return _solved(run(running, next_state, state, report), system.unit, maxiter)


def cg(A, b, x0=None, *, rtol=1e-5, atol=0.0, maxiter=None, M=None, callback=None):
    """Solves A x = b for a Hermitian positive definite A by conjugate gradients:
    scipy.sparse.linalg.cg.

    A and the preconditioner M, which approximates the inverse, are matrices or LinearOperators; b is
    [n] or [n, 1]. The result is (x, info): info is 0 if the residual is at most max(atol, rtol *
    |b|), else the number of steps. callback(x) is called after each step, which then waits for the
    device. Raises ValueError for shapes that do not fit.

    >>> x, info = hd.sparse.linalg.cg(hd.sparse.diags([2.0, 3.0, 4.0]), hd.ones(3))
    """
    system, limit, maxiter, state = start("cg", A, b, x0, rtol, atol, maxiter, M)
    b, matvec, psolve = system.b, system.matvec, system.psolve

    def step(state):
        z = psolve(state["r"])
        rho = inner(state["r"], z)
        p = z + rho / state["rho"] * state["p"]
        q = matvec(p)
        alpha = rho / inner(p, q)
        return {**state, "x": state["x"] + alpha * p, "r": state["r"] - alpha * q, "p": p, "rho": rho}

    state = {**state, "p": hd.zeros_like(b), "rho": hd.ones((), dtype=b.dtype)}
    return loop(step, state, system, limit, maxiter, callback)


def cgs(A, b, x0=None, *, rtol=1e-5, atol=0.0, maxiter=None, M=None, callback=None):
    """Solves A x = b by conjugate gradients squared: scipy.sparse.linalg.cgs. Arguments and results
    as cg; info is -10 or -11 after a breakdown.

    >>> x, info = hd.sparse.linalg.cgs(hd.sparse.diags([2.0, 3.0, 4.0]), hd.ones(3))
    """
    system, limit, maxiter, state = start("cgs", A, b, x0, rtol, atol, maxiter, M)
    b, matvec, psolve, shadow = system.b, system.matvec, system.psolve, system.r
    least = float(hd.finfo(b.dtype).eps) ** 2

    def step(state):
        rho = inner(shadow, state["r"])
        small = hd.abs(rho) < least
        beta = rho / state["rho"]
        u = state["r"] + beta * state["q"]
        p = u + beta * (state["q"] + beta * state["p"])
        v = matvec(psolve(p))
        rv = inner(shadow, v)
        alpha = rho / rv
        q = u - alpha * v
        moved = state["x"] + alpha * psolve(u + q)
        code = hd.where(small, -10, hd.where(rv == 0, -11, state["code"]))
        x = hd.where(code == RUNNING, moved, state["x"])
        return {**state, "x": x, "r": b - matvec(x), "p": p, "q": q, "rho": rho, "code": code}

    zero, one = hd.zeros_like(b), hd.ones((), dtype=b.dtype)
    state = {**state, "p": zero, "q": zero, "rho": one}
    return loop(step, state, system, limit, maxiter, callback)


def bicgstab(A, b, x0=None, *, rtol=1e-5, atol=0.0, maxiter=None, M=None, callback=None):
    """Solves A x = b by stabilised biconjugate gradients: scipy.sparse.linalg.bicgstab. Arguments and
    results as cg; info is -10 or -11 after a breakdown.

    >>> x, info = hd.sparse.linalg.bicgstab(hd.sparse.diags([2.0, 3.0, 4.0]), hd.ones(3))
    """
    system, limit, maxiter, state = start("bicgstab", A, b, x0, rtol, atol, maxiter, M)
    b, matvec, psolve, shadow = system.b, system.matvec, system.psolve, system.r
    least = float(hd.finfo(b.dtype).eps) ** 2

    def step(state):
        first = state["k"] == 0
        rho = inner(shadow, state["r"])
        beta = rho / state["rho"] * (state["alpha"] / state["omega"])
        moved = beta * (state["p"] - state["omega"] * state["v"]) + state["r"]
        p = hd.where(first, state["r"], moved)
        direction = psolve(p)
        v = matvec(direction)
        rv = inner(shadow, v)
        alpha = rho / rv
        s = state["r"] - alpha * v
        half = length(s) < limit  # half of the step is enough
        stable = psolve(s)
        t = matvec(stable)
        omega = inner(t, s) / inner(t, t)
        omega = hd.where(half, hd.ones_like(omega), omega)
        broken = ~first & (hd.abs(state["omega"]) < least)
        code = hd.where(hd.abs(rho) < least, -10, hd.where(broken | (rv == 0), -11, state["code"]))
        x = state["x"] + alpha * direction
        x = hd.where(half, x, x + omega * stable)
        x = hd.where(code == RUNNING, x, state["x"])
        r = hd.where(half, s, s - omega * t)
        code = hd.where((code == RUNNING) & half, 0, code)
        return {**state, "x": x, "r": r, "p": p, "v": v, "rho": rho, "alpha": alpha, "omega": omega,
                "code": code, "half": half}

    zero, one = hd.zeros_like(b), hd.ones((), dtype=b.dtype)
    state = {**state, "p": zero, "v": zero, "rho": one, "alpha": one, "omega": one,
             "half": hd.asarray(False)}
    return loop(step, state, system, limit, maxiter, callback)
