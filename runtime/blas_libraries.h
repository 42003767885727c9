#pragma once

#include <cstddef>
#include <string>

#include "runtime/blas.h"

// The two libraries behind runtime/blas.h. Products have no extent of 0.

namespace heddle::runtime::cublas {

const std::string& unavailable_reason();
std::size_t workspace_bytes(int ordinal);
void gemm(const Gemm& product, const void* a, const void* b, void* out, void* workspace,
          const Stream& stream);

}  // namespace heddle::runtime::cublas

namespace heddle::runtime::openblas {

const std::string& unavailable_reason();
void gemm(const Gemm& product, const void* a, const void* b, void* out);

}  // namespace heddle::runtime::openblas
