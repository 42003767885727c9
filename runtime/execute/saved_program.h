#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/cache/bundle.h"
#include "runtime/compile/recording.h"

namespace heddle::runtime {

struct SavedProgram {
  RecordedProgram program;
  std::vector<std::string> names;      ///< one per argument of a call; "" for an unknown name
  std::vector<std::uint32_t> sources;  ///< per parameter of the program: the index of its argument
};

/// Writes a program, with its compiled code for each of the targets, into one file. Format:
/// "HEDDLEP\n", the length of the part up to the bundle in eight little-endian bytes, a line
/// "arguments N" followed by `sources`, N lines "name TEXT", a recording, and a bundle. Compiles
/// what is not in the cache. `mode` is the file's mode. The file is signed if HEDDLE_CACHE_KEY is
/// set. Throws CompileError, DeviceError if a target's compiler is missing, FileError and
/// TrustError.
void save_program(const std::string& path, const SavedProgram& saved,
                  const std::vector<ir::Target>& targets, unsigned mode = cache::shipped_mode);

/// Loads such a file. Adds its compiled code to the cache's bundles; that code is executed when the
/// program runs. Throws what cache::read_shipped throws, and FileError if it is not such a file.
SavedProgram load_saved_program(const std::string& path,
                                cache::Foreign foreign = cache::Foreign::refused);

}  // namespace heddle::runtime
