#include "passes/calls/element_loops.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "ir/calls/control.h"
#include "ir/types/capabilities.h"
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
        sequences_(sequences_of(call.data())),
        constants_(call.operands.size() - carries_ - sequences_),
        blocks_(ir::capabilities_of(target).blocks),
        used_(used_results(call)) {
    for (const ir::Region& region : element_regions_of(call)) {
      regions_.emplace_back(region, counters, ir::scan_counter(call.data()), constants_, carries_,
                            target);
      operations_ += operations_of(regions_.back().graph(), target);
    }
  }

  /// Why the results are not computed element by element; "" if they are.
  std::string obstacle() const {
    for (const LoopRegion& region : regions_) {
      if (!region.obstacle()) continue;
      const std::string where = region.graph().node(*region.obstacle()).location.to_string();
      return fmt::format("{}{} is not computed element by element",
                         region.graph().op_name(*region.obstacle()),
                         where.empty() ? "" : " (" + where + ")");
    }
    const std::size_t results = call_.graph.result_types(call_.node).size();
    const bool uses_memory = sequences_ > 0 || results > carries_;
    if (uses_memory && (call_.operands.size() > max_operands || results > max_stores)) {
      return fmt::format(
          "{} arrays to read and {} to store are too many for one kernel, which takes {} and {}",
          call_.operands.size(), results, max_operands, max_stores);
    }
    if (is_faster_by_rows()) return "long rows are read and stored in the order of memory";
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
    std::vector<ValueId> results(used_.size());  // those not used stay unset
    std::vector<std::size_t> open;
    for (std::size_t r = 0; r < used_.size(); ++r) {
      if (!is_stacked(r) && (!used_[r] || regions_.back().keeps(r))) {
        results[r] = call_.operands[constants_ + r];
      } else if (used_[r] && !depends_on_carries(r)) {
        results[r] = all_steps_at_once(r);
      } else if (used_[r]) {
        open.push_back(r);
      }
    }
    while (!open.empty()) {
      // Results of one shape share a loop, with all the carries that one of them depends on.
      const ir::Shape shape = element_shape(open.front());
      std::vector<std::size_t> together;
      for (const std::size_t r : open) {
        if (element_shape(r) == shape) together.push_back(r);
      }
      add_loop(together, results);
      std::erase_if(open, [&](std::size_t r) { return element_shape(r) == shape; });
    }
    return results;
  }

 private:
  /// On a CPU, memory is fastest in its order. So a loop that reads rows and stacks others keeps to
  /// the rows, one step after the other, if they are longer than what an element loop takes at
  /// once.
  bool is_faster_by_rows() const {
    if (blocks_ || sequences_ == 0) return false;
    const std::vector<ir::Type>& results = call_.graph.result_types(call_.node);
    for (std::size_t r = carries_; r < results.size(); ++r) {
      const Dim elements = ir::element_count(element_shape(r));
      const bool long_rows = elements.is_constant() && elements.constant() > most_looped_together;
      if (long_rows && used_[r] && depends_on_carries(r)) return true;
    }
    return false;
  }

  static std::size_t sequences_of(const ir::CallData& data) {
    return data.op == &ir::calls::scan()
               ? static_cast<std::size_t>(data.get<std::int64_t>("sequences"))
               : 0;
  }

  const ir::Type& type_of(std::size_t result) const {
    return call_.graph.result_types(call_.node)[result];
  }
  bool is_stacked(std::size_t result) const { return result >= carries_; }

  /// The shape of the result's elements; of a stacked result, in one step.
  ir::Shape element_shape(std::size_t result) const {
    ir::Shape shape = type_of(result).shape;
    if (is_stacked(result)) shape.erase(shape.begin());
    return shape;
  }

  bool depends_on_carries(std::size_t result) const {
    const Carries& carries = regions_.back().carries_of(result);
    return !is_stacked(result) || std::ranges::find(carries, true) != carries.end();
  }

  /// A stacked result that depends on no carry: the body's elementwise operations, with an axis for
  /// the steps before the others.
  ValueId all_steps_at_once(std::size_t result) {
    const LoopRegion& body = regions_.back();
    const std::vector<bool> sequences = needed_sequences({result});
    const Carries none(carries_);
    ElementRegions made(graph_, call_, none, sequences);
    made.move_invariants(body, {result});
    const ir::Region region = made.scalar_region(body, {result});
    const ir::Shape& shape = type_of(result).shape;
    std::size_t rank = shape.size();
    for (const ValueId constant : made.constants())
      rank = std::max(rank, graph_.shape(constant).size() + 1);
    for (std::size_t k = 0; k < sequences_; ++k)
      rank = std::max(rank, graph_.shape(sequence(k)).size());
    std::vector<ValueId> operands = {counter_of(rank)};
    operands.insert(operands.end(), made.constants().begin(), made.constants().end());
    for (std::size_t k = 0; k < sequences_; ++k) {
      if (sequences[k]) operands.push_back(with_rank(sequence(k), rank));
    }
    const ValueId value = apply(*region.graph, operands);
    const ir::Shape whole = ranked(shape, rank);
    return shaped(ir::Op::reshape, shaped(ir::Op::broadcast_to, value, whole), shape);
  }

  ValueId sequence(std::size_t k) const { return call_.operands[constants_ + carries_ + k]; }

  /// The numbers of the steps along the first axis.
  ValueId counter_of(std::size_t rank) {
    ir::Attributes attributes;
    attributes.dtype = DType::i64;
    attributes.shape = ranked({ir::scan_length(call_.data())}, rank);
    attributes.axes = {0};
    return graph_.add(ir::Op::iota, {}, std::move(attributes), call_.location());
  }

  /// The shape with axes of extent 1 behind the first.
  static ir::Shape ranked(ir::Shape shape, std::size_t rank) {
    shape.insert(shape.begin() + 1, rank - shape.size(), Dim(1));
    return shape;
  }
  ValueId with_rank(ValueId value, std::size_t rank) {
    return shaped(ir::Op::reshape, value, ranked(graph_.shape(value), rank));
  }
  /// A reshape or broadcast_to, unless the value has the shape.
  ValueId shaped(ir::Op op, ValueId value, const ir::Shape& shape) {
    if (graph_.shape(value) == shape) return value;
    ir::Attributes attributes;
    attributes.shape = shape;
    return graph_.add(op, {value}, std::move(attributes), call_.location());
  }

  /// The result of a region on scalars, whose operations are elementwise, for arrays.
  ValueId apply(const Graph& scalars, const std::vector<ValueId>& operands) {
    std::vector<ValueId> mapped(scalars.size());
    for (std::size_t k = 0; k < scalars.parameters().size(); ++k)
      mapped[index_of(scalars.parameters()[k])] = operands[k];
    for (std::size_t i = 0; i < scalars.size(); ++i) {
      const auto node = static_cast<ValueId>(i);
      if (scalars.op(node) == ir::Op::parameter) continue;
      std::vector<ValueId> mapped_operands;
      for (const ValueId operand : scalars.operands(node))
        mapped_operands.push_back(mapped[index_of(operand)]);
      mapped[i] = copy_node(graph_, scalars, node, mapped_operands);
    }
    return mapped[index_of(scalars.outputs.front())];
  }

  /// The carries that some results and the condition depend on.
  Carries carries_of(const std::vector<std::size_t>& results) const {
    const LoopRegion& body = regions_.back();
    Carries carries(carries_);
    for (const std::size_t r : results) {
      if (!is_stacked(r)) carries[r] = true;
      unite(carries, body.carries_of(r));
    }
    if (regions_.size() == 2) unite(carries, regions_[0].carries_of(0));
    for (bool grew = true; grew;) {
      grew = false;
      for (std::size_t k = 0; k < carries_; ++k)
        grew |= carries[k] && unite(carries, body.carries_of(k));
    }
    return carries;
  }

  std::vector<bool> needed_sequences(const std::vector<std::size_t>& outputs) const {
    const LoopRegion& body = regions_.back();
    const std::vector<bool> needed = needed_nodes(body.graph(), outputs);
    std::vector<bool> sequences(sequences_);
    for (std::size_t k = 0; k < sequences_; ++k) {
      const std::size_t parameter = body.counters() + constants_ + carries_ + k;
      sequences[k] = needed[index_of(body.graph().parameters()[parameter])];
    }
    return sequences;
  }

  /// Adds a loop for results whose elements have one shape.
  void add_loop(const std::vector<std::size_t>& asked, std::vector<ValueId>& results) {
    const Carries carries = carries_of(asked);
    std::vector<std::size_t> outputs;
    for (std::size_t k = 0; k < carries_; ++k) {
      if (carries[k]) outputs.push_back(k);
    }
    const std::size_t carried = outputs.size();
    for (const std::size_t r : asked) {
      if (is_stacked(r)) outputs.push_back(r);
    }
    const std::vector<bool> sequences = needed_sequences(outputs);
    std::vector<std::vector<std::size_t>> wanted = {outputs};
    if (regions_.size() == 2) wanted.insert(wanted.begin(), std::vector<std::size_t>{0});
    ElementRegions made(graph_, call_, carries, sequences);
    for (std::size_t i = 0; i < regions_.size(); ++i) made.move_invariants(regions_[i], wanted[i]);
    std::vector<ir::Region> regions;
    for (std::size_t i = 0; i < regions_.size(); ++i)
      regions.push_back(made.scalar_region(regions_[i], wanted[i]));
    std::vector<ValueId> operands = made.constants();
    for (std::size_t k = 0; k < carried; ++k)
      operands.push_back(call_.operands[constants_ + outputs[k]]);
    for (std::size_t k = 0; k < sequences_; ++k) {
      if (sequences[k]) operands.push_back(call_.operands[constants_ + carries_ + k]);
    }
    const bool counted = regions_.size() == 1;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (std::ranges::find(asked, outputs[i]) == asked.end()) continue;
      ir::Attributes attributes = ir::call_attributes(
          ir::calls::element_loop(),
          {{"carries", static_cast<std::int64_t>(carried)},
           {"sequences", std::ranges::count(sequences, true)},
           {"result", static_cast<std::int64_t>(i)},
           {"length", counted ? ir::Dims{ir::scan_length(call_.data())} : ir::Dims{}},
           {"reverse", counted && call_.data().get<bool>("reverse")}},
          regions);
      const ValueId result =
          graph_.add(ir::Op::call, operands, std::move(attributes), call_.location());
      results[outputs[i]] = in_shape(result, type_of(outputs[i]).shape, is_stacked(outputs[i]));
    }
  }

  /// Constants may have leading extents of 1 that the result does not have. What a stacked result
  /// is computed from may have fewer elements than it.
  ValueId in_shape(ValueId value, const ir::Shape& shape, bool stacked) {
    ir::Shape aligned = graph_.shape(value);
    const auto first = aligned.begin() + (stacked ? 1 : 0);
    if (aligned.size() > shape.size()) {
      aligned.erase(first, first + static_cast<std::ptrdiff_t>(aligned.size() - shape.size()));
    } else {
      aligned.insert(first, shape.size() - aligned.size(), Dim(1));
    }
    return shaped(ir::Op::broadcast_to, shaped(ir::Op::reshape, value, aligned), shape);
  }

  Graph& graph_;
  const OldCall& call_;
  const std::size_t carries_, sequences_, constants_;
  const bool blocks_;             ///< the target is a GPU
  const std::vector<bool> used_;  ///< by result
  std::vector<LoopRegion> regions_;
  int operations_ = 0;
};

