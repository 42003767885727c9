"""How arrays are printed: numpy.set_printoptions and its relatives. C++ formats with NumPy's default
formats; with other ones NumPy formats a copy of the elements."""

import contextlib

from heddle import _heddle

_DEFAULTS = {"nanstr": "nan", "infstr": "inf", "formatter": None, "sign": "-", "floatmode": "maxprec"}
_others = dict(_DEFAULTS)


def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, suppress=None,
                     nanstr=None, infstr=None, formatter=None, sign=None, floatmode=None):
    """Sets how arrays are printed: numpy.set_printoptions. None leaves an option unchanged, but resets
    formatter. Raises ValueError for an unknown sign or floatmode.

    Example: hd.set_printoptions(precision=3, suppress=True)
    """
    given = {"nanstr": nanstr, "infstr": infstr, "sign": sign, "floatmode": floatmode}
    others = {**_others, **{name: value for name, value in given.items() if value is not None},
              "formatter": formatter}
    if others != _DEFAULTS:
        import numpy

        with numpy.printoptions(**others):  # checks the values
            pass
    _heddle._set_printoptions(precision, threshold, edgeitems, linewidth, suppress)
    _others.update(others)
    _heddle._set_text_function(None if others == _DEFAULTS else _text)


def get_printoptions():
    """A dict of the options for printing arrays: numpy.get_printoptions."""
    return {**_heddle._get_printoptions(), **_others}


@contextlib.contextmanager
def printoptions(*args, **kwargs):
    """A context manager that sets the options for printing arrays: numpy.printoptions.

    Example: with hd.printoptions(precision=3): print(x)
    """
    before = get_printoptions()
    try:
        set_printoptions(*args, **kwargs)
        yield get_printoptions()
    finally:
        set_printoptions(**before)


def _text(array, as_repr):
    """str or repr of an Array, by NumPy."""
    import numpy

    with numpy.printoptions(**get_printoptions()):
        values = _heddle.asnumpy(array)
        return numpy.array_repr(values) if as_repr else numpy.array_str(values)
