"""Solvers that also multiply with the adjoint, bicg and qmr, and tfqmr, which does without. Each step is
SciPy's."""

import heddle as hd
from heddle.sparse.linalg._krylov import RUNNING, loop, start
from heddle.sparse.linalg._operators import aslinearoperator, prepare_adjoint
from heddle.sparse.linalg._systems import inner, length, make_system


def _same(v):
    return v


def _codes(code, conditions):
    """The code of the first condition that holds, else `code`."""
    for condition, reason in reversed(conditions):
        code = hd.where(condition, reason, code)
    return code


def bicg(A, b, x0=None, *, rtol=1e-5, atol=0.0, maxiter=None, M=None, callback=None):
    """Solves A x = b by biconjugate gradients: scipy.sparse.linalg.bicg. Arguments and results as cg;
    A and M need products with their adjoints, too. info is -10 or -11 after a breakdown.

    >>> x, info = hd.sparse.linalg.bicg(hd.sparse.diags([2.0, 3.0, 4.0]), hd.ones(3))
    """
    A, M = aslinearoperator(A), None if M is None else aslinearoperator(M)
    prepare_adjoint(A)
    system, limit, maxiter, state = start("bicg", A, b, x0, rtol, atol, maxiter, M)
    b, matvec, psolve = system.b, system.matvec, system.psolve
    backward = _same if M is None else M.rmatvec
    least = float(hd.finfo(b.dtype).eps) ** 2

    def step(state):
        z, shadow_z = psolve(state["r"]), backward(state["shadow"])
        rho = inner(state["shadow"], z)
        beta = rho / state["rho"]
        p = z + beta * state["p"]
        shadow_p = shadow_z + hd.conj(beta) * state["shadow p"]
        q = matvec(p)
        rv = inner(shadow_p, q)
        alpha = rho / rv
        code = _codes(state["code"], [(hd.abs(rho) < least, -10), (rv == 0, -11)])
        go = code == RUNNING
        return {**state, "x": hd.where(go, state["x"] + alpha * p, state["x"]),
                "r": hd.where(go, state["r"] - alpha * q, state["r"]), "p": p, "shadow p": shadow_p,
                "shadow": state["shadow"] - hd.conj(alpha) * A.rmatvec(shadow_p), "rho": rho, "code": code}

    zero, one = hd.zeros_like(b), hd.ones((), dtype=b.dtype)
    state = {**state, "shadow": system.r, "p": zero, "shadow p": zero, "rho": one}
    return loop(step, state, system, limit, maxiter, callback)


def qmr(A, b, x0=None, *, rtol=1e-5, atol=0.0, maxiter=None, M1=None, M2=None, callback=None):
    """Solves A x = b by quasi-minimal residuals: scipy.sparse.linalg.qmr. Arguments and results as cg;
    M1 and M2 are preconditioners from the left and the right, and like A need products with their
    adjoints. info is from -10 to -15 after a breakdown.

    >>> x, info = hd.sparse.linalg.qmr(hd.sparse.diags([2.0, 3.0, 4.0]), hd.ones(3))
    """
    A = aslinearoperator(A)
    prepare_adjoint(A)
    for M in (M1, M2):
        make_system("qmr", A, M, x0, b)  # checks the shapes of both
    M1, M2 = (None if M is None else aslinearoperator(M) for M in (M1, M2))
    left, left_adjoint = (_same, _same) if M1 is None else (M1.matvec, M1.rmatvec)
    right, right_adjoint = (_same, _same) if M2 is None else (M2.matvec, M2.rmatvec)
    system, limit, maxiter, state = start("qmr", A, b, x0, rtol, atol, maxiter, None)
    b, r, matvec = system.b, system.r, system.matvec
    least = float(hd.finfo(b.dtype).eps)

    def step(s):
        first = s["k"] == 0
        v, y = s["v"] / s["rho"], s["y"] / s["rho"]
        w, z = s["w"] / s["xi"], s["z"] / s["xi"]
        delta = inner(z, y)
        along = delta / s["epsilon"]
        p = right(y) - hd.where(first, hd.zeros_like(along), s["xi"] * along) * s["p"]
        q = left_adjoint(z) - hd.where(first, hd.zeros_like(along), s["rho"] * hd.conj(along)) * s["q"]
        image = matvec(p)
        epsilon = inner(q, image)
        beta = epsilon / delta
        next_v = image - beta * v
        next_y = left(next_v)
        rho = length(next_y)
        next_w = A.rmatvec(q) - hd.conj(beta) * w
        next_z = right_adjoint(next_w)
        theta = rho / (s["gamma"] * hd.abs(beta))
        gamma = 1 / hd.sqrt(1 + theta**2)
        eta = -s["eta"] * (s["rho"] / beta) * (gamma / s["gamma"]) ** 2
        turn = (s["theta"] * gamma) ** 2
        d, image = eta * p + turn * s["d"], eta * image + turn * s["image"]
        code = _codes(s["code"], [
            (s["rho"] < least, -10), (s["xi"] < least, -15), (hd.abs(delta) < least, -13),
            (hd.abs(epsilon) < least, -14), (hd.abs(beta) < least, -11), (gamma < least, -12)])
        go = code == RUNNING
        return {**s, "x": hd.where(go, s["x"] + d, s["x"]), "r": hd.where(go, s["r"] - image, s["r"]),
                "v": next_v, "y": next_y, "w": next_w, "z": next_z, "p": p, "q": q, "d": d, "image": image,
                "rho": rho, "xi": length(next_z), "theta": theta, "gamma": gamma, "eta": eta,
                "epsilon": epsilon, "code": code}

    zero, one = hd.zeros_like(b), hd.ones((), dtype=b.dtype)
    y, z = left(r), right_adjoint(r)
    rho, xi = length(y), length(z)
    state = {**state, "v": r, "y": y, "w": r, "z": z, "p": zero, "q": zero, "d": zero, "image": zero,
             "rho": rho, "xi": xi, "theta": hd.zeros_like(rho), "gamma": hd.ones_like(rho), "eta": -one,
             "epsilon": one}
    return loop(step, state, system, limit, maxiter, callback)


