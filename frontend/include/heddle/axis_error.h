#pragma once

#include <cstdint>
#include <string>

#include "heddle/error.h"

namespace heddle {

/// numpy.exceptions.AxisError: an axis is out of range. In Python it is both an IndexError and a
/// ValueError.
class AxisError : public IndexError {
 public:
  AxisError(const std::string& message, std::int64_t axis, std::int64_t ndim)
      : IndexError(message), axis_(axis), ndim_(ndim) {}

  /// The axis that was asked for.
  std::int64_t axis() const { return axis_; }
  /// The number of the array's axes.
  std::int64_t ndim() const { return ndim_; }

 private:
  std::int64_t axis_, ndim_;
};

}  // namespace heddle
