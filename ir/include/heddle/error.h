#pragma once

#include <stdexcept>
#include <string>

namespace heddle {

/// Base of every exception that Heddle throws. what() names the mistake, the op, its shapes and
/// dtypes, the line of the user's program, and a remedy.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

#define HEDDLE_ERROR(name)    \
  class name : public Error { \
   public:                    \
    using Error::Error;       \
  }

HEDDLE_ERROR(ShapeError);  ///< shapes that cannot be broadcast or reshaped, or do not match an axis
HEDDLE_ERROR(
    DTypeError);  ///< an op that is not defined for a dtype, or a scalar that a dtype cannot hold
HEDDLE_ERROR(IndexError);     ///< an index, slice or axis out of range
HEDDLE_ERROR(ValueError);     ///< any other argument outside its valid range
HEDDLE_ERROR(LinAlgError);    ///< a matrix that has no such factorisation or solution
HEDDLE_ERROR(TraceError);     ///< an array's value was requested while tracing
HEDDLE_ERROR(DeviceError);    ///< a device, driver or library is missing, or a call to it failed
HEDDLE_ERROR(OutOfMemory);    ///< an allocation failed even after the pools were trimmed
HEDDLE_ERROR(CompileError);   ///< generated source did not compile; what() has the log and the
                              ///< source
HEDDLE_ERROR(FileError);      ///< a file that the user named cannot be read or written
HEDDLE_ERROR(ParseError);     ///< text that is not a valid graph; what() gives the line and column
HEDDLE_ERROR(InternalError);  ///< a bug in Heddle, never in the user's program

#undef HEDDLE_ERROR

/// A file with native code that is not trusted: users other than this one and root may have written
/// it, or its signature by HEDDLE_CACHE_KEY is missing or wrong. Also thrown if HEDDLE_CACHE_KEY
/// itself is unusable. what() gives the file's owner and mode and a remedy.
class TrustError : public FileError {
 public:
  using FileError::FileError;
};

}  // namespace heddle
