#pragma once

#include "runtime/compile/kernel_compiler.h"

namespace heddle::runtime::cuda {

/// Prints CUDA C++ and compiles it by NVRTC.
const KernelCompiler& kernel_compiler();

}  // namespace heddle::runtime::cuda
