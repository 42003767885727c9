#include "passes/groups/rotation.h"

#include <algorithm>

namespace heddle::passes {

namespace {

bool is_part(const ir::Graph& graph, ir::ValueId value) {
  return graph.op(value) == ir::Op::slice &&
         std::ranges::all_of(graph.attributes(value).steps,
                             [](ir::Dim step) { return step == ir::Dim(1); });
}

}  // namespace

std::optional<Rotation> rotation_of(const ir::Graph& graph, ir::ValueId node) {
  if (graph.op(node) != ir::Op::concatenate || graph.operands(node).size() != 2)
    return std::nullopt;
  const ir::ValueId first = graph.operands(node)[0], second = graph.operands(node)[1];
  if (!is_part(graph, first) || !is_part(graph, second) ||
      graph.operands(first)[0] != graph.operands(second)[0])
    return std::nullopt;
  const ir::Attributes &late = graph.attributes(first), &early = graph.attributes(second);
  const auto along = static_cast<std::size_t>(graph.attributes(node).axes[0]);
  for (std::size_t axis = 0; axis < early.starts.size(); ++axis) {
    const ir::Dim before = axis == along ? early.shape[axis] : ir::Dim(0);
    if (!(early.starts[axis] + before == late.starts[axis])) return std::nullopt;
  }
  return Rotation{graph.operands(first)[0], along, early.starts, early.shape[along],
                  graph.shape(node)[along]};
}

IndexMap rotated_map(IndexSpace& space, const Rotation& rotation, const IndexMap& map) {
  IndexMap result = map;
  Index& index = result[rotation.axis];
  index = space.modulo(space.add(index, {rotation.shift, {}}), rotation.extent);
  for (std::size_t axis = 0; axis < result.size(); ++axis)
    result[axis] = space.add(result[axis], {rotation.begins[axis], {}});
  return result;
}

}  // namespace heddle::passes
