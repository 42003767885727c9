#pragma once

#include <string>

#include "passes/program_builder.h"

namespace heddle::passes {

/// The plan in words: groups with family, kernels and nodes; for each cut the family that came
/// nearest, the limit it broke and its number; steps; bytes moved against the fewest possible.
std::string explain(const PlannedProgram& planned);

}  // namespace heddle::passes
