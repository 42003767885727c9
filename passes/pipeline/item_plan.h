#pragma once

#include <cstddef>
#include <optional>
#include <unordered_map>
#include <vector>

#include "passes/lower/lower.h"
#include "passes/plan/items.h"
#include "passes/plan/kernel_plan.h"

namespace heddle::passes {

/// The loops of an elementwise plan, divided into those that give the item and those within it.
struct ItemLoops {
  std::vector<Loop> batch, within;
};

/// The call that a routine of a plan computes.
ValueId call_of(const Graph& graph, const KernelPlan& plan, const ItemRoutine& routine);

/// Builds a kernel of the items mapping, phase by phase. For each call: open_call, make_operand or
/// load_operand for each operand that is not held, run_call; then store_result and use_results.
class ItemPlan {
 public:
  ItemPlan(const LowerContext& context, const ir::Target& target);

  void open_call(ValueId call, const ItemCall& item);
  /// Adds a phase that computes operand `k` of the call with the body of `plan`, which stores only
  /// this array. False, without effect, if its loops do not divide into items.
  bool make_operand(std::size_t k, const KernelPlan& plan);
  /// Adds a phase that copies operand `k` of the call from the array that holds it.
  void load_operand(std::size_t k, ValueId array);
  void run_call();
  /// Adds a phase that copies a result of the last call to memory.
  void store_result(ValueId result);
  /// Whether each iteration of the plan reads results of calls from one item only; of a call in
  /// parts, the result that belongs to the iteration.
  bool can_use(const KernelPlan& plan) const;
  /// Whether several blocks make the results of the call. Then one phase uses them.
  bool in_parts() const { return item_.routine.parts > 1; }
  /// The arrays that the kernel has so far.
  std::size_t arrays() const { return plan_.operands.size(); }
  /// Adds a phase with the body of a plan that can_use() accepts.
  void use_results(const KernelPlan& plan);
  /// Whether operand `k` of another call, on the same items, can be made by such a plan, with all
  /// in the memory of an item.
  bool can_continue(const KernelPlan& plan, ValueId call, const ItemCall& item,
                    std::size_t k) const;
  /// Adds another call, whose operand `k` is made by such a plan.
  void continue_with(ValueId call, const ItemCall& item, std::size_t k, const KernelPlan& plan);
  KernelPlan finish();

 private:
  int array_in_item(ValueId value, std::int64_t offset);
  int operand_slot(const KernelOperand& operand);
  /// What the routines so far and one more want.
  ItemThreads with(const ItemCall& item) const;
  ItemPhase& add_phase(ItemLoops loops);
  void append(const KernelPlan& from, ItemLoops loops, int held);
  std::optional<ItemLoops> loops_of_results(const KernelPlan& plan) const;
  std::optional<ItemLoops> divide(const KernelPlan& plan, const Index& address,
                                  std::int64_t elements) const;
  bool is_within(const KernelPlan& plan, const Instruction& load, std::int64_t elements,
                 const std::vector<Loop>& batch) const;
  std::int64_t elements(const ir::Shape& shape) const;
  void copy(int from, int to, std::int64_t elements);

  const Graph& graph_;
  IndexSpace& space_;
  const ir::Target& target_;
  KernelPlan plan_;
  ItemThreads threads_;
  ValueId call_{};
  std::size_t batch_axes_ = 0;  ///< of the call
  ItemCall item_;
  std::int64_t widest_ = 1;  ///< bytes of an element of the calls' matrices
  std::int64_t base_ = 0;    ///< where the memory of the call begins
  std::vector<int> arrays_;  ///< operands of the call, then its results, in the item's memory
  std::unordered_map<std::uint32_t, int> results_;  ///< results of all calls, by value
};

}  // namespace heddle::passes
