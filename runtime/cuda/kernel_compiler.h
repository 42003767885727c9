#pragma once

#include "runtime/compile/kernel_compiler.h"

namespace heddle::runtime::cuda {

/// Prints CUDA C++ and compiles it with NVRTC.
const KernelCompiler& kernel_compiler();

}  // namespace heddle::runtime::cuda
