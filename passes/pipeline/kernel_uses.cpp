#include "passes/pipeline/kernel_uses.h"

#include <algorithm>

namespace heddle::passes {

KernelUses::KernelUses(const KernelStep& step, const KernelPlan& plan) {
  const std::vector<Parameter>& parameters = step.parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].kind == Parameter::Kind::buffer)
      uses_[parameters[i].buffer].places.push_back(i);
  }
  for (const Instruction& instruction : plan.body) {
    const bool reads = instruction.kind == Instruction::Kind::load ||
                       instruction.kind == Instruction::Kind::search ||
                       instruction.kind == Instruction::Kind::array;
    if (reads && !plan.operands[instruction.operand].in_item()) {
      uses_[parameters[instruction.operand].buffer].loads.push_back(&instruction);
    }
  }
  for (const Store& store : plan.stores) {
    if (!plan.operands[store.operand].in_item())
      uses_[parameters[store.operand].buffer].stored = &store;
  }
}

const KernelUses::Uses& KernelUses::of(const BufferRef& buffer) const {
  static const Uses none;
  const auto found = uses_.find(buffer);
  return found == uses_.end() ? none : found->second;
}

bool is_read_where(const Store& store, DType dtype, const KernelUses::Uses& buffer) {
  return !store.by_value && std::ranges::all_of(buffer.loads, [&](const Instruction* load) {
    return load->kind == Instruction::Kind::load && load->dtype == dtype &&
           load->address == store.address;
  });
}

}  // namespace heddle::passes
