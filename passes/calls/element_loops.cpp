#include "passes/calls/element_loops.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>

#include "ir/calls/control.h"
#include "passes/groups/cost.h"
#include "passes/groups/per_element.h"
#include "passes/plan/families.h"
#include "passes/rewrite/rewrite.h"
#include "passes/rewrite/simplify.h"

namespace heddle::passes {

namespace {

using Carries = std::vector<bool>;  ///< a set of carries

bool unite(Carries& all, const Carries& more) {
  bool grew = false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    grew |= more[i] && !all[i];
    if (more[i]) all[i] = true;
  }
  return grew;
}

/// The nodes that some outputs need.
std::vector<bool> needed_nodes(const Graph& graph, const std::vector<std::size_t>& outputs) {
  std::vector<bool> needed(graph.size());
  for (const std::size_t output : outputs) needed[index_of(graph.outputs[output])] = true;
  for (std::size_t i = graph.size(); i-- > 0;) {
    if (!needed[i]) continue;
    for (const ValueId operand : graph.operands(static_cast<ValueId>(i)))
      needed[index_of(operand)] = true;
  }
  return needed;
}

/// A shape without its leading extents of 1.
std::span<const Dim> significant(const ir::Shape& shape) {
  const auto first = std::ranges::find_if(shape, [](Dim extent) { return extent != Dim(1); });
  return {first, shape.end()};
}

/// A region of a loop: which of its nodes change from step to step, on which carries they depend,
/// and whether each of them can be computed for one element alone.
class LoopRegion {
 public:
  /// `counters`: the number of parameters before the constants, of which the last is the counter.
  /// `symbol` stands for the counter in slices.
  LoopRegion(const ir::Region& region, std::size_t counters, std::optional<ir::SymbolId> symbol,
             std::size_t constants, std::size_t carries, const ir::Target& target)
      : graph_(prepared(*region.graph, target)),
        symbol_(symbol),
        counters_(counters),
        constants_(constants),
        depends_(graph_.size(), Carries(carries)),
        varies_(graph_.size()) {
    for (std::size_t i = 0; i < graph_.parameters().size(); ++i) {
      const std::uint32_t node = index_of(graph_.parameters()[i]);
      varies_[node] = i < counters || i >= counters + constants;
      if (i >= counters + constants) depends_[node][i - counters - constants] = true;
    }
    std::vector<std::size_t> all(graph_.outputs.size());
    std::iota(all.begin(), all.end(), 0);
    const std::vector<bool> needed = needed_nodes(graph_, all);
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      const auto node = static_cast<ValueId>(i);
      look_at(node);
      if (needed[i] && varies_[i] && !is_computed(node)) per_element_ = false;
    }
  }

  const Graph& graph() const { return graph_; }
  bool is_per_element() const { return per_element_; }
  bool varies(ValueId node) const { return varies_[index_of(node)]; }
  const Carries& carries_of(std::size_t output) const {
    return depends_[index_of(graph_.outputs[output])];
  }
  /// Whether a carry is returned as it came.
  bool keeps(std::size_t carry) const {
    return graph_.outputs[carry] == graph_.parameters()[counters_ + constants_ + carry];
  }
  /// Whether an element of the node is the element of its operand at the same position, counted
  /// from the last axis.
  bool is_same_element(ValueId node) const {
    const ir::Op op = graph_.op(node);
    if (op == ir::Op::broadcast_to) return true;
    if (op != ir::Op::reshape) return false;
    const ir::Shape& from = graph_.shape(graph_.operands(node)[0]);
    return std::ranges::equal(significant(from), significant(graph_.shape(node)));
  }
  std::size_t counters() const { return counters_; }
  std::size_t constants() const { return constants_; }

 private:
  /// Loops inside the region are lowered first.
  static Graph prepared(const Graph& region, const ir::Target& target) {
    Graph graph = simplify(region);
    for (std::size_t i = 0; i < graph.size(); ++i) {
      const auto node = static_cast<ValueId>(i);
      if (graph.op(node) == ir::Op::call && !graph.attributes(node).call->regions.empty())
        return simplify(lower_calls(graph, target));
    }
    return graph;
  }

  void look_at(ValueId node) {
    const std::uint32_t i = index_of(node);
    if (graph_.op(node) == ir::Op::parameter) return;
    for (const ValueId operand : graph_.operands(node)) {
      if (varies_[index_of(operand)]) varies_[i] = true;
      unite(depends_[i], depends_[index_of(operand)]);
    }
    // A call may fail, so it does not move out of the loop.
    const bool may_fail = ir::is_of_call(graph_.op(node)) && !is_element_loop(graph_, node);
    if (may_fail || begins_at_counter(node)) varies_[i] = true;
  }

