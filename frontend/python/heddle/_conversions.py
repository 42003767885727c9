"""Functions that convert objects to Arrays, and Arrays to text, with NumPy's names and meanings."""

import os

from heddle import _heddle


def asanyarray(a, dtype=None, order=None, *, device=None, copy=None, like=None):
    """The same as asarray, as Array has no subclasses: numpy.asanyarray."""
    return _heddle.asarray(a, dtype, order, device=device, copy=copy, like=like)


def asarray_chkfinite(a, dtype=None, order=None):
    """Like asarray, but raises ValueError for infinities and NaN: numpy.asarray_chkfinite.
    Evaluates and waits."""
    result = _heddle.asarray(a, dtype, order)
    if result.dtype.kind in "fc" and not _heddle.all(_heddle.isfinite(result)):
        raise ValueError("asarray_chkfinite: the array contains infinities or NaN")
    return result


def ascontiguousarray(a, dtype=None, *, like=None):
    """An Array of at least one axis with C-ordered strides: numpy.ascontiguousarray. Returns `a`
    itself if it is one, else a copy, which does not share later writes to `a`."""
    result = _heddle.asarray(a, dtype, like=like)
    if result.ndim == 0:
        return _heddle.reshape(result, 1)
    return result if _has_strides(result, reversed(range(result.ndim))) else _heddle.copy(result)


def asfortranarray(a, dtype=None, *, like=None):
    """An Array of at least one axis with Fortran-ordered strides: numpy.asfortranarray. Returns `a`
    itself if it is one, else the transpose of a copy of a's transpose."""
    result = _heddle.asarray(a, dtype, like=like)
    if result.ndim == 0:
        return _heddle.reshape(result, 1)
    if _has_strides(result, range(result.ndim)):
        return result
    return _heddle.transpose(_heddle.copy(_heddle.transpose(result)))


def _has_strides(x, axes):
    """True if the array is contiguous, with the first of `axes` varying fastest."""
    step = x.itemsize
    for axis in axes:
        if x.shape[axis] != 1 and x.strides[axis] != step and x.size > 0:
            return False
        step *= x.shape[axis]
    return True


def isfortran(a):
    """True if the strides are Fortran-ordered and not C-ordered: numpy.isfortran."""
    axes = range(a.ndim)
    return _has_strides(a, axes) and not _has_strides(a, reversed(axes))


def require(a, dtype=None, requirements=None, *, like=None):
    """An Array with the required properties, given by name or letter: C_CONTIGUOUS, F_CONTIGUOUS,
    WRITEABLE, OWNDATA, ALIGNED, ENSUREARRAY: numpy.require. Raises ValueError for C and Fortran
    together, KeyError for other names."""
    known = {"C": "C", "CONTIGUOUS": "C", "C_CONTIGUOUS": "C", "F": "F", "FORTRAN": "F",
             "F_CONTIGUOUS": "F", "W": "W", "WRITEABLE": "W", "O": "O", "OWNDATA": "O", "A": "A",
             "ALIGNED": "A", "E": "E", "ENSUREARRAY": "E"}
    if isinstance(requirements, str):
        requirements = [requirements]
    wanted = {known[name.upper()] for name in requirements or ()}
    if {"C", "F"} <= wanted:
        raise ValueError("require: pass C or Fortran order, not both")
    given = _heddle.asarray(a, dtype, like=like)
    result = given
    if "C" in wanted and result.ndim > 0:
        result = ascontiguousarray(result)
    if "F" in wanted and result.ndim > 0:
        result = asfortranarray(result)
    return _heddle.copy(result) if wanted & {"O", "W"} and result is given is a else result


def frombuffer(buffer, dtype=None, count=-1, offset=0, *, like=None):
    """A 1-d Array with a copy of a buffer's bytes, interpreted as elements of a dtype, by default
    float64: numpy.frombuffer. Raises ValueError for a size that does not fit."""
    import numpy

    return _heddle.asarray(numpy.frombuffer(buffer, _dtype(dtype), count, offset), like=like)


def fromfile(file, dtype=None, count=-1, sep="", offset=0, *, like=None):
    """A 1-d Array of the numbers in a binary file, or in a text file if `sep` is given:
    numpy.fromfile."""
    import numpy

    return _heddle.asarray(numpy.fromfile(file, _dtype(dtype), count, sep, offset), like=like)


def fromiter(iter, dtype, count=-1, *, like=None):
    """A 1-d Array of an iterable's numbers: numpy.fromiter. Raises ValueError if there are fewer
    than count."""
    import numpy

    return _heddle.asarray(numpy.fromiter(iter, _dtype(dtype), count), like=like)


def fromstring(string, dtype=None, count=-1, *, sep, like=None):
    """A 1-d Array of the numbers in a text: numpy.fromstring. Raises ValueError for any other
    text."""
    import numpy

    return _heddle.asarray(numpy.fromstring(string, _dtype(dtype), count, sep=sep), like=like)


def genfromtxt(fname, dtype=None, **options):
    """An Array of the numbers in a text file with missing values: numpy.genfromtxt, to which options are
    passed."""
    import numpy

    return _heddle.asarray(numpy.genfromtxt(fname, _dtype(dtype), **options))


def loadtxt_converted(fname, dtype, comments, delimiter, converters, skiprows, usecols, unpack, ndmin,
                      encoding, max_rows, quotechar):
    """numpy.loadtxt, as a NumPy array: for loadtxt with converters."""
    import numpy

    return numpy.loadtxt(fname, _dtype(dtype), comments, delimiter, converters, skiprows, usecols, unpack,
                         ndmin, encoding, max_rows, quotechar=quotechar)


def _dtype(dtype):
    """NumPy's dtype, float64 by default."""
    import numpy

    if dtype is None:
        return numpy.float64
    return dtype.dtype if isinstance(dtype, _heddle.DType) else dtype


def array2string(a, max_line_width=None, precision=None, suppress_small=None, separator=" ",
                 prefix="", **options):
    """The elements as text: numpy.array2string, to which options are
    passed. Evaluates and waits."""
    import numpy

    return numpy.array2string(_heddle.asnumpy(_heddle.asarray(a)), max_line_width, precision,
                              suppress_small, separator, prefix, **options)


def array_str(a, max_line_width=None, precision=None, suppress_small=None):
    """str(a), with options that override set_printoptions: numpy.array_str."""
    if max_line_width is precision is suppress_small is None:
        return str(_heddle.asarray(a))
    return array2string(a, max_line_width, precision, suppress_small)


def array_repr(arr, max_line_width=None, precision=None, suppress_small=None):
    """repr(arr), with options that override set_printoptions: numpy.array_repr."""
    x = _heddle.asarray(arr)
    if max_line_width is precision is suppress_small is None:
        return repr(x)
    text = array2string(x, max_line_width, precision, suppress_small, ", ", "array(")
    return f"array({text}, dtype={x.dtype})"


def dump(x, file):
    """Array.dump: pickles x into a path or an open file."""
    import pickle

    if hasattr(file, "write"):
        pickle.dump(x, file)
        return
    with open(os.fspath(file), "wb") as opened:
        pickle.dump(x, opened)
