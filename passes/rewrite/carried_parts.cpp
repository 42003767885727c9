#include "passes/rewrite/carried_parts.h"

#include <algorithm>
#include <map>

#include "ir/calls/calls.h"
#include "ir/graph/needed_nodes.h"
#include "passes/rewrite/rewrite.h"
#include "passes/rewrite/step_slices.h"

namespace heddle::passes {

namespace {

using ir::Dim;
using ir::Graph;
using ir::Op;
using ir::ValueId;

/// The shape of a region without the axes along which it moves, where these have one element: so
/// the loop's elements lie where those of a row do, and of a column.
ir::Shape compact(const SteppedRegion& region) {
  ir::Shape shape;
  for (const SteppedRegion::Axis& axis : region.axes)
    if (axis.growth == 0 || axis.extent != 1) shape.emplace_back(axis.extent);
  return shape;
}

ir::Shape with_steps(ir::Shape shape, std::int64_t steps) {
  shape.insert(shape.begin(), Dim(steps));
  return shape;
}

ValueId reshaped(Graph& graph, ValueId value, const ir::Shape& shape) {
  if (graph.shape(value) == shape) return value;
  ir::Attributes attributes;
  attributes.shape = shape;
  return graph.add(Op::reshape, {value}, std::move(attributes));
}

class CarriedParts {
 public:
  CarriedParts(Graph& graph, const ir::CallData& scan, const StepAccesses& steps)
      : graph_(graph),
        scan_(scan),
        old_(*scan.regions[0].graph),
        steps_(steps),
        needed_(ir::needed_nodes(old_)) {
    for (const auto& [slice, update] : steps.carried_from) {
      if (std::ranges::find(parts_, update) == parts_.end()) parts_.push_back(update);
    }
    for (const auto& [node, carry] : steps.carry_of)
      if (old_.op(node) == Op::slice_update && !is_overwritten(node)) updates_.push_back(node);
    for (std::uint32_t i = 0; i < old_.size(); ++i) note_read(ValueId{i});
    note_kept();
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
  /// A slice that is read outside of the loop.
  struct Read {
    ValueId slice;
    std::size_t operand;
    SteppedRegion region;
  };

  /// A slice of an array that no step changes there becomes a sequence of the loop, so that its
  /// elements are read one by one. If it stays where it is, it becomes a constant.
  void note_read(ValueId id) {
    if (!needed_[index_of(id)] || old_.op(id) != Op::slice || steps_.written_by.contains(id) ||
        steps_.carried_from.contains(id))
      return;
    const auto array = operand_of(id);
    if (!array) return;
    const auto region = stepped_region(old_.attributes(id), steps_.counter);
    const ir::Shape& shape = old_.shape(old_.operands(id)[0]);
    if (region && can_slice_steps(*region, shape) && region->is_within(shape, steps_.count))
      (region->moving().empty() ? fixed_ : moving_).push_back({id, *array, *region});
  }

  bool is_read_outside(ValueId slice) const {
    return std::ranges::find(fixed_, slice, &Read::slice) != fixed_.end() ||
           std::ranges::find(moving_, slice, &Read::slice) != moving_.end();
  }

  /// The constants and carries that the new body still uses as they are.
  void note_kept() {
    const std::vector<ValueId>& parameters = old_.parameters();
    std::vector<bool> used(old_.size());
    for (std::uint32_t i = 0; i < old_.size(); ++i) {
      const ValueId id{i};
      if (!needed_[i] || is_read_outside(id)) continue;
      for (const ValueId operand : operands_in_step(id)) used[index_of(operand)] = true;
    }
    for (std::size_t i = steps_.carries; i < old_.outputs.size(); ++i)
      used[index_of(old_.outputs[i])] = true;
    for (std::size_t i = 0; i < steps_.constants + steps_.carries; ++i)
      if (used[index_of(parameters[counter_parameters + i])]) kept_.push_back(i);
  }

  /// What the copy of a node takes. An update becomes what it writes.
  std::vector<ValueId> operands_in_step(ValueId id) const {
    const std::span<const ValueId> operands = old_.operands(id);
    if (steps_.carry_of.contains(id) && old_.op(id) == Op::slice_update) return {operands[1]};
    if (!steps_.regions.contains(id)) return {operands.begin(), operands.end()};
    if (steps_.written_by.contains(id) || steps_.carried_from.contains(id)) return {};
    const std::size_t carry = steps_.carry_of.at(operands[0]);
    return {old_.parameters()[counter_parameters + steps_.constants + carry]};
  }

  /// The operand of the loop, a constant or a carry, that a slice reads.
  std::optional<std::size_t> operand_of(ValueId slice) const {
    const ValueId array = old_.operands(slice)[0];
    if (const auto carry = steps_.carry_of.find(array); carry != steps_.carry_of.end())
      return steps_.constants + carry->second;
    const auto first = old_.parameters().begin() + counter_parameters;
    const auto last = first + static_cast<std::ptrdiff_t>(steps_.constants + steps_.carries);
    const auto found = std::find(first, last, array);
    if (found == last) return std::nullopt;
    return static_cast<std::size_t>(found - first);
  }

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

  /// The new loop takes as constants those of the old one that it uses, the carries too, and fixed
  /// parts of them; then what it carries, then the sequences.
  ValueId add_loop(const std::vector<ValueId>& operands) {
    const std::size_t constants = steps_.constants + steps_.carries;
    std::vector<ValueId> taken;
    for (const std::size_t operand : kept_) taken.push_back(operands[operand]);
    for (const Read& read : fixed_) taken.push_back(read_before(read, operands));
    for (const ValueId part : parts_) taken.push_back(before_the_loop(part, operands));
    taken.insert(taken.end(), operands.begin() + static_cast<std::ptrdiff_t>(constants),
                 operands.end());
    const std::size_t given = operands.size() - constants;
    for (const Read& read : moving_)
      taken.push_back(reshaped(graph_, read_before(read, operands),
                               with_steps(compact(read.region), steps_.count)));
    ir::CallData data = scan_;
    for (std::size_t i = 0; i < data.attributes.size(); ++i) {
      const std::string_view name = data.op->attributes[i].name;
      if (name == "carries") data.attributes[i] = std::ssize(parts_);
      if (name == "sequences")
        data.attributes[i] = static_cast<std::int64_t>(given + moving_.size());
    }
    data.regions = {ir::make_region(body())};
    ir::Attributes attributes;
    attributes.call = ir::CallRef(std::move(data));
    return graph_.add(Op::call, taken, std::move(attributes), old_.node(updates_[0]).location);
  }

  /// In all steps.
  ValueId read_before(const Read& read, const std::vector<ValueId>& operands) {
    return step_slices(graph_, operands[read.operand], read.region, steps_.count,
                       old_.node(read.slice).location);
  }

  /// The first step has no step before it. It reads this part of the array as it is.
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
    return reshaped(graph_,
                    graph_.add(Op::slice, {array}, std::move(attributes), old_.node(part).location),
                    compact(region));
  }

