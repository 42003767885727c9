#pragma once

#include <cstdint>

#include "heddle/dtype.h"

namespace heddle::runtime {

/// Systems op(a) x = b of n by n triangular matrices a, and b, n by `columns`, all in C order.
struct TriangularSystem {
  enum class Transpose : std::uint8_t { none, transpose, conjugate };
  DType dtype = DType::f32;  ///< f32, f64, c64 or c128
  bool lower = false;        ///< which triangle of a is read
  bool unit = false;         ///< the diagonal of a is 1 and not read
  Transpose transpose = Transpose::none;
  std::int64_t n = 0, columns = 0, batch = 0;
};

}  // namespace heddle::runtime
