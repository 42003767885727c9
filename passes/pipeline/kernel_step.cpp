#include "passes/pipeline/kernel_step.h"

#include <unordered_map>

#include "passes/pipeline/pipeline.h"
#include "passes/plan/launch.h"

namespace heddle::passes {

namespace {

/// Marks operands that share a buffer; one may be an input and another an output.
void mark_aliased(std::vector<KernelOperand>& operands, const std::vector<Parameter>& parameters) {
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> positions;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const BufferRef& buffer = parameters[i].buffer;
    positions[static_cast<std::uint64_t>(buffer.kind) << 32 | buffer.index].push_back(i);
  }
  for (const auto& [buffer, sharing] : positions) {
    if (sharing.size() > 1) share_memory(operands, sharing);
  }
}

/// The counter of a loop differs from step to step, so kernels do not take it as a size.
Parameter counter_parameter() {
  Parameter parameter;
  parameter.kind = Parameter::Kind::scalar;
  parameter.scalar = 1;
  parameter.dtype = DType::i64;
  return parameter;
}

}  // namespace

KernelStep kernel_step(KernelPlan& plan, ProgramBuffers& buffers,
                       const std::vector<BufferRef>& partials, const PlanOptions& options) {
  KernelStep step = launch_shape(plan, options.target);
  const std::int64_t cleared = plan.look_back ? look_back_bytes(plan).flags_per_block : 0;
  for (const KernelOperand& operand : plan.operands) {
    if (operand.in_item()) continue;
    Parameter parameter;
    parameter.written = operand.written;
    if (operand.flags) parameter.cleared = cleared;
    parameter.buffer =
        operand.partials >= 0 ? partials[operand.partials] : buffers.of(operand.value);
    step.parameters.push_back(parameter);
  }
  mark_aliased(plan.operands, step.parameters);
  for (const ir::SymbolId symbol : kernel_symbols(plan)) {
    Parameter parameter;
    parameter.kind = Parameter::Kind::size;
    parameter.value = Dim::symbol(symbol);
    if (symbol == options.counter) parameter = counter_parameter();
    step.parameters.push_back(parameter);
  }
  for (const std::uint32_t scalar : kernel_scalars(plan)) {
    Parameter parameter;
    parameter.kind = Parameter::Kind::scalar;
    parameter.scalar = scalar;
    parameter.dtype = buffers.input_type(scalar).dtype;
    step.parameters.push_back(parameter);
  }
  return step;
}

}  // namespace heddle::passes
