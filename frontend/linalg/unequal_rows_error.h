#pragma once

#include "heddle/error.h"

namespace heddle::frontend {

/// Equations whose two sides have different numbers of rows. NumPy raises LinAlgError for a matrix
/// that it does not take, but ValueError for these.
class UnequalRowsError : public ShapeError {
 public:
  using ShapeError::ShapeError;
};

}  // namespace heddle::frontend
