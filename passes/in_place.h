#pragma once

#include "passes/program_builder.h"

namespace heddle::passes {

/// Lets what a pointwise kernel makes lie in the memory of a temporary of its size that it is the
/// last to read, each element where it is written: the two are one buffer from where the temporary
/// begins.
void reuse_dying_temporaries(PlannedProgram& planned);

}  // namespace heddle::passes
