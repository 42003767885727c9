#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heddle/error.h"

namespace heddle::runtime {

/// Source with a line number before each line.
std::string number_lines(std::string_view source);

/// The error for generated text that a compiler refused: what compiled it, with which options, what
/// it said, and the numbered text.
CompileError compile_error(std::string_view name, std::string_view compiler,
                           const std::vector<std::string>& options, std::string_view log,
                           std::string_view source);

}  // namespace heddle::runtime
