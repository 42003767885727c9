"""What happens where linear algebra or floating-point arithmetic fails."""

import contextlib

from heddle import _heddle

_CATEGORIES = ("divide", "over", "under", "invalid")


def _check(values):
    """Floating-point errors are never looked at: 'warn' and 'ignore' are taken, what else NumPy has
    would ask for that."""
    for name, value in values.items():
        if value in (None, "ignore", "warn"):
            continue
        if value not in ("raise", "call", "print", "log"):
            raise ValueError(f"errstate: {name} is 'ignore' or 'warn', not {value!r}")
        raise ValueError(f"errstate: {name}={value!r} is not here, because results are computed later and "
                         "on devices that keep no flags; look for inf and NaN with heddle.isfinite")


def geterr():
    """What floating-point errors do: numpy.geterr. They are always ignored."""
    return dict.fromkeys(_CATEGORIES, "ignore")


def seterr(all=None, divide=None, over=None, under=None, invalid=None):
    """Takes 'ignore' and 'warn', which change nothing: numpy.seterr. Gives what geterr() does. Raises
    ValueError for other values."""
    _check({"all": all, "divide": divide, "over": over, "under": under, "invalid": invalid})
    return geterr()


class errstate(contextlib.ContextDecorator):
    """numpy.errstate, for a with statement or as a decorator. `linalg` is what this thread does inside
    where a matrix cannot be factorised: 'raise': it is evaluated where it stands and raises LinAlgError
    there, as NumPy does; 'defer': it stays lazy and fuses, and the next wait for the device raises; or
    'ignore': the results are NaN. In a traced function 'raise' is 'defer'.

    all, divide, over, under and invalid may be 'ignore' or 'warn'. Both are the same here: arithmetic
    gives inf and NaN, and never warns. ValueError for NumPy's other values, which would need it to.

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
