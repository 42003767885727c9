#pragma once

#include "ir/graph.h"
#include "passes/program.h"

namespace heddle::passes {

/// Rewrites sorts so that they run along the last axis, but for axes of 1, of what they are given.
ir::Graph lower_sorts(const ir::Graph& graph);

/// The array whose memory a sort or search reads for its operand: reshapes of a C-ordered array are
/// the same.
ir::ValueId whole_operand(const ir::Graph& graph, ir::ValueId operand);

/// The step for such a sort; buffers and kernels are left to the caller.
SortStep describe_sort(const ir::Graph& graph, ir::ValueId node);

}  // namespace heddle::passes
