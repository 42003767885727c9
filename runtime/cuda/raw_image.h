#pragma once

#include <map>
#include <string>

#include "ir/types/target.h"
#include "runtime/cache/image.h"
#include "runtime/cache/key.h"
#include "runtime/compile/raw_source.h"

namespace heddle::runtime::cuda {

/// The machine code of a user's kernels.
struct RawImage {
  ModuleImage module;
  std::map<std::string, std::string> symbols;  ///< of name expressions: their names in the module
};

/// Reads the file, or takes the code from the cache, or compiles and stores it. Throws CompileError
/// with the user's text and line; DeviceError if there is no NVRTC; FileError.
RawImage make_raw_image(const RawSource& source, const ir::Target& target);

/// The key of the code: the text, the files that it includes, the options and the architecture.
/// Like a program's, it names no compiler, so that NVRTC is not needed where the cache has the
/// code.
cache::Key raw_key(const RawSource& source, const ir::Target& target);

}  // namespace heddle::runtime::cuda
