// What is computed from rows may be reshaped before it is stored: the groups of channels of a
// normalisation, or the blocks of a quantised array. The group's loops are then the axes before the
// reshape, among which the reductions find their rows.

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "passes/fuse/grouper.h"
#include "passes/groups/index_maps.h"

namespace heddle::passes {

namespace {

/// Whether each axis of `shape` is one or several neighbouring axes of `finer`, and some are
/// several.
bool divides_axes(const ir::Shape& finer, const ir::Shape& shape) {
  std::size_t next = 0, divided = 0;
  for (const Dim& extent : shape) {
    Dim product = 1;
    std::size_t parts = 0;
    while (next < finer.size() && !(product == extent)) {
      product *= finer[next];
      parts += finer[next++] == Dim(1) ? 0 : 1;
    }
    if (!(product == extent)) return false;
    divided += parts > 1 ? 1 : 0;
  }
  const auto is_one = [](const Dim& extent) { return extent == Dim(1); };
  return divided > 0 &&
         std::all_of(finer.begin() + static_cast<std::ptrdiff_t>(next), finer.end(), is_one);
}

}  // namespace

/// The axes before a reshape of values that depend on a reduction, if the value is computed element
/// by element from the reshaped ones and its own axes are the same, joined.
std::optional<ir::Shape> Grouper::rows_before_reshape(ValueId value) const {
  constexpr std::size_t most = 64;
  std::optional<ir::Shape> finest;
  bool has_rows = false;
  std::vector<ValueId> ahead = {value};
  std::unordered_set<std::uint32_t> seen = {index_of(value)};
  for (std::size_t i = 0; i < ahead.size() && i < most; ++i) {
    const ir::Op op = graph_.op(ahead[i]);
    has_rows |= ir::is_reduction(op) || ir::is_scan(op);
    if (op != ir::Op::reshape && op != ir::Op::cast && !ir::is_elementwise(op)) continue;
    for (const ValueId operand : graph_.operands(ahead[i])) {
      if (seen.insert(index_of(operand)).second) ahead.push_back(operand);
      const ir::Shape& shape = graph_.shape(operand);
      if (op == ir::Op::reshape && divides_axes(shape, finest.value_or(graph_.shape(value))))
        finest = shape;
    }
  }
  return has_rows ? finest : std::nullopt;
}

}  // namespace heddle::passes
