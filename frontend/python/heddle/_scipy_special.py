"""Functions of scipy.special that are made of elementwise functions: the module heddle.scipy.special.

They fuse. Integers become float64, as in SciPy. SciPy's own functions take Arrays as well, with
SCIPY_ARRAY_API=1.
"""

from heddle import _heddle
from heddle._heddle import cbrt, erf, exp2, expm1, log1p

__all__ = ["cbrt", "entr", "erf", "exp10", "exp2", "expit", "expm1", "huber", "kl_div", "log1p", "log_expit",
           "log_softmax", "logit", "logsumexp", "pseudo_huber", "rel_entr", "softmax", "xlog1py", "xlogy"]

_inf = float("inf")


def _floating(*values):
    """The values as Arrays of one floating dtype."""
    arrays = [_heddle.asarray(value) for value in values]
    dtype = _heddle.result_type(*arrays)
    if dtype.kind not in "fc":
        dtype = _heddle.float64
    arrays = [array.astype(dtype, copy=False) for array in arrays]
    return arrays if len(arrays) > 1 else arrays[0]


def exp10(x):
    """10**x: scipy.special.exp10."""
    return _heddle.power(10.0, _floating(x))


def expit(x):
    """1 / (1 + exp(-x)), without overflow: scipy.special.expit.

    Example: hd.scipy.special.expit(hd.asarray([-1.0, 0.0, 1.0]))
    """
    x = _floating(x)
    small = _heddle.exp(-_heddle.abs(x))
    return _heddle.where(x < 0, small, 1) / (1 + small)


def log_expit(x):
    """log(expit(x)): scipy.special.log_expit."""
    x = _floating(x)
    return _heddle.minimum(x, 0) - _heddle.log1p(_heddle.exp(-_heddle.abs(x)))


def logit(x):
    """log(x / (1 - x)): scipy.special.logit."""
    x = _floating(x)
    near = 2 * (x - 0.5)  # exact, so that the result is right where it is small
    return _heddle.where(_heddle.abs(near) < 0.4, _heddle.log1p(near) - _heddle.log1p(-near),
                         _heddle.log(x / (1 - x)))


def xlogy(x, y):
    """x * log(y), and 0 for x = 0 unless y is NaN: scipy.special.xlogy."""
    x, y = _floating(x, y)
    return _heddle.where((x == 0) & ~_heddle.isnan(y), 0, x * _heddle.log(y))


def xlog1py(x, y):
    """x * log1p(y), and 0 for x = 0 unless y is NaN: scipy.special.xlog1py."""
    x, y = _floating(x, y)
    return _heddle.where((x == 0) & ~_heddle.isnan(y), 0, x * _heddle.log1p(y))


def entr(x):
    """-x * log(x); 0 for 0, -inf for negative numbers: scipy.special.entr."""
    x = _floating(x)
    return _heddle.where(x == 0, 0, _heddle.where(x < 0, -_inf, -x * _heddle.log(x)))


def rel_entr(x, y):
    """x * log(x / y); 0 for x = 0 and y >= 0, inf outside: scipy.special.rel_entr."""
    x, y = _floating(x, y)
    unknown = _heddle.isnan(x) | _heddle.isnan(y)
    edge = _heddle.where((x == 0) & (y >= 0), _heddle.abs(x), _inf)
    inside = _heddle.where((x > 0) & (y > 0), x * _heddle.log(x / y), edge)
    return _heddle.where(unknown, float("nan"), inside)


def kl_div(x, y):
    """x * log(x / y) - x + y; y for x = 0 and y >= 0, inf outside: scipy.special.kl_div."""
    x, y = _floating(x, y)
    unknown = _heddle.isnan(x) | _heddle.isnan(y)
    inside = _heddle.where((x > 0) & (y > 0), x * _heddle.log(x / y) - x + y,
                           _heddle.where((x == 0) & (y >= 0), y, _inf))
    return _heddle.where(unknown, float("nan"), inside)


def huber(delta, r):
    """r**2 / 2 where |r| <= delta, else delta * (|r| - delta / 2); inf for negative delta: scipy.special.huber."""
    delta, r = _floating(delta, r)
    size = _heddle.abs(r)
    inside = _heddle.where(size <= delta, 0.5 * r * r, delta * (size - 0.5 * delta))
    return _heddle.where(delta < 0, _inf, inside)


def pseudo_huber(delta, r):
    """delta**2 * (sqrt(1 + (r / delta)**2) - 1); inf for negative delta: scipy.special.pseudo_huber."""
    delta, r = _floating(delta, r)
    ratio = r / delta
    inside = delta * delta * (ratio * ratio / (1 + _heddle.sqrt(1 + ratio * ratio)))
    return _heddle.where(delta < 0, _inf, _heddle.where((delta == 0) | (r == 0), 0, inside))


def logsumexp(a, axis=None, b=None, keepdims=False):
    """log(sum(b * exp(a))), without overflow: scipy.special.logsumexp. Negative sums are NaN.

    Example: hd.scipy.special.logsumexp(x, axis=1)
    """
    a = _floating(a)
    if b is not None:
        a, b = _floating(a, b)
        a = _heddle.where(b == 0, -_inf, a)
    largest = _heddle.max(a, axis=axis, keepdims=True)
    shift = _heddle.where(_heddle.isfinite(largest), largest, 0)
    terms = _heddle.exp(a - shift)
    if b is not None:
        terms = b * terms
    result = _heddle.log(_heddle.sum(terms, axis=axis, keepdims=True)) + shift
    return result if keepdims else _heddle.squeeze(result, axis)


def softmax(x, axis=None):
    """exp(x) / sum(exp(x)), without overflow: scipy.special.softmax."""
    x = _floating(x)
    terms = _heddle.exp(x - _heddle.max(x, axis=axis, keepdims=True))
    return terms / _heddle.sum(terms, axis=axis, keepdims=True)


def log_softmax(x, axis=None):
    """log(softmax(x)): scipy.special.log_softmax."""
    x = _floating(x)
    largest = _heddle.max(x, axis=axis, keepdims=True)
    x = x - _heddle.where(_heddle.isfinite(largest), largest, 0)
    return x - _heddle.log(_heddle.sum(_heddle.exp(x), axis=axis, keepdims=True))
