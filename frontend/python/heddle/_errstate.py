"""What happens where linear algebra fails, for a with statement."""

from heddle import _heddle


class errstate:
    """What this thread does inside where a matrix cannot be factorised. `linalg` is 'raise': it is
    evaluated where it stands and raises LinAlgError there, as NumPy does; 'defer': it stays lazy and
    fuses, and the next wait for the device raises; or 'ignore': the results are NaN. In a traced
    function 'raise' is 'defer'.

    >>> with hd.errstate(linalg="ignore"):
    ...     factors = hd.linalg.cholesky(matrices)
    """

    def __init__(self, *, linalg):
        self._linalg = linalg
        self._before = []

    def __enter__(self):
        self._before.append(_heddle._set_linalg_errors(self._linalg))

    def __exit__(self, *_):
        _heddle._set_linalg_errors(self._before.pop())
