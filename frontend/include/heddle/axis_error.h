#pragma once

#include "heddle/error.h"

namespace heddle {

/// numpy.exceptions.AxisError: an axis is out of range. In Python it is both an IndexError and a
/// ValueError.
class AxisError : public IndexError {
 public:
  using IndexError::IndexError;
};

}  // namespace heddle
