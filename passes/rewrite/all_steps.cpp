#include "passes/rewrite/all_steps.h"

#include <algorithm>

#include "ir/calls/calls.h"
#include "ir/graph/sliced_op.h"
#include "passes/rewrite/rewrite.h"
#include "passes/rewrite/step_slices.h"

namespace heddle::passes {

namespace {

using ir::Dim;
using ir::Graph;
using ir::Op;
using ir::ValueId;

/// A value of the loop's region, in the graph around the loop.
struct Value {
  ValueId id{};
  bool varies = false;  ///< from step to step: has a leading axis of steps
};

/// Adds the steps of one loop to a graph, all at once.
class AllSteps {
 public:
  AllSteps(Graph& graph, const ir::CallData& scan, const StepAccesses& steps)
      : graph_(graph),
        body_(*scan.regions[0].graph),
        steps_(steps),
        length_(steps.count),
        values_(body_.size()) {}

  /// The results of the loop, given its operands. nullopt if an op takes no axis of steps.
  std::optional<std::vector<ValueId>> run(const std::vector<ValueId>& operands) {
    place_parameters(operands);
    for (std::uint32_t i = 0; i < body_.size(); ++i) {
      const ValueId id{i};
      if (body_.op(id) == Op::parameter) continue;
      const std::optional<Value> value = make(id);
      if (!value || is_too_large(operands)) return std::nullopt;
      values_[i] = *value;
    }
    std::vector<ValueId> results;
    for (std::size_t i = 0; i < body_.outputs.size(); ++i) {
      const Value& value = value_of(body_.outputs[i]);
      results.push_back(i < steps_.carries ? value.id : with_steps(value));
    }
    return results;
  }

 private:
  const Value& value_of(ValueId id) const { return values_[index_of(id)]; }

  void place_parameters(const std::vector<ValueId>& operands) {
    const std::vector<ValueId>& parameters = body_.parameters();
    ir::Attributes counter;
    counter.dtype = DType::i64;
    counter.shape = {length_};
    counter.axes = {0};
    values_[index_of(parameters[counter_parameters - 1])] = {
        graph_.add(Op::iota, {}, std::move(counter)), true};
    for (std::size_t i = 0; i < operands.size(); ++i)
      values_[index_of(parameters[counter_parameters + i])] = {
          operands[i], i >= steps_.constants + steps_.carries};
  }

  /// The value of a node in all steps.
  std::optional<Value> make(ValueId id) {
    if (body_.op(id) == Op::constant)
      return Value{graph_.constant(body_.dtype(id), body_.attributes(id).bits)};
    if (const auto region = steps_.regions.find(id); region != steps_.regions.end())
      return steps_.carry_of.contains(id) ? update(id, region->second) : read(id, region->second);
    if (body_.op(id) == Op::slice && uses_counter(body_.attributes(id).starts)) return read(id);
    if (uses_counter(body_.attributes(id).starts) || uses_counter(body_.shape(id)) ||
        body_.op(id) == Op::result)
      return std::nullopt;
    std::vector<Value> operands;
    for (const ValueId operand : body_.operands(id)) {
      // The counter as an extent.
      if (operand == body_.parameters().front()) return std::nullopt;
      operands.push_back(value_of(operand));
    }
    if (std::ranges::any_of(operands, &Value::varies)) return vary(id, std::move(operands));
    std::vector<ValueId> ids;
    for (const Value& operand : operands) ids.push_back(operand.id);
    return Value{copy_node(graph_, body_, id, ids)};
  }

  /// A slice of a carry: what the step has written there, or what was there before the loop.
  std::optional<Value> read(ValueId id, const SteppedRegion& region) {
    if (const auto update = steps_.written_by.find(id); update != steps_.written_by.end())
      return written(update->second);
    const std::size_t carry = steps_.carry_of.at(body_.operands(id)[0]);
    const std::size_t parameter = counter_parameters + steps_.constants + carry;
    return read(id, region, value_of(body_.parameters()[parameter]).id);
  }
  /// A slice of a value that is the same in all steps.
  std::optional<Value> read(ValueId id) {
    const Value& array = value_of(body_.operands(id)[0]);
    const auto region = stepped_region(body_.attributes(id), steps_.counter);
    if (array.varies || !region || !region->is_within(graph_.shape(array.id), steps_.count))
      return std::nullopt;
    return read(id, *region, array.id);
  }
  std::optional<Value> read(ValueId id, const SteppedRegion& region, ValueId array) {
    if (!can_slice_steps(region, graph_.shape(array))) return std::nullopt;
    return Value{step_slices(graph_, array, region, steps_.count, location(id)),
                 !region.moving().empty()};
  }

  /// What an update writes in each step.
  Value written(ValueId update) {
    ir::Shape shape = body_.attributes(update).shape;
    const Value part = aligned(value_of(body_.operands(update)[1]), shape.size());
    shape.insert(shape.begin(), length_);
    return {shaped(Op::broadcast_to, part.id, shape), true};
  }

  std::optional<Value> update(ValueId id, const SteppedRegion& region) {
    if (!can_write_steps(region)) return std::nullopt;
    return Value{with_step_slices(graph_, value_of(body_.operands(id)[0]).id, written(id).id,
                                  region, steps_.count, location(id))};
  }

