#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ir/types/call.h"
#include "passes/plan/kernel_plan.h"

namespace heddle::passes {

/// Adds the loops of control.elements calls to the body of a kernel.
class ElementLoops {
 public:
  explicit ElementLoops(KernelPlan& plan) : plan_(plan) {}

  /// A sequence: at each step, the element of an operand of the kernel.
  struct Sequence {
    int operand = -1;
    DType dtype = DType::f32;
    Index address;
  };

  /// The instruction that gives the call's result, a carry. `operands` are instructions: constants
  /// and carries. Calls that differ only in which carry is their result share one loop.
  int add(const ir::CallData& call, const std::vector<int>& operands,
          const std::vector<Sequence>& sequences, ValueId source);
  /// Adds the same loop and, in each step, the store of the call's stacked result to an operand.
  /// Returns the instruction that runs the loop.
  int add_stacked(const ir::CallData& call, const std::vector<int>& operands,
                  const std::vector<Sequence>& sequences, int operand, Index address,
                  ValueId source);
  /// What stands in addresses for the step of a loop of this length.
  AtomId step_of(Dim length, IndexSpace& space);

 private:
  int loop_of(const ir::CallData& call, const std::vector<int>& operands,
              const std::vector<Sequence>& sequences, ValueId source);
  int add_loop(const ir::CallData& call, const std::vector<int>& operands,
               const std::vector<Sequence>& sequences, ValueId source);
  AtomId atom_of(const ElementLoop& loop) const;
  std::vector<int> add_region(const ir::Graph& region, const std::vector<int>& arguments,
                              int step_of, ValueId source);
  int push(Instruction instruction, int step_of, ValueId source);

  KernelPlan& plan_;
  std::map<std::string, int> known_;                ///< loops by their regions and operands
  std::vector<std::pair<Dim, AtomId>> step_atoms_;  ///< by length
  int enclosing_ = -1;                              ///< the loop whose steps are being added, or -1
};

/// The instructions that a loop uses from outside: its arguments.
std::vector<int> used_from_outside(const KernelPlan& plan, const ElementLoop& loop);

}  // namespace heddle::passes
