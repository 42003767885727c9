#pragma once

#include "runtime/libraries/blas.h"

namespace heddle::runtime::host {

/// Whether a product is that of a vector and a small matrix that lies in memory by rows, of real
/// numbers.
bool is_vector_by_rows(const Gemm& product);

/// out = vector x matrix. Each element of the result is a sum in an order that depends on the
/// vector's length only. Returns false for products other than is_vector_by_rows(), which are left
/// to BLAS.
bool multiply_vector_by_rows(const Gemm& product, const void* a, const void* b, void* out);

}  // namespace heddle::runtime::host