  Graph body() {
    Graph body;
    std::map<ValueId, ValueId> mapped;
    const std::vector<ValueId>& parameters = old_.parameters();
    const auto add_parameter = [&](std::size_t i) {
      const ir::Type type = old_.type(parameters[i]);
      mapped[parameters[i]] = old_.attributes(parameters[i]).scalar
                                  ? body.scalar_parameter(type.dtype)
                                  : body.parameter(type.dtype, type.shape);
    };
    std::vector<ValueId> carried, elements;
    for (std::size_t i = 0; i < counter_parameters; ++i) add_parameter(i);
    for (const std::size_t i : kept_) add_parameter(counter_parameters + i);
    for (const Read& read : fixed_)
      mapped[read.slice] = body.parameter(old_.dtype(read.slice), old_.shape(read.slice));
    for (const ValueId part : parts_)
      carried.push_back(body.parameter(old_.dtype(part), compact(steps_.regions.at(part))));
    for (std::size_t i = counter_parameters + steps_.constants + steps_.carries;
         i < parameters.size(); ++i)
      add_parameter(i);
    for (const Read& read : moving_)
      elements.push_back(body.parameter(old_.dtype(read.slice), compact(read.region)));
    for (std::size_t i = 0; i < parts_.size(); ++i)
      carried[i] = reshaped(body, carried[i], old_.attributes(parts_[i]).shape);
    for (std::size_t i = 0; i < moving_.size(); ++i)
      mapped[moving_[i].slice] = reshaped(body, elements[i], old_.shape(moving_[i].slice));
    for (std::uint32_t i = 0; i < old_.size(); ++i) {
      const ValueId id{i};
      if (!needed_[i] || old_.op(id) == Op::parameter || mapped.contains(id)) continue;
      mapped[id] = copied(body, id, mapped, carried);
    }
    for (const std::vector<ValueId>& written : {parts_, updates_}) {
      for (const ValueId update : written)
        body.outputs.push_back(
            reshaped(body, mapped.at(update), compact(steps_.regions.at(update))));
    }
    for (std::size_t i = steps_.carries; i < old_.outputs.size(); ++i)
      body.outputs.push_back(mapped.at(old_.outputs[i]));
    return body;
  }

