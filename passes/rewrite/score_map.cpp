#include "passes/rewrite/score_map.h"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>

#include "ir/calls/calls.h"
#include "ir/types/scalar.h"
#include "passes/rewrite/rewrite.h"

namespace heddle::passes {

namespace {

using ir::Graph;
using ir::Op;
using ir::Shape;
using ir::ValueId;

class Builder {
 public:
  Builder(const Graph& graph, ValueId scores) : graph_(graph), shape_(graph.shape(scores)) {
    find_product(scores);
  }

  std::optional<ScoreMap> build(ValueId scores) {
    if (products_ != 1) return std::nullopt;
    mapped_[index_of(map_.product)] = map_.graph.parameter(DType::f32, shape_);
    const std::optional<ValueId> result = dependent(scores);
    if (!result || map_.graph.dtype(*result) != DType::f32) return std::nullopt;
    map_.graph.name = "scores";
    map_.graph.outputs = {*result};
    return std::move(map_);
  }

 private:
  /// Whether it is computed of scores element by element, if any of its operands is.
  bool can_map(ValueId value) const {
    return ir::is_elementwise(graph_.op(value)) && graph_.shape(value) == shape_;
  }

  /// Finds the nodes that depend on the product.
  bool find_product(ValueId value) {
    const auto known = depends_.find(index_of(value));
    if (known != depends_.end()) return known->second;
    bool depends = false;
    if (graph_.is_call_of(value, ir::calls::matmul()) && graph_.shape(value) == shape_) {
      map_.product = value;
      ++products_;
      depends = true;
    } else if (can_map(value)) {
      for (const ValueId operand : graph_.operands(value)) depends |= find_product(operand);
    }
    if (depends) map_.nodes.push_back(value);
    return depends_[index_of(value)] = depends;
  }

  bool is_dependent(ValueId value) const {
    const auto known = depends_.find(index_of(value));
    return known != depends_.end() && known->second;
  }

  /// The value in the map, where halves are float32.
  std::optional<ValueId> dependent(ValueId value) {
    const auto known = mapped_.find(index_of(value));
    if (known != mapped_.end()) return known->second;
    const ir::Location location = graph_.node(value).location;
    std::vector<ValueId> operands;
    for (const ValueId operand : graph_.operands(value)) {
      std::optional<ValueId> made = is_dependent(operand) ? dependent(operand) : other(operand);
      if (!made) return std::nullopt;
      if (is_half(map_.graph.dtype(*made))) made = cast(*made, location);
      operands.push_back(*made);
    }
    const DType dtype = graph_.dtype(value);
    if (dtype != DType::boolean && dtype != DType::f32 && !is_half(dtype)) return std::nullopt;
    if (graph_.op(value) == Op::cast && map_.graph.dtype(operands[0]) == DType::f32 &&
        dtype != DType::boolean)
      return mapped_[index_of(value)] = operands[0];
    const ValueId made =
        graph_.op(value) == Op::cast && is_half(dtype)
            ? cast(operands[0], location)
            : map_.graph.add(graph_.op(value), operands, graph_.attributes(value), location);
    return mapped_[index_of(value)] = made;
  }

  ValueId cast(ValueId value, ir::Location location) {
    ir::Attributes attributes;
    attributes.dtype = DType::f32;
    return map_.graph.add(Op::cast, {value}, attributes, location);
  }

  /// Whether computing it again for each element costs little.
  bool is_cheap(ValueId value) const {
    constexpr int most_cost = 4;
    const Op op = graph_.op(value);
    return ir::is_view(op) || op == Op::iota || op == Op::constant ||
           (ir::is_elementwise(op) && ir::info(op).cost <= most_cost);
  }

  /// A value that does not depend on the product.
  std::optional<ValueId> other(ValueId value) {
    const auto known = mapped_.find(index_of(value));
    if (known != mapped_.end()) return known->second;
    if (!is_cheap(value)) return operand(value);
    if (graph_.op(value) == Op::constant) {
      return mapped_[index_of(value)] =
                 map_.graph.constant(graph_.dtype(value), graph_.attributes(value).bits);
    }
    std::vector<ValueId> operands;
    for (const ValueId each : graph_.operands(value)) {
      const std::optional<ValueId> made = other(each);
      if (!made) return std::nullopt;
      operands.push_back(*made);
    }
    return mapped_[index_of(value)] = map_.graph.add(
               graph_.op(value), operands, graph_.attributes(value), graph_.node(value).location);
  }

  /// An array in memory. Numbers that are passed at each launch are none.
  std::optional<ValueId> operand(ValueId value) {
    if (graph_.op(value) == Op::parameter && graph_.attributes(value).scalar) return std::nullopt;
    map_.operands.push_back(value);
    return mapped_[index_of(value)] = map_.graph.parameter(graph_.dtype(value), graph_.shape(value),
                                                           graph_.node(value).location);
  }

  const Graph& graph_;
  Shape shape_;
  ScoreMap map_;
  int products_ = 0;
  std::unordered_map<std::uint32_t, bool> depends_;
  std::unordered_map<std::uint32_t, ValueId> mapped_;
};

}  // namespace

std::optional<ScoreMap> find_score_map(const ir::Graph& graph, ir::ValueId scores) {
  return Builder(graph, scores).build(scores);
}

}  // namespace heddle::passes
