#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/cache/bundle.h"
#include "runtime/compile/recording.h"

namespace heddle::runtime {

struct SavedProgram {
  RecordedProgram program;
  std::vector<std::string> names;      ///< one an argument of a call; "" for an unknown name
  std::vector<std::uint32_t> sources;  ///< the argument that each parameter of the program is
};

/// Writes a program, and what it is compiled to for each of the targets, into one file:
/// "HEDDLEP\n", the length of what follows up to the bundle in eight little-endian bytes, a line
/// "arguments N" with the sources behind it, N lines "name TEXT", a recording, and a bundle.
/// Compiles what is not in the cache. `mode` is the file's; it is signed where HEDDLE_CACHE_KEY is
/// set. Throws CompileError, DeviceError where a target's compiler is missing, FileError and
/// TrustError.
void save_program(const std::string& path, const SavedProgram& saved,
                  const std::vector<ir::Target>& targets, unsigned mode = cache::shipped_mode);

/// The program of such a file, whose compiled code the cache finds from now on, and which is
/// executed when the program runs. Throws what cache::read_shipped throws, and FileError where the
/// file is none.
SavedProgram load_saved_program(const std::string& path,
                                cache::Foreign foreign = cache::Foreign::refused);

}  // namespace heddle::runtime
