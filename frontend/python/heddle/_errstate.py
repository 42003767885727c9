"""Settings for errors of linear algebra and floating-point arithmetic."""

import contextlib

from heddle import _heddle

_CATEGORIES = ("divide", "over", "under", "invalid")


def _check(values):
    """Checks error modes. Floating-point errors are never detected, so only 'warn' and 'ignore' are
    accepted; NumPy's other modes require detection."""
    for name, value in values.items():
        if value in (None, "ignore", "warn"):
            continue
        if value not in ("raise", "call", "print", "log"):
            raise ValueError(f"errstate: {name} must be 'ignore' or 'warn', not {value!r}")
        raise ValueError(f"errstate: {name}={value!r} is not supported, because results are computed later "
                         "and on devices without flags; use heddle.isfinite to find inf and NaN")


def geterr():
    """A dict of the modes of floating-point errors, which are always 'ignore': numpy.geterr."""
    return dict.fromkeys(_CATEGORIES, "ignore")


def seterr(all=None, divide=None, over=None, under=None, invalid=None):
    """The modes of floating-point errors, as geterr: numpy.seterr. 'ignore' and 'warn' are accepted and
    have no effect. Raises ValueError for other values."""
    _check({"all": all, "divide": divide, "over": over, "under": under, "invalid": invalid})
    return geterr()


class errstate(contextlib.ContextDecorator):
    """A context manager and decorator for error modes: numpy.errstate. `linalg` is this thread's mode for
    matrices that cannot be factorised. 'raise': the call evaluates immediately and raises
    LinAlgError, as in NumPy. 'defer': the call stays lazy and fuses, and the next wait for the
    device raises. 'ignore': the results are NaN. In a traced function 'raise' acts as 'defer'.

    all, divide, over, under and invalid may be 'ignore' or 'warn'. Both act the same: arithmetic
    gives inf and NaN, and never warns. Raises ValueError for NumPy's other values.

    >>> with hd.errstate(linalg="ignore", divide="ignore"):
    ...     factors = hd.linalg.cholesky(matrices)
    """

    def __init__(self, *, all=None, divide=None, over=None, under=None, invalid=None, call=None,
                 linalg=None):
        _check({"all": all, "divide": divide, "over": over, "under": under, "invalid": invalid})
        self._linalg = linalg
        self._before = []

    def __enter__(self):
        if self._linalg is not None:
            self._before.append(_heddle._set_linalg_errors(self._linalg))

    def __exit__(self, *_):
        if self._linalg is not None:
            _heddle._set_linalg_errors(self._before.pop())
