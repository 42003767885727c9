#pragma once

#include <optional>
#include <string>
#include <vector>

#include "passes/calls/lowering.h"

namespace heddle::passes {

/// control.while: a loop that each element can run on its own becomes control.elements, one for
/// each carry that is used. Of the others, one with a condition for each element becomes a loop
/// with one condition, in which elements whose condition was false keep their values.
std::vector<ValueId> lower_while(Graph& graph, const OldCall& call, const ir::Target& target);

/// control.scan: a loop without sequences and stacked results that each element can run on its own
/// becomes control.elements.
std::vector<ValueId> lower_scan(Graph& graph, const OldCall& call, const ir::Target& target);

/// Why a control.scan or control.while is not computed inside a kernel, element by element. ""
/// for other calls.
std::string why_step_by_step(const Graph& graph, ValueId call, const ir::Target& target);

}  // namespace heddle::passes
