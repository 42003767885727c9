#include "passes/rewrite/repeated_steps.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "ir/base/hash.h"
#include "ir/graph/needed_nodes.h"
#include "ir/types/constant.h"

namespace heddle::passes {

namespace {

using ir::Dim;
using ir::Graph;
using ir::ValueId;
using Kind = StepOperand::Kind;

std::uint64_t signature_of(const Graph& graph, ValueId id) {
  ir::Hasher hasher;
  ir::Attributes attributes = graph.attributes(id);
  std::ranges::fill(attributes.starts, Dim(0));
  ir::hash_into(hasher, attributes);
  hasher.number(static_cast<std::uint64_t>(graph.op(id)));
  hasher.number(static_cast<std::uint64_t>(graph.dtype(id)));
  for (const Dim extent : graph.shape(id)) hasher.number(extent.hash());
  hasher.number(graph.operands(id).size());
  return hasher.finish().low;
}

/// The number of values that are needed on both sides of a boundary before each operation of a
/// step, from the number of operations until the last use of each result.
std::vector<std::size_t> crossings(const std::vector<std::size_t>& reach) {
  const std::size_t period = reach.size();
  std::vector<std::size_t> crossing(period);
  for (std::size_t operation = 0; operation < period; ++operation) {
    for (std::size_t distance = 1; distance <= reach[operation]; ++distance)
      ++crossing[(operation + distance) % period];
  }
  return crossing;
}

/// Finds the pattern of one repeat in its middle, and the steps that have it.
class Matcher {
 public:
  Matcher(const Graph& graph, const OperationSequence& sequence, Repeat repeat)
      : graph_(graph), sequence_(sequence), repeat_(repeat) {}

  std::optional<RepeatedSteps> run(std::size_t min_steps) {
    align();
    if (repeat_.steps() < min_steps || !find_pattern()) return std::nullopt;
    extend();
    if (end_ - first_ < min_steps) return std::nullopt;
    return steps();
  }

 private:
  ValueId node(std::size_t step, std::size_t operation) const {
    return sequence_.nodes[repeat_.begin + step * repeat_.period + operation];
  }
  bool is_constant(ValueId id) const { return graph_.op(id) == ir::Op::constant; }
  std::size_t middle() const { return repeat_.steps() / 2; }

  /// Moves the repeat's begin to the boundary between steps that the fewest values cross.
  void align() {
    std::vector<std::size_t> reach(repeat_.period);
    const std::size_t begin = repeat_.begin + middle() * repeat_.period;
    for (std::size_t user = begin; user < begin + repeat_.period; ++user) {
      for (const ValueId operand : graph_.operands(sequence_.nodes[user])) {
        const std::size_t made = sequence_.position[index_of(operand)];
        if (made == OperationSequence::none || user - made > most_delay * repeat_.period) continue;
        if (made < repeat_.begin) continue;
        std::size_t& distance = reach[(made - repeat_.begin) % repeat_.period];
        distance = std::max(distance, user - made);
      }
    }
    // Of equal boundaries, one is taken that has what writes the same elements on one side.
    std::vector<std::size_t> crossing = crossings(reach);
    for (std::size_t i = 0; i < repeat_.period; ++i)
      crossing[i] = 2 * crossing[i] + (parts_writes(begin + i) ? 1 : 0);
    // A call stays together with its further results.
    for (std::size_t i = 0; i < repeat_.period; ++i) {
      if (graph_.op(sequence_.nodes[begin + i]) == ir::Op::result)
        crossing[i] = std::numeric_limits<std::size_t>::max();
    }
    repeat_.begin += static_cast<std::size_t>(
        std::ranges::distance(crossing.begin(), std::ranges::min_element(crossing)));
  }