  bool is_computed(ValueId node) const {
    return graph_.op(node) == ir::Op::parameter || passes::is_per_element(graph_, node) ||
           is_same_element(node);
  }

  bool begins_at_counter(ValueId node) const {
    std::vector<ir::SymbolId> symbols;
    for (const Dim& start : graph_.attributes(node).starts) start.collect_symbols(symbols);
    return symbol_ && std::ranges::find(symbols, *symbol_) != symbols.end();
  }

  const Graph graph_;
  const std::optional<ir::SymbolId> symbol_;
  const std::size_t counters_, constants_;
  std::vector<Carries> depends_;
  std::vector<bool> varies_;
  bool per_element_ = true;
};

/// Makes the regions of a control.elements, and its operands.
class ElementRegions {
 public:
  ElementRegions(Graph& outer, const OldCall& call, const Carries& carries)
      : outer_(outer), call_(call), carries_(carries) {}

  /// Values that the outputs need and that do not change from step to step are computed before the
  /// loop: further constants.
  void move_invariants(const LoopRegion& region, const std::vector<std::size_t>& outputs) {
    const Graph& graph = region.graph();
    const std::vector<bool> needed = needed_nodes(graph, outputs);
    std::vector<std::optional<ValueId>>& moved = moved_.emplace_back(graph.size());
    for (std::size_t i = 0; i < graph.size(); ++i) {
      const auto node = static_cast<ValueId>(i);
      if (!needed[i] || region.varies(node)) continue;
      if (graph.op(node) == ir::Op::parameter) {
        moved[i] = call_.operands[graph.attributes(node).index - region.counters()];
        continue;
      }
      std::vector<ValueId> operands;
      for (const ValueId operand : graph.operands(node))
        operands.push_back(*moved[index_of(operand)]);
      moved[i] = copy_node(outer_, graph, node, operands);
    }
    for (std::size_t i = 0; i < graph.size(); ++i) {
      if (!needed[i] || !region.varies(static_cast<ValueId>(i))) continue;
      for (const ValueId operand : graph.operands(static_cast<ValueId>(i))) use(region, operand);
    }
    for (const std::size_t output : outputs) use(region, graph.outputs[output]);
  }

  /// The region on scalars that computes these outputs. Called in the order of move_invariants().
  ir::Region scalar_region(const LoopRegion& region, const std::vector<std::size_t>& outputs) {
    const Graph& from = region.graph();
    Graph graph;
    std::vector<ValueId> mapped(from.size());
    if (region.counters() > 0) {
      mapped[index_of(from.parameters()[region.counters() - 1])] = graph.parameter(DType::i64, {});
    }
    std::vector<ValueId> constants;
    for (const ValueId constant : constants_)
      constants.push_back(graph.parameter(outer_.dtype(constant), {}));
    const std::size_t before = region.counters() + region.constants();
    for (std::size_t k = 0; k < carries_.size(); ++k) {
      const ValueId parameter = from.parameters()[before + k];
      if (carries_[k]) mapped[index_of(parameter)] = graph.parameter(from.dtype(parameter), {});
    }
    const std::vector<std::optional<ValueId>>& moved = moved_[made_++];
    std::vector<bool> wanted = needed_nodes(from, outputs);
    for (std::size_t i = 0; i < from.size(); ++i) {
      const auto node = static_cast<ValueId>(i);
      if (!wanted[i]) continue;
      if (!region.varies(node)) {
        const auto found = moved[i] ? std::ranges::find(constants_, *moved[i]) : constants_.end();
        if (from.op(node) == ir::Op::constant)
          mapped[i] = graph.constant(from.dtype(node), from.attributes(node).bits);
        else if (found != constants_.end())
          mapped[i] = constants[static_cast<std::size_t>(found - constants_.begin())];
        continue;
      }
      if (from.op(node) == ir::Op::parameter) continue;
      std::vector<ValueId> operands;
      for (const ValueId operand : from.operands(node))
        operands.push_back(mapped[index_of(operand)]);
      mapped[i] =
          region.is_same_element(node) ? operands[0] : copy_node(graph, from, node, operands);
    }
    for (const std::size_t output : outputs)
      graph.outputs.push_back(mapped[index_of(from.outputs[output])]);
    return ir::make_region(simplify(graph));
  }

  const std::vector<ValueId>& constants() const { return constants_; }

 private:
  /// Makes an invariant that varying nodes read a constant of the loop.
  void use(const LoopRegion& region, ValueId node) {
    if (region.varies(node) || region.graph().op(node) == ir::Op::constant) return;
    const ValueId value = *moved_.back()[index_of(node)];
    if (std::ranges::find(constants_, value) == constants_.end()) constants_.push_back(value);
  }

