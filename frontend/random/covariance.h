#pragma once

#include "heddle/array.h"

namespace heddle::frontend {

/// Whether the matrix is symmetric and positive semidefinite up to a relative and absolute
/// tolerance. Evaluates and waits.
bool is_covariance(const Operand& covariance, double tolerance);

}  // namespace heddle::frontend
