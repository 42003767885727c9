"""Polynomials as 1-d coefficients, highest power first, with NumPy's names and meanings. heddle's
functions also take a poly1d, and give one then: see _poly1d.py."""

import warnings

from heddle import _heddle


def _coefficients(p):
    return _heddle.atleast_1d(_heddle.asarray(p))


def _in_front(p, count):
    """Prepends zeros for `count` higher powers."""
    return _heddle.concatenate([_heddle.zeros(count, p.dtype), p])


def polyadd(a1, a2):
    """The sum of polynomials: numpy.polyadd.

    Example: hd.polyadd([1, 2], [9, 5, 4])
    """
    a1, a2 = _coefficients(a1), _coefficients(a2)
    missing = len(a1) - len(a2)
    return _in_front(a1, max(-missing, 0)) + _in_front(a2, max(missing, 0))


def polysub(a1, a2):
    """The difference of polynomials: numpy.polysub."""
    a1, a2 = _coefficients(a1), _coefficients(a2)
    missing = len(a1) - len(a2)
    return _in_front(a1, max(-missing, 0)) - _in_front(a2, max(missing, 0))


def polymul(a1, a2):
    """The product of polynomials: numpy.polymul, but leading zeros are kept."""
    a1, a2 = (p if len(p) else _heddle.zeros(1) for p in map(_coefficients, (a1, a2)))
    return _heddle.convolve(a1, a2)


def polydiv(u, v):
    """Quotient and remainder of a polynomial division: numpy.polydiv, but leading zeros of the
    remainder are kept. Its length is len(v) - 1 and does not depend on the data.

    Example: quotient, remainder = hd.polydiv([3.0, 5.0, 2.0], [2.0, 1.0])
    """
    u, v = _coefficients(u) + 0.0, _coefficients(v) + 0.0
    steps = len(u) - len(v) + 1
    if steps <= 0:
        return _heddle.zeros(1, _heddle.result_type(u, v)), u + v[:1] * 0
    quotient, rest = [], u + v[:1] * 0
    for _ in range(steps):
        quotient.append(rest[:1] / v[:1])
        # The leading coefficient is 0 now.
        changed = rest[1:len(v)] - quotient[-1] * v[1:]
        rest = _heddle.concatenate([changed, rest[len(v):]])
    return _heddle.concatenate(quotient), rest if len(rest) else _heddle.zeros(1, rest.dtype)


def polyder(p, m=1):
    """The m-th derivative: numpy.polyder. Raises ValueError for a negative m."""
    if m < 0:
        raise ValueError("polyder: the order must not be negative; use polyint to integrate")
    p = _coefficients(p)
    for _ in range(m):
        p = p[:-1] * _heddle.arange(len(p) - 1, 0, -1)
    return p


def polyint(p, m=1, k=None):
    """The m-th integral: numpy.polyint. k holds the constants in the order of integration, or one
    for all. Raises ValueError for a negative m and fewer constants than m."""
    if m < 0:
        raise ValueError("polyint: the order must not be negative; use polyder to differentiate")
    p = _coefficients(p)
    k = _heddle.zeros(m) if k is None else _coefficients(k)
    if len(k) == 1:
        k = _heddle.repeat(k, max(m, 1))
    if len(k) < m:
        raise ValueError("polyint: k must be one constant, or one for each of the m integrations")
    for i in range(m):
        p = _heddle.concatenate([p / _heddle.arange(len(p), 0, -1), k[i:i + 1]])
    return p


def poly(seq_of_zeros):
    """The polynomial with these zeros, or the characteristic polynomial of a square matrix, whose
    leading coefficient is 1: numpy.poly. For complex zeros in conjugate pairs the coefficients are
    real; the check evaluates and waits. Raises ValueError for other shapes."""
    zeros = _coefficients(seq_of_zeros)
    if zeros.ndim == 2 and zeros.shape[0] == zeros.shape[1] and zeros.shape[0] > 0:
        zeros = _heddle.linalg.eigvals(zeros)
    if zeros.ndim != 1:
        raise ValueError("poly: input must be 1d or non-empty square 2d array.")
    if len(zeros) == 0:
        return 1.0
    if zeros.dtype.name not in ("float32", "float64", "complex64", "complex128"):
        zeros = zeros.astype(_heddle.float64)
    p = _heddle.ones(1, zeros.dtype)
    for i in range(len(zeros)):
        p = _heddle.convolve(p, _heddle.concatenate([_heddle.ones(1, p.dtype), -zeros[i:i + 1]]))
    if zeros.dtype.kind != "c":
        return p
    conjugates = _heddle.sort(_heddle.conjugate(zeros))
    return _heddle.copy(p.real) if _heddle.all(_heddle.sort(zeros) == conjugates) else p


