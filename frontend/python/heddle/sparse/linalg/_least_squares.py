"""Least squares: lsqr and lsmr. Each step is SciPy's, after Paige and Saunders, and Fong and
Saunders."""

import heddle as hd
from heddle import _heddle
from heddle.sparse.linalg._operators import aslinearoperator, prepare_adjoint
from heddle.sparse.linalg._systems import length, status

_sparse = _heddle._sparse


def _rotation(a, b):
    """(c, s, r) of a stable Givens rotation: c a + s b = r, s a = c b."""
    steep = hd.abs(b) > hd.abs(a)
    small, large = hd.where(steep, a, b), hd.where(steep, b, a)
    tau = small / hd.where(large == 0, hd.ones_like(large), large)
    main = hd.sign(large) / hd.sqrt(1 + tau * tau)
    c, s = hd.where(steep, main * tau, main), hd.where(steep, main, main * tau)
    r = large / hd.where(main == 0, hd.ones_like(main), main)
    return c, s, r


def _inverse(x):
    """1 / x, and 1 for 0."""
    return 1.0 / hd.where(x == 0, hd.ones_like(x), x)


def _start(name, A, b, x0):
    """What a solver starts with. Vectors and norms of residuals are in multiples of `unit`."""
    A = aslinearoperator(A)
    prepare_adjoint(A)
    m, n = A.shape
    b = hd.asarray(b)
    b = b.reshape(b.size) if b.ndim == 2 and 1 in b.shape else hd.atleast_1d(b)
    if b.shape != (m,):
        raise ValueError(f"{name}: shapes of A {A.shape} and b {b.shape} are incompatible")
    dtype = hd.result_type(A.dtype, b.dtype, hd.float64)
    b = b.astype(dtype)
    if x0 is None:
        x, u = hd.zeros(n, dtype=dtype), b
    else:
        x = hd.asarray(x0).reshape(n).astype(dtype)
        u = b - A.matvec(x)
    unit = _sparse.unit_of(b, u, True)  # a test compares with eps
    x, u, b_norm = x / unit, u / unit, length(b / unit)
    beta = length(u)
    u = u * _inverse(beta)
    v = hd.where(beta == 0, hd.zeros_like(x), A.rmatvec(u))
    alpha = length(v)
    return A, x, u, v * _inverse(alpha), b_norm, beta, alpha, unit


def _reasons(itn, limit, tests, t1, ctol, atol, rtol):
    """SciPy's istop: of several reasons to stop, the last counts."""
    test1, test2, test3 = tests
    stop = hd.asarray(0)
    for condition, reason in ((itn >= limit, 7), (1 + test3 <= 1, 6), (1 + test2 <= 1, 5),
                              (1 + t1 <= 1, 4), (test3 <= ctol, 3), (test2 <= atol, 2),
                              (test1 <= rtol, 1)):
        stop = hd.where(condition, reason, stop)
    return stop


def _bidiagonal(A, state):
    """The next u, v, beta and alpha of the bidiagonalisation."""
    u = A.matvec(state["v"]) - state["alpha"] * state["u"]
    beta = length(u)
    there = beta != 0  # NaN goes on
    u = hd.where(there, u * _inverse(beta), u)
    v = A.rmatvec(u) - beta * state["v"]
    v = hd.where(there, v, state["v"])
    alpha = hd.where(there, length(v), state["alpha"])
    v = hd.where(there, v * _inverse(alpha), v)
    return u, v, beta, alpha, there


