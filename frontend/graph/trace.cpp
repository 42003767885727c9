#include "frontend/graph/trace.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <complex>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "heddle/error.h"

#include "frontend/graph/depth_first.h"
#include "frontend/graph/node_memory.h"
#include "frontend/graph/record.h"

namespace heddle::frontend {
namespace {

std::atomic<std::uint64_t> next_trace_id{1};
thread_local Trace* current_trace = nullptr;

Scalar constant_value(const Node& node) {
  const auto [low, high] = node.bits;
  if (is_complex(node.dtype)) {
    return std::complex(std::bit_cast<double>(low), std::bit_cast<double>(high));
  }
  if (is_floating(node.dtype)) return std::bit_cast<double>(low);
  if (is_boolean(node.dtype)) return low != 0;
  return node.dtype == DType::u64 ? Scalar(low) : static_cast<std::int64_t>(low);
}

/// Computes 0-d int64 nodes of a trace on the host. Gives up on overflow of 64 bits, on unsupported
/// ops, and beyond a limit of nodes.
class HostIntegers {
 public:
  explicit HostIntegers(std::span<const Scalar> arguments) : arguments_(arguments) {}

  std::optional<std::int64_t> value(const Node& node) {
    if (left_-- == 0 || node.dtype != DType::i64) return std::nullopt;
    if (node.kind == Node::Kind::constant) return static_cast<std::int64_t>(node.bits.low);
    if (node.kind == Node::Kind::operation) return computed(node);
    if (!node.scalar_parameter) return std::nullopt;
    const Scalar& scalar = arguments_[node.bits.low];
    if (scalar.is_inexact() || frontend::compare_with_range(scalar, DType::i64) != 0) {
      return std::nullopt;
    }
    return scalar.integer;
  }

 private:
  std::optional<std::int64_t> computed(const Node& node) {
    const bool negative = node.op == ir::Op::negative;
    if (!negative && node.op != ir::Op::add && node.op != ir::Op::subtract &&
        node.op != ir::Op::multiply) {
      return std::nullopt;
    }
    const auto a = negative ? std::optional<std::int64_t>(0) : value(*node.operands()[0]);
    if (!a) return std::nullopt;
    const auto b = value(*node.operands()[negative ? 0 : 1]);
    if (!b) return std::nullopt;
    std::int64_t result = 0;
    const bool overflows = node.op == ir::Op::add        ? __builtin_add_overflow(*a, *b, &result)
                           : node.op == ir::Op::multiply ? __builtin_mul_overflow(*a, *b, &result)
                                                         : __builtin_sub_overflow(*a, *b, &result);
    return overflows ? std::nullopt : std::optional(result);
  }

