#include "tests/cases/exactness.h"

#include <algorithm>
#include <span>
#include <unordered_map>

#include "ir/calls/calls.h"

namespace heddle::test {
namespace {

using ir::Op;
using ir::ValueId;

/// What every target gives alike of a value, and whose zeros and NaNs may have either sign.
struct Bits {
  bool exact = true, zero_open = false, nan_open = false;

  void join(const Bits& other) {
    exact = exact && other.exact;
    zero_open = zero_open || other.zero_open;
    nan_open = nan_open || other.nan_open;
  }
  friend bool operator==(const Bits&, const Bits&) = default;
};

void join(std::span<Bits> values, std::span<const Bits> others) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i].join(others[i]);
}

/// Their zeros may have either sign.
bool leaves_zero_open(Op op) {
  switch (op) {
    case Op::maximum:
    case Op::minimum:
    case Op::fmax:
    case Op::fmin:
    case Op::max:
    case Op::min:
    case Op::cummax:
    case Op::cummin:
      return true;
    default:
      return false;
  }
}

/// A NaN's sign shows in their result.
bool shows_sign(Op op) { return op == Op::signbit || op == Op::copysign; }

/// A zero's sign shows in more of it than in a zero's sign.
bool shows_sign_of_zero(Op op) {
  return shows_sign(op) || op == Op::divide || op == Op::reciprocal || op == Op::floor_divide;
}

bool is_exact_op(const ir::Graph& graph, ValueId id, bool contracts, bool fixed_order) {
  const Op op = graph.op(id);
  const bool floating = is_inexact(graph.dtype(id));
  if (!graph.operands(id).empty() && is_complex(graph.dtype(graph.operands(id).back()))) {
    // A minimum is whichever NaN comes first.
    if (op == Op::min || op == Op::max) return false;
    if (ir::is_elementwise(op) && op != Op::cast)
      return ir::info(op).complex_ulp() == 0 || !floating;
  }
  if (ir::is_elementwise(op) && op != Op::cast) {
    // A product may be contracted into what adds it.
    const bool contracted = contracts && (op == Op::multiply || op == Op::square) &&
                            (graph.dtype(id) == DType::f32 || graph.dtype(id) == DType::f64);
    return !contracted && (ir::info(op).ulp == 0 || !floating);
  }
  // A product of complex numbers adds products.
  if (op == Op::prod && is_complex(graph.dtype(id))) return fixed_order && !contracts;
  if (op == Op::sum || op == Op::prod) return !floating || fixed_order;
  return !floating || (op != Op::cumsum && op != Op::cumprod && op != Op::logcumsumexp &&
                       (op != Op::call || graph.is_call_of(id, ir::calls::sort())));
}

/// Goes through a graph and, for its loops and branches, through their regions.
class Analysis {
 public:
  Analysis(const ir::Graph& graph, bool contracts, bool fixed_order)
      : graph_(graph), contracts_(contracts), fixed_order_(fixed_order) {}

  /// Of each node.
  std::vector<Bits> of_nodes(std::span<const Bits> parameters) {
    for (std::uint32_t i = 0; i < graph_.size(); ++i) {
      const ValueId id{i};
      if (graph_.op(id) == Op::parameter) {
        bits_.push_back(parameters[graph_.attributes(id).index]);
      } else {
        bits_.push_back(of_node(id));
      }
    }
    return std::move(bits_);
  }

 private:
  Bits of_node(ValueId id) {
    if (graph_.op(id) == Op::result) {
      const auto found = loops_.find(ir::index_of(graph_.operands(id)[0]));
      if (found != loops_.end()) return found->second[graph_.attributes(id).index];
    }
    const bool is_loop = graph_.op(id) == Op::call && !graph_.attributes(id).call->regions.empty();
    if (!is_loop) return of_op(id);
    std::vector<Bits> operands;
    for (const ValueId operand : graph_.operands(id))
      operands.push_back(bits_[ir::index_of(operand)]);
    return loops_.emplace(ir::index_of(id), of_loop(*graph_.attributes(id).call, operands))
        .first->second.front();
  }

