#include "passes/groups/index_maps.h"

#include <algorithm>

#include "heddle/error.h"

#include "passes/groups/per_element.h"

namespace heddle::passes {

IndexMap broadcast_map(const IndexMap& map, const ir::Shape& operand) {
  IndexMap result(operand.size());
  const std::size_t missing = map.size() - operand.size();
  for (std::size_t axis = 0; axis < operand.size(); ++axis) {
    if (!(operand[axis] == Dim(1))) result[axis] = map[missing + axis];
  }
  return result;
}

namespace {

IndexMap slice_update_value_map(IndexSpace& space, const ir::Attributes& attributes,
                                const IndexMap& map, const ir::Shape& value) {
  IndexMap inside(map.size());
  for (std::size_t axis = 0; axis < map.size(); ++axis) {
    const Dim step = attributes.steps[axis];
    const Dim sign = step.is_non_positive() ? -1 : 1;
    const Index moved = space.add(map[axis], {Dim(0) - attributes.starts[axis], {}});
    inside[axis] = space.divide(space.scale(moved, sign), sign * step);
    if (attributes.shape[axis] == Dim(1)) inside[axis] = {};
  }
  return broadcast_map(inside, value);
}

// Axes that are indexed by a value get the position in that value; other axes broadcast as in
// elementwise ops.
IndexMap gather_map(IndexSpace& space, const Graph& graph, ValueId node, const IndexMap& map) {
  const std::span<const ValueId> operands = graph.operands(node);
  const ir::Shape& shape = graph.shape(operands[0]);
  IndexMap result = broadcast_map(map, shape);
  const std::vector<std::int64_t>& axes = graph.attributes(node).axes;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const auto axis = static_cast<std::size_t>(axes[k]);
    const ValueId index = operands[k + 1];
    result[axis] =
        shape[axis] == Dim(1)
            ? Index{}
            : space.gathered(index_of(index), broadcast_map(map, graph.shape(index)), shape[axis]);
  }
  return result;
}

// Operand 0 runs over the segment of the row; the others have one element for each segment.
IndexMap segments_map(IndexSpace& space, std::size_t axis, std::size_t k, IndexMap map,
                      const std::vector<AtomId>& inner) {
  if (k > 0) return {map[axis]};
  map[axis] = space.loop(inner[0]);
  return map;
}

/// `row`: the index along each reduced axis that has more than one element.
IndexMap reduction_map(const ir::Attributes& attributes, const IndexMap& map,
                       const ir::Shape& operand, const std::vector<Index>& row) {
  IndexMap result(operand.size());
  std::size_t kept = 0, reduced = 0;
  for (std::size_t axis = 0; axis < operand.size(); ++axis) {
    const bool is_reduced = std::find(attributes.axes.begin(), attributes.axes.end(),
                                      static_cast<std::int64_t>(axis)) != attributes.axes.end();
    if (!is_reduced) {
      result[axis] = map[kept++];
      continue;
    }
    if (attributes.keepdims) ++kept;
    if (!(operand[axis] == Dim(1))) result[axis] = row[reduced++];
  }
  return result;
}

}  // namespace

IndexMap operand_map(IndexSpace& space, const Graph& graph, ValueId node, std::size_t k,
                     const IndexMap& map, const std::vector<AtomId>& inner) {
  const ValueId operand = graph.operands(node)[k];
  const ir::Shape& shape = graph.shape(operand);
  const ir::Attributes& attributes = graph.attributes(node);
  if (reads_whole(graph, node, k)) return {};  // no index map: elements read all of it
  switch (graph.op(node)) {
    case ir::Op::reshape:
      return reshape_map(space, map, graph.shape(node), shape);
    case ir::Op::transpose: {
      IndexMap result(map.size());
      for (std::size_t axis = 0; axis < map.size(); ++axis)
        result[attributes.axes[axis]] = map[axis];
      return result;
    }
    case ir::Op::slice: {
      IndexMap result(map.size());
      for (std::size_t axis = 0; axis < map.size(); ++axis) {
        result[axis] = space.add({attributes.starts[axis], {}},
                                 space.scale(map[axis], attributes.steps[axis]));
      }
      return result;
    }
    case ir::Op::concatenate: {
      IndexMap result = map;
      const std::int64_t axis = attributes.axes[0];
      Dim begin;
      for (std::size_t before = 0; before < k; ++before)
        begin += graph.shape(graph.operands(node)[before])[axis];
      result[axis] = space.add(result[axis], {Dim(0) - begin, {}});
      if (shape[axis] == Dim(1)) result[axis] = {};
      return result;
    }
    case ir::Op::gather:
      return k == 0 ? gather_map(space, graph, node, map) : broadcast_map(map, shape);
    case ir::Op::slice_update:
      return k == 0 ? map : slice_update_value_map(space, attributes, map, shape);
    default:
      if (is_segmented(graph, node))
        return segments_map(space, static_cast<std::size_t>(attributes.axes[0]), k, map, inner);
      if (ir::is_reduction(graph.op(node))) {
        std::vector<Index> row;
        for (const AtomId loop : inner) row.push_back(space.loop(loop));
        return reduction_map(attributes, map, shape, row);
      }
      return broadcast_map(map, shape);
  }
}