  std::span<const Scalar> arguments_;
  int left_ = 64;
};

std::optional<int> compare_with_range(const std::optional<Scalar>& value, DType dtype) {
  return value ? std::optional(frontend::compare_with_range(*value, dtype)) : std::nullopt;
}

}  // namespace

std::optional<Scalar> weak_value(const Node& node, std::span<const Scalar> arguments) {
  if (!node.weak) return std::nullopt;
  if (node.kind == Node::Kind::constant) return constant_value(node);
  if (node.kind == Node::Kind::parameter) return arguments[node.bits.low];
  const std::optional<std::int64_t> value = HostIntegers(arguments).value(node);
  return value ? std::optional<Scalar>(*value) : std::nullopt;
}

namespace {

/// The value of an i64, float64 or bool parameter, which combines with arrays as a Python scalar.
NodeRef weak_copy(const NodeRef& parameter, const Site& site) {
  NodeRef node = record(ir::Op::reshape, {parameter}, {}, site);
  node->weak = true;
  return node;
}

}  // namespace

Trace::Trace(Trace* enclosing, Purpose purpose)
    : id_(next_trace_id.fetch_add(1, std::memory_order_relaxed)),
      enclosing_(enclosing),
      purpose_(purpose) {}

bool Trace::is_outside(const Node& node) const {
  if (node.trace_id == 0) return true;
  for (const Trace* trace = enclosing_; trace != nullptr; trace = trace->enclosing_) {
    if (trace->id_ == node.trace_id) return !node.weak || purpose_ == Purpose::region;
  }
  return false;
}

Trace* Trace::of_thread() { return current_trace; }

NodeRef Trace::parameter(DType dtype, ir::Shape shape, bool scalar) {
  NodeRef node(new_node());
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

NodeRef Trace::add_counter(ir::Dim symbol, ir::Dim length) {
  const NodeRef node = parameter(DType::i64, {}, false);
  inputs_.push_back({Input::Kind::counter, 0, node});
  counter_ = Counter{node.get(), symbol, length};
  return weak_copy(node, Site());
}

NodeRef Trace::add_scalar(const Scalar& value) {
  const DType dtype = default_dtype(value);
  NodeRef node = parameter(dtype, {}, true);
  node->weak = true;
  node->bits = scalars_.size();
  inputs_.push_back({Input::Kind::scalar, static_cast<std::uint32_t>(scalars_.size()), node});
  scalars_.push_back(value);
  if (is_integer(dtype))
    assumptions_.push_back({node, DType::i64, frontend::compare_with_range(value, DType::i64)});
  return node;
}

bool Trace::Assumption::holds(std::span<const Scalar> arguments) const {
  return compare_with_range(weak_value(*node, arguments), dtype) == side;
}

std::optional<Scalar> Trace::value_of(const Node& node) const { return weak_value(node, scalars_); }

int Trace::assume_range_side(const NodeRef& node, DType dtype) {
  if (!is_integer(dtype)) return 0;
  const Assumption assumption{node, dtype, compare_with_range(value_of(*node), dtype)};
  const bool varies = node->kind != Node::Kind::constant && !is_boolean(node->dtype);
  if (varies &&
      std::find(assumptions_.begin(), assumptions_.end(), assumption) == assumptions_.end()) {
    assumptions_.push_back(assumption);
  }
  return assumption.side.value_or(0);
}

NodeRef Trace::scalar_in(const NodeRef& node, DType dtype, Site site, std::string_view op) {
  if (node->kind == Node::Kind::operation && node->dtype == dtype) return {};
  const std::optional<Scalar> value = value_of(*node);
  // Throws if the value is out of range of the dtype.
  const ir::ElementBits bits = value ? scalar_bits(op, *value, dtype, site) : ir::ElementBits();
  assume_range_side(node, dtype);
  if (node->kind == Node::Kind::operation) return {};
  if (node->dtype == dtype) return node;
  if (node->kind == Node::Kind::constant) return record_scalar(dtype, bits, true);
  const auto argument = static_cast<std::uint32_t>(node->bits.low);
  for (const Input& input : inputs_) {
    if (input.kind == Input::Kind::scalar && input.argument == argument &&
        input.node->dtype == dtype && !input.node->weak) {
      return input.node;
    }
  }
  NodeRef variant = parameter(dtype, {}, true);
  variant->bits = argument;
  inputs_.push_back({Input::Kind::scalar, argument, variant});
  return variant;
}

NodeRef Trace::add_sample_key(std::shared_ptr<GeneratorState> generator) {
  NodeRef node = parameter(DType::u64, {}, true);
  inputs_.push_back({Input::Kind::draw, static_cast<std::uint32_t>(draws_.size()), node});
  draws_.push_back(std::move(generator));
  return node;
}

void Trace::assume_value(Cell* cell, const NodeRef& value) {
  Trace* outermost = this;
  while (outermost->enclosing_ != nullptr) outermost = outermost->enclosing_;
  for (const HeldValue& held : outermost->held_values_)
    if (held.cell.get() == cell) return;
  outermost->held_values_.push_back({CellRef(cell), value});
}

const NodeRef& Trace::capture(Cell* cell) {
  NodeRef& node = captured_[cell];
  if (!node) {
    node = parameter(cell->node->dtype, cell->node->shape, false);
    inputs_.push_back({Input::Kind::capture, static_cast<std::uint32_t>(captures_.size()), node});
    captures_.emplace_back(cell);
    if (cell->node->weak) node = weak_copy(node, cell->node->site);
  }
  return node;
}

TraceScope::TraceScope(Trace* trace) : before_(std::exchange(current_trace, trace)) {
  Trace::open_scopes_.fetch_add(1, std::memory_order_relaxed);
}
TraceScope::~TraceScope() {
  Trace::open_scopes_.fetch_sub(1, std::memory_order_relaxed);
  current_trace = before_;
}

std::vector<Node*> reachable(const std::vector<NodeRef>& roots) {
  std::vector<Node*> order;
  std::unordered_set<const Node*> met;
  std::vector<DepthFirstFrame> stack;
  for (const NodeRef& root : roots) {
    depth_first(
        *root, stack, [&](Node& node) { return met.insert(&node).second; },
        [&](Node& node) { order.push_back(&node); });
  }
  std::ranges::stable_sort(order, {}, [](const Node* node) {
    const bool operation = node->kind == Node::Kind::operation;
    return operation ? std::uint64_t{1} + node->index : 0;
  });
  return order;
}

void value_in_trace(const char* what, const Site& site) {
  throw TraceError(at(
      fmt::format("{} reads a value inside a jit trace, where values do not exist yet; use "
                  "hd::where for a data-dependent choice, or return the array and read it outside",
                  what),
      site));
}

}  // namespace heddle::frontend
