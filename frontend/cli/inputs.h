#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph/graph.h"
#include "runtime/execute/executable.h"

namespace heddle::cli {

/// Command-line options for a program's inputs.
struct InputOptions {
  std::vector<std::string> given;     ///< .npy files; numbers for scalar parameters
  std::vector<std::string> sizes;     ///< "n=1000", for symbols that no file determines
  std::optional<std::uint64_t> seed;  ///< missing inputs are random
};

/// Parses "n=1000". Throws ValueError.
ir::SymbolBinding parse_size(const std::string& text);

/// The arguments of a program, on the calling thread's device. Throws ValueError if the program
/// does not match the command line, FileError, ShapeError, DTypeError.
std::vector<runtime::Argument> make_arguments(const ir::Graph& graph, const InputOptions& options);

}  // namespace heddle::cli
