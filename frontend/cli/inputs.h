#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph/graph.h"
#include "runtime/execute/executable.h"

namespace heddle::cli {

/// What the command line says of a program's inputs.
struct InputOptions {
  std::vector<std::string> given;     ///< .npy files; numbers for scalar parameters
  std::vector<std::string> sizes;     ///< "n=1000", for symbols that no file gives
  std::optional<std::uint64_t> seed;  ///< inputs that are not given are random
};

/// What "n=1000" says. Throws ValueError.
ir::SymbolBinding parse_size(const std::string& text);

/// The arguments of a program, on the calling thread's device. Throws ValueError for what does not
/// fit the command line, FileError, ShapeError, DTypeError.
std::vector<runtime::Argument> make_arguments(const ir::Graph& graph, const InputOptions& options);

}  // namespace heddle::cli
