#pragma once

#include <optional>

#include "ir/types/call.h"

namespace heddle::passes {

/// For a control.while that runs while any(p), in which each step gives where(p, new, old) for each
/// carry: a condition region that returns p, with which each element takes its own steps. An
/// element whose p is false keeps its values, so its p stays false. nullopt for other loops.
std::optional<ir::Region> condition_of_elements(const ir::CallData& loop);

}  // namespace heddle::passes
