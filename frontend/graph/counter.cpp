#include "frontend/graph/counter.h"

#include "frontend/graph/trace.h"

namespace heddle::frontend {

namespace {

/// At most so many nodes are looked at.
constexpr int most_nodes = 64;

std::optional<ir::Dim> expression(const Node& node, const Trace::Counter& counter, int& left) {
  if (left-- == 0 || node.dtype != DType::i64 || !node.shape.empty()) return std::nullopt;
  if (&node == counter.node) return counter.symbol;
  if (node.kind == Node::Kind::constant) return ir::Dim(static_cast<std::int64_t>(node.bits.low));
  if (node.kind != Node::Kind::operation) return std::nullopt;
  const bool unary = node.op == ir::Op::reshape || node.op == ir::Op::negative;
  const bool binary =
      node.op == ir::Op::add || node.op == ir::Op::subtract || node.op == ir::Op::multiply;
  if (!unary && !binary) return std::nullopt;
  const std::optional<ir::Dim> a = expression(*node.operands()[0], counter, left);
  if (!a) return std::nullopt;
  if (unary) return node.op == ir::Op::negative ? ir::Dim(0) - *a : *a;
  const std::optional<ir::Dim> b = expression(*node.operands()[1], counter, left);
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
  const std::optional<ir::Dim> found = expression(node, *trace->counter(), left);
  // A constant is a subscript like any other.
  return found && !found->is_constant() ? found : std::nullopt;
}

std::optional<ir::Dim> start_of_count(const Node& index, ir::Dim count, ir::Dim extent) {
  std::optional<ir::Dim> start = counter_expression(index);
  if (!start) return std::nullopt;
  const Trace::Counter& counter = *Trace::current()->counter();
  const auto always = [&](ir::Dim value) {
    return at(value, counter, false).is_non_negative() &&
           at(value, counter, true).is_non_negative();
  };
  if (always(ir::Dim(-1) - *start)) start = *start + extent;
  if (!always(*start) || !always(extent - count - *start)) return std::nullopt;
  return start;
}

}  // namespace heddle::frontend
