#include "passes/pipeline/flops.h"

#include <algorithm>

#include "passes/calls/lowering.h"
#include "passes/pipeline/item_plan.h"
#include "passes/plan/analyze.h"

namespace heddle::passes {

namespace {

std::int64_t flops_of(ir::Op op, DType dtype) {
  if (is_complex(dtype)) return op == ir::Op::multiply ? 6 : 2;
  return is_floating(dtype) ? 1 : 0;
}

std::int64_t instruction_flops(const KernelPlan& plan, const Instruction& instruction) {
  if (instruction.kind != Instruction::Kind::apply) return 0;
  // The wider of result and argument dtypes: the result of a comparison is bool, and a part of a
  // complex number is real.
  DType dtype = instruction.dtype;
  for (const int argument : instruction.arguments)
    dtype = std::max(dtype, plan.body[argument].dtype);
  return flops_of(instruction.op, dtype);
}

Dim phase_flops(const Graph& graph, const KernelPlan& plan, const ItemPhase& phase) {
  if (phase.routine) {
    const ValueId call = call_of(graph, plan, *phase.routine);
    const CallLowering& row = lowering_of(*graph.attributes(call).call->op);
    return row.flops == nullptr ? Dim(0) : row.flops(graph, call);
  }
  std::vector<int> roots;
  for (const int store : phase.stores) {
    for (const int need : needs_of(plan.stores[store])) roots.push_back(need);
  }
  std::int64_t each = 0;
  for (const int i : needed(plan, roots, false)) each += instruction_flops(plan, plan.body[i]);
  return plan.items->count * iterations(phase.loops) * Dim(each);
}

Dim kernel_flops(const Graph& graph, const KernelPlan& plan) {
  Dim flops;
  if (plan.items) {
    for (const ItemPhase& phase : plan.items->phases) flops += phase_flops(graph, plan, phase);
    return flops;
  }
  if (plan.attention) {
    return iterations(plan.outer) * plan.attention->columns *
           Dim(2 * (plan.attention->depth + plan.attention->width));
  }
  const Dim outer = iterations(plan.outer), all = elements_of(plan);
  for (const Instruction& instruction : plan.body) {
    const Dim each = steps_around(plan, instruction, 1) * Dim(instruction_flops(plan, instruction));
    flops += (instruction.element ? all : outer) * each;
  }
  for (const Reduction& reduction : plan.reductions)
    flops += all * Dim(flops_of(reduction.op, reduction.dtype));
  return flops;
}

}  // namespace

Dim flops(const PlannedProgram& planned, const Step& step) {
  if (const KernelStep* const kernel = step.kernel())
    return kernel_flops(planned.graph, planned.kernels[kernel->kernel]);
  return step.call() != nullptr ? step.call()->flops : Dim(0);
}

}  // namespace heddle::passes
