#pragma once

#include "passes/program_builder.h"

namespace heddle::passes {

/// Bytes of global memory that a step of the group moves, counted from its accesses: every element
/// that a kernel touches once, partial results and library operands included.
Dim bytes_moved(const PlannedProgram& planned, const Group& group, const Step& step);

/// The same of a whole program, but for fills.
struct Traffic {
  Dim moved;
  Dim fewest;  ///< every input that is used read once, every output written once
};
Traffic traffic(const PlannedProgram& planned);

}  // namespace heddle::passes
