#pragma once

#include <cstdint>

#include "heddle/dtype.h"

// LAPACK, which OpenBLAS has, of matrices in C order.

namespace heddle::runtime::lapack {

/// Cholesky factors of `batch` n by n matrices of f32, f64, c64 or c128, in their place: of their
/// lower triangles, or the `upper` ones; the other triangles stay as they are. `infos` gets per
/// matrix 0, or the order of its first leading minor that is not positive. Throws DeviceError when
/// the library is missing.
void cholesky(DType dtype, bool upper, std::int64_t n, std::int64_t batch, void* matrices,
              std::int32_t* infos);

}  // namespace heddle::runtime::lapack
