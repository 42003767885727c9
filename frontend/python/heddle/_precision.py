"""The precision of matrix products, as a context manager."""

from heddle import _heddle


class matmul_precision:
    """Sets the precision of float32 and complex64 matrix products that this thread records inside a
    with statement: 'ieee', 'tf32' or 'bf16'. See heddle.set_matmul_precision.

    >>> with hd.matmul_precision("tf32"):
    ...     y = x @ w
    """

    def __init__(self, precision, /):
        self._precision = precision
        self._before = []

    def __enter__(self):
        self._before.append(_heddle._exchange_thread_precision(self._precision))

    def __exit__(self, *_):
        _heddle._exchange_thread_precision(self._before.pop())
