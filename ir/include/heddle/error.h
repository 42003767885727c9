#pragma once

#include <stdexcept>
#include <string>

namespace heddle {

/// Base of everything that Heddle throws. what() says what was wrong, with which op, shapes and
/// dtypes, where in the user's program, and what to do.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

#define HEDDLE_ERROR(name)    \
  class name : public Error { \
   public:                    \
    using Error::Error;       \
  }

HEDDLE_ERROR(ShapeError);  ///< shapes that do not broadcast, reshape, or fit an axis
HEDDLE_ERROR(
    DTypeError);  ///< an op that has no meaning for a dtype, or a scalar that does not fit one
HEDDLE_ERROR(IndexError);     ///< an index, slice or axis out of range
HEDDLE_ERROR(ValueError);     ///< an argument that is out of its range otherwise
HEDDLE_ERROR(LinAlgError);    ///< a matrix that has no such factorisation or solution
HEDDLE_ERROR(TraceError);     ///< a value was asked for while tracing
HEDDLE_ERROR(DeviceError);    ///< a device, driver or library is missing, or a call to it failed
HEDDLE_ERROR(OutOfMemory);    ///< an allocation failed after the pools were trimmed
HEDDLE_ERROR(CompileError);   ///< generated source did not compile; what() carries log and source
HEDDLE_ERROR(FileError);      ///< a file that the user named cannot be read or written
HEDDLE_ERROR(ParseError);     ///< text that is not a graph; what() carries the line and column
HEDDLE_ERROR(InternalError);  ///< a bug in Heddle, never the user's mistake

#undef HEDDLE_ERROR

/// A file that holds native code and is not to be trusted: users besides this one and root may have
/// written it, or HEDDLE_CACHE_KEY has not signed it. what() names its owner and mode, and says
/// what to do. Also where HEDDLE_CACHE_KEY itself is of no use.
class TrustError : public FileError {
 public:
  using FileError::FileError;
};

}  // namespace heddle