def tfqmr(A, b, x0=None, *, rtol=1e-5, atol=0.0, maxiter=None, M=None, callback=None, show=False):
    """Solves A x = b by quasi-minimal residuals without products with the adjoint:
    scipy.sparse.linalg.tfqmr. Arguments and results as cg; a step is half of one of cgs, and maxiter at
    most 10000 by default. The test is a bound of the residual, relative to the first one. M works from
    the right. info is -1 after a breakdown. show is ignored.

    >>> x, info = hd.sparse.linalg.tfqmr(hd.sparse.diags([2.0, 3.0, 4.0]), hd.ones(3))
    """
    if maxiter is None:
        maxiter = min(10000, 10 * hd.asarray(b).size)
    system, _, maxiter, state = start("tfqmr", A, b, x0, rtol, atol, maxiter, M)
    matvec, psolve, r = system.matvec, system.psolve, system.r
    shadow, tau = r, length(r)
    limit = system.tolerance(tau, atol, rtol)

    def image_of(v):
        return matvec(psolve(v))

    def step(s):
        even = s["k"] % 2 == 0
        along = inner(shadow, s["v"])
        alpha = hd.where(even, s["rho"] / along, s["alpha"])
        w = s["w"] - alpha * s["image"]
        d = s["u"] + s["theta"] ** 2 / alpha * s["eta"] * s["d"]
        theta = length(w) / s["tau"]
        c = 1 / hd.sqrt(1 + theta**2)
        tau = s["tau"] * theta * c
        eta = c**2 * alpha
        broken = even & (along == 0)
        rho = inner(shadow, w)
        beta = rho / s["rho"]
        u = hd.where(even, s["u"] - alpha * s["v"], w + beta * s["u"])
        image = image_of(u)
        v = hd.where(even, s["v"], image + beta * (s["image"] + beta * s["v"]))
        code = _codes(s["code"], [(broken, -1), (tau * hd.sqrt(s["k"] + 1.0) < limit, 0)])
        x = hd.where(broken, s["x"], s["x"] + eta * psolve(d))
        return {**s, "x": x, "u": u, "v": v, "w": w, "d": d, "image": image, "alpha": alpha,
                "rho": hd.where(even, s["rho"], rho), "theta": theta, "tau": tau, "eta": eta, "code": code}

    code = hd.where(tau == 0, 0, state["code"])
    image, one = image_of(r), hd.ones((), dtype=r.dtype)
    state = {"x": state["x"], "u": r, "v": image, "w": r, "d": hd.zeros_like(r), "image": image, "alpha": one,
             "rho": inner(shadow, r), "theta": hd.zeros_like(tau), "tau": tau, "eta": one * 0, "code": code}
    return loop(step, state, system, limit, maxiter, callback)
