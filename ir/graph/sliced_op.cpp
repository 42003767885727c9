#include "ir/graph/sliced_op.h"

#include <algorithm>

#include "ir/calls/calls.h"
#include "ir/calls/collective.h"
#include "ir/calls/user_map.h"

namespace heddle::ir {

namespace {

class Slicer {
 public:
  Slicer(const Graph& graph, ValueId id, const std::vector<bool>& varies, Dim count)
      : graph_(graph), id_(id), varies_(varies), count_(count) {
    sliced_.attributes = graph.attributes(id);
    sliced_.operands.assign(varies.size(), SlicedOperand::as_given);
    sliced_.rank = graph.shape(id).size();
  }

  std::optional<SlicedOp> run() {
    Attributes& attributes = sliced_.attributes;
    for (std::int64_t& axis : attributes.axes) ++axis;
    switch (kind_of(graph_.op(id_))) {
      case OpKind::source:
      case OpKind::elementwise:
        all(SlicedOperand::aligned);
        break;
      case OpKind::view:
        view();
        break;
      case OpKind::piecewise:
        all(SlicedOperand::repeated);
        if (graph_.op(id_) != Op::slice_update) break;
        sliced_.operands[1] = SlicedOperand::written;
        add_region();
        break;
      case OpKind::gather:
        all(SlicedOperand::aligned);
        sliced_.operands[0] = SlicedOperand::one;
        break;
      case OpKind::scatter:
        add_count(attributes.shape);
        all(SlicedOperand::aligned);
        break;
      case OpKind::reduction:
        if (finds_index(graph_.op(id_)) && attributes.axes.size() != 1) return std::nullopt;
        // All slices have the same segments.
        if (std::any_of(varies_.begin() + 1, varies_.end(), [](bool one) { return one; }))
          return std::nullopt;
        sliced_.operands[0] = SlicedOperand::repeated;
        break;
      case OpKind::scan:
        all(SlicedOperand::repeated);
        break;
      case OpKind::search:
        if (varies_[0]) return std::nullopt;
        break;
      case OpKind::call:
        if (!call()) return std::nullopt;
        break;
    }
    return std::move(sliced_);
  }

 private:
  void all(SlicedOperand form) { std::ranges::fill(sliced_.operands, form); }
  void add_count(Shape& shape) const { shape.insert(shape.begin(), count_); }

  void view() {
    Attributes& attributes = sliced_.attributes;
    switch (graph_.op(id_)) {
      case Op::transpose:
        attributes.axes.insert(attributes.axes.begin(), 0);
        break;
      case Op::slice:
        add_region();
        break;
      case Op::broadcast_to:
        all(SlicedOperand::aligned);
        add_count(attributes.shape);
        break;
      default:
        add_count(attributes.shape);
    }
  }

  void add_region() {
    Attributes& attributes = sliced_.attributes;
    attributes.starts.insert(attributes.starts.begin(), Dim(0));
    attributes.steps.insert(attributes.steps.begin(), 1);
    add_count(attributes.shape);
  }

  /// The axis of slices becomes a further batch axis of each operand. Axes named by attributes are
  /// shifted by one.
  bool call() {
    const CallData& call = *sliced_.attributes.call;
    if (call.op->regions != 0 || call.op == &calls::user_write() || call.op == &calls::collective())
      return false;
    if (graph_.is_call_of(id_, calls::user_map())) {
      for (std::size_t k = 0; k < varies_.size(); ++k)
        if (varies_[k] && is_raw_operand(call, k)) return false;
      all(SlicedOperand::aligned);
      return true;
    }
    if (broadcasts_batches(*call.op)) {
      sliced_.rank = 0;
      for (const ValueId operand : graph_.operands(id_))
        sliced_.rank = std::max(sliced_.rank, graph_.shape(operand).size());
      all(SlicedOperand::aligned);
      return true;
    }
    all(SlicedOperand::repeated);
    CallData data = call;
    for (std::size_t i = 0; i < data.attributes.size(); ++i) {
      if (call.op->attributes[i].is_axis) ++std::get<std::int64_t>(data.attributes[i]);
    }
    sliced_.attributes.call = CallRef(std::move(data));
    return true;
  }

  const Graph& graph_;
  ValueId id_;
  const std::vector<bool>& varies_;
  Dim count_;
  SlicedOp sliced_;
};

}  // namespace

std::optional<SlicedOp> sliced_op(const Graph& graph, ValueId id, const std::vector<bool>& varies,
                                  Dim count) {
  return Slicer(graph, id, varies, count).run();
}

}  // namespace heddle::ir
