#include "passes/rewrite/roll_loops.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "ir/calls/calls.h"
#include "passes/rewrite/repeated_steps.h"
#include "passes/rewrite/rewrite.h"
#include "passes/rewrite/rolled_loop.h"
#include "passes/rewrite/stepped_region.h"
#include "passes/rewrite/vectorize_loops.h"

namespace heddle::passes {

namespace {

using ir::Dim;
using ir::Graph;
using ir::ValueId;
using Kind = StepOperand::Kind;

/// The positions of the operations that use each operation last; past the end for outputs.
std::vector<std::size_t> last_uses(const Graph& graph, const OperationSequence& sequence) {
  std::vector<std::size_t> last(sequence.nodes.size());
  const auto use = [&](ValueId id, std::size_t user) {
    const std::size_t made = sequence.position[index_of(id)];
    if (made != OperationSequence::none) last[made] = std::max(last[made], user);
  };
  for (std::size_t user = 0; user < sequence.nodes.size(); ++user)
    for (const ValueId operand : graph.operands(sequence.nodes[user])) use(operand, user);
  for (const ValueId output : graph.outputs) use(output, sequence.nodes.size());
  return last;
}

/// Finds the loops of a graph that do not overlap, in order.
class LoopFinder {
 public:
  LoopFinder(const Graph& graph, const OperationSequence& sequence, const RollLimits& limits)
      : graph_(graph),
        sequence_(sequence),
        limits_(limits),
        last_(last_uses(graph, sequence)),
        last_result_(sequence.nodes.size()) {
    for (std::size_t i = 0; i < sequence.nodes.size(); ++i) {
      if (graph.op(sequence.nodes[i]) == ir::Op::result)
        last_result_[sequence.position[index_of(graph.operands(sequence.nodes[i])[0])]] = i;
    }
  }

  std::vector<RolledLoop> run() {
    for (const Repeat& repeat : find_repeats(sequence_.signatures, least_steps())) add(repeat);
    int failures = 0;
    while (!repeats_.empty() && failures < most_failures) {
      const Repeat repeat = repeats_.extract(repeats_.begin()).value();
      if (overlaps(repeat)) continue;
      auto loop = loop_of(repeat);
      loop ? take(repeat, std::move(*loop)) : split(repeat), failures += !loop;
    }
    std::ranges::sort(loops_, {}, [](const RolledLoop& loop) { return loop.steps.begin; });
    return std::move(loops_);
  }

 private:
  static constexpr int most_failures = 256;

  struct LongestFirst {
    bool operator()(const Repeat& a, const Repeat& b) const {
      return std::tuple(b.end - b.begin, a.period, a.begin) <
             std::tuple(a.end - a.begin, b.period, b.begin);
    }
  };

  std::size_t least_steps() const {
    return limits_.min_independent_steps == 0
               ? limits_.min_steps
               : std::min(limits_.min_steps, limits_.min_independent_steps);
  }

  void add(Repeat repeat) {
    if (repeat.steps() >= least_steps()) repeats_.insert(repeat);
  }

  bool overlaps(const Repeat& repeat) const {
    return std::ranges::any_of(loops_, [&](const RolledLoop& loop) {
      return repeat.begin < loop.steps.end() && loop.steps.begin < repeat.end;
    });
  }

  void take(const Repeat& repeat, RolledLoop loop) {
    add({repeat.begin, loop.steps.begin, repeat.period});
    add({loop.steps.end(), repeat.end, repeat.period});
    loops_.push_back(std::move(loop));
  }

  /// The middle may lie between two loops.
  void split(const Repeat& repeat) {
    const std::size_t half = repeat.begin + repeat.steps() / 2 * repeat.period;
    add({repeat.begin, half, repeat.period});
    add({half, repeat.end, repeat.period});
  }

  std::optional<RolledLoop> loop_of(const Repeat& repeat) const {
    auto steps = repeated_steps(graph_, sequence_, repeat, least_steps());
    if (!steps) return std::nullopt;
    RolledLoop loop{std::move(*steps), {}, {}, {}};
    std::vector<std::size_t> delays = delays_in(loop);
    // Steps that use nothing of each other are no loop.
    if (std::ranges::count(delays, 0) == std::ssize(delays)) return std::nullopt;
    for (std::size_t i = 0; i < delays.size(); ++i) {
      if (has_result_after(loop, i)) return std::nullopt;
      const std::vector<std::size_t> used = used_after(loop, i);
      if (used.empty()) continue;
      if (loop.steps.count - used.front() <= most_delay)
        delays[i] = std::max(delays[i], loop.steps.count - used.front());
      else if (used.size() * 2 >= loop.steps.count)
        loop.stacked.push_back(i);
      else
        return std::nullopt;
    }
    for (std::size_t i = 0; i < delays.size(); ++i)
      for (std::size_t delay = 1; delay <= delays[i]; ++delay) loop.carries.push_back({i, delay});
    loop.without_arrays = starts_at_counter(loop);
    if ((loop.without_arrays || !pays(loop)) && !needs_no_arrays(loop)) return std::nullopt;
    return loop;
  }

