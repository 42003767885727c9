#include "passes/pipeline/traffic.h"

#include <algorithm>

#include "passes/plan/analyze.h"
#include "passes/plan/launch.h"

namespace heddle::passes {

namespace {

// The number of array elements that an access touches over all iterations: the product of the
// extents of the loops in its address, at most the size of the array.
Dim touched(const KernelPlan& plan, const Index& address, Dim whole) {
  std::vector<AtomId> loops;
  plan.space->collect_loops(address, loops);
  Dim count = 1;
  for (const AtomId loop : loops) count *= plan.space->atom(loop).extent;
  if (count.is_constant() && whole.is_constant())
    return std::min(count.constant(), whole.constant());
  return count;
}

// The elements of one array that a kernel touches in all its accesses. Each element counts once,
// because caches serve the overlap of shifted reads.
struct Touched {
  std::vector<Index> addresses;
  Dim elements;
};

Dim elements_moved(const Touched& all, Dim whole) {
  if (all.elements.is_constant() && whole.is_constant())
    return std::min(all.elements.constant(), whole.constant());
  return all.addresses.size() > 1 ? whole : all.elements;
}

Dim kernel_bytes(const Graph& graph, const KernelPlan& plan) {
  std::vector<Touched> operands(plan.operands.size());
  const auto whole = [&](int operand) {
    return ir::element_count(graph.shape(plan.operands[operand].value));
  };
  const auto add = [&](int operand, const Index& address) {
    Touched& all = operands[operand];
    if (std::find(all.addresses.begin(), all.addresses.end(), address) != all.addresses.end())
      return;
    all.addresses.push_back(address);
    all.elements += touched(plan, address, whole(operand));
  };
  for (const Instruction& instruction : plan.body) {
    if (instruction.kind == Instruction::Kind::load || instruction.kind == Instruction::Kind::put)
      add(instruction.operand, instruction.address);
    if (instruction.kind == Instruction::Kind::search ||
        instruction.kind == Instruction::Kind::array) {
      operands[instruction.operand].addresses = {Index{}};
      operands[instruction.operand].elements = whole(instruction.operand);
    }
  }
  for (const Store& store : plan.stores) {
    if (!store.by_value) add(store.operand, store.address);
  }
  Dim bytes;
  if (plan.attention) {
    for (const KernelOperand& operand : plan.operands)
      bytes += byte_count(graph.type(operand.value));
    return bytes;
  }
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].addresses.empty() || plan.operands[i].in_item()) continue;
    bytes += elements_moved(operands[i], whole(static_cast<int>(i))) *
             Dim(static_cast<std::int64_t>(size_of(plan.operands[i].dtype)));
  }
  for (const Reduction& reduction : plan.reductions) {
    // Tiles exchange one state for thousands of elements, which is negligible.
    if (reduction.partials < 0 || plan.look_back) continue;
    const Dim parts = reduction.value >= 0 ? Dim(plan.split) : iterations(plan.inner);
    bytes +=
        iterations(plan.outer) * parts * Dim(static_cast<std::int64_t>(state_bytes(reduction)));
  }
  return bytes;
}

Dim value_bytes(const Graph& graph, ValueId value) { return byte_count(graph.type(value)); }

}  // namespace

Dim bytes_moved(const PlannedProgram& planned, const Step& step) {
  if (const KernelStep* const kernel = step.kernel())
    return kernel_bytes(planned.graph, planned.kernels[kernel->kernel]);
  return step.fill() != nullptr ? step.fill()->bytes : step.moved;
}

Traffic traffic(const PlannedProgram& planned) {
  const Graph& graph = planned.graph;
  Traffic result;
  for (const Step& step : planned.program.steps) {
    if (step.fill() == nullptr) result.moved += step.moved;
  }
  const std::vector<std::uint32_t> uses = use_counts(graph);
  for (const ValueId parameter : graph.parameters()) {
    if (uses[index_of(parameter)] > 0 && !graph.attributes(parameter).scalar)
      result.fewest += value_bytes(graph, parameter);
  }
  std::vector<ValueId> written;
  for (const ValueId output : graph.outputs) {
    if (graph.op(output) == ir::Op::parameter ||
        std::find(written.begin(), written.end(), output) != written.end())
      continue;
    written.push_back(output);
    result.fewest += value_bytes(graph, output);
  }
  return result;
}

}  // namespace heddle::passes
