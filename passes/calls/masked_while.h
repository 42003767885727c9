#pragma once

#include <vector>

#include "passes/calls/lowering.h"

namespace heddle::passes {

/// A control.while with a condition for each element, as one with a further carry: which elements
/// still take steps.
std::vector<ValueId> masked_while(Graph& graph, const OldCall& call);

}  // namespace heddle::passes
