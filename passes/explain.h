#pragma once

#include <string>

#include "passes/program_builder.h"

namespace heddle::passes {

/// Bytes of global memory that the program's plans move, counted from their accesses: every element
/// that a kernel touches once, partial results and library operands included.
struct Traffic {
  Dim moved;
  Dim fewest;  ///< every input that is used read once, every output written once
};
Traffic traffic(const PlannedProgram& planned);

/// The plan in words: groups with family, kernels and nodes; for each cut the family that came
/// nearest, the limit it broke and its number; steps; bytes moved against the fewest possible.
std::string explain(const PlannedProgram& planned);

}  // namespace heddle::passes
