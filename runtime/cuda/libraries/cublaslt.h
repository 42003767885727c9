#pragma once

#include <string>

#include "runtime/libraries/blas.h"

namespace heddle::runtime::cublaslt {

/// Why cuBLASLt is not here, with every place tried; empty when it is. Loads it; never throws.
const std::string& unavailable_reason();

/// As runtime::gemm_with_epilogue, of a product without an extent of 0; complex ones are refused.
/// The algorithm is the one that choice_of() of cublaslt_choice.h gives.
bool gemm(const Gemm& product, const GemmEpilogue& epilogue, const void* a, const void* b,
          void* out, void* workspace, std::size_t workspace_bytes, const Stream& stream);

}  // namespace heddle::runtime::cublaslt