std::vector<IndexMap> unrolled_maps(const Graph& graph, ValueId reduction, const IndexMap& map) {
  const ir::Attributes& attributes = graph.attributes(reduction);
  const ir::Shape& operand = graph.shape(graph.operands(reduction)[0]);
  ir::Dims extents;
  for (const std::int64_t axis : attributes.axes) {
    const Dim extent = operand[static_cast<std::size_t>(axis)];
    if (!(extent == Dim(1))) extents.push_back(extent);
  }
  std::vector<IndexMap> maps;
  std::vector<std::int64_t> row(extents.size());
  for (;;) {
    std::vector<Index> at;
    for (const std::int64_t index : row) at.push_back({Dim(index), {}});
    maps.push_back(reduction_map(attributes, map, operand, at));
    std::size_t axis = row.size();
    while (axis > 0 && ++row[axis - 1] == extents[axis - 1].constant()) row[--axis] = 0;
    if (axis == 0) return maps;
  }
}

UpdatedRange updated_range(const Graph& graph, ValueId update, std::size_t axis) {
  const ir::Attributes& attributes = graph.attributes(update);
  const Dim step = attributes.steps[axis], first = attributes.starts[axis];
  const Dim last = first + (attributes.shape[axis] - Dim(1)) * step;
  if (step.is_non_positive()) return {last, first + Dim(1), Dim(0) - step};
  return {first, last + Dim(1), step};
}

bool is_within(const IndexSpace& space, const Index& index, Dim begin, Dim end) {
  return space.in_range(space.add(index, {Dim(0) - begin, {}}), end - begin);
}

std::optional<std::size_t> only_source(const IndexSpace& space, const Graph& graph, ValueId node,
                                       const IndexMap& map) {
  if (graph.op(node) == ir::Op::concatenate) {
    const auto axis = static_cast<std::size_t>(graph.attributes(node).axes[0]);
    Dim begin;
    for (std::size_t k = 0; k < graph.operands(node).size(); ++k) {
      const Dim end = begin + graph.shape(graph.operands(node)[k])[axis];
      if (is_within(space, map[axis], begin, end)) return k;
      begin = end;
    }
    return std::nullopt;
  }
  if (graph.op(node) != ir::Op::slice_update) return std::nullopt;
  bool in_region = true;
  for (std::size_t axis = 0; axis < map.size(); ++axis) {
    const UpdatedRange range = updated_range(graph, node, axis);
    if (is_within(space, map[axis], 0, range.begin) ||
        is_within(space, map[axis], range.end, graph.shape(node)[axis]))
      return 0;
    in_region &= range.step.is_unit() && is_within(space, map[axis], range.begin, range.end);
  }
  return in_region ? std::optional<std::size_t>(1) : std::nullopt;
}

bool reads_operand(const Graph& graph, ValueId node, std::size_t k) {
  const ir::Attributes& attributes = graph.attributes(node);
  const ir::Shape& shape = graph.shape(graph.operands(node)[0]);
  if (graph.op(node) == ir::Op::gather && k > 0)
    return !(shape[static_cast<std::size_t>(attributes.axes[k - 1])] == Dim(1));
  if (graph.op(node) != ir::Op::slice_update || k > 0) return true;
  bool covers = true;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    covers = covers && attributes.shape[axis] == shape[axis] && attributes.steps[axis].is_unit();
  }
  return !covers;
}

IndexMap region_value_map(const IndexMap& region, const ir::Shape& value) {
  return broadcast_map(region, value);
}

bool is_bijective(IndexSpace& space, const IndexMap& map, const ir::Shape& shape,
                  const std::vector<AtomId>& loops) {
  const Index linear = linear_index(space, map, shape);
  if (!(linear.offset == Dim(0))) return false;
  std::vector<IndexTerm> terms = linear.terms;
  std::size_t loops_needed = 0;
  for (const AtomId loop : loops) loops_needed += space.atom(loop).extent == Dim(1) ? 0 : 1;
  if (terms.size() != loops_needed) return false;
  Dim stride = 1;
  while (!terms.empty()) {
    const auto next = std::find_if(terms.begin(), terms.end(), [&](const IndexTerm& term) {
      return term.coefficient == stride;
    });
    if (next == terms.end() || space.atom(next->atom).kind != Atom::Kind::loop ||
        std::find(loops.begin(), loops.end(), next->atom) == loops.end()) {
      return false;
    }
    stride *= space.atom(next->atom).extent;
    terms.erase(next);
  }
  // The loops may cover more than `shape`: the first part of a concatenation is read by loops over
  // the whole result.
  return stride == ir::element_count(shape);
}

ir::Shape scatter_region(const Graph& graph, ValueId node) {
  if (is_user_write(graph, node)) {
    ir::Shape shape;
    for (std::size_t k = 0; k < graph.operands(node).size(); ++k) {
      if (!reads_whole(graph, node, k))
        shape = ir::broadcast_shapes(shape, graph.shape(graph.operands(node)[k]));
    }
    return shape;
  }
  std::vector<ir::Type> operands;
  for (const ValueId operand : graph.operands(node)) operands.push_back(graph.type(operand));
  return ir::scatter_region(operands);
}

std::vector<AtomId> loops_over(IndexSpace& space, const ir::Shape& shape, IndexMap& map) {
  std::vector<AtomId> loops;
  map.assign(shape.size(), {});
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == Dim(1)) continue;
    loops.push_back(space.new_loop(shape[axis]));
    map[axis] = space.loop(loops.back());
  }
  return loops;
}

}  // namespace heddle::passes
