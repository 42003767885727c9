#include "passes/calls/transposed_operand.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace heddle::passes {

namespace {

using ir::Dim;
using ir::Op;
using ir::Shape;

constexpr int most_ops = 4;  ///< one above the other

bool has_transpose_within(const Graph& graph, ValueId value, int depth) {
  if (swaps_last_axes(graph, value)) return true;
  return depth > 0 && ir::is_elementwise(graph.op(value)) &&
         std::ranges::any_of(graph.operands(value), [&](ValueId operand) {
           return has_transpose_within(graph, operand, depth - 1);
         });
}

/// Computes values with their last two axes exchanged.
class Exchanged {
 public:
  Exchanged(Graph& graph, ir::Location location) : graph_(graph), location_(location) {}

  /// Nullopt for what would have to be transposed. `depth`: of ops below, at most.
  std::optional<ValueId> of(ValueId value, int depth) {
    if (swaps_last_axes(graph_, value)) {
      has_transpose_ = true;
      return graph_.operands(value)[0];
    }
    if (is_vector(value)) return exchanged_vector(value);
    if (!ir::is_elementwise(graph_.op(value)) || depth == 0) return std::nullopt;
    const std::span<const ValueId> own = graph_.operands(value);
    std::vector<ValueId> operands(own.begin(), own.end());
    for (ValueId& operand : operands) {
      const std::optional<ValueId> exchanged = of(operand, depth - 1);
      if (!exchanged) return std::nullopt;
      operand = *exchanged;
    }
    const ir::Attributes attributes = graph_.attributes(value);
    return graph_.add(graph_.op(value), operands, attributes, location_);
  }

  bool has_transpose() const { return has_transpose_; }

 private:
  Dim extent(ValueId value, std::size_t from_end) const {
    const Shape& shape = graph_.shape(value);
    return shape.size() < from_end ? Dim(1) : shape[shape.size() - from_end];
  }

  bool is_vector(ValueId value) const {
    return extent(value, 1) == Dim(1) || extent(value, 2) == Dim(1);
  }

  ValueId exchanged_vector(ValueId value) {
    if (graph_.shape(value).empty()) return value;
    ir::Attributes attributes;
    attributes.shape = graph_.shape(value);
    while (attributes.shape.size() < 2) attributes.shape.insert(attributes.shape.begin(), Dim(1));
    std::swap(attributes.shape.back(), attributes.shape[attributes.shape.size() - 2]);
    return graph_.add(Op::reshape, {value}, attributes, location_);
  }

  Graph& graph_;
  ir::Location location_;
  bool has_transpose_ = false;
};

}  // namespace

bool swaps_last_axes(const Graph& graph, ValueId value) {
  if (graph.op(value) != Op::transpose) return false;
  const std::vector<std::int64_t>& axes = graph.attributes(value).axes;
  const auto rank = static_cast<std::int64_t>(axes.size());
  for (std::int64_t axis = 0; axis + 2 < rank; ++axis) {
    if (axes[axis] != axis) return false;
  }
  return axes[rank - 1] == rank - 2 && axes[rank - 2] == rank - 1;
}

bool has_transpose_below(const Graph& graph, ValueId value) {
  return has_transpose_within(graph, value, most_ops);
}

ValueId with_transpose_last(Graph& graph, ValueId operand, ir::Location location) {
  if (!ir::is_elementwise(graph.op(operand))) return operand;
  Exchanged exchanged(graph, location);
  const std::optional<ValueId> found = exchanged.of(operand, most_ops);
  if (!found || !exchanged.has_transpose()) return operand;
  const std::size_t rank = graph.shape(operand).size();
  ir::Attributes attributes;
  attributes.axes.resize(rank);
  std::iota(attributes.axes.begin(), attributes.axes.end(), std::int64_t{0});
  std::swap(attributes.axes[rank - 1], attributes.axes[rank - 2]);
  return graph.add(Op::transpose, {*found}, attributes, location);
}

}  // namespace heddle::passes
