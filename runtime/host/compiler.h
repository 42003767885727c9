#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/types/target.h"

/// The system's C++ compiler, which makes the host's kernels.
namespace heddle::runtime::host {

struct Compiler {
  std::vector<std::string> program;  ///< "g++", or "ccache", "g++"
  std::vector<std::string> options;  ///< of HEDDLE_CXX: "-O1"
  std::string version;               ///< first line of --version, without the program's own name
  bool clang = false;

  /// The program as one text.
  std::string name() const;
};

/// $HEDDLE_CXX where it is set, else the first that runs of c++, g++, clang++; nullptr when none
/// does. Looks once. The variable is a program's file, or words with blanks between: a program,
/// perhaps behind another that starts it (ccache g++), and options, which come behind our own and
/// so overrule them.
const Compiler* find_compiler();
/// Why find_compiler() is null, naming everything tried; empty otherwise.
const std::string& unavailable_reason();

struct Options {
  bool contract = true;            ///< fuse a * b + c
  int level = 3;                   ///< of optimization, 0 to 3
  bool line_info = false;          ///< for profilers and debuggers
  std::string source_folder = {};  ///< where these look for NAME.cpp, with line_info
};

/// One source text and the name that it has in messages.
struct Unit {
  std::string name;
  std::string text;
};

/// The options for a target ("x86-64-v3" ...), in order.
std::vector<std::string> option_list(const Compiler& compiler, const ir::Target& target,
                                     const Options& options);
/// Everything but the source that decides what compile() makes, for module keys; holds no path.
/// Throws DeviceError when there is no compiler.
std::string identity(const ir::Target& target, const Options& options);

/// Compiles the units by one run of the compiler into one shared object and returns its bytes.
/// Thread-safe. Throws CompileError with the log, the options and the numbered source of the first
/// unit that the log names; DeviceError when there is no compiler or no folder for its files;
/// Interrupted.
std::string compile(std::span<const Unit> units, const ir::Target& target, const Options& options);

/// Compiles each batch so, as many at once as CompileJob lets this thread, and calls
/// `done(index, bytes)` on this thread as each ends, in no fixed order. Throws as compile(), and
/// what `done` throws; the compilers that still run are killed then.
void compile_batches(std::span<const std::vector<Unit>> batches, const ir::Target& target,
                     const Options& options,
                     const std::function<void(std::size_t index, std::string bytes)>& done);

}  // namespace heddle::runtime::host