  Graph& outer_;
  const OldCall& call_;
  const Carries& carries_;
  std::vector<ValueId> constants_;
  std::vector<std::vector<std::optional<ValueId>>> moved_;  ///< by region, to the outer graph
  std::size_t made_ = 0;
};

/// The results of a call that its graph uses.
std::vector<bool> used_results(const OldCall& call) {
  const Graph& graph = call.graph;
  std::vector<bool> used(graph.result_types(call.node).size());
  const auto use = [&](ValueId value) {
    if (value == call.node) used[0] = true;
    const bool other = graph.op(value) == ir::Op::result && graph.operands(value)[0] == call.node;
    if (other) used[graph.attributes(value).index] = true;
  };
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto node = static_cast<ValueId>(i);
    if (graph.op(node) != ir::Op::result) std::ranges::for_each(graph.operands(node), use);
  }
  std::ranges::for_each(graph.outputs, use);
  return used;
}

/// A loop that may become control.elements.
class ElementLoopLowering {
 public:
  ElementLoopLowering(Graph& graph, const OldCall& call, std::size_t counters,
                      const ir::Target& target)
      : graph_(graph),
        call_(call),
        carries_(static_cast<std::size_t>(call.data().get<std::int64_t>("carries"))),
        constants_(call.operands.size() - carries_) {
    int operations = 0;
    for (const ir::Region& region : call.data().regions) {
      regions_.emplace_back(region, counters, ir::scan_counter(call.data()), constants_, carries_,
                            target);
      operations += operations_of(regions_.back().graph(), target);
    }
    possible_ = operations <= max_operations / 2 &&
                std::ranges::all_of(regions_, &LoopRegion::is_per_element);
  }

  /// The results, or nothing if they cannot be computed element by element.
  std::optional<std::vector<ValueId>> run() {
    if (!possible_) return std::nullopt;
    const std::vector<bool> used = used_results(call_);
    std::vector<ValueId> results(call_.operands.end() - static_cast<std::ptrdiff_t>(carries_),
                                 call_.operands.end());
    std::vector<std::size_t> open;
    for (std::size_t k = 0; k < carries_; ++k) {
      if (used[k] && !regions_.back().keeps(k)) open.push_back(k);
    }
    while (!open.empty()) {
      // Results of one shape share a loop, with all the carries that one of them depends on.
      const ir::Shape shape = type_of(open.front()).shape;
      Carries together(carries_);
      for (const std::size_t k : open) together[k] = together[k] || type_of(k).shape == shape;
      complete(together);
      const std::vector<ValueId> made = loop(together);
      std::erase_if(open, [&](std::size_t k) {
        if (type_of(k).shape != shape) return false;
        results[k] = made[k];
        return true;
      });
    }
    return results;
  }

 private:
  const ir::Type& type_of(std::size_t carry) const {
    return call_.graph.result_types(call_.node)[carry];
  }

  /// Adds what the carries and the condition depend on.
  void complete(Carries& carries) const {
    const LoopRegion& body = regions_.back();
    if (regions_.size() == 2) unite(carries, regions_[0].carries_of(0));
    for (bool grew = true; grew;) {
      grew = false;
      for (std::size_t k = 0; k < carries_; ++k)
        grew |= carries[k] && unite(carries, body.carries_of(k));
    }
  }

  /// For each of these carries, its value after the loop.
  std::vector<ValueId> loop(const Carries& carries) {
    std::vector<std::size_t> outputs;
    for (std::size_t k = 0; k < carries_; ++k) {
      if (carries[k]) outputs.push_back(k);
    }
    std::vector<std::vector<std::size_t>> wanted = {outputs};
    if (regions_.size() == 2) wanted.insert(wanted.begin(), std::vector<std::size_t>{0});
    ElementRegions made(graph_, call_, carries);
    for (std::size_t i = 0; i < regions_.size(); ++i) made.move_invariants(regions_[i], wanted[i]);
    std::vector<ir::Region> regions;
    for (std::size_t i = 0; i < regions_.size(); ++i)
      regions.push_back(made.scalar_region(regions_[i], wanted[i]));
    std::vector<ValueId> operands = made.constants();
    for (const std::size_t k : outputs) operands.push_back(call_.operands[constants_ + k]);
    const bool counted = regions_.size() == 1;
    const auto length =
        counted ? std::vector<Dim>{ir::scan_length(call_.data())} : std::vector<Dim>{};
    std::vector<ValueId> results(carries_);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      ir::Attributes attributes =
          ir::call_attributes(ir::calls::element_loop(),
                              {{"carries", static_cast<std::int64_t>(outputs.size())},
                               {"result", static_cast<std::int64_t>(i)},
                               {"length", length},
                               {"reverse", counted && call_.data().get<bool>("reverse")}},
                              regions);
      results[outputs[i]] =
          graph_.add(ir::Op::call, operands, std::move(attributes), call_.location());
    }
    return results;
  }

  Graph& graph_;
  const OldCall& call_;
  const std::size_t carries_, constants_;
  std::vector<LoopRegion> regions_;
  bool possible_ = false;
};

