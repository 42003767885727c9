#pragma once

#include "runtime/libraries/blas.h"

namespace heddle::runtime::host {

/// Multiplies a vector by a small matrix that lies in memory by rows, of real numbers: out = vector
/// x matrix. Each element of the result is a sum in an order that depends on the vector's length
/// only. Returns false for other products, which are left to BLAS.
bool multiply_vector_by_rows(const Gemm& product, const void* a, const void* b, void* out);

}  // namespace heddle::runtime::host
