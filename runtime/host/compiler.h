#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/types/target.h"

/// The system's C++ compiler, which compiles host kernels.
namespace heddle::runtime::host {

struct Compiler {
  std::vector<std::string> program;  ///< "g++", or "ccache", "g++"
  std::vector<std::string> options;  ///< from HEDDLE_CXX: "-O1"
  std::string version;               ///< first line of --version, without the program's name
  bool clang = false;

  /// The program's words joined by blanks.
  std::string name() const;
};

/// $HEDDLE_CXX if set, else the first of c++, g++, clang++ that runs; nullptr if there is none.
/// Searched once. The variable is a program's file, or words separated by blanks: a program,
/// optionally after a launcher (ccache g++), and options, which come after Heddle's own and
/// override them.
const Compiler* find_compiler();
/// Why find_compiler() is null, with every compiler tried; empty otherwise.
const std::string& unavailable_reason();

struct Options {
  bool contract = true;            ///< fuse a * b + c
  int level = 3;                   ///< optimization level, 0 to 3
  bool line_info = false;          ///< for profilers and debuggers
  std::string source_folder = {};  ///< folder in which these search for NAME.cpp, if line_info is
                                   ///< set
};

/// A source text and its name in messages.
struct Unit {
  std::string name;
  std::string text;
};

/// The options for a target ("x86-64-v3" ...), in order.
std::vector<std::string> option_list(const Compiler& compiler, const ir::Target& target,
                                     const Options& options);
/// Everything besides the source that determines the output of compile(), for module keys. Contains
/// no path. Throws DeviceError if there is no compiler.
std::string identity(const ir::Target& target, const Options& options);

/// Compiles the units in one compiler run into one shared object and returns its bytes.
/// Thread-safe. Throws CompileError with the log, the options and the numbered source of the first
/// unit that the log mentions; DeviceError if there is no compiler or no folder for its files;
/// Interrupted.
std::string compile(std::span<const Unit> units, const ir::Target& target, const Options& options);

/// Compiles each batch like compile(), as many concurrently as CompileJob permits, and calls
/// `done(index, bytes)` on this thread as each ends, in no fixed order. Throws what compile() and
/// `done` throw; the remaining compilers are killed.
void compile_batches(std::span<const std::vector<Unit>> batches, const ir::Target& target,
                     const Options& options,
                     const std::function<void(std::size_t index, std::string bytes)>& done);

}  // namespace heddle::runtime::host