/// Copies a call as it is.
std::vector<ValueId> unchanged(Graph& graph, const OldCall& call) {
  std::vector<ValueId> results = {copy_node(graph, call.graph, call.node, call.operands)};
  for (std::size_t i = 1; i < call.graph.result_types(call.node).size(); ++i)
    results.push_back(graph.result(results[0], i, call.location()));
  return results;
}

/// The results of a region that is computed in place.
std::vector<ValueId> inlined(Graph& graph, const ir::Region& region,
                             std::span<const ValueId> arguments) {
  const Graph& from = *region.graph;
  std::vector<ValueId> mapped(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto node = static_cast<ValueId>(i);
    std::vector<ValueId> operands;
    for (const ValueId operand : from.operands(node)) operands.push_back(mapped[index_of(operand)]);
    mapped[i] = from.op(node) == ir::Op::parameter ? arguments[from.attributes(node).index]
                                                   : copy_node(graph, from, node, operands);
  }
  std::vector<ValueId> results;
  for (const ValueId output : from.outputs) results.push_back(mapped[index_of(output)]);
  return results;
}

/// A loop with a condition for each element, as one with a further carry: which elements still
/// take steps.
std::vector<ValueId> masked_while(Graph& graph, const OldCall& call) {
  const ir::Region &condition = call.data().regions[0], &body = call.data().regions[1];
  const auto carries = static_cast<std::size_t>(call.data().get<std::int64_t>("carries"));
  const std::size_t constants = call.operands.size() - carries;
  std::vector<ValueId> operands = call.operands;
  operands.push_back(inlined(graph, condition, call.operands)[0]);
  const auto parameters = [&](Graph& region) {
    std::vector<ValueId> made;
    for (const ValueId operand : operands)
      made.push_back(region.parameter(graph.dtype(operand), graph.shape(operand)));
    return made;
  };
  Graph any_active;
  const ValueId tested = parameters(any_active).back();
  ir::Attributes whole;
  whole.axes.resize(any_active.shape(tested).size());
  std::iota(whole.axes.begin(), whole.axes.end(), 0);
  any_active.outputs = {any_active.add(ir::Op::any, {tested}, std::move(whole))};
  Graph step;
  std::vector<ValueId> values = parameters(step);
  const ValueId active = values.back();
  values.pop_back();
  const std::vector<ValueId> next = inlined(step, body, values);
  for (std::size_t k = 0; k < carries; ++k) {
    ValueId& carry = values[constants + k];
    carry = step.add(ir::Op::select, {active, next[k], carry});
    step.outputs.push_back(carry);
  }
  const ValueId again = inlined(step, condition, values)[0];
  step.outputs.push_back(step.add(ir::Op::logical_and, {active, again}));
  const ValueId made =
      graph.add(ir::Op::call, operands,
                ir::call_attributes(
                    ir::calls::while_loop(), {{"carries", static_cast<std::int64_t>(carries + 1)}},
                    {ir::make_region(std::move(any_active)), ir::make_region(std::move(step))}),
                call.location());
  std::vector<ValueId> results = {made};
  for (std::size_t k = 1; k < carries; ++k)
    results.push_back(graph.result(made, k, call.location()));
  return results;
}

}  // namespace

std::vector<ValueId> lower_scan(Graph& graph, const OldCall& call, const ir::Target& target) {
  const ir::CallData& data = call.data();
  const auto carries = static_cast<std::size_t>(data.get<std::int64_t>("carries"));
  const bool only_carries =
      data.get<std::int64_t>("sequences") == 0 && data.regions[0].results.size() == carries;
  constexpr std::size_t counters = 2;  // the counter as an extent and as a value
  if (only_carries) {
    if (auto results = ElementLoopLowering(graph, call, counters, target).run()) return *results;
  }
  return unchanged(graph, call);
}

std::vector<ValueId> lower_while(Graph& graph, const OldCall& call, const ir::Target& target) {
  if (auto results = ElementLoopLowering(graph, call, 0, target).run()) return *results;
  const bool one_condition = call.data().regions[0].results[0].shape.empty();
  return one_condition ? unchanged(graph, call) : masked_while(graph, call);
}

}  // namespace heddle::passes