  /// An op of which some operands vary.
  std::optional<Value> vary(ValueId id, std::vector<Value> operands) {
    std::optional<Value> made;
    if (body_.is_call_of(id, ir::calls::matmul())) made = one_product(id, operands);
    if (!made) made = sliced(id, std::move(operands));
    if (made && is_stored(id)) note_bytes(made->id);
    return made;
  }

  std::optional<Value> sliced(ValueId id, std::vector<Value> operands) {
    std::vector<bool> varies;
    for (const Value& operand : operands) varies.push_back(operand.varies);
    auto op = ir::sliced_op(body_, id, varies, length_);
    if (!op || uses_counter(op->attributes.starts)) return std::nullopt;
    std::vector<ValueId> ids;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      ids.push_back(prepared(operands[i], *op, i));
      if (body_.op(id) == Op::call) note_bytes(ids.back());
    }
    return Value{graph_.add(body_.op(id), ids, std::move(op->attributes), location(id)), true};
  }

  ValueId prepared(const Value& operand, const ir::SlicedOp& op, std::size_t i) {
    switch (op.operands[i]) {
      case ir::SlicedOperand::as_given:
        break;
      case ir::SlicedOperand::aligned:
        return aligned(operand, op.rank).id;
      case ir::SlicedOperand::one:
        return operand.varies ? aligned(operand, op.rank).id : with_one_step(operand.id);
      case ir::SlicedOperand::repeated:
        return with_steps(operand);
      case ir::SlicedOperand::written:
        return shaped(Op::broadcast_to, aligned(operand, op.attributes.shape.size() - 1).id,
                      op.attributes.shape);
    }
    return operand.id;
  }

  /// A product of matrices of which one is the same in all steps: one product.
  std::optional<Value> one_product(ValueId id, const std::vector<Value>& operands) {
    const auto& [a, b] = std::pair(operands[0], operands[1]);
    const ir::Shape left = body_.shape(body_.operands(id)[0]);
    const ir::Shape right = body_.shape(body_.operands(id)[1]);
    if (left.size() != 2 || right.size() != 2 || a.varies == b.varies) return std::nullopt;
    const Dim rows = left[0], depth = left[1], columns = right[1];
    const auto product = [&](ValueId first, ValueId second) {
      return graph_.add(Op::call, {first, second}, body_.attributes(id), location(id));
    };
    if (a.varies) {
      const ValueId all = shaped(Op::reshape, a.id, {length_ * rows, depth});
      return Value{shaped(Op::reshape, product(all, b.id), {length_, rows, columns}), true};
    }
    const ValueId all = shaped(Op::reshape, swapped(b.id), {depth, length_ * columns});
    return Value{swapped(shaped(Op::reshape, product(a.id, all), {rows, length_, columns})), true};
  }

  /// With the first two of three axes exchanged.
  ValueId swapped(ValueId value) {
    ir::Attributes order;
    order.axes = {1, 0, 2};
    return graph_.add(Op::transpose, {value}, std::move(order));
  }

  ValueId shaped(Op op, ValueId value, const ir::Shape& shape) {
    if (graph_.shape(value) == shape) return value;
    ir::Attributes attributes;
    attributes.shape = shape;
    return graph_.add(op, {value}, std::move(attributes));
  }
  Value aligned(const Value& value, std::size_t rank) {
    if (!value.varies) return value;
    ir::Shape shape = graph_.shape(value.id);
    shape.insert(shape.begin() + 1, rank + 1 - shape.size(), Dim(1));
    return {shaped(Op::reshape, value.id, shape), true};
  }
  ValueId with_one_step(ValueId value) {
    ir::Shape shape = graph_.shape(value);
    shape.insert(shape.begin(), Dim(1));
    return shaped(Op::reshape, value, shape);
  }
  ValueId with_steps(const Value& value) {
    if (value.varies) return value.id;
    ir::Shape shape = graph_.shape(value.id);
    shape.insert(shape.begin(), length_);
    return shaped(Op::broadcast_to, value.id, shape);
  }

  bool uses_counter(const ir::Dims& dims) const { return contains_symbol(dims, steps_.counter); }

  const ir::Location& location(ValueId id) const { return body_.node(id).location; }

  /// Whether a kernel of its own may store the value.
  bool is_stored(ValueId id) const {
    const ir::OpKind kind = ir::kind_of(body_.op(id));
    return kind == ir::OpKind::call || kind == ir::OpKind::reduction || kind == ir::OpKind::scan ||
           kind == ir::OpKind::scatter;
  }
  void note_bytes(ValueId value) { stored_bytes_ += byte_count(graph_.type(value)); }
  /// Whether the values of all steps take more than a few times what the loop reads.
  bool is_too_large(const std::vector<ValueId>& operands) const {
    constexpr std::int64_t little = std::int64_t{16} << 20;
    if (stored_bytes_.is_constant() && stored_bytes_.constant() <= little) return false;
    Dim most = 0;
    for (const ValueId operand : operands) most += Dim(4) * byte_count(graph_.type(operand));
    return !(most - stored_bytes_).is_non_negative();
  }

  Graph& graph_;
  const Graph& body_;
  const StepAccesses& steps_;
  const Dim length_;
  std::vector<Value> values_;  ///< by node of the region
  Dim stored_bytes_ = 0;
};

}  // namespace

std::optional<std::vector<ValueId>> all_steps(Graph& graph, const ir::CallData& scan,
                                              const StepAccesses& steps,
                                              const std::vector<ValueId>& operands) {
  return AllSteps(graph, scan, steps).run(operands);
}

}  // namespace heddle::passes
