#pragma once

#include "passes/pipeline/program_builder.h"

namespace heddle::passes {

/// Bytes of global memory that a step moves. Of a kernel they are counted from its accesses: every
/// element that it touches once, partial results included. A call already says them (Step::moved).
Dim bytes_moved(const PlannedProgram& planned, const Step& step);

/// The same of a whole program, but for fills.
struct Traffic {
  Dim moved;
  Dim fewest;  ///< every input that is used read once, every output written once
};
Traffic traffic(const PlannedProgram& planned);

}  // namespace heddle::passes
