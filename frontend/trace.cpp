#include "frontend/trace.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "heddle/error.h"

#include "frontend/record.h"

namespace heddle::frontend {
namespace {

std::atomic<std::uint64_t> next_trace_id{1};
thread_local Trace* current_trace = nullptr;

}  // namespace

Trace::Trace() : id_(next_trace_id.fetch_add(1, std::memory_order_relaxed)) {}

Trace* Trace::current() { return current_trace; }

NodeRef Trace::parameter(DType dtype, ir::Shape shape, bool scalar) {
  NodeRef node(new Node);
  node->kind = Node::Kind::parameter;
  node->dtype = dtype;
  node->shape = std::move(shape);
  node->trace_id = id_;
  node->scalar_parameter = scalar;
  node->index = static_cast<std::uint32_t>(inputs_.size());
  return node;
}

NodeRef Trace::add_input(ir::Type type) {
  NodeRef node = parameter(type.dtype, std::move(type.shape), false);
  inputs_.push_back({Input::Kind::array, array_count_++, node});
  return node;
}

NodeRef Trace::add_scalar(const Scalar& value) {
  const DType dtype = value.kind == Scalar::Kind::floating  ? DType::f64
                      : value.kind == Scalar::Kind::boolean ? DType::boolean
                                                            : DType::i64;
  NodeRef node = parameter(dtype, {}, true);
  node->weak = true;
  inputs_.push_back({Input::Kind::scalar, static_cast<std::uint32_t>(scalars_.size()), node});
  scalars_.push_back(value);
  return node;
}

Scalar Trace::value_of(const Node& node) const {
  if (node.kind == Node::Kind::parameter) return scalars_[inputs_[node.index].argument];
  if (is_floating(node.dtype)) return std::bit_cast<double>(node.bits);
  if (is_boolean(node.dtype)) return node.bits != 0;
  return node.dtype == DType::u64 ? Scalar(node.bits) : static_cast<std::int64_t>(node.bits);
}

int Trace::assume_side(const Node& node, DType dtype) {
  const int side = side_of(value_of(node), dtype);
  if (node.kind == Node::Kind::parameter && !is_boolean(node.dtype) && is_integer(dtype)) {
    const Assumption assumption{inputs_[node.index].argument, dtype, side};
    if (std::find(assumptions_.begin(), assumptions_.end(), assumption) == assumptions_.end()) {
      assumptions_.push_back(assumption);
    }
  }
  return side;
}

NodeRef Trace::scalar_in(const NodeRef& node, DType dtype, Site site, std::string_view op) {
  // Throws for a value on another side.
  const std::uint64_t bits = scalar_bits(op, value_of(*node), dtype, site);
  assume_side(*node, dtype);
  if (node->dtype == dtype) return node;
  if (node->kind == Node::Kind::constant) return record_scalar(dtype, bits, true);
  const std::uint32_t argument = inputs_[node->index].argument;
  for (const Input& input : inputs_) {
    if (input.kind == Input::Kind::scalar && input.argument == argument &&
        input.node->dtype == dtype && !input.node->weak) {
      return input.node;
    }
  }
  NodeRef variant = parameter(dtype, {}, true);
  inputs_.push_back({Input::Kind::scalar, argument, variant});
  return variant;
}

NodeRef Trace::capture(Cell* cell) {
  NodeRef& node = captured_[cell];
  if (!node) {
    node = parameter(cell->node->dtype, cell->node->shape, false);
    inputs_.push_back({Input::Kind::capture, static_cast<std::uint32_t>(captures_.size()), node});
    captures_.emplace_back(cell);
  }
  return node;
}

TraceScope::TraceScope(Trace& trace) : before_(std::exchange(current_trace, &trace)) {}
TraceScope::~TraceScope() { current_trace = before_; }

void value_in_trace(const char* what, const Site& site) {
  throw TraceError(
      at(fmt::format("{} asks for a value inside a jit trace, where there is none yet; "
                     "use hd::where for a choice that depends on data, or return the "
                     "array and ask outside",
                     what),
         site));
}

}  // namespace heddle::frontend