constexpr std::size_t scan_counters = 2;  // the counter as an extent and as a value

/// Copies a call as it is.
std::vector<ValueId> unchanged(Graph& graph, const OldCall& call) {
  std::vector<ValueId> results = {copy_node(graph, call.graph, call.node, call.operands)};
  for (std::size_t i = 1; i < call.graph.result_types(call.node).size(); ++i)
    results.push_back(graph.result(results[0], i, call.location()));
  return results;
}

/// Carries as they came, and nothing stacked.
std::vector<ValueId> without_steps(Graph& graph, const OldCall& call) {
  const auto carries = static_cast<std::size_t>(call.data().get<std::int64_t>("carries"));
  const auto sequences = static_cast<std::size_t>(call.data().get<std::int64_t>("sequences"));
  const auto first = call.operands.end() - static_cast<std::ptrdiff_t>(carries + sequences);
  std::vector<ValueId> results(first, first + static_cast<std::ptrdiff_t>(carries));
  const std::span<const ir::Type> types = call.graph.result_types(call.node);
  for (const ir::Type& type : types.subspan(carries)) {
    ir::Attributes attributes;
    attributes.shape = type.shape;
    const ValueId zero = graph.constant(type.dtype, {});
    results.push_back(
        graph.add(ir::Op::broadcast_to, {zero}, std::move(attributes), call.location()));
  }
  return results;
}

}  // namespace

std::vector<ValueId> lower_scan(Graph& graph, const OldCall& call, const ir::Target& target) {
  if (ir::scan_length(call.data()) == Dim(0)) return without_steps(graph, call);
  if (auto results = ElementLoopLowering(graph, call, scan_counters, target).run()) return *results;
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
  Graph unused = graph;
  return ElementLoopLowering(unused, old, is_scan ? scan_counters : 0, target).obstacle();
}

}  // namespace heddle::passes
