#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "passes/pipeline/program_builder.h"

namespace heddle::passes {

/// A level for each step of a program. A step reads only what steps of lower levels write, and
/// writes only what no other step of its level reads or writes. So steps of one level may run at
/// the same time, and the program may run level by level. A call has a level of its own, after all
/// steps before it and before all steps after it; so has the last step. nullopt if it would take
/// long to find out.
std::optional<std::vector<std::uint32_t>> step_levels(const PlannedProgram& planned);

}  // namespace heddle::passes
