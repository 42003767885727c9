#pragma once

#include "passes/program/program.h"

namespace heddle::passes {

/// Validates a program read from a file: throws ParseError for references to missing kernels,
/// inputs, buffers or steps, and for numbers that cannot be launched. The runtime assumes that all
/// of these are valid.
void check_program(const Program& program);

}  // namespace heddle::passes
