// A transform that is too long for one item ends with a transposition and a reshape. The kernel of
// its last call writes the transposition: it has the items of several rows at hand. What reads it
// then finds it in order.

#include "passes/calls/lowering.h"
#include "passes/fuse/grouper.h"

namespace heddle::passes {

bool Grouper::is_transposed_call(ValueId value) const {
  return graph_.op(value) == ir::Op::transpose &&
         item_call(graph_, graph_.operands(value)[0], options_.target).has_value();
}

/// Whether a group reads a transposed call with loops that are divided into rows and columns. Such
/// a group cannot become part of the call's kernel.
bool Grouper::is_read_across_items(ValueId value) const {
  const IndexSpace& space = *result_.space;
  const auto divides = [&](const Index& index) {
    std::vector<AtomId> loops;
    space.collect_loops(index, loops);
    return std::ranges::any_of(loops, [&](AtomId loop) { return space.nested(index, loop); });
  };
  const bool any = std::ranges::any_of(accesses_[index_of(value)], [&](const Access& access) {
    return std::ranges::any_of(
        access.maps, [&](const IndexMap& map) { return std::ranges::any_of(map, divides); });
  });
  return any && is_transposed_call(value);
}

/// If the value is a chain of ops on single elements of a reshaped transposed call: the transposed
/// call. Its axes are the loops in which the value is best computed.
std::optional<ValueId> Grouper::transposed_call_below(ValueId value) const {
  constexpr int longest = 16;
  for (int i = 0; i < longest; ++i) {
    const ir::Op op = graph_.op(value);
    const std::span<const ValueId> operands = graph_.operands(value);
    if (op == ir::Op::reshape) {
      return is_transposed_call(operands[0]) ? std::optional(operands[0]) : std::nullopt;
    }
    if (!ir::is_elementwise(op)) return std::nullopt;
    std::optional<ValueId> next;
    for (const ValueId operand : operands) {
      if (graph_.op(operand) == ir::Op::constant || operand == next) continue;
      if (next) return std::nullopt;
      next = operand;
    }
    if (!next || !(graph_.shape(*next) == graph_.shape(value))) return std::nullopt;
    value = *next;
  }
  return std::nullopt;
}

}  // namespace heddle::passes
