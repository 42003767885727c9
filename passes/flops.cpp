#include "passes/flops.h"

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
    // Comparisons give bools, and a complex number's parts are real.
    DType dtype = instruction.dtype;
    for (const int argument : instruction.arguments)
      dtype = std::max(dtype, plan.body[argument].dtype);
    flops += (instruction.element ? all : outer) * Dim(flops_of(instruction.op, dtype));
  }
  for (const Reduction& reduction : plan.reductions)
    flops += all * Dim(flops_of(reduction.op, reduction.dtype));
  return flops;
}

Dim product_flops(const MatmulStep& step) {
  const std::int64_t each = is_complex(step.dtype) ? 8 : is_floating(step.dtype) ? 2 : 0;
  return step.rows * step.columns * step.depth * step.batch * Dim(each);
}

}  // namespace

Dim flops(const PlannedProgram& planned, const Step& step) {
  switch (step.kind) {
    case Step::Kind::kernel:
      return kernel_flops(planned.kernels[step.kernel.kernel]);
    case Step::Kind::matmul: {
      Dim count = product_flops(step.matmul);
      if (step.matmul.stand_by)
        count += kernel_flops(planned.kernels[step.matmul.stand_by->kernel.kernel]);
      return count;
    }
    case Step::Kind::sort:
    case Step::Kind::zero:
      break;
  }
  return 0;
}

}  // namespace heddle::passes
