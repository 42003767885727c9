#pragma once

#include <cstdint>

#include "heddle/dtype.h"

namespace heddle::runtime::lapack {

/// A power of two that takes a matrix of very large or very small numbers to the middle of its
/// dtype's range, where sums of products neither overflow nor lose digits. Other matrices, and
/// those that are not finite, are left as they are.
class MatrixScale {
 public:
  /// Scales the m x n matrix, in column-major order, in place.
  MatrixScale(DType dtype, void* matrix, std::int64_t m, std::int64_t n);
  /// Scales the diagonal and what is above it back.
  void restore_upper(void* matrix) const;

 private:
  DType dtype_;
  std::int64_t m_, n_;
  int exponent_ = 0;
};

}  // namespace heddle::runtime::lapack
