#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heddle/error.h"

#include "passes/program/program.h"
#include "runtime/cache/entry.h"

namespace heddle::runtime {

/// Machine code of one or more kernels of a program.
struct ModuleImage {
  cache::PayloadKind kind = cache::PayloadKind::cubin;
  std::vector<std::string> kernels;
  std::string bytes;
  // Not encoded.
  bool built = false;  ///< compiled just now, not found in the cache
  std::string entry;   ///< what the cache's file of this module is called; empty when decoded
};

/// A planned program with its machine code: what one entry of the cache holds, and all that a warm
/// process needs.
struct ProgramImage {
  passes::Program program;
  std::vector<ModuleImage> modules;
};

/// Machine code that a device, or the system's loader, has refused.
class LoadFailure final : public DeviceError {
 public:
  LoadFailure(const std::string& what, ModuleImage module, bool damaged)
      : DeviceError(what), module(std::move(module)), damaged(damaged) {}
  ModuleImage module;
  bool damaged;  ///< else it may be code for another device, driver or system
};

std::string encode(const ProgramImage& image);
/// Throws ParseError for bytes that encode did not make.
ProgramImage decode_program_image(std::string_view bytes);

}  // namespace heddle::runtime
