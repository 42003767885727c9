#pragma once

#include <string>

#include "runtime/blas.h"

namespace heddle::runtime::cublaslt {

/// Why cuBLASLt is not here, with every place tried; empty when it is. Loads it; never throws.
const std::string& unavailable_reason();

/// As runtime::gemm_with_epilogue, of a product without an extent of 0. The algorithm is what the
/// library's heuristic says first, kept for the process and in the cache on disk.
bool gemm(const Gemm& product, const GemmEpilogue& epilogue, const void* a, const void* b,
          void* out, void* workspace, std::size_t workspace_bytes, const Stream& stream);

}  // namespace heddle::runtime::cublaslt