def roots(p):
    """The zeros of the polynomial with these coefficients, as eigenvalues of its companion matrix:
    numpy.roots. Evaluates and waits. Raises ValueError unless p is 1-d.

    Example: hd.roots([1.0, -3.0, 2.0])
    """
    p = _coefficients(p)
    if p.ndim != 1:
        raise ValueError("roots: input must be a rank-1 array.")
    places = _heddle.nonzero(p)[0].tolist()
    if not places:
        return _heddle.zeros(0)
    zeros = len(p) - places[-1] - 1
    p = p[places[0]:places[-1] + 1]
    if p.dtype.kind not in "fc":
        p = p.astype(_heddle.float64)
    n = len(p) - 1
    if n == 0:
        return _heddle.zeros(zeros, p.dtype)
    companion = _heddle.concatenate([-p[None, 1:] / p[0], _heddle.eye(n - 1, n, dtype=p.dtype)])
    found = _heddle.linalg.eigvals(companion)
    return _heddle.concatenate([found, _heddle.zeros(zeros, found.dtype)])


def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    """The coefficients, highest power first, of the polynomial of degree deg that fits y at x with
    the least squares: numpy.polyfit. y may have a column for each data set; w are weights. With
    full=True the tuple (p, residuals, rank, singular_values, rcond), with cov=True or 'unscaled'
    (p, covariance). Warns if the rank is less than deg + 1, which evaluates and waits. Raises
    ValueError for a negative deg, TypeError for shapes that do not fit.

    Example: hd.polyfit(x, y, 2)
    """
    order = int(deg) + 1
    x, y = _heddle.asarray(x) + 0.0, _heddle.asarray(y) + 0.0
    if deg < 0:
        raise ValueError("polyfit: expected deg >= 0")
    if x.ndim != 1:
        raise TypeError("polyfit: expected 1D vector for x")
    if x.size == 0:
        raise TypeError("polyfit: expected non-empty vector for x")
    if y.ndim < 1 or y.ndim > 2:
        raise TypeError("polyfit: expected 1D or 2D array for y")
    if x.shape[0] != y.shape[0]:
        raise TypeError("polyfit: expected x and y to have same length")
    if rcond is None:
        rcond = len(x) * float(_heddle.finfo(x.dtype).eps)
    matrix, right = _heddle.vander(x, order), y
    if w is not None:
        w = _heddle.asarray(w) + 0.0
        if w.ndim != 1:
            raise TypeError("polyfit: expected a 1-d array for weights")
        if w.shape[0] != y.shape[0]:
            raise TypeError("polyfit: expected w and y to have the same length")
        matrix, right = matrix * w[:, None], right * (w[:, None] if y.ndim == 2 else w)
    # Columns of length 1 make the problem better conditioned.
    scale = _heddle.sqrt((matrix * matrix).sum(axis=0))
    c, residuals, rank, values = _heddle.linalg.lstsq(matrix / scale, right, rcond)
    c = (c.T / scale).T
    if not _heddle._tracing() and not full and int(rank) != order:
        import numpy

        warnings.warn("Polyfit may be poorly conditioned", numpy.exceptions.RankWarning, stacklevel=2)
    if full:
        return c, residuals, rank, values, rcond
    if not cov:
        return c
    covariance = _heddle.linalg.pinv(matrix.T @ matrix / scale[:, None] / scale, 0.0)
    covariance = covariance / (scale[:, None] * scale)
    factor = 1
    if cov != "unscaled":
        if len(x) <= order:
            raise ValueError("polyfit: the number of data points must exceed order to scale the "
                             "covariance matrix")
        factor = residuals / (len(x) - order)
    if y.ndim == 1:
        return c, covariance * factor
    return c, covariance[:, :, None] * factor
