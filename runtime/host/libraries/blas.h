#pragma once

#include "runtime/libraries/blas.h"

namespace heddle::runtime::host {

/// OpenBLAS.
const Blas& blas();

}  // namespace heddle::runtime::host
