#pragma once

#include "heddle/error.h"

namespace heddle {

/// An axis out of range: numpy.exceptions.AxisError. In Python it is an IndexError and a
/// ValueError.
class AxisError : public IndexError {
 public:
  using IndexError::IndexError;
};

}  // namespace heddle