  /// Whether the operation before a boundary is an update that the next one overwrites.
  bool parts_writes(std::size_t boundary) const {
    if (boundary == 0) return false;
    const ValueId before = sequence_.nodes[boundary - 1];
    if (graph_.op(before) != ir::Op::slice_update) return false;
    const ir::Attributes& written = graph_.attributes(before);
    const std::size_t end = std::min(boundary + repeat_.period, sequence_.nodes.size());
    for (std::size_t i = boundary; i < end; ++i) {
      const ValueId next = sequence_.nodes[i];
      if (graph_.op(next) != ir::Op::slice_update || graph_.operands(next)[0] != before) continue;
      const ir::Attributes& other = graph_.attributes(next);
      return other.starts == written.starts && other.steps == written.steps &&
             other.shape == written.shape;
    }
    return false;
  }

  bool find_pattern() {
    if (middle() <= most_delay || middle() + 1 >= repeat_.steps()) return false;
    pattern_.resize(repeat_.period);
    for (std::size_t i = 0; i < repeat_.period; ++i) {
      const auto operands = graph_.operands(node(middle(), i));
      for (std::size_t k = 0; k < operands.size(); ++k) {
        const ValueId next = graph_.operands(node(middle() + 1, i))[k];
        const auto operand = operand_of(operands[k], next);
        const bool in_step = operand && operand->kind == Kind::step && operand->delay == 0;
        if (!operand || (graph_.op(node(middle(), i)) == ir::Op::result && !in_step)) return false;
        pattern_[i].operands.push_back(*operand);
      }
      if (!find_growth(i)) return false;
    }
    return true;
  }

  /// Step 0 is the middle one until steps() counts anew.
  std::optional<StepOperand> operand_of(ValueId id, ValueId next) const {
    if (is_constant(id)) {
      if (id == next) return StepOperand{.kind = Kind::constant, .value = id};
      return counted(id, next);
    }
    const std::size_t made = sequence_.position[index_of(id)];
    if (made == OperationSequence::none || made < repeat_.begin)
      return StepOperand{.kind = Kind::outside, .value = id};
    const std::size_t step = (made - repeat_.begin) / repeat_.period;
    const std::size_t delay = middle() - step;
    if (delay > most_delay) return StepOperand{.kind = Kind::outside, .value = id};
    return StepOperand{
        .kind = Kind::step, .operation = (made - repeat_.begin) % repeat_.period, .delay = delay};
  }

  std::optional<StepOperand> counted(ValueId id, ValueId next) const {
    if (!is_constant(next) || graph_.dtype(next) != graph_.dtype(id)) return std::nullopt;
    const auto first = integer(id), second = integer(next);
    if (!first || !second) return std::nullopt;
    return StepOperand{
        .kind = Kind::counted, .value = id, .first = *first, .growth = *second - *first};
  }

  std::optional<std::int64_t> integer(ValueId constant) const {
    return ir::integer_of(graph_.dtype(constant), graph_.attributes(constant).bits);
  }

  bool find_growth(std::size_t operation) {
    const ir::Dims& starts = graph_.attributes(node(middle(), operation)).starts;
    const ir::Dims& next = graph_.attributes(node(middle() + 1, operation)).starts;
    pattern_[operation].starts = starts;
    for (std::size_t axis = 0; axis < starts.size(); ++axis) {
      const Dim growth = next[axis] - starts[axis];
      if (!growth.is_constant()) return false;
      pattern_[operation].growth.push_back(growth.constant());
    }
    return true;
  }

  void extend() {
    first_ = end_ = middle();
    while (end_ < repeat_.steps() && matches(end_)) ++end_;
    while (first_ > 0 && matches(first_ - 1)) --first_;
  }

  /// Whether a step has the pattern. The first steps have no steps before them: what they use
  /// instead is added to before_.
  bool matches(std::size_t step) {
    auto before = before_;
    for (std::size_t i = 0; i < repeat_.period; ++i) {
      const ValueId id = node(step, i);
      const auto operands = graph_.operands(id);
      for (std::size_t k = 0; k < operands.size(); ++k) {
        if (!is_operand(pattern_[i].operands[k], operands[k], step, before)) return false;
      }
      const ir::Dims& starts = graph_.attributes(id).starts;
      for (std::size_t axis = 0; axis < starts.size(); ++axis) {
        const Dim growth = Dim(pattern_[i].growth[axis]) * since_middle(step);
        if (starts[axis] != pattern_[i].starts[axis] + growth) return false;
      }
    }
    before_ = std::move(before);
    return true;
  }

