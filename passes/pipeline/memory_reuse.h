#pragma once

#include "passes/pipeline/program_builder.h"

namespace heddle::passes {

/// Lets a step write its result into memory that it is the last to read, if it reads each element
/// before overwriting it. For a pointwise kernel this follows from its addresses, for a call from
/// its aliases. In the last step, the memory may be that of a donated input; if `temporaries`, in
/// any step that of a temporary that no later step reads. The two buffers become one.
void reuse_memory(PlannedProgram& planned, bool temporaries);

}  // namespace heddle::passes
