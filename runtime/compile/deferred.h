#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "passes/pipeline/program_builder.h"
#include "runtime/cache/image.h"
#include "runtime/compile/kernel_compiler.h"

namespace heddle::runtime {

/// What a program needs whose kernels run uncompiled until compiling them pays (on the CPU:
/// runtime/host/blocks). The rule counts work, never time, so that equal programs do the same.
struct Deferred {
  ir::Target target;
  passes::PlannedProgram planned;
  /// By kernel: runs uncompiled.
  std::vector<bool> uncompiled;
  /// Compiles the program, or loads it from the cache unless that is to be done anew; nullopt if
  /// there is no compiler. Throws what compile_program throws.
  std::function<std::optional<ProgramImage>(Lookup)> compile;
  /// The work of all launches, in estimated nanoseconds, after which the kernels are compiled.
  double worth = 0;
};

}  // namespace heddle::runtime