def lsqr(A, b, damp=0.0, atol=1e-6, btol=1e-6, conlim=1e8, iter_lim=None, show=False, calc_var=False,
         x0=None):
    """The least squares solution of A x = b, or of min |A x - b|^2 + damp^2 |x - x0|^2, by
    bidiagonalisation: scipy.sparse.linalg.lsqr.

    The result is (x, istop, itn, r1norm, r2norm, anorm, acond, arnorm, xnorm, var), as SciPy's. Raises
    ValueError for shapes that do not fit.

    >>> hd.sparse.linalg.lsqr(hd.sparse.eye(4, 3), hd.ones(4))[0]
    """
    A, x, u, v, b_norm, beta, alpha, unit = _start("lsqr", A, b, x0)
    limit = 2 * A.shape[1] if iter_lim is None else int(iter_lim)
    ctol = 1 / conlim if conlim > 0 else 0.0
    eps = float(hd.finfo(hd.float64).eps)
    zero = hd.zeros_like(beta)

    def step(s):
        itn = s["itn"] + 1
        u, v, beta, alpha, there = _bidiagonal(A, s)
        anorm = hd.where(there, hd.sqrt(s["anorm"] ** 2 + s["alpha"] ** 2 + beta ** 2 + damp ** 2),
                         s["anorm"])
        rhobar1 = hd.sqrt(s["rhobar"] ** 2 + damp ** 2) if damp > 0 else s["rhobar"]
        psi = damp / rhobar1 * s["phibar"] if damp > 0 else zero
        phibar = s["rhobar"] / rhobar1 * s["phibar"] if damp > 0 else s["phibar"]
        cs, sn, rho = _rotation(rhobar1, beta)
        theta, rhobar = sn * alpha, -cs * alpha
        phi, phibar = cs * phibar, sn * phibar
        dk = s["w"] / rho
        x = s["x"] + phi / rho * s["w"]
        w = v - theta / rho * s["w"]
        ddnorm = s["ddnorm"] + length(dk) ** 2
        delta, gambar = s["sn2"] * rho, -s["cs2"] * rho
        rhs = phi - delta * s["z"]
        xnorm = hd.sqrt(s["xxnorm"] + (rhs / gambar) ** 2)
        gamma = hd.hypot(gambar, theta)
        z = rhs / gamma
        xxnorm = s["xxnorm"] + z ** 2
        acond = anorm * hd.sqrt(ddnorm)
        res2 = s["res2"] + psi ** 2
        rnorm = hd.sqrt(phibar ** 2 + res2)
        arnorm = alpha * hd.abs(sn * phi)
        square = rnorm ** 2 - damp ** 2 * xxnorm
        r1norm = hd.sign(square) * hd.sqrt(hd.abs(square)) if damp > 0 else rnorm
        tests = rnorm / b_norm, arnorm / (anorm * rnorm + eps), 1 / (acond + eps)
        t1 = tests[0] / (1 + anorm * xnorm / b_norm)
        stop = _reasons(itn, limit, tests, t1, ctol, atol, btol + atol * anorm * xnorm / b_norm)
        var = s["var"] + hd.real(dk * hd.conj(dk)) if calc_var else s["var"]
        return {"itn": itn, "stop": stop, "x": x, "u": u, "v": v, "w": w, "alpha": alpha,
                "rhobar": rhobar, "phibar": phibar, "anorm": anorm, "acond": acond, "ddnorm": ddnorm,
                "res2": res2, "xnorm": xnorm, "xxnorm": xxnorm, "z": z, "cs2": gambar / gamma,
                "sn2": theta / gamma, "r1norm": r1norm, "r2norm": rnorm, "arnorm": arnorm, "var": var}

    state = {"itn": hd.asarray(0), "stop": hd.asarray(0), "x": x, "u": u, "v": v, "w": v,
             "alpha": alpha, "rhobar": alpha, "phibar": beta, "anorm": zero, "acond": zero,
             "ddnorm": zero, "res2": zero, "xnorm": zero, "xxnorm": zero, "z": zero, "cs2": zero - 1.0,
             "sn2": zero, "r1norm": beta, "r2norm": beta, "arnorm": alpha * beta,
             "var": hd.zeros(A.shape[1])}
    s = hd.while_loop(lambda s: (s["stop"] == 0) & (s["itn"] < limit) & (alpha * beta != 0), step, state)
    return (s["x"] * unit, status(s["stop"]), status(s["itn"]), s["r1norm"] * unit, s["r2norm"] * unit,
            s["anorm"], s["acond"], s["arnorm"] * unit, s["xnorm"] * unit, s["var"])


