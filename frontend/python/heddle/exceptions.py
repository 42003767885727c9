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


def __getattr__(name):
    if name in _NUMPYS:
        import numpy

        return getattr(numpy.exceptions, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
