#pragma once

#include "passes/pipeline/program_builder.h"

namespace heddle::passes {

/// Bytes of global memory that a step moves. A kernel's are the elements that it reads or writes,
/// each counted once, including partial results. A call's are Step::moved.
Dim bytes_moved(const PlannedProgram& planned, const Step& step);

/// Bytes that all kernels and calls of a program move. Fills are not counted.
struct Traffic {
  Dim moved;
  Dim fewest;  ///< bytes of all used inputs and all outputs: what any program has to move
};
Traffic traffic(const PlannedProgram& planned);

}  // namespace heddle::passes
