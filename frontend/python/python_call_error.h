#pragma once

#include <exception>
#include <string>
#include <utility>

#include "heddle/error.h"

namespace heddle::python {

/// A Python exception of a user's function that the library called. Raised again as it was.
class PythonCallError final : public Error {
 public:
  PythonCallError(const std::string& message, std::exception_ptr exception)
      : Error(message), cause(std::move(exception)) {}
  std::exception_ptr cause;  ///< the nb::python_error
};

}  // namespace heddle::python
