#include "passes/lower/loop_reduction.h"

#include <cstdint>
#include <span>
#include <utility>

#include "ir/types/reduction_order.h"
#include "passes/groups/per_element.h"
#include "passes/plan/narrow_integers.h"

namespace heddle::passes {

namespace {

int push(KernelPlan& plan, Instruction instruction, ValueId source) {
  instruction.source = source;
  plan.body.push_back(std::move(instruction));
  return static_cast<int>(plan.body.size()) - 1;
}

/// The begin or end of a segment: a position on the axis, or behind its last element.
int add_bound(KernelPlan& plan, int index, Dim axis) {
  Instruction bound = Instruction::of(Instruction::Kind::bound, DType::i64);
  bound.arguments = {index};
  bound.end = axis;
  return push(plan, std::move(bound), {});
}

/// An integer that was converted before is converted from what it was.
int add_cast(KernelPlan& plan, int value, DType dtype, ValueId source) {
  const Instruction& given = plan.body[static_cast<std::size_t>(value)];
  Instruction cast = Instruction::of(Instruction::Kind::cast, dtype);
  cast.arguments = {value};
  if (given.kind == Instruction::Kind::cast) cast.arguments = given.arguments;
  return push(plan, std::move(cast), source);
}

}  // namespace

int add_loop_reduction(KernelPlan& plan, const ir::Graph& graph, ValueId node,
                       const std::vector<int>& values) {
  const ValueId operand = graph.operands(node)[0];
  const ir::Shape& shape = graph.shape(operand);
  const std::span<const std::int64_t> axes = graph.attributes(node).axes;
  Reduction reduction;
  reduction.op = graph.op(node);
  reduction.scan = ir::is_scan(reduction.op);
  reduction.dtype = graph.dtype(operand);
  reduction.source = node;
  reduction.along_columns = ir::reduces_columns(shape, axes);
  reduction.value = values[0];
  Dim length = 1;
  for (const std::int64_t axis : axes) length *= shape[static_cast<std::size_t>(axis)];
  const bool narrow = reduction.op == ir::Op::sum && sums_in_32_bits(plan, reduction.value, length);
  if (narrow) {
    reduction.dtype = DType::i32;
    reduction.value = add_cast(plan, reduction.value, DType::i32, operand);
  }
  if (is_segmented(graph, node)) {
    const Dim axis = shape[static_cast<std::size_t>(axes[0])];
    reduction.first = add_bound(plan, values[1], axis);
    reduction.last = add_bound(plan, values[2], axis);
    reduction.along_columns = true;
  } else if (values.size() > 1) {
    reduction.begins = values[1];
  }
  const auto kind = reduction.scan ? Instruction::Kind::scanned : Instruction::Kind::reduced;
  Instruction reduced = Instruction::of(kind, narrow ? reduction.dtype : graph.dtype(node));
  reduced.reduction = static_cast<int>(plan.reductions.size());
  plan.reductions.push_back(reduction);
  const int result = push(plan, std::move(reduced), node);
  return narrow ? add_cast(plan, result, graph.dtype(node), node) : result;
}

}  // namespace heddle::passes
