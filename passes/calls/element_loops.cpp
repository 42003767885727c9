#include "passes/calls/element_loops.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "ir/calls/control.h"
#include "passes/calls/any_condition.h"
#include "passes/calls/element_regions.h"
#include "passes/calls/masked_while.h"
#include "passes/groups/cost.h"
#include "passes/plan/families.h"
#include "passes/rewrite/rewrite.h"

namespace heddle::passes {

namespace {

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

/// The regions of a loop in which each element takes its own steps.
std::vector<ir::Region> element_regions_of(const OldCall& call) {
  std::vector<ir::Region> regions = call.data().regions;
  if (regions.size() != 2) return regions;
  if (const auto condition = condition_of_elements(call.data())) regions[0] = *condition;
  return regions;
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
    for (const ir::Region& region : element_regions_of(call)) {
      regions_.emplace_back(region, counters, ir::scan_counter(call.data()), constants_, carries_,
                            target);
      operations_ += operations_of(regions_.back().graph(), target);
    }
  }

  /// Why the results cannot be computed element by element; "" if they can.
  std::string obstacle() const {
    for (const LoopRegion& region : regions_) {
      if (!region.obstacle()) continue;
      const std::string where = region.graph().node(*region.obstacle()).location.to_string();
      return fmt::format("{}{} is not computed element by element",
                         region.graph().op_name(*region.obstacle()),
                         where.empty() ? "" : " (" + where + ")");
    }
    constexpr int most = max_operations / 2;
    return operations_ <= most ? ""
                               : fmt::format(
                                     "{} operations in a step are too many for one kernel, "
                                     "which takes {}",
                                     operations_, most);
  }

  /// The results, or nothing if they cannot be computed element by element.
  std::optional<std::vector<ValueId>> run() {
    if (!obstacle().empty()) return std::nullopt;
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
      const std::vector<ValueId> made = loop(together, shape);
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

  /// For those of these carries that have the shape, the value after the loop.
  std::vector<ValueId> loop(const Carries& carries, const ir::Shape& shape) {
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
    const auto length = counted ? ir::Dims{ir::scan_length(call_.data())} : ir::Dims{};
    std::vector<ValueId> results(carries_);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (type_of(outputs[i]).shape != shape) continue;
      ir::Attributes attributes =
          ir::call_attributes(ir::calls::element_loop(),
                              {{"carries", static_cast<std::int64_t>(outputs.size())},
                               {"result", static_cast<std::int64_t>(i)},
                               {"length", length},
                               {"reverse", counted && call_.data().get<bool>("reverse")}},
                              regions);
      const ValueId result =
          graph_.add(ir::Op::call, operands, std::move(attributes), call_.location());
      results[outputs[i]] = in_shape(result, shape);
    }
    return results;
  }

  /// Constants may have leading extents of 1 that the carry does not have.
  ValueId in_shape(ValueId value, const ir::Shape& shape) {
    if (graph_.shape(value) == shape) return value;
    ir::Attributes attributes;
    attributes.shape = shape;
    return graph_.add(ir::Op::reshape, {value}, std::move(attributes), call_.location());
  }

  Graph& graph_;
  const OldCall& call_;
  const std::size_t carries_, constants_;
  std::vector<LoopRegion> regions_;
  int operations_ = 0;
};

constexpr std::size_t scan_counters = 2;  // the counter as an extent and as a value

bool has_only_carries(const ir::CallData& scan) {
  const auto carries = static_cast<std::size_t>(scan.get<std::int64_t>("carries"));
  return scan.get<std::int64_t>("sequences") == 0 && scan.regions[0].results.size() == carries;
}

/// Copies a call as it is.
std::vector<ValueId> unchanged(Graph& graph, const OldCall& call) {
  std::vector<ValueId> results = {copy_node(graph, call.graph, call.node, call.operands)};
  for (std::size_t i = 1; i < call.graph.result_types(call.node).size(); ++i)
    results.push_back(graph.result(results[0], i, call.location()));
  return results;
}

}  // namespace

std::vector<ValueId> lower_scan(Graph& graph, const OldCall& call, const ir::Target& target) {
  if (has_only_carries(call.data())) {
    if (auto results = ElementLoopLowering(graph, call, scan_counters, target).run())
      return *results;
  }
  return unchanged(graph, call);
}

std::vector<ValueId> lower_while(Graph& graph, const OldCall& call, const ir::Target& target) {
  if (auto results = ElementLoopLowering(graph, call, 0, target).run()) return *results;
  const bool one_condition = call.data().regions[0].results[0].shape.empty();
  return one_condition ? unchanged(graph, call) : masked_while(graph, call);
}

std::string why_step_by_step(const Graph& graph, ValueId call, const ir::Target& target) {
  const bool is_scan = graph.is_call_of(call, ir::calls::scan());
  if (!is_scan && !graph.is_call_of(call, ir::calls::while_loop())) return "";
  const auto operands = graph.operands(call);
  const std::vector<ValueId> same(operands.begin(), operands.end());
  const OldCall old{graph, call, same};
  if (is_scan && !has_only_carries(old.data())) return "it has sequences, or stacks results";
  Graph unused = graph;
  return ElementLoopLowering(unused, old, is_scan ? scan_counters : 0, target).obstacle();
}

}  // namespace heddle::passes
