#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/types/call.h"
#include "passes/plan/kernel_plan.h"

namespace heddle::passes {

/// Adds the loops of control.elements calls to the body of a kernel.
class ElementLoops {
 public:
  explicit ElementLoops(KernelPlan& plan) : plan_(plan) {}

  /// The instruction that gives the call's result. `operands` are instructions. Calls that differ
  /// only in which carry is their result share one loop.
  int add(const ir::CallData& call, const std::vector<int>& operands, ValueId source);

 private:
  int add_loop(const ir::CallData& call, const std::vector<int>& operands, ValueId source);
  std::vector<int> add_region(const ir::Graph& region, const std::vector<int>& arguments,
                              int step_of, ValueId source);
  int push(Instruction instruction, int step_of, ValueId source);

  KernelPlan& plan_;
  std::map<std::string, int> known_;  ///< loops by their regions and operands
  int enclosing_ = -1;                ///< the loop whose steps are being added, or -1
};

/// The instructions that a loop uses from outside: its arguments.
std::vector<int> used_from_outside(const KernelPlan& plan, const ElementLoop& loop);

}  // namespace heddle::passes
