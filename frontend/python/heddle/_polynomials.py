"""Polynomials as 1-d coefficients, highest power first, with NumPy's names and meanings."""

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
    """The polynomial with these zeros, whose leading coefficient is 1: numpy.poly of a vector. For
    complex zeros in conjugate pairs the coefficients are real; the check evaluates and waits.
    Raises ValueError for a matrix, as eigenvalues are not supported."""
    zeros = _coefficients(seq_of_zeros)
    if zeros.ndim != 1:
        raise ValueError("poly: the zeros must be 1-d; eigenvalues of matrices are not supported")
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
