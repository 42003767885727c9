"""numpy.poly1d."""

import functools
import operator

from heddle import _heddle, _polynomials


class poly1d:
    """A polynomial in one variable, by its coefficients, highest power first, or by its roots with
    r=True: numpy.poly1d. Leading zeros are removed, which evaluates and waits. It can be called,
    added, multiplied, divided, differentiated and integrated.

    Example: hd.poly1d([1, 2, 3])(0.5)
    """

    __hash__ = None

    def __init__(self, c_or_r, r=False, variable=None):
        if isinstance(c_or_r, poly1d):
            self._variable, self._coeffs = c_or_r._variable, c_or_r._coeffs
        else:
            coefficients = _polynomials.poly(c_or_r) if r else c_or_r
            coefficients = _heddle.atleast_1d(_heddle.asarray(coefficients))
            if coefficients.ndim > 1:
                raise ValueError("Polynomial must be 1d only.")
            self._variable, self._coeffs = "x", _trimmed(coefficients)
        if variable is not None:
            self._variable = variable

    @property
    def coeffs(self):
        """The coefficients, highest power first."""
        return self._coeffs

    @coeffs.setter
    def coeffs(self, value):
        if value is not self._coeffs:
            raise AttributeError("Cannot set attribute")

    c = coef = coefficients = coeffs

    @property
    def variable(self):
        """The name of the variable in texts."""
        return self._variable

    @property
    def order(self):
        """The degree."""
        return len(self._coeffs) - 1

    o = order

    @property
    def roots(self):
        """The zeros."""
        return _polynomials.roots(self._coeffs)

    r = roots

    def __array__(self, dtype=None, copy=None):
        return self._coeffs.__array__(dtype) if dtype is not None else self._coeffs.__array__()

    def __call__(self, val):
        return polyval(self._coeffs, val)

    def __len__(self):
        return self.order

    def __iter__(self):
        return iter(self._coeffs)

    def __repr__(self):
        import numpy

        return repr(numpy.poly1d(self._coeffs.get(), variable=self._variable))

    def __str__(self):
        import numpy

        return str(numpy.poly1d(self._coeffs.get(), variable=self._variable))

    def __neg__(self):
        return poly1d(-self._coeffs)

    def __pos__(self):
        return self

    def __add__(self, other):
        return poly1d(_polynomials.polyadd(self._coeffs, poly1d(other)._coeffs))

    __radd__ = __add__

    def __sub__(self, other):
        return poly1d(_polynomials.polysub(self._coeffs, poly1d(other)._coeffs))

    def __rsub__(self, other):
        return poly1d(_polynomials.polysub(poly1d(other)._coeffs, self._coeffs))

    def __mul__(self, other):
        if _is_scalar(other):
            return poly1d(self._coeffs * other)
        return poly1d(_polynomials.polymul(self._coeffs, poly1d(other)._coeffs))

    __rmul__ = __mul__

    def __pow__(self, val):
        if not _is_scalar(val) or int(val) != val or val < 0:
            raise ValueError("Power to non-negative integers only.")
        result = _heddle.ones(1, _heddle.int64)
        for _ in range(int(val)):
            result = _polynomials.polymul(result, self._coeffs)
        return poly1d(result)

    def __truediv__(self, other):
        if _is_scalar(other):
            return poly1d(self._coeffs / other)
        return _quotient(self, poly1d(other))

    def __rtruediv__(self, other):
        if _is_scalar(other):
            return poly1d(other / self._coeffs)
        return _quotient(poly1d(other), self)

    def __eq__(self, other):
        if not isinstance(other, poly1d):
            return NotImplemented
        if self._coeffs.shape != other._coeffs.shape:
            return False
        return bool(_heddle.all(self._coeffs == other._coeffs))

    def __ne__(self, other):
        if not isinstance(other, poly1d):
            return NotImplemented
        return not self.__eq__(other)

    def __getitem__(self, val):
        """The coefficient of the power val; 0 for powers that it lacks."""
        val = operator.index(val)
        if val < 0 or val > self.order:
            return self._coeffs.dtype.dtype.type(0)
        return self._coeffs[self.order - val]

    def __setitem__(self, key, val):
        key = operator.index(key)
        if key < 0:
            raise ValueError("Does not support negative powers.")
        missing = max(key - self.order, 0)
        changed = _polynomials._in_front(self._coeffs, missing)
        changed[len(changed) - 1 - key] = val
        self._coeffs = changed

    def deriv(self, m=1):
        """The m-th derivative: numpy.poly1d.deriv."""
        return poly1d(_polynomials.polyder(self._coeffs, m=m))

    def integ(self, m=1, k=0):
        """The m-th integral with constants k: numpy.poly1d.integ."""
        return poly1d(_polynomials.polyint(self._coeffs, m=m, k=k))


def polyval(p, x):
    """The polynomial with coefficients p, highest power first, at x: numpy.polyval. p or x may be a
    poly1d. Raises ShapeError unless p is 1-d.

    Example: hd.polyval([1.0, 0.0, 2.0], x)
    """
    if isinstance(p, poly1d):
        p = p.coeffs
    if not isinstance(x, poly1d):
        return _heddle.polyval(p, x)
    result = poly1d([0])
    for coefficient in _heddle.asarray(p):
        result = result * x + coefficient
    return result


def _is_scalar(value):
    return not isinstance(value, poly1d) and _heddle.asarray(value).ndim == 0


def _trimmed(coefficients):
    """Without leading zeros; one zero of none."""
    coefficients = _heddle.trim_zeros(coefficients, "f")
    return coefficients if len(coefficients) else _heddle.zeros(1, coefficients.dtype)


def _quotient(dividend, divisor):
    quotient, remainder = _polynomials.polydiv(dividend._coeffs, divisor._coeffs)
    return poly1d(quotient), poly1d(remainder)


def _of_polynomials(function):
    """The function of _polynomials, whose results are polynomials if one of its arguments is."""

    @functools.wraps(function)
    def called(*args, **kwargs):
        given = [*args, *kwargs.values()]
        if not any(isinstance(each, poly1d) for each in given):
            return function(*args, **kwargs)
        result = function(*map(_bare, args), **{name: _bare(each) for name, each in kwargs.items()})
        return tuple(map(poly1d, result)) if isinstance(result, tuple) else poly1d(result)

    return called


def _bare(value):
    return value.coeffs if isinstance(value, poly1d) else value


polyadd, polyder, polydiv, polyint, polymul, polysub = map(_of_polynomials, (
    _polynomials.polyadd, _polynomials.polyder, _polynomials.polydiv, _polynomials.polyint,
    _polynomials.polymul, _polynomials.polysub))
