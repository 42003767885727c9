#include "passes/rewrite/step_accesses.h"

#include <algorithm>
#include <vector>

#include "ir/calls/control.h"

namespace heddle::passes {

namespace {

using ir::Graph;
using ir::Op;
using ir::ValueId;

class Analysis {
 public:
  Analysis(const Graph& body, StepAccesses& steps) : body_(body), steps_(steps) {}

  /// False if steps may depend on each other.
  bool run() {
    if (!follow_carries()) return false;
    for (std::uint32_t i = 0; i < body_.size(); ++i) {
      if (!visit(ValueId{i})) return false;
    }
    return std::ranges::all_of(accesses_, [&](const Access& one) {
      return (one.written || find_source(one.node)) &&
             std::ranges::all_of(accesses_,
                                 [&](const Access& other) { return may_follow(one, other); });
    });
  }

 private:
  struct Access {
    std::size_t carry;
    ValueId node;
    bool written;
  };

  ValueId carry(std::size_t i) const {
    return body_.parameters()[counter_parameters + steps_.constants + i];
  }

  /// From the region's results back to its parameters. A carry that comes back as it was is a
  /// constant of the loop.
  bool follow_carries() {
    for (std::size_t i = 0; i < steps_.carries; ++i) {
      ValueId value = body_.outputs[i];
      if (value == carry(i)) continue;
      for (; value != carry(i); value = body_.operands(value)[0]) {
        if (body_.op(value) != Op::slice_update) return false;
        if (!steps_.carry_of.emplace(value, i).second) return false;
        accesses_.push_back({i, value, true});
      }
      steps_.carry_of.emplace(value, i);
    }
    for (std::size_t i = 0; i < body_.outputs.size(); ++i) {
      const auto found = steps_.carry_of.find(body_.outputs[i]);
      if (found != steps_.carry_of.end() && found->second != i) return false;
    }
    return true;
  }

  /// A carry with updates may only be updated, or read in parts.
  bool visit(ValueId node) {
    const std::span<const ValueId> operands = body_.operands(node);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const auto found = steps_.carry_of.find(operands[i]);
      if (found == steps_.carry_of.end()) continue;
      const bool updates = i == 0 && steps_.carry_of.contains(node);
      if (!updates && body_.op(node) != Op::slice) return false;
      const auto region = stepped_region(body_.attributes(node), steps_.counter);
      if (!region || !region->is_within(body_.shape(operands[i]), steps_.count)) return false;
      steps_.regions.emplace(node, *region);
      if (!updates) accesses_.push_back({found->second, node, false});
    }
    return true;
  }

  /// Whether a step may do the one where an earlier step has done the other. It may overwrite what
  /// that has read.
  bool may_follow(const Access& one, const Access& other) {
    if (one.carry != other.carry || !other.written) return true;
    const SteppedRegion now = in_order(one.node), earlier = in_order(other.node);
    if (are_apart_from_earlier(now, earlier, steps_.count)) return true;
    if (one.written || now != earlier.one_step_before()) return false;
    ValueId& last = steps_.carried_from.try_emplace(one.node, other.node).first->second;
    last = std::max(last, other.node);
    return true;
  }

  /// The region as it moves while the loop runs.
  SteppedRegion in_order(ValueId node) const {
    const SteppedRegion& region = steps_.regions.at(node);
    return steps_.reverse ? region.backwards(steps_.count) : region;
  }

  /// Looks for an earlier update of the same step that wrote what the slice reads. False if one
  /// wrote only some of it.
  bool find_source(ValueId slice) {
    const SteppedRegion& read = steps_.regions.at(slice);
    ValueId array = body_.operands(slice)[0];
    for (; body_.op(array) == Op::slice_update; array = body_.operands(array)[0]) {
      const SteppedRegion& written = steps_.regions.at(array);
      if (read == written) {
        steps_.written_by.emplace(slice, array);
        return true;
      }
      if (!are_apart_in_a_step(read, written, steps_.count)) return false;
    }
    return true;
  }

  const Graph& body_;
  StepAccesses& steps_;
  std::vector<Access> accesses_;
};

}  // namespace

std::optional<StepAccesses> step_accesses(const ir::CallData& scan, std::size_t operands) {
  const ir::Dim count = ir::scan_length(scan);
  const auto counter = ir::scan_counter(scan);
  if (!count.is_constant() || count.constant() < 2 || !counter) return std::nullopt;
  StepAccesses steps;
  steps.count = count.constant();
  steps.reverse = scan.get<bool>("reverse");
  steps.counter = *counter;
  steps.carries = static_cast<std::size_t>(scan.get<std::int64_t>("carries"));
  steps.constants =
      operands - steps.carries - static_cast<std::size_t>(scan.get<std::int64_t>("sequences"));
  if (!Analysis(*scan.regions[0].graph, steps).run()) return std::nullopt;
  return steps;
}

}  // namespace heddle::passes
