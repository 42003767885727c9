"""numpy.vectorize: a function of numbers as a function of Arrays."""

import functools

from heddle import _heddle


def _on_host(value):
    return _heddle.asnumpy(value) if isinstance(value, _heddle.Array) else value


class vectorize:
    """Wraps a function of Python numbers so that it takes Arrays, which broadcast: numpy.vectorize,
    with the same parameters. NumPy calls the function for each element on the host, so this is a
    convenience and not fast; for speed see heddle.jit. Raises TraceError in a traced function.

    >>> steps = hd.vectorize(lambda x, top: x if x < top else top)
    >>> steps(hd.arange(5), 3)
    """

    def __init__(self, pyfunc=None, otypes=None, doc=None, excluded=None, cache=False,
                 signature=None):
        import numpy

        if otypes is not None and not isinstance(otypes, str):
            otypes = [numpy.dtype(_heddle.zeros(0, dtype=each).dtype) for each in otypes]
        given = {} if pyfunc is None else {"pyfunc": pyfunc}
        self._vectorized = numpy.vectorize(otypes=otypes, doc=doc, excluded=excluded, cache=cache,
                                           signature=signature, **given)
        self._decorates = pyfunc is None
        if pyfunc is not None:
            functools.update_wrapper(self, pyfunc)
        if doc is not None:
            self.__doc__ = doc

    def __call__(self, *args, **kwargs):
        if self._decorates:  # @hd.vectorize(otypes=...)
            made = vectorize(*args, **kwargs)
            made._vectorized = self._vectorized(*args, **kwargs)
            return made
        result = self._vectorized(*map(_on_host, args),
                                  **{name: _on_host(value) for name, value in kwargs.items()})
        if isinstance(result, tuple):
            return tuple(map(_heddle.asarray, result))
        return _heddle.asarray(result)
