"""Heddle's exceptions. AxisError is a numpy.exceptions.AxisError, LinAlgError a
numpy.linalg.LinAlgError. The categories of NumPy's warnings are here, too."""

from heddle._heddle import (AxisError, CompileError, DeviceError, DTypeError, Error, FileError,
                            IndexError, InternalError, LinAlgError, LinAlgShapeError, OutOfMemory, ParseError,
                            ShapeError, TraceError, ValueError)

__all__ = ["AxisError", "CompileError", "DTypeError", "DeviceError", "Error", "FileError", "IndexError",
           "InternalError", "LinAlgError", "LinAlgShapeError", "OutOfMemory", "ParseError", "ShapeError", "TraceError",
           "ValueError"]

_NUMPYS = ("ComplexWarning", "DTypePromotionError", "ModuleDeprecationWarning", "RankWarning", "TooHardError",
           "VisibleDeprecationWarning")


def _axis_error_text(error):
    """An error of C++ has one argument, the message, which names the user's line."""
    if len(error.args) == 1:
        return str(error.args[0])
    return super(AxisError, error).__str__()


def _reduce_axis_error(error):
    """NumPy's class keeps both numbers in slots, which pickle does not copy."""
    return type(error), error.args, {"axis": error.axis, "ndim": error.ndim}


AxisError.__str__ = _axis_error_text
AxisError.__reduce__ = _reduce_axis_error


def __getattr__(name):
    if name in _NUMPYS:
        import numpy

        return getattr(numpy.exceptions, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
