#pragma once

#include "passes/program/program.h"

namespace heddle::passes {

/// Throws ParseError for a program that names kernels, inputs, buffers or steps that it does not
/// have, or numbers that nothing is launched with: what the runtime takes for granted, of a program
/// that was read from a file.
void check_program(const Program& program);

}  // namespace heddle::passes
