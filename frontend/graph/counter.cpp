#include "frontend/graph/counter.h"

#include <vector>

#include "frontend/graph/trace.h"

namespace heddle::frontend {

namespace {

/// At most so many nodes are looked at.
constexpr int most_nodes = 64;

std::optional<ir::Dim> expression(const Node& node, const Trace& trace, int& left);

/// The expression of a value from outside of a body, in the counters of loops around it.
std::optional<ir::Dim> captured_expression(const Node& node, const Trace& trace, int& left) {
  for (const Trace::Input& input : trace.inputs()) {
    if (input.node.get() != &node || input.kind != Trace::Input::Kind::capture) continue;
    const NodeRef& value = trace.captures()[input.argument]->node;
    const Trace* around = value ? &trace : nullptr;
    // A function is traced once for several values; the body of a loop, for each loop.
    while (around != nullptr && around->id() != value->trace_id)
      around = around->is_region() ? around->enclosing() : nullptr;
    return around == nullptr ? std::nullopt : expression(*value, *around, left);
  }
  return std::nullopt;
}

std::optional<ir::Dim> expression(const Node& node, const Trace& trace, int& left) {
  if (left-- == 0 || node.dtype != DType::i64 || !node.shape.empty()) return std::nullopt;
  if (trace.counter() && &node == trace.counter()->node) return trace.counter()->symbol;
  if (node.kind == Node::Kind::constant) return ir::Dim(static_cast<std::int64_t>(node.bits.low));
  if (node.kind == Node::Kind::parameter) return captured_expression(node, trace, left);
  if (node.kind != Node::Kind::operation || node.trace_id != trace.id()) return std::nullopt;
  const bool unary = node.op == ir::Op::reshape || node.op == ir::Op::negative;
  const bool binary =
      node.op == ir::Op::add || node.op == ir::Op::subtract || node.op == ir::Op::multiply;
  if (!unary && !binary) return std::nullopt;
  const std::optional<ir::Dim> a = expression(*node.operands()[0], trace, left);
  if (!a) return std::nullopt;
  if (unary) return node.op == ir::Op::negative ? ir::Dim(0) - *a : *a;
  const std::optional<ir::Dim> b = expression(*node.operands()[1], trace, left);
  if (!b) return std::nullopt;
  if (node.op == ir::Op::add) return *a + *b;
  if (node.op == ir::Op::subtract) return *a - *b;
  // The starts of slices are linear in the counter.
  if (!a->is_constant() && !b->is_constant()) return std::nullopt;
  return *a * *b;
}

/// The value in the loop's first or last step.
ir::Dim at(ir::Dim value, const Trace::Counter& counter, bool last) {
  const auto with = [&](std::int64_t step) {
    std::vector<ir::SymbolId> symbols;
    counter.symbol.collect_symbols(symbols);
    const ir::SymbolBinding binding{symbols.front(), step};
    return value.with_bound({&binding, 1});
  };
  const ir::Dim first = with(0);
  return last ? first + (with(1) - first) * (counter.length - ir::Dim(1)) : first;
}

}  // namespace

std::optional<ir::Dim> counter_expression(const Node& node) {
  const Trace* const trace = Trace::current();
  if (trace == nullptr || !trace->counter() || node.trace_id != trace->id()) return std::nullopt;
  int left = most_nodes;
  const std::optional<ir::Dim> found = expression(node, *trace, left);
  if (!found) return std::nullopt;
  // A constant is a subscript like any other. Counters of other loops are values in memory.
  std::vector<ir::SymbolId> symbols;
  found->collect_symbols(symbols);
  trace->counter()->symbol.collect_symbols(symbols);
  return symbols.size() == 1 && !found->is_constant() ? found : std::nullopt;
}

std::optional<ir::Dim> start_of_count(ir::Dim first, ir::Dim count, ir::Dim extent) {
  const Trace::Counter& counter = *Trace::current()->counter();
  const auto always = [&](ir::Dim value) {
    return at(value, counter, false).is_non_negative() &&
           at(value, counter, true).is_non_negative();
  };
  if (always(ir::Dim(-1) - first)) first = first + extent;
  if (!always(first) || !always(extent - count - first)) return std::nullopt;
  return first;
}

std::optional<std::int64_t> counted_distance(const Node& a, const Node& b) {
  const Trace* const trace = Trace::current();
  if (trace == nullptr || a.trace_id != trace->id() || b.trace_id != trace->id())
    return std::nullopt;
  int left = most_nodes;
  const std::optional<ir::Dim> x = expression(a, *trace, left), y = expression(b, *trace, left);
  if (!x || !y || !(*x - *y).is_constant()) return std::nullopt;
  return (*x - *y).constant();
}

}  // namespace heddle::frontend