  bool starts_at_counter(const RolledLoop& loop) const {
    return limits_.counter && std::ranges::any_of(loop.steps.operations, [&](const auto& one) {
             return contains_symbol(one.starts, *limits_.counter);
           });
  }

  bool pays(const RolledLoop& loop) const {
    const std::size_t nodes = loop.steps.count * loop.steps.operations.size();
    return loop.steps.count >= limits_.min_steps && nodes >= limits_.min_nodes &&
           !is_better_unrolled(loop);
  }

  /// Whether the loop need not carry the arrays that its steps write. Each step then writes
  /// elsewhere.
  bool needs_no_arrays(const RolledLoop& loop) const {
    if (limits_.min_independent_steps == 0) return false;
    const bool writes = std::ranges::any_of(loop.carries, [&](const Carry& carry) {
      const std::vector<std::int64_t>& growth = loop.steps.operations[carry.operation].growth;
      return carry.delay == 1 && std::ranges::count(growth, 0) < std::ssize(growth);
    });
    if (!writes) return false;
    const LoopForm form = form_of_loop(*scan_of(loop, graph_, sequence_),
                                       operand_types(loop, graph_, sequence_), limits_.counter);
    return form == LoopForm::none ||
           (form == LoopForm::of_parts && loop.steps.count >= limits_.min_steps);
  }

  /// The longest delay with which a step uses each operation. Adds the values from outside.
  static std::vector<std::size_t> delays_in(RolledLoop& loop) {
    std::vector<std::size_t> delays(loop.steps.operations.size());
    for (const RepeatedSteps::Operation& operation : loop.steps.operations) {
      for (const StepOperand& operand : operation.operands) {
        if (operand.kind == Kind::step)
          delays[operand.operation] = std::max(delays[operand.operation], operand.delay);
        const bool is_new = std::ranges::find(loop.outside, operand.value) == loop.outside.end();
        if (operand.kind == Kind::outside && is_new) loop.outside.push_back(operand.value);
      }
    }
    return delays;
  }

  bool is_better_unrolled(const RolledLoop& loop) const {
    bool moves = false;
    for (std::size_t i = 0; i < loop.steps.operations.size(); ++i) {
      const ir::Op op = graph_.op(sequence_.nodes[loop.steps.at(0, i)]);
      const std::vector<std::int64_t>& growth = loop.steps.operations[i].growth;
      const bool grows = std::ranges::count(growth, 0) < std::ssize(growth);
      if (!grows && !stays_in_place(op)) return false;  // the steps do not fuse
      moves |= grows;
    }
    const std::size_t nodes = loop.steps.count * loop.steps.operations.size();
    return !loop.stacked.empty() || (moves && nodes <= limits_.most_fused_nodes);
  }

  /// Whether elements depend only on elements at the same position.
  static bool stays_in_place(ir::Op op) {
    return kind_of(op) == ir::OpKind::elementwise || op == ir::Op::reshape ||
           op == ir::Op::broadcast_to || op == ir::Op::iota;
  }

  /// Whether a call of the loop has further results after it.
  bool has_result_after(const RolledLoop& loop, std::size_t operation) const {
    for (std::size_t step = 0; step < loop.steps.count; ++step)
      if (last_result_[loop.steps.at(step, operation)] >= loop.steps.end()) return true;
    return false;
  }

  /// The steps whose result `operation` is used after the loop.
  std::vector<std::size_t> used_after(const RolledLoop& loop, std::size_t operation) const {
    std::vector<std::size_t> used;
    for (std::size_t step = 0; step < loop.steps.count; ++step)
      if (last_[loop.steps.at(step, operation)] >= loop.steps.end()) used.push_back(step);
    return used;
  }

  const Graph& graph_;
  const OperationSequence& sequence_;
  const RollLimits& limits_;
  std::vector<std::size_t> last_;
  std::vector<std::size_t> last_result_;  ///< the position of the last further result of each call
  std::set<Repeat, LongestFirst> repeats_;
  std::vector<RolledLoop> loops_;
};

/// Makes a copy of a graph that has loops instead of the steps.
class Roller {
 public:
  Roller(const Graph& old, const OperationSequence& sequence, std::vector<RolledLoop> loops)
      : old_(old), sequence_(sequence), loops_(std::move(loops)), mapped_(old.size()) {}

