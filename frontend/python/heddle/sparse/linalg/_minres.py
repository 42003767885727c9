"""Minimal residuals for symmetric matrices."""

import heddle as hd
from heddle import _heddle
from heddle.sparse.linalg._systems import inner, length, make_system, run, status

_sparse = _heddle._sparse
WRONG = 9  # beta becomes negative


def _check(matvec, psolve, r1, y, eps):
    def differ(s, t):
        return hd.abs(s - t) > (s + eps) * eps ** (1.0 / 3.0)

    w = matvec(y)
    if bool(differ(inner(w, w), inner(y, matvec(w)))):
        raise ValueError("minres: non-symmetric matrix")
    if bool(differ(inner(y, y), inner(r1, psolve(y)))):
        raise ValueError("minres: non-symmetric preconditioner")


def minres(A, b, x0=None, *, rtol=1e-5, shift=0.0, maxiter=None, M=None, callback=None, show=False,
           check=False):
    """Solves (A - shift I) x = b for a symmetric A, which may be indefinite, by minimal residuals:
    scipy.sparse.linalg.minres.

    Arguments and results as cg; the test is relative to the norms of A and x. `check` tests that A and
    M are symmetric. Raises ValueError for shapes that do not fit and, outside of jit,
    for an M that is not positive definite.

    >>> x, info = hd.sparse.linalg.minres(hd.sparse.diags([2.0, -3.0, 4.0]), hd.ones(3))
    """
    system = make_system("minres", A, M, x0, b)
    matvec, psolve, x, b, r1 = system.matvec, system.psolve, system.x, system.b, system.r
    n, dtype = b.shape[0], b.dtype
    maxiter = 5 * n if maxiter is None else int(maxiter)
    eps = float(hd.finfo(dtype).eps)
    y = psolve(r1)
    square = hd.real(inner(r1, y))
    if not _sparse.is_tracing() and bool(square < 0):
        raise ValueError("minres: indefinite preconditioner")
    if check:
        _check(matvec, psolve, r1, y, eps)
    b_norm = length(b)
    x = hd.where(b_norm == 0, b, x)
    beta1 = hd.sqrt(square)
    idle = (beta1 == 0) | (b_norm == 0)
    zero = hd.zeros_like(beta1)

    def step(s):
        v = s["y"] * (1.0 / s["beta"])
        y = matvec(v) - shift * v
        y = y - hd.where(s["itn"] > 0, s["beta"] / s["oldb"], zero) * s["r1"]
        alfa = hd.real(inner(v, y))
        y = y - alfa / s["beta"] * s["r2"]
        r1, r2 = s["r2"], y
        y = psolve(r2)
        square = hd.real(inner(r2, y))
        beta = hd.sqrt(hd.maximum(square, 0.0))
        tnorm2 = s["tnorm2"] + alfa ** 2 + s["beta"] ** 2 + beta ** 2
        # The last rotation, then the next.
        delta = s["cs"] * s["dbar"] + s["sn"] * alfa
        gbar = s["sn"] * s["dbar"] - s["cs"] * alfa
        epsln, dbar = s["sn"] * beta, -s["cs"] * beta
        root = hd.hypot(gbar, dbar)
        gamma = hd.maximum(hd.hypot(gbar, beta), eps)
        cs, sn = gbar / gamma, beta / gamma
        phi, phibar = cs * s["phibar"], sn * s["phibar"]
        w = (v - s["epsln"] * s["w2"] - delta * s["w"]) * (1.0 / gamma)
        x = s["x"] + phi * w
        gmax, gmin = hd.maximum(s["gmax"], gamma), hd.minimum(s["gmin"], gamma)
        a_norm, y_norm = hd.sqrt(tnorm2), length(x)
        infinite = float("inf")
        test1 = hd.where((y_norm == 0) | (a_norm == 0), infinite, phibar / (a_norm * y_norm))
        test2 = hd.where(a_norm == 0, infinite, root / a_norm)
        itn = s["itn"] + 1
        # Of several reasons to stop, the last counts.
        stop = hd.asarray(0)
        for condition, reason in ((1 + test2 <= 1, 2), (1 + test1 <= 1, 1), (itn >= maxiter, 6),
                                  (gmax / gmin >= 0.1 / eps, 4), (a_norm * y_norm * eps >= beta1, 3),
                                  (test2 <= rtol, 2), (test1 <= rtol, 1),
                                  ((itn == 1) & (beta / beta1 <= 10 * eps), -1), (square < 0, WRONG)):
            stop = hd.where(condition, reason, stop)
        return {"itn": itn, "x": x, "y": y, "r1": r1, "r2": r2, "w": w, "w2": s["w"], "oldb": s["beta"],
                "beta": beta, "dbar": dbar, "epsln": epsln, "phibar": phibar, "cs": cs, "sn": sn,
                "tnorm2": tnorm2, "gmax": gmax, "gmin": gmin, "stop": stop}

    vector = hd.zeros_like(b)
    state = {"itn": hd.asarray(0), "x": x, "y": y, "r1": r1, "r2": r1, "w": vector, "w2": vector,
             "oldb": zero, "beta": beta1, "dbar": zero, "epsln": zero, "phibar": beta1,
             "cs": zero - 1.0, "sn": zero, "tnorm2": zero, "gmax": zero,
             "gmin": zero + float(hd.finfo(dtype).max), "stop": hd.where(idle, 1, 0)}
    callback = system.report(callback)
    report = None if callback is None else lambda state: callback(state["x"])
    state = run(lambda s: (s["stop"] == 0) & (s["itn"] < maxiter), step, state, report)
    stop = status(state["stop"])
    if isinstance(stop, int) and stop == WRONG:
        raise ValueError("minres: non-symmetric matrix")
    return state["x"] * system.unit, (maxiter if stop == 6 else 0) if isinstance(stop, int) else hd.where(
        stop == 6, maxiter, 0)
