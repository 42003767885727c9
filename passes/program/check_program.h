#pragma once

#include <cstddef>

#include "passes/program/program.h"

namespace heddle::passes {

/// Of a kernel's table of launches: every driver accepts 4 KB of parameters.
inline constexpr std::size_t most_table_bytes = 4096 - 64;

/// Validates a program read from a file: throws ParseError for references to missing kernels,
/// inputs, buffers or steps, and for numbers that cannot be launched. The runtime assumes that all
/// of these are valid.
void check_program(const Program& program);

}  // namespace heddle::passes
