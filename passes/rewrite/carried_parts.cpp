#include "passes/rewrite/carried_parts.h"

#include <algorithm>
#include <map>

#include "ir/calls/calls.h"
#include "passes/rewrite/rewrite.h"
#include "passes/rewrite/step_slices.h"

namespace heddle::passes {

namespace {

using ir::Dim;
using ir::Graph;
using ir::Op;
using ir::ValueId;

class CarriedParts {
 public:
  CarriedParts(Graph& graph, const ir::CallData& scan, const StepAccesses& steps)
      : graph_(graph), scan_(scan), old_(*scan.regions[0].graph), steps_(steps) {
    for (const auto& [slice, update] : steps.carried_from) {
      if (std::ranges::find(parts_, update) == parts_.end()) parts_.push_back(update);
    }
    for (const auto& [node, carry] : steps.carry_of)
      if (old_.op(node) == Op::slice_update && !is_overwritten(node)) updates_.push_back(node);
  }

  std::optional<std::vector<ValueId>> run(const std::vector<ValueId>& operands) {
    for (std::uint32_t i = 0; i < old_.size(); ++i)
      if (!is_elementwise(ValueId{i})) return std::nullopt;
    if (std::ranges::any_of(
            updates_, [&](ValueId update) { return !can_write_steps(steps_.regions.at(update)); }))
      return std::nullopt;
    return results(operands, add_loop(operands));
  }

 private:
  /// Whether a later update of the same step writes the same elements.
  bool is_overwritten(ValueId update) const {
    return std::ranges::any_of(steps_.carry_of, [&](const auto& other) {
      return other.first > update && other.second == steps_.carry_of.at(update) &&
             steps_.regions.at(other.first) == steps_.regions.at(update);
    });
  }

  /// Whether the node may be a part of a loop of one element.
  bool is_elementwise(ValueId id) const {
    const ir::OpKind kind = ir::kind_of(old_.op(id));
    return kind == ir::OpKind::source || kind == ir::OpKind::elementwise ||
           kind == ir::OpKind::view || steps_.carry_of.contains(id);
  }

  /// The new loop takes the constants and the carries of the old one as constants, then the parts,
  /// then the sequences.
  ValueId add_loop(const std::vector<ValueId>& operands) {
    const std::size_t constants = steps_.constants + steps_.carries;
    std::vector<ValueId> taken(operands.begin(),
                               operands.begin() + static_cast<std::ptrdiff_t>(constants));
    for (const ValueId part : parts_) taken.push_back(before_the_loop(part, operands));
    taken.insert(taken.end(), operands.begin() + static_cast<std::ptrdiff_t>(constants),
                 operands.end());
    ir::CallData data = scan_;
    for (std::size_t i = 0; i < data.attributes.size(); ++i) {
      if (data.op->attributes[i].name == "carries") data.attributes[i] = std::ssize(parts_);
    }
    data.regions = {ir::make_region(body())};
    ir::Attributes attributes;
    attributes.call = ir::CallRef(std::move(data));
    return graph_.add(Op::call, taken, std::move(attributes), old_.node(updates_[0]).location);
  }

  /// What the first step reads instead of what a step before it has written.
  ValueId before_the_loop(ValueId part, const std::vector<ValueId>& operands) {
    const SteppedRegion& region = steps_.regions.at(part);
    const SteppedRegion in_order = steps_.reverse ? region.backwards(steps_.count) : region;
    ir::Attributes attributes;
    for (const SteppedRegion::Axis& axis : in_order.one_step_before().axes) {
      attributes.starts.push_back(axis.start);
      attributes.steps.emplace_back(axis.step);
      attributes.shape.emplace_back(axis.extent);
    }
    const ValueId array = operands[steps_.constants + steps_.carry_of.at(part)];
    return graph_.add(Op::slice, {array}, std::move(attributes), old_.node(part).location);
  }

