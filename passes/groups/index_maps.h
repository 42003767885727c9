#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "ir/graph/graph.h"
#include "passes/groups/group.h"
#include "passes/groups/index.h"

namespace heddle::passes {

/// The index map at which operand `k` is read when the node is evaluated at `map`. For a reduction,
/// the reduced axes are indexed by the loops `inner`.
IndexMap operand_map(IndexSpace& space, const Graph& graph, ValueId node, std::size_t k,
                     const IndexMap& map, const std::vector<AtomId>& inner = {});
/// The index map at which an operand that broadcasts is read for an element at `map`.
IndexMap broadcast_map(const IndexMap& map, const ir::Shape& operand);
/// The index maps at which a reduction without segments reads its operand if it is computed as
/// arithmetic on all elements of a row, in C order. The number of these must be constant.
std::vector<IndexMap> unrolled_maps(const Graph& graph, ValueId reduction, const IndexMap& map);
/// Whether a node reads the values of operand `k`. A slice_update that covers its whole base does
/// not read the base. A gather does not read the indices of an axis with one element.
bool reads_operand(const Graph& graph, ValueId node, std::size_t k);
/// Where a slice_update writes, along an axis: begin <= index < end, every `step`.
struct UpdatedRange {
  Dim begin, end, step;
};
UpdatedRange updated_range(const Graph& graph, ValueId update, std::size_t axis);
/// The only operand from which a concatenation or slice_update takes the elements at `map`. nullopt
/// if that is not provable, and for other ops.
std::optional<std::size_t> only_source(const IndexSpace& space, const Graph& graph, ValueId node,
                                       const IndexMap& map);
/// Whether begin <= index < end is provable.
bool is_within(const IndexSpace& space, const Index& index, Dim begin, Dim end);
/// The index map of a slice_update's value, for loops over the updated region.
IndexMap region_value_map(const IndexMap& region, const ir::Shape& value);
/// Whether `loops`, as they run, visit every element of `shape` exactly once through the map.
bool is_bijective(IndexSpace& space, const IndexMap& map, const ir::Shape& shape,
                  const std::vector<AtomId>& loops);
/// The shape to which a scatter's operands broadcast.
ir::Shape scatter_region(const Graph& graph, ValueId node);
/// Makes one loop for each axis of a shape, and sets `map` to the index map of these loops.
std::vector<AtomId> loops_over(IndexSpace& space, const ir::Shape& shape, IndexMap& map);

}  // namespace heddle::passes
