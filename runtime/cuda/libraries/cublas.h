#pragma once

#include <cstddef>
#include <string>

#include "runtime/libraries/blas.h"

namespace heddle::runtime::cublas {

const std::string& unavailable_reason();
std::size_t workspace_bytes(int ordinal);
/// Products must not have an extent of 0.
void gemm(const Gemm& product, const void* a, const void* b, void* out, void* workspace,
          const Stream& stream);

}  // namespace heddle::runtime::cublas
