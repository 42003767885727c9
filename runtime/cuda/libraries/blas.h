#pragma once

#include "runtime/libraries/blas.h"

namespace heddle::runtime::cuda {

/// cuBLAS, and cuBLASLt for epilogues and for algorithms that are timed.
const Blas& blas();

}  // namespace heddle::runtime::cuda
