#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "passes/pipeline/program_builder.h"

namespace heddle::passes {

/// For each step of a program, a level: a step needs results of steps of lower levels only, and
/// overwrites what only these read. So steps of the same level may run at the same time, and the
/// program may run level by level. Calls, and the last step, have levels of their own, between
/// those of the steps before and after them. nullopt if it would take long to find out.
std::optional<std::vector<std::uint32_t>> step_levels(const PlannedProgram& planned);

}  // namespace heddle::passes
