"""Heddle's exceptions. AxisError corresponds to numpy.exceptions.AxisError."""

from heddle._heddle import (AxisError, CompileError, DeviceError, DTypeError, Error, FileError,
                            IndexError, InternalError, LinAlgError, OutOfMemory, ParseError, ShapeError,
                            TraceError, ValueError)

__all__ = ["AxisError", "CompileError", "DTypeError", "DeviceError", "Error", "FileError", "IndexError",
           "InternalError", "LinAlgError", "OutOfMemory", "ParseError", "ShapeError", "TraceError",
           "ValueError"]
