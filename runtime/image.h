#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "passes/program.h"
#include "runtime/cache/entry.h"

namespace heddle::runtime {

/// Machine code of one or more kernels of a program.
struct ModuleImage {
  cache::PayloadKind kind = cache::PayloadKind::cubin;
  std::vector<std::string> kernels;
  std::string bytes;
  bool built = false;  ///< compiled just now, not found in the cache; not encoded
};

/// A planned program with its machine code: what one entry of the cache holds, and all that a warm
/// process needs.
struct ProgramImage {
  passes::Program program;
  std::vector<ModuleImage> modules;
};

std::string encode(const ProgramImage& image);
/// Throws ParseError for bytes that encode did not make.
ProgramImage decode_program_image(std::string_view bytes);

}  // namespace heddle::runtime