  Graph run() {
    graph_.name = old_.name;
    graph_.facts = old_.facts;
    copy_parameters();
    auto loop = loops_.begin();
    for (std::size_t at = 0; at < sequence_.nodes.size();) {
      if (loop != loops_.end() && at == loop->steps.begin) {
        add_loop(*loop);
        at = loop->steps.end();
        ++loop;
      } else {
        copy(sequence_.nodes[at++]);
      }
    }
    for (const ValueId output : old_.outputs) graph_.outputs.push_back(copied(output));
    return std::move(graph_);
  }

 private:
  void copy_parameters() {
    for (const ValueId parameter : old_.parameters()) {
      const ir::Node& node = old_.node(parameter);
      mapped_[index_of(parameter)] =
          old_.attributes(parameter).scalar
              ? graph_.scalar_parameter(node.dtype, node.location)
              : graph_.parameter(node.dtype, old_.shape(parameter), node.location);
    }
  }

  ValueId copied(ValueId id) {
    return old_.op(id) == ir::Op::constant ? copy_node(graph_, old_, id, {})
                                           : mapped_[index_of(id)];
  }

  void copy(ValueId id) {
    std::vector<ValueId> operands;
    for (const ValueId operand : old_.operands(id)) operands.push_back(copied(operand));
    mapped_[index_of(id)] = copy_node(graph_, old_, id, operands);
  }

  ValueId old_node(const RolledLoop& loop, std::size_t step, std::size_t operation) const {
    return sequence_.nodes[loop.steps.at(step, operation)];
  }

  void add_loop(const RolledLoop& loop) {
    std::vector<ValueId> operands;
    for (const ValueId value : loop.outside) operands.push_back(copied(value));
    for (const Carry carry : loop.carries) {
      const auto before = loop.steps.before.find({carry.operation, carry.delay});
      const ir::Type type = old_.type(old_node(loop, 0, carry.operation));
      // A value that only the rest of the program uses has none before the first step.
      operands.push_back(before == loop.steps.before.end() ? filled(graph_, type, 0)
                                                           : copied(before->second));
    }
    const std::vector<ValueId> results = results_of(loop, operands);
    map_carries(loop, results);
    for (std::size_t i = 0; i < loop.stacked.size(); ++i)
      map_stack(loop, loop.stacked[i], results[loop.carries.size() + i]);
  }

  std::vector<ValueId> results_of(const RolledLoop& loop, const std::vector<ValueId>& operands) {
    ir::Attributes attributes;
    attributes.call = scan_of(loop, old_, sequence_);
    if (loop.without_arrays) return *loop_without_arrays(graph_, *attributes.call, operands);
    const ir::Location where = old_.node(old_node(loop, 0, 0)).location;
    const ValueId call = graph_.add(ir::Op::call, operands, attributes, where);
    std::vector<ValueId> results;
    for (std::size_t i = 0; i < loop.carries.size() + loop.stacked.size(); ++i)
      results.push_back(graph_.result(call, i));
    return results;
  }

  void map_carries(const RolledLoop& loop, const std::vector<ValueId>& results) {
    for (std::size_t i = 0; i < loop.carries.size(); ++i) {
      const auto [operation, delay] = loop.carries[i];
      mapped_[index_of(old_node(loop, loop.steps.count - delay, operation))] = results[i];
    }
  }

  void map_stack(const RolledLoop& loop, std::size_t operation, ValueId stack) {
    for (std::size_t step = 0; step < loop.steps.count; ++step) {
      const ValueId id = old_node(loop, step, operation);
      ir::Attributes part;
      part.shape = graph_.shape(stack);
      part.shape[0] = 1;
      part.starts.assign(part.shape.size(), Dim(0));
      part.starts[0] = static_cast<std::int64_t>(step);
      part.steps.assign(part.shape.size(), Dim(1));
      const ValueId slice = graph_.add(ir::Op::slice, {stack}, part);
      ir::Attributes whole;
      whole.shape = old_.shape(id);
      mapped_[index_of(id)] = graph_.add(ir::Op::reshape, {slice}, whole);
    }
  }

  const Graph& old_;
  const OperationSequence& sequence_;
  std::vector<RolledLoop> loops_;
  std::vector<ValueId> mapped_;
  Graph graph_;
};

}  // namespace

Graph roll_loops(const Graph& graph, const RollLimits& limits) {
  Graph rolled = graph;
  for (;;) {
    const OperationSequence sequence(rolled);
    auto loops = LoopFinder(rolled, sequence, limits).run();
    if (loops.empty()) return rolled;
    Graph next = Roller(rolled, sequence, std::move(loops)).run();
    rolled = std::move(next);
  }
}

}  // namespace heddle::passes