def lsmr(A, b, damp=0.0, atol=1e-6, btol=1e-6, conlim=1e8, maxiter=None, show=False, x0=None):
    """The least squares solution of A x = b, or of min |A x - b|^2 + damp^2 |x|^2, by
    bidiagonalisation and minimal residuals: scipy.sparse.linalg.lsmr.

    The result is (x, istop, itn, normr, normar, norma, conda, normx), as SciPy's. Raises ValueError
    for shapes that do not fit.

    >>> hd.sparse.linalg.lsmr(hd.sparse.eye(4, 3), hd.ones(4))[0]
    """
    A, x, u, v, b_norm, beta, alpha, unit = _start("lsmr", A, b, x0)
    limit = min(A.shape) if maxiter is None else int(maxiter)
    ctol = 1 / conlim if conlim > 0 else 0.0
    zero = hd.zeros_like(beta)
    one = zero + 1.0

    def step(s):
        itn = s["itn"] + 1
        u, v, beta, alpha, _ = _bidiagonal(A, s)
        # The rotations that make the bidiagonal matrix triangular.
        chat, shat, alphahat = _rotation(s["alphabar"], zero + damp)
        c, sine, rho = _rotation(alphahat, beta)
        thetanew, alphabar = sine * alpha, c * alpha
        thetabar, rhotemp = s["sbar"] * rho, s["cbar"] * rho
        cbar, sbar, rhobar = _rotation(rhotemp, thetanew)
        zeta, zetabar = cbar * s["zetabar"], -sbar * s["zetabar"]
        hbar = s["h"] - thetabar * rho / (s["rho"] * s["rhobar"]) * s["hbar"]
        x = s["x"] + zeta / (rho * rhobar) * hbar
        h = v - thetanew / rho * s["h"]
        # The norm of the residual.
        betaacute, betacheck = chat * s["betadd"], -shat * s["betadd"]
        betahat, betadd = c * betaacute, -sine * betaacute
        ctilde, stilde, rhotilde = _rotation(s["rhod"], thetabar)
        thetatilde, rhod = stilde * rhobar, ctilde * rhobar
        betad = -stilde * s["betad"] + ctilde * betahat
        tautilde = (s["zeta"] - s["thetatilde"] * s["tautilde"]) / rhotilde
        taud = (zeta - thetatilde * tautilde) / rhod
        d = s["d"] + betacheck * betacheck
        normr = hd.sqrt(d + (betad - taud) ** 2 + betadd * betadd)
        square = s["normA2"] + beta * beta
        norm_a = hd.sqrt(square)
        maxrbar = hd.maximum(s["maxrbar"], s["rhobar"])
        minrbar = hd.where(itn > 1, hd.minimum(s["minrbar"], s["rhobar"]), s["minrbar"])
        cond_a = hd.maximum(maxrbar, rhotemp) / hd.minimum(minrbar, rhotemp)
        normar, normx = hd.abs(zetabar), length(x)
        product = norm_a * normr
        tests = (normr / b_norm, hd.where(product != 0, normar * _inverse(product), float("inf")),
                 1 / cond_a)
        t1 = tests[0] / (1 + norm_a * normx / b_norm)
        stop = _reasons(itn, limit, tests, t1, ctol, atol, btol + atol * norm_a * normx / b_norm)
        return {"itn": itn, "stop": stop, "x": x, "u": u, "v": v, "h": h, "hbar": hbar, "alpha": alpha,
                "alphabar": alphabar, "rho": rho, "rhobar": rhobar, "cbar": cbar, "sbar": sbar,
                "zeta": zeta, "zetabar": zetabar, "betadd": betadd, "betad": betad, "rhod": rhod,
                "tautilde": tautilde, "thetatilde": thetatilde, "d": d,
                "normA2": square + alpha * alpha, "maxrbar": maxrbar, "minrbar": minrbar,
                "normr": normr, "normar": normar, "norma": norm_a, "conda": cond_a, "normx": normx}

    state = {"itn": hd.asarray(0), "stop": hd.asarray(0), "x": x, "u": u, "v": v, "h": v,
             "hbar": hd.zeros_like(x), "alpha": alpha, "alphabar": alpha, "rho": one, "rhobar": one,
             "cbar": one, "sbar": zero, "zeta": zero, "zetabar": alpha * beta, "betadd": beta,
             "betad": zero, "rhod": one, "tautilde": zero, "thetatilde": zero, "d": zero,
             "normA2": alpha * alpha, "maxrbar": zero, "minrbar": zero + 1e100, "normr": beta,
             "normar": alpha * beta, "norma": alpha, "conda": one, "normx": zero}
    s = hd.while_loop(lambda s: (s["stop"] == 0) & (s["itn"] < limit) & (alpha * beta != 0) & (
        b_norm != 0), step, state)
    x = hd.where((b_norm == 0) & (alpha * beta > 0), hd.zeros_like(x), s["x"])
    return (x * unit, status(s["stop"]), status(s["itn"]), s["normr"] * unit, s["normar"] * unit,
            s["norma"], s["conda"], s["normx"] * unit)
