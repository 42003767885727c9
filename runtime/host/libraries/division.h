#pragma once

#include <cstddef>
#include <cstdint>

#include "heddle/dtype.h"

// Gaussian elimination and substitution that divide by pivots. OpenBLAS multiplies by their
// reciprocals, which are infinite for subnormal numbers: solutions would be NaN. Matrices are
// column-major, of f32, f64, c64 or c128. Plain loops, for the few matrices with such pivots.

namespace heddle::runtime::lapack {

/// Whether an element is so small, but not 0, that a pivot may be subnormal.
bool has_tiny_elements(DType dtype, const void* elements, std::int64_t count);

/// Whether one of the first `count` elements of the diagonal is subnormal or NaN. `rows` is the
/// distance between columns.
bool must_divide(DType dtype, const void* matrix, std::int64_t rows, std::int64_t count);

/// What getrf does.
void eliminate(DType dtype, std::int64_t rows, std::int64_t columns, void* matrix,
               std::int32_t* pivots, std::int32_t* info);

/// A triangular system op(m) x = b with n by n matrices.
struct Substitution {
  DType dtype;
  std::int64_t n, columns;             ///< of b
  bool transposed, conjugated;         ///< op
  bool forward;                        ///< op(m) is a lower triangle
  bool unit;                           ///< the diagonal is 1
  std::int64_t row_step, column_step;  ///< of b, in elements
};
/// Replaces b by x.
void substitute(const Substitution& system, const void* m, void* b);

}  // namespace heddle::runtime::lapack
