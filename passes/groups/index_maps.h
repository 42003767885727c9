#pragma once

#include <cstddef>
#include <vector>

#include "ir/graph/graph.h"
#include "passes/groups/group.h"
#include "passes/groups/index.h"

namespace heddle::passes {

/// Where operand `k` of a node is read when the node is evaluated at `map`. For a reduction the
/// reduced axes run over `inner`.
IndexMap operand_map(IndexSpace& space, const Graph& graph, ValueId node, std::size_t k,
                     const IndexMap& map, const std::vector<AtomId>& inner = {});
/// Whether a node reads the values of operand `k`. A slice_update that covers its whole base does
/// not read the base, and a gather does not read indices along an axis of one element.
bool reads_operand(const Graph& graph, ValueId node, std::size_t k);
/// Where the value of a slice_update is read by loops over its region.
IndexMap region_value_map(const IndexMap& region, const ir::Shape& value);
/// The map visits every element of `shape` exactly once as `loops` run.
bool is_bijective(IndexSpace& space, const IndexMap& map, const ir::Shape& shape,
                  const std::vector<AtomId>& loops);
/// What the operands of a scatter broadcast to.
ir::Shape scatter_region(const Graph& graph, ValueId node);
/// Loops for the axes of a shape, and the map that they make.
std::vector<AtomId> loops_over(IndexSpace& space, const ir::Shape& shape, IndexMap& map);

}  // namespace heddle::passes
