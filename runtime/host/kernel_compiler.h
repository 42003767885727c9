#pragma once

#include "runtime/compile/kernel_compiler.h"

namespace heddle::runtime::host {

/// Prints C++ and compiles it with the system's compiler.
const KernelCompiler& kernel_compiler();

}  // namespace heddle::runtime::host
