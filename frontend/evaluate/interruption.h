#pragma once

#include <algorithm>
#include <cstdint>

#include "ir/calls/calls.h"
#include "ir/graph/graph.h"
#include "passes/program/program.h"

// What an evaluation that may be interrupted, and then repeated, must know of its program.

namespace heddle::frontend {

/// Whether the graph has a loop that runs step by step.
inline bool has_loops(const ir::Graph& graph) {
  for (std::uint32_t i = 0; i < graph.size(); ++i) {
    const ir::ValueId id{i};
    if (graph.is_call_of(id, ir::calls::scan()) || graph.is_call_of(id, ir::calls::while_loop()))
      return true;
  }
  return false;
}

/// Whether a run may write to the memory of donated arguments.
inline bool overwrites_arguments(const passes::Program& program) {
  return std::ranges::any_of(program.outputs, [&](const passes::ProgramOutput& output) {
    return output.input && program.inputs[*output.input].donated;
  });
}

}  // namespace heddle::frontend
