#include "frontend/transform/vmap.h"

#include <algorithm>
#include <unordered_map>

#include "frontend/array/access.h"
#include "frontend/graph/axes.h"
#include "frontend/graph/record.h"
#include "ir/calls/calls.h"
#include "ir/calls/collective.h"
#include "ir/calls/user_map.h"

namespace heddle::frontend {

using ir::Op;
using ir::OpKind;

namespace {

/// The vectorised value of a trace node: the same for all slices, or with a leading axis of slices.
struct Value {
  NodeRef node;
  bool varies = false;
};

/// Records the ops of a trace again, with the axis of slices where they depend on the input.
class VmapRecorder {
 public:
  VmapRecorder(const Trace& trace, const NodeRef& lines)
      : trace_(trace), lines_(lines), count_(lines->shape[0]) {}

  std::optional<NodeRef> operator()(const NodeRef& result) {
    for (Node* node : reachable({result})) {
      std::optional<Value> value = value_of(*node);
      if (!value) return std::nullopt;
      values_.emplace(node, *std::move(value));
    }
    return with_batch_axis(values_.at(result.get()), result->site);
  }

 private:
  std::optional<Value> value_of(const Node& node) {
    if (node.kind == Node::Kind::constant) return Value{record_scalar(node.dtype, node.bits, true)};
    if (node.kind == Node::Kind::parameter) return input_value(node);
    std::vector<Value> operands;
    for (const NodeRef& operand : node.operands()) operands.push_back(values_.at(operand.get()));
    const bool varies = std::any_of(operands.begin(), operands.end(),
                                    [](const Value& value) { return value.varies; });
    ir::Attributes attributes = node.attributes ? *node.attributes : ir::Attributes{};
    if (!varies) return Value{recorded(node, operands, std::move(attributes))};
    if (!add_batch_axis(node, operands, attributes)) return std::nullopt;
    return Value{recorded(node, operands, std::move(attributes)), true};
  }

  std::optional<Value> input_value(const Node& node) const {
    const Trace::Input& input = trace_.inputs()[node.index];
    if (input.kind == Trace::Input::Kind::array) return Value{lines_, true};
    if (input.kind != Trace::Input::Kind::capture) return std::nullopt;
    Cell* const cell = trace_.captures()[input.argument].get();
    Trace* const outer = Trace::current();
    return Value{outer != nullptr && outer->is_outside(*cell->node) ? outer->capture(cell)
                                                                    : cell->node};
  }

  static NodeRef recorded(const Node& node, const std::vector<Value>& operands,
                          ir::Attributes attributes) {
    std::vector<NodeRef> nodes;
    for (const Value& operand : operands) nodes.push_back(operand.node);
    return record(node.op, nodes, std::move(attributes), node.site);
  }

  ir::Shape lined(const ir::Shape& shape) const {
    ir::Shape result = shape;
    result.insert(result.begin(), count_);
    return result;
  }

  NodeRef with_batch_axis(const Value& value, const Site& site) const {
    if (value.varies) return value.node;
    return broadcast_to_shape(value.node, lined(value.node->shape), site);
  }

  /// Inserts axes of extent 1 after the axis of slices, so that the value broadcasts with others of
  /// the given rank.
  static void align(Value& value, std::size_t rank, const Site& site) {
    if (!value.varies || value.node->shape.size() == rank + 1) return;
    ir::Shape shape = value.node->shape;
    shape.insert(shape.begin() + 1, rank + 1 - shape.size(), ir::Dim(1));
    value.node = reshape_to(value.node, std::move(shape), site);
  }

