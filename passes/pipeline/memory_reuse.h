#pragma once

#include "passes/pipeline/program_builder.h"

namespace heddle::passes {

/// Lets a step write into memory that it is the last to read, if it reads each element before it
/// writes there: a pointwise kernel by its addresses, a call by its aliases. Such memory is a
/// donated input's, in the last step, and with `temporaries` that of a temporary which no later
/// step reads. The two become one buffer.
void reuse_memory(PlannedProgram& planned, bool temporaries);

}  // namespace heddle::passes
