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

namespace heddle::passes {

namespace {

using ir::Dim;
using ir::Graph;
using ir::ValueId;
using Kind = StepOperand::Kind;

/// Result `operation` of the step `delay` steps before the current one, carried from step to step.
struct Carry {
  std::size_t operation = 0, delay = 1;
  friend bool operator==(const Carry&, const Carry&) = default;
};

/// Steps, with the values that a loop takes, carries and stacks.
struct RolledLoop {
  RepeatedSteps steps;
  std::vector<ValueId> outside;
  std::vector<Carry> carries;        ///< each with its shorter delays before it
  std::vector<std::size_t> stacked;  ///< operations

  std::size_t index_of(Carry carry) const {
    return static_cast<std::size_t>(std::ranges::find(carries, carry) - carries.begin());
  }
};

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
    for (const Repeat& repeat : find_repeats(sequence_.signatures, limits_.min_steps)) add(repeat);
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

  void add(Repeat repeat) {
    if (repeat.steps() >= limits_.min_steps) repeats_.insert(repeat);
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
    auto steps = repeated_steps(graph_, sequence_, repeat, limits_.min_steps, limits_.counter);
    if (!steps || steps->count * repeat.period < limits_.min_nodes) return std::nullopt;
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
    if (is_better_unrolled(loop)) return std::nullopt;
    for (std::size_t i = 0; i < delays.size(); ++i)
      for (std::size_t delay = 1; delay <= delays[i]; ++delay) loop.carries.push_back({i, delay});
    return loop;
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

/// The number of operations of a node, with those in its regions.
std::size_t weight_of(const Graph& graph, ValueId id) {
  std::size_t weight = 1;
  if (graph.op(id) != ir::Op::call) return weight;
  for (const ir::Region& region : graph.attributes(id).call->regions) {
    for (std::uint32_t i = 0; i < region.graph->size(); ++i)
      weight += weight_of(*region.graph, ValueId{i});
  }
  return weight;
}

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
    ir::Attributes attributes;
    const auto count = static_cast<std::int64_t>(loop.steps.count);
    const ir::NamedAttribute named[] = {{"carries", std::ssize(loop.carries)},
                                        {"length", ir::Dims{Dim(count)}}};
    attributes.call = ir::make_call(ir::calls::scan(), named, {body(loop)});
    const ir::Location where = old_.node(old_node(loop, 0, 0)).location;
    const ValueId call = graph_.add(ir::Op::call, operands, attributes, where);
    map_carries(loop, call);
    for (std::size_t i = 0; i < loop.stacked.size(); ++i)
      map_stack(loop, loop.stacked[i], graph_.result(call, loop.carries.size() + i));
  }

  void map_carries(const RolledLoop& loop, ValueId call) {
    for (std::size_t i = 0; i < loop.carries.size(); ++i) {
      const auto [operation, delay] = loop.carries[i];
      mapped_[index_of(old_node(loop, loop.steps.count - delay, operation))] =
          graph_.result(call, i);
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

  /// Named after the operations of a step: more than those of any loop in it.
  std::string counter_name(const RolledLoop& loop) const {
    std::size_t weight = 0;
    for (std::size_t i = 0; i < loop.steps.operations.size(); ++i)
      weight += weight_of(old_, old_node(loop, 0, i));
    return fmt::format("rolled{}", weight);
  }

  ir::Region body(const RolledLoop& loop) const {
    const std::string counter = counter_name(loop);
    Graph body;
    body.parameter(DType::u8, {Dim::symbol(counter), 0});
    const ValueId step = body.scalar_parameter(DType::i64);
    std::vector<ValueId> outside, carried, made;
    for (const ValueId value : loop.outside)
      outside.push_back(body.parameter(old_.dtype(value), old_.shape(value)));
    for (const Carry carry : loop.carries) {
      const ValueId value = old_node(loop, 0, carry.operation);
      carried.push_back(body.parameter(old_.dtype(value), old_.shape(value)));
    }
    const auto operand = [&](const StepOperand& wanted) {
      const auto at = std::ranges::find(loop.outside, wanted.value) - loop.outside.begin();
      if (wanted.kind == Kind::outside) return outside[static_cast<std::size_t>(at)];
      if (wanted.kind == Kind::step && wanted.delay == 0) return made[wanted.operation];
      if (wanted.kind == Kind::step)
        return carried[loop.index_of({wanted.operation, wanted.delay})];
      if (wanted.kind == Kind::counted) return counted(body, step, wanted);
      return body.constant(old_.dtype(wanted.value), old_.attributes(wanted.value).bits);
    };
    for (std::size_t i = 0; i < loop.steps.operations.size(); ++i) {
      const RepeatedSteps::Operation& operation = loop.steps.operations[i];
      std::vector<ValueId> operands;
      for (const StepOperand& wanted : operation.operands) operands.push_back(operand(wanted));
      const ValueId id = old_node(loop, 0, i);
      ir::Attributes attributes = old_.attributes(id);
      for (std::size_t axis = 0; axis < operation.starts.size(); ++axis) {
        attributes.starts[axis] =
            operation.starts[axis] + Dim::symbol(counter) * Dim(operation.growth[axis]);
      }
      made.push_back(body.add(old_.op(id), operands, attributes, old_.node(id).location));
    }
    for (const auto [operation, delay] : loop.carries)
      body.outputs.push_back(delay == 1 ? made[operation]
                                        : carried[loop.index_of({operation, delay - 1})]);
    for (const std::size_t operation : loop.stacked) body.outputs.push_back(made[operation]);
    return ir::make_region(std::move(body));
  }

  /// first + step * growth, as a number of the constant's dtype.
  ValueId counted(Graph& body, ValueId step, const StepOperand& wanted) const {
    const auto integer = [&](std::int64_t value) {
      return body.constant(DType::i64, ir::ElementBits(static_cast<std::uint64_t>(value)));
    };
    const ValueId grown = body.add(ir::Op::multiply, {step, integer(wanted.growth)});
    const ValueId value = body.add(ir::Op::add, {grown, integer(wanted.first)});
    const DType dtype = old_.dtype(wanted.value);
    if (dtype == DType::i64) return value;
    ir::Attributes cast;
    cast.dtype = dtype;
    return body.add(ir::Op::cast, {value}, cast);
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
