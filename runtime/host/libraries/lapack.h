#pragma once

#include <cstdint>

#include "heddle/dtype.h"

// LAPACK, which is part of OpenBLAS, for matrices in C order.

namespace heddle::runtime::lapack {

/// Cholesky factors of `batch` n by n matrices of f32, f64, c64 or c128, in place. Uses and
/// overwrites the lower triangles, or the upper ones if `upper`; the other triangles are unchanged.
/// For each matrix, `infos` gets 0, or the order of its first leading minor that is not positive.
/// Throws DeviceError if the library is missing.
void cholesky(DType dtype, bool upper, std::int64_t n, std::int64_t batch, void* matrices,
              std::int32_t* infos);

}  // namespace heddle::runtime::lapack