  /// The node in the new body. For an update, what it writes.
  ValueId copied(Graph& body, ValueId id, const std::map<ValueId, ValueId>& mapped,
                 const std::vector<ValueId>& carried) const {
    if (const auto own = steps_.written_by.find(id); own != steps_.written_by.end())
      return mapped.at(own->second);
    if (const auto before = steps_.carried_from.find(id); before != steps_.carried_from.end()) {
      const auto at = std::ranges::find(parts_, before->second) - parts_.begin();
      return carried[static_cast<std::size_t>(at)];
    }
    std::vector<ValueId> operands;
    for (const ValueId operand : operands_in_step(id)) operands.push_back(mapped.at(operand));
    if (!steps_.carry_of.contains(id)) return copy_node(body, old_, id, operands);
    ir::Attributes whole;
    whole.shape = old_.attributes(id).shape;
    if (body.shape(operands[0]) == whole.shape) return operands[0];
    return body.add(Op::broadcast_to, {operands[0]}, std::move(whole));
  }

  std::vector<ValueId> results(const std::vector<ValueId>& operands, ValueId loop) {
    std::vector<ValueId> made(
        operands.begin() + static_cast<std::ptrdiff_t>(steps_.constants),
        operands.begin() + static_cast<std::ptrdiff_t>(steps_.constants + steps_.carries));
    std::size_t result = parts_.size();
    for (const ValueId update : updates_) {
      ValueId& array = made[steps_.carry_of.at(update)];
      const ValueId written = reshaped(graph_, graph_.result(loop, result++),
                                       with_steps(old_.attributes(update).shape, steps_.count));
      array = with_step_slices(graph_, array, written, steps_.regions.at(update), steps_.count,
                               old_.node(update).location);
    }
    for (std::size_t i = steps_.carries; i < old_.outputs.size(); ++i)
      made.push_back(graph_.result(loop, result++));
    return made;
  }

  Graph& graph_;
  const ir::CallData& scan_;
  const Graph& old_;
  const StepAccesses& steps_;
  const std::vector<bool> needed_;
  std::vector<ValueId> parts_;    ///< the updates of which the next step reads
  std::vector<ValueId> updates_;  ///< in the order of the region
  std::vector<Read> moving_, fixed_;
  std::vector<std::size_t> kept_;  ///< operands that stay
};

}  // namespace

std::optional<std::vector<ValueId>> carry_parts(Graph& graph, const ir::CallData& scan,
                                                const StepAccesses& steps,
                                                const std::vector<ValueId>& operands) {
  return CarriedParts(graph, scan, steps).run(operands);
}

}  // namespace heddle::passes
