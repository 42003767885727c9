#pragma once

#include <string>
#include <vector>

#include "ir/base/hash.h"
#include "runtime/device/device.h"

namespace heddle::runtime {

/// What a program is compiled for beside its graph; all of it is part of the key.
struct CompileOptions {
  bool strict = false;          ///< no contraction of a*b+c
  bool approximate = false;     ///< 2 ulp division and square root, fast exp and log
  std::vector<bool> donated{};  ///< per parameter: its memory may become an output's; empty: none
  std::vector<bool> aligned{};  ///< per parameter: starts at a multiple of 16 bytes; empty: all
  std::vector<std::string>
      disabled{};      ///< passes and families switched off by name (HEDDLE_DISABLE too)
  int host_level = 3;  ///< of the CPU's compiler's optimization, 0 to 3 (HEDDLE_CXX_LEVEL)
};

void hash_into(ir::Hasher& hasher, const CompileOptions& options, const Device& device);

}  // namespace heddle::runtime
