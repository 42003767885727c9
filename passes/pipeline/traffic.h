#pragma once

#include "passes/pipeline/program_builder.h"

namespace heddle::passes {

/// Bytes of global memory that a step moves. For a kernel, counts every element that its accesses
/// touch once, including partial results. For a call, this is Step::moved.
Dim bytes_moved(const PlannedProgram& planned, const Step& step);

/// Bytes that a whole program moves, without fills.
struct Traffic {
  Dim moved;
  Dim fewest;  ///< if every used input were read once and every output written once
};
Traffic traffic(const PlannedProgram& planned);

}  // namespace heddle::passes
