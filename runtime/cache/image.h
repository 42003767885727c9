#pragma once

#include <cstdint>
#include <memory>
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
  bool built = false;  ///< compiled in this process, not loaded from the cache
  std::string entry;   ///< name of the module's cache file; empty when decoded
};

struct Deferred;

/// A planned program with its machine code: the content of one cache entry. Nothing else is needed
/// to run a program from a warm cache.
struct ProgramImage {
  passes::Program program;
  std::vector<ModuleImage> modules;
  /// Not encoded: if not null, some kernels are not compiled yet.
  std::shared_ptr<const Deferred> deferred = nullptr;
};

/// Thrown when a device, or the system's loader, rejects machine code.
class LoadFailure final : public DeviceError {
 public:
  LoadFailure(const std::string& what, ModuleImage module, bool damaged)
      : DeviceError(what), module(std::move(module)), damaged(damaged) {}
  ModuleImage module;
  bool damaged;  ///< if false, the code may be for another device, driver or system
};

std::string encode(const ProgramImage& image);
/// Throws ParseError for bytes that encode did not produce.
ProgramImage decode_program_image(std::string_view bytes);

}  // namespace heddle::runtime