  std::int64_t since_middle(std::size_t step) const {
    return static_cast<std::int64_t>(step) - static_cast<std::int64_t>(middle());
  }

  /// By operation, and by the number of steps before the repeat.
  using Before = std::map<std::pair<std::size_t, std::size_t>, ValueId>;

  bool is_operand(const StepOperand& pattern, ValueId id, std::size_t step, Before& before) const {
    switch (pattern.kind) {
      case Kind::constant:
        return id == pattern.value;
      case Kind::counted:
        return is_constant(id) && graph_.dtype(id) == graph_.dtype(pattern.value) &&
               integer(id) == pattern.first + pattern.growth * since_middle(step);
      case Kind::outside: {
        const std::size_t made = sequence_.position[index_of(id)];
        return id == pattern.value &&
               (made == OperationSequence::none || made < repeat_.begin + step * repeat_.period);
      }
      case Kind::step:
        break;
    }
    if (step >= pattern.delay) return id == node(step - pattern.delay, pattern.operation);
    const std::size_t made = sequence_.position[index_of(id)];
    const bool is_before = made == OperationSequence::none || made < repeat_.begin;
    if (!is_before || graph_.type(id) != graph_.type(node(0, pattern.operation))) return false;
    const auto [found, is_new] =
        before.emplace(std::pair(pattern.operation, pattern.delay - step), id);
    return is_new || found->second == id;
  }

  RepeatedSteps steps() {
    RepeatedSteps steps;
    steps.begin = repeat_.begin + first_ * repeat_.period;
    steps.count = end_ - first_;
    steps.operations = std::move(pattern_);
    const std::int64_t moved = since_middle(first_);
    for (RepeatedSteps::Operation& operation : steps.operations) {
      for (StepOperand& operand : operation.operands) operand.first += operand.growth * moved;
      for (std::size_t axis = 0; axis < operation.starts.size(); ++axis)
        operation.starts[axis] += Dim(operation.growth[axis] * moved);
    }
    for (const RepeatedSteps::Operation& operation : steps.operations) {
      for (const StepOperand& operand : operation.operands) {
        if (operand.kind != Kind::step) continue;
        for (std::size_t back = 1; back <= operand.delay; ++back)
          add_before(steps, operand.operation, back);
      }
    }
    return steps;
  }

  void add_before(RepeatedSteps& steps, std::size_t operation, std::size_t back) const {
    if (back <= first_) {
      steps.before[{operation, back}] = node(first_ - back, operation);
    } else if (const auto at = before_.find({operation, back - first_}); at != before_.end()) {
      steps.before[{operation, back}] = at->second;
    }
  }

  const Graph& graph_;
  const OperationSequence& sequence_;
  Repeat repeat_;
  std::vector<RepeatedSteps::Operation> pattern_;
  std::size_t first_ = 0, end_ = 0;  ///< the steps that have the pattern
  Before before_;
};

}  // namespace

OperationSequence::OperationSequence(const Graph& graph) : position(graph.size(), none) {
  const std::vector<bool> needed = ir::needed_nodes(graph);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto id = static_cast<ValueId>(i);
    const ir::Op op = graph.op(id);
    if (!needed[i] || op == ir::Op::parameter || op == ir::Op::constant) continue;
    position[i] = nodes.size();
    nodes.push_back(id);
    signatures.push_back(signature_of(graph, id));
  }
}

std::optional<RepeatedSteps> repeated_steps(const Graph& graph, const OperationSequence& sequence,
                                            Repeat repeat, std::size_t min_steps) {
  return Matcher(graph, sequence, repeat).run(min_steps);
}

}  // namespace heddle::passes