  /// Vectorises operands and attributes of an op. Returns false if the op cannot be vectorised.
  bool add_batch_axis(const Node& node, std::vector<Value>& operands,
                      ir::Attributes& attributes) const {
    const OpKind kind = ir::kind_of(node.op);
    const auto all_with_lines = [&] {
      for (Value& operand : operands) operand.node = with_batch_axis(operand, node.site);
    };
    for (std::int64_t& axis : attributes.axes) ++axis;
    switch (kind) {
      case OpKind::source:
      case OpKind::elementwise:
        for (Value& operand : operands) align(operand, node.shape.size(), node.site);
        return true;
      case OpKind::view:
        add_batch_axis_to_view(node, operands[0], attributes);
        return true;
      case OpKind::piecewise:
        if (node.op == Op::slice_update) {
          // A scalar is written to every element.
          operands[1].node = broadcast_inside(operands[1], attributes.shape, node.site);
          operands[1].varies = true;
          add_region(attributes);
        }
        all_with_lines();
        return true;
      case OpKind::gather:
        if (!operands[0].varies)
          operands[0].node = reshape_to(operands[0].node, in_front(operands[0].node), node.site);
        for (Value& operand : operands) align(operand, node.shape.size(), node.site);
        return true;
      case OpKind::scatter:
        for (Value& operand : operands) align(operand, node.shape.size(), node.site);
        attributes.shape = lined(attributes.shape);
        return true;
      case OpKind::reduction:
        // All slices have the same segments.
        for (std::size_t k = 1; k < operands.size(); ++k) {
          if (operands[k].varies) return false;
        }
        operands[0].node = with_batch_axis(operands[0], node.site);
        return true;
      case OpKind::scan:
        all_with_lines();
        return true;
      case OpKind::call:
        if (is_user_map(node)) return add_batch_axis_to_user_map(node, operands);
        if (node.op == Op::call &&
            (attributes.call->op->regions != 0 || attributes.call->op == &ir::calls::user_write() ||
             attributes.call->op == &ir::calls::collective()))
          return false;
        if (node.op == Op::call) add_batch_axis_to_call(node, operands, attributes);
        return true;
      case OpKind::search:
        return !operands[0].varies;
    }
    return false;
  }

  static bool is_user_map(const Node& node) {
    return node.op == Op::call && node.attributes->call->op == &ir::calls::user_map();
  }

  /// Operands broadcast. An operand that is read as a whole must be the same for all slices.
  bool add_batch_axis_to_user_map(const Node& node, std::vector<Value>& operands) const {
    for (std::size_t k = 0; k < operands.size(); ++k) {
      if (!ir::is_raw_operand(*node.attributes->call, k)) {
        align(operands[k], node.shape.size(), node.site);
      } else if (operands[k].varies) {
        return false;
      }
    }
    return true;
  }

  /// The axis of slices becomes a further batch axis of each operand. Axes named by attributes are
  /// shifted by one.
  void add_batch_axis_to_call(const Node& node, std::vector<Value>& operands,
                              ir::Attributes& attributes) const {
    const ir::CallOp& op = *attributes.call->op;
    if (ir::broadcasts_batches(op)) {
      std::size_t rank = 0;
      for (const NodeRef& operand : node.operands()) rank = std::max(rank, operand->shape.size());
      for (Value& operand : operands) align(operand, rank, node.site);
      return;
    }
    for (Value& operand : operands) operand.node = with_batch_axis(operand, node.site);
    ir::CallData data = *attributes.call;
    for (std::size_t i = 0; i < data.attributes.size(); ++i) {
      if (op.attributes[i].is_axis) ++std::get<std::int64_t>(data.attributes[i]);
    }
    attributes.call = ir::CallRef(std::move(data));
  }

  void add_batch_axis_to_view(const Node& node, Value& operand, ir::Attributes& attributes) const {
    switch (node.op) {
      case Op::transpose:
        attributes.axes.insert(attributes.axes.begin(), 0);
        break;
      case Op::slice:
        add_region(attributes);
        break;
      case Op::broadcast_to:
        align(operand, node.shape.size(), node.site);
        attributes.shape = lined(attributes.shape);
        break;
      default:
        attributes.shape = lined(attributes.shape);
    }
  }

  void add_region(ir::Attributes& attributes) const {
    attributes.starts.insert(attributes.starts.begin(), ir::Dim(0));
    attributes.steps.insert(attributes.steps.begin(), 1);
    attributes.shape = lined(attributes.shape);
  }

  static ir::Shape in_front(const NodeRef& node) {
    ir::Shape shape = node->shape;
    shape.insert(shape.begin(), ir::Dim(1));
    return shape;
  }

  /// The vectorised value, broadcast to the given shape.
  NodeRef broadcast_inside(Value value, const ir::Shape& shape, const Site& site) const {
    align(value, shape.size(), site);
    return broadcast_to_shape(value.node, lined(shape), site);
  }

  const Trace& trace_;
  const NodeRef& lines_;
  ir::Dim count_;
  std::unordered_map<const Node*, Value> values_;
};

}  // namespace

std::optional<NodeRef> vmap_trace(const Trace& trace, const NodeRef& result, const NodeRef& lines) {
  return VmapRecorder(trace, lines)(result);
}

}  // namespace heddle::frontend
