#pragma once

#include <string>
#include <vector>

#include "ir/base/hash.h"
#include "runtime/device/device.h"

namespace heddle::runtime {

/// Compile options of a program. All of them but `deferred` are part of its key in the cache.
struct CompileOptions {
  bool strict = false;          ///< no contraction of a*b+c
  bool approximate = false;     ///< 2 ulp division and square root, fast exp and log
  std::vector<bool> donated{};  ///< per parameter: its memory may be reused for an output; empty:
                                ///< none
  std::vector<bool> aligned{};  ///< per parameter: its address is a multiple of 16 bytes; empty:
                                ///< all
  std::vector<std::string>
      disabled{};      ///< names of disabled passes and families (also HEDDLE_DISABLE)
  int host_level = 3;  ///< optimization level of the CPU compiler, 0 to 3 (HEDDLE_CXX_LEVEL)
  /// Kernels may run uncompiled until compiling them pays (HEDDLE_COMPILE_AFTER). Results have the
  /// same bits, but for the sign and the payload of NaN.
  bool deferred = false;
};

void hash_into(ir::Hasher& hasher, const CompileOptions& options, const Device& device);

}  // namespace heddle::runtime
