#include "passes/pipeline/flops.h"

#include <algorithm>

#include "passes/plan/analyze.h"

namespace heddle::passes {

namespace {

std::int64_t flops_of(ir::Op op, DType dtype) {
  if (is_complex(dtype)) return op == ir::Op::multiply ? 6 : 2;
  return is_floating(dtype) ? 1 : 0;
}

Dim kernel_flops(const KernelPlan& plan) {
  const Dim outer = iterations(plan.outer), all = outer * iterations(plan.inner);
  Dim flops;
  for (const Instruction& instruction : plan.body) {
    if (instruction.kind != Instruction::Kind::apply) continue;
    // The wider of result and argument dtypes: the result of a comparison is bool, and a part of a
    // complex number is real.
    DType dtype = instruction.dtype;
    for (const int argument : instruction.arguments)
      dtype = std::max(dtype, plan.body[argument].dtype);
    flops += (instruction.element ? all : outer) * Dim(flops_of(instruction.op, dtype));
  }
  for (const Reduction& reduction : plan.reductions)
    flops += all * Dim(flops_of(reduction.op, reduction.dtype));
  return flops;
}

}  // namespace

Dim flops(const PlannedProgram& planned, const Step& step) {
  if (const KernelStep* const kernel = step.kernel())
    return kernel_flops(planned.kernels[kernel->kernel]);
  return step.call() != nullptr ? step.call()->flops : Dim(0);
}

}  // namespace heddle::passes
