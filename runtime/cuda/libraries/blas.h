#pragma once

#include "runtime/libraries/blas.h"

namespace heddle::runtime::cuda {

/// cuBLAS; cuBLASLt for epilogues and for timed algorithms.
const Blas& blas();

}  // namespace heddle::runtime::cuda
