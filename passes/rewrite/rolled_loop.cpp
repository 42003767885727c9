#include "passes/rewrite/rolled_loop.h"

#include <string>

#include <fmt/format.h>

#include "ir/calls/calls.h"

namespace heddle::passes {

namespace {

using ir::Dim;
using ir::Graph;
using ir::ValueId;
using Kind = StepOperand::Kind;

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

class LoopCall {
 public:
  LoopCall(const RolledLoop& loop, const Graph& graph, const OperationSequence& sequence)
      : loop_(loop), old_(graph), sequence_(sequence) {}

  ir::Region body() const {
    const std::string counter = counter_name();
    Graph body;
    body.parameter(DType::u8, {Dim::symbol(counter), 0});
    const ValueId step = body.scalar_parameter(DType::i64);
    std::vector<ValueId> outside, carried, made;
    for (const ValueId value : loop_.outside)
      outside.push_back(body.parameter(old_.dtype(value), old_.shape(value)));
    for (const Carry carry : loop_.carries) {
      const ValueId value = node(0, carry.operation);
      carried.push_back(body.parameter(old_.dtype(value), old_.shape(value)));
    }
    const auto operand = [&](const StepOperand& wanted) {
      const auto at = std::ranges::find(loop_.outside, wanted.value) - loop_.outside.begin();
      if (wanted.kind == Kind::outside) return outside[static_cast<std::size_t>(at)];
      if (wanted.kind == Kind::step && wanted.delay == 0) return made[wanted.operation];
      if (wanted.kind == Kind::step)
        return carried[loop_.index_of({wanted.operation, wanted.delay})];
      if (wanted.kind == Kind::counted) return counted(body, step, wanted);
      return body.constant(old_.dtype(wanted.value), old_.attributes(wanted.value).bits);
    };
    for (std::size_t i = 0; i < loop_.steps.operations.size(); ++i) {
      const RepeatedSteps::Operation& operation = loop_.steps.operations[i];
      std::vector<ValueId> operands;
      for (const StepOperand& wanted : operation.operands) operands.push_back(operand(wanted));
      const ValueId id = node(0, i);
      ir::Attributes attributes = old_.attributes(id);
      for (std::size_t axis = 0; axis < operation.starts.size(); ++axis) {
        attributes.starts[axis] =
            operation.starts[axis] + Dim::symbol(counter) * Dim(operation.growth[axis]);
      }
      made.push_back(body.add(old_.op(id), operands, attributes, old_.node(id).location));
    }
    for (const auto [operation, delay] : loop_.carries)
      body.outputs.push_back(delay == 1 ? made[operation]
                                        : carried[loop_.index_of({operation, delay - 1})]);
    for (const std::size_t operation : loop_.stacked) body.outputs.push_back(made[operation]);
    return ir::make_region(std::move(body));
  }

  ValueId node(std::size_t step, std::size_t operation) const {
    return sequence_.nodes[loop_.steps.at(step, operation)];
  }

 private:
  /// Named after the operations of a step: more than those of any loop in it.
  std::string counter_name() const {
    std::size_t weight = 0;
    for (std::size_t i = 0; i < loop_.steps.operations.size(); ++i)
      weight += weight_of(old_, node(0, i));
    return fmt::format("rolled{}", weight);
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

  const RolledLoop& loop_;
  const Graph& old_;
  const OperationSequence& sequence_;
};

}  // namespace

ir::CallRef scan_of(const RolledLoop& loop, const Graph& graph, const OperationSequence& sequence) {
  const auto count = static_cast<std::int64_t>(loop.steps.count);
  const ir::NamedAttribute named[] = {{"carries", std::ssize(loop.carries)},
                                      {"length", ir::Dims{Dim(count)}}};
  return ir::make_call(ir::calls::scan(), named, {LoopCall(loop, graph, sequence).body()});
}

std::vector<ir::Type> operand_types(const RolledLoop& loop, const Graph& graph,
                                    const OperationSequence& sequence) {
  std::vector<ir::Type> types;
  for (const ValueId value : loop.outside) types.push_back(graph.type(value));
  for (const Carry carry : loop.carries)
    types.push_back(graph.type(sequence.nodes[loop.steps.at(0, carry.operation)]));
  return types;
}

}  // namespace heddle::passes