  Bits of_op(ValueId id) const {
    const Op op = graph_.op(id);
    const std::span<const ValueId> operands = graph_.operands(id);
    Bits result;
    for (const ValueId operand : operands) {
      const Bits& used = bits_[ir::index_of(operand)];
      result.join(used);
      const bool hidden_sign =
          (used.nan_open && shows_sign(op)) || (used.zero_open && shows_sign_of_zero(op));
      result.exact = result.exact && !hidden_sign;
    }
    result.exact = result.exact && is_exact_op(graph_, id, contracts_, fixed_order_);
    // Any floating op may make a NaN.
    const bool moves =
        ir::is_view(op) || op == Op::concatenate || op == Op::slice_update || op == Op::gather;
    const bool floating = is_inexact(graph_.dtype(id));
    result.zero_open = floating && (result.zero_open || leaves_zero_open(op));
    result.nan_open = floating && (result.nan_open || (!operands.empty() && !moves));
    return result;
  }

  std::vector<Bits> of_region(const ir::Region& region, std::span<const Bits> parameters) const {
    const std::vector<Bits> nodes =
        Analysis(*region.graph, contracts_, fixed_order_).of_nodes(parameters);
    std::vector<Bits> results;
    for (const ValueId output : region.graph->outputs)
      results.push_back(nodes[ir::index_of(output)]);
    return results;
  }

  std::vector<Bits> of_loop(const ir::CallData& call, const std::vector<Bits>& operands) const {
    if (call.op == &ir::calls::switch_case()) return of_switch(call, operands);
    const auto carries = static_cast<std::size_t>(call.get<std::int64_t>("carries"));
    const bool is_scan = call.op == &ir::calls::scan();
    const std::size_t after =
        is_scan ? static_cast<std::size_t>(call.get<std::int64_t>("sequences")) : 0;
    std::vector<Bits> inputs = operands;
    if (is_scan) inputs.insert(inputs.begin(), 2, Bits());  // the counter, twice
    const std::span<Bits> carried =
        std::span(inputs).subspan(inputs.size() - after - carries, carries);
    // What a step does to a carry, the next step may pass on.
    std::vector<Bits> before, results;
    do {
      before = inputs;
      results = of_region(call.regions.back(), inputs);
      join(carried, std::span(results).first(carries));
    } while (inputs != before);
    join(std::span(results).first(carries), carried);
    // The condition decides how many steps there are.
    const bool decided = is_scan || of_region(call.regions[0], inputs)[0].exact;
    for (Bits& result : results) result.exact = result.exact && decided;
    return results;
  }

  std::vector<Bits> of_switch(const ir::CallData& call, const std::vector<Bits>& operands) const {
    const std::span<const Bits> parameters = std::span(operands).subspan(1);
    std::vector<Bits> results = of_region(call.regions[0], parameters);
    for (const ir::Region& region : call.regions) join(results, of_region(region, parameters));
    for (Bits& result : results) result.exact = result.exact && operands[0].exact;
    return results;
  }

  const ir::Graph& graph_;
  bool contracts_, fixed_order_;
  std::vector<Bits> bits_;                                      ///< of the nodes so far
  std::unordered_map<std::uint32_t, std::vector<Bits>> loops_;  ///< of all results, by the call
};

}  // namespace

std::vector<Exactness> exact_nodes(const ir::Graph& graph, bool contracts, bool fixed_order) {
  const std::vector<Bits> parameters(graph.parameters().size());
  std::vector<Exactness> result;
  for (const Bits& bits : Analysis(graph, contracts, fixed_order).of_nodes(parameters)) {
    result.push_back(!bits.exact      ? Exactness::none
                     : bits.zero_open ? Exactness::values
                                      : Exactness::bits);
  }
  return result;
}

}  // namespace heddle::test
