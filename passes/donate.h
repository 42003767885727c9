#pragma once

#include "passes/program_builder.h"

namespace heddle::passes {

/// Lets outputs live in the memory of donated inputs of their size, where the last step is a
/// pointwise kernel that writes the output, every element after its only read of the input there.
void reuse_donated_inputs(PlannedProgram& planned);

}  // namespace heddle::passes
