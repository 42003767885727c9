#pragma once

#include <string>

#include "runtime/libraries/blas.h"

namespace heddle::runtime::cublaslt {

/// Why cuBLASLt is unavailable, with every location tried; empty if it is available. Loads it;
/// never throws.
const std::string& unavailable_reason();

/// Like runtime::gemm_with_epilogue, for a product without an extent of 0. Refuses complex
/// products. The algorithm is from choice_of() in cublaslt_choice.h.
bool gemm(const Gemm& product, const GemmEpilogue& epilogue, const void* a, const void* b,
          void* out, void* workspace, std::size_t workspace_bytes, const Stream& stream);

}  // namespace heddle::runtime::cublaslt
