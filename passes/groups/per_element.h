#pragma once

#include <cstddef>

#include "ir/graph/graph.h"

namespace heddle::passes {

/// Whether a node is a control.elements.
bool is_element_loop(const ir::Graph& graph, ir::ValueId node);

/// Whether the steps of a control.elements read sequences or store results, which are in memory.
bool walks_memory(const ir::Graph& graph, ir::ValueId node);

/// Whether a node is a control.elements that stacks its result.
bool is_stacked(const ir::Graph& graph, ir::ValueId node);

/// Whether two nodes are results of one control.elements.
bool share_loop(const ir::Graph& graph, ir::ValueId a, ir::ValueId b);

/// The shape that the loops of a kernel run over to compute a node: its own; of a stacked result,
/// that of one step.
ir::Shape loop_shape(const ir::Graph& graph, ir::ValueId node);

/// Whether a node is a user.map.
bool is_user_map(const ir::Graph& graph, ir::ValueId node);

/// Whether a node is a user.write.
bool is_user_write(const ir::Graph& graph, ir::ValueId node);

/// Whether a node is a user.map or a user.write.
bool is_user_function(const ir::Graph& graph, ir::ValueId node);

/// Whether computing an element may never end for a value that the program does not have: an
/// element loop with a condition, or a user's function with a loop.
bool may_run_forever(const ir::Graph& graph, ir::ValueId node);

/// Whether a kernel writes to elements of the node that are not those that it loops over: a
/// scatter, or a user.write.
bool writes_anywhere(const ir::Graph& graph, ir::ValueId node);

/// Whether a node is a call that kernels compute element by element, not a step of its own.
bool is_element_call(const ir::Graph& graph, ir::ValueId node);

/// Whether each element of a node depends only on the elements of its operands at the same
/// position: an elementwise op, a cast, an element loop that does not walk memory, or a user.map
/// without raw operands.
bool is_per_element(const ir::Graph& graph, ir::ValueId node);

/// Whether a node is a reduction of segments, whose begins and ends are operands 1 and 2.
bool is_segmented(const ir::Graph& graph, ir::ValueId node);

/// Whether the elements of a node read all of operand `k`, which is then in memory.
bool reads_whole(const ir::Graph& graph, ir::ValueId node, std::size_t k);

}  // namespace heddle::passes