  Graph body() {
    Graph body;
    std::map<ValueId, ValueId> mapped;
    const std::vector<ValueId>& parameters = old_.parameters();
    const std::size_t constants = counter_parameters + steps_.constants + steps_.carries;
    std::vector<ValueId> carried;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (i == constants) add_parts(body, carried);
      const ir::Type type = old_.type(parameters[i]);
      mapped[parameters[i]] = old_.attributes(parameters[i]).scalar
                                  ? body.scalar_parameter(type.dtype)
                                  : body.parameter(type.dtype, type.shape);
    }
    if (parameters.size() == constants) add_parts(body, carried);
    for (std::uint32_t i = 0; i < old_.size(); ++i) {
      const ValueId id{i};
      if (old_.op(id) != Op::parameter) mapped[id] = copied(body, id, mapped, carried);
    }
    for (const ValueId part : parts_) body.outputs.push_back(mapped.at(part));
    for (const ValueId update : updates_) body.outputs.push_back(mapped.at(update));
    for (std::size_t i = steps_.carries; i < old_.outputs.size(); ++i)
      body.outputs.push_back(mapped.at(old_.outputs[i]));
    return body;
  }

  void add_parts(Graph& body, std::vector<ValueId>& carried) const {
    for (const ValueId part : parts_)
      carried.push_back(body.parameter(old_.dtype(part), old_.attributes(part).shape));
  }

  /// The node in the new body. For an update, what it writes.
  ValueId copied(Graph& body, ValueId id, const std::map<ValueId, ValueId>& mapped,
                 const std::vector<ValueId>& carried) const {
    std::vector<ValueId> operands;
    for (const ValueId operand : old_.operands(id)) operands.push_back(mapped.at(operand));
    if (steps_.carry_of.contains(id)) {
      ir::Attributes whole;
      whole.shape = old_.attributes(id).shape;
      if (body.shape(operands[1]) == whole.shape) return operands[1];
      return body.add(Op::broadcast_to, {operands[1]}, std::move(whole));
    }
    if (!steps_.regions.contains(id)) return copy_node(body, old_, id, operands);
    if (const auto own = steps_.written_by.find(id); own != steps_.written_by.end())
      return mapped.at(own->second);
    if (const auto before = steps_.carried_from.find(id); before != steps_.carried_from.end()) {
      const auto at = std::ranges::find(parts_, before->second) - parts_.begin();
      return carried[static_cast<std::size_t>(at)];
    }
    const std::size_t array =
        counter_parameters + steps_.constants + steps_.carry_of.at(old_.operands(id)[0]);
    return copy_node(body, old_, id, {mapped.at(old_.parameters()[array])});
  }

  std::vector<ValueId> results(const std::vector<ValueId>& operands, ValueId loop) {
    std::vector<ValueId> made(
        operands.begin() + static_cast<std::ptrdiff_t>(steps_.constants),
        operands.begin() + static_cast<std::ptrdiff_t>(steps_.constants + steps_.carries));
    std::size_t result = parts_.size();
    for (const ValueId update : updates_) {
      ValueId& array = made[steps_.carry_of.at(update)];
      array = with_step_slices(graph_, array, graph_.result(loop, result++),
                               steps_.regions.at(update), steps_.count, old_.node(update).location);
    }
    for (std::size_t i = steps_.carries; i < old_.outputs.size(); ++i)
      made.push_back(graph_.result(loop, result++));
    return made;
  }

  Graph& graph_;
  const ir::CallData& scan_;
  const Graph& old_;
  const StepAccesses& steps_;
  std::vector<ValueId> parts_;    ///< the updates of which the next step reads
  std::vector<ValueId> updates_;  ///< in the order of the region
};

}  // namespace

std::optional<std::vector<ValueId>> carry_parts(Graph& graph, const ir::CallData& scan,
                                                const StepAccesses& steps,
                                                const std::vector<ValueId>& operands) {
  return CarriedParts(graph, scan, steps).run(operands);
}

}  // namespace heddle::passes
