#pragma once

#include <map>
#include <optional>
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

/// The key of the code: the text, the user's files that it includes, the options and the
/// architecture. Like a program's, it names no compiler, so that NVRTC and the toolkit are not
/// needed where the cache has the code. nullopt for code that cannot be kept: of a file, or of a
/// text that includes a file by a macro's name.
std::optional<cache::Key> raw_key(const RawSource& source, const ir::Target& target);

/// Reads the file, or takes the code from the cache, or compiles and stores it. Throws CompileError
/// with the user's text and line; DeviceError if there is no NVRTC; FileError.
RawImage make_raw_image(const RawSource& source, const ir::Target& target,
                        const std::optional<cache::Key>& key);
/// Compiles and stores it. Throws CompileError, DeviceError.
RawImage compile_raw_image(const RawSource& source, const ir::Target& target,
                           const std::optional<cache::Key>& key);

}  // namespace heddle::runtime::cuda
