#include "passes/groups/small_reductions.h"

#include <set>
#include <vector>

#include "passes/groups/per_element.h"

namespace heddle::passes {

namespace {

ir::Dim row_extent(const ir::Graph& graph, ir::ValueId reduction) {
  const ir::Shape& operand = graph.shape(graph.operands(reduction)[0]);
  ir::Dim extent = 1;
  for (const std::int64_t axis : graph.attributes(reduction).axes)
    extent *= operand[static_cast<std::size_t>(axis)];
  return extent;
}

}  // namespace

bool can_unroll(const ir::Graph& graph, ir::ValueId node) {
  const ir::Op op = graph.op(node);
  if (!ir::is_reduction(op) || is_segmented(graph, node)) return false;
  // Products and comparisons of complex numbers are long.
  const bool is_short = op == ir::Op::sum || !is_complex(graph.dtype(graph.operands(node)[0]));
  const ir::Dim extent = row_extent(graph, node);
  return is_short && extent.is_constant() && extent.constant() > 1 &&
         extent.constant() <= most_unrolled;
}

std::int64_t row_elements(const ir::Graph& graph, ir::ValueId reduction) {
  return row_extent(graph, reduction).constant();
}

std::int64_t operations_behind(const ir::Graph& graph, ir::ValueId reduction, std::int64_t most) {
  std::int64_t count = 0;
  std::vector<ir::ValueId> ahead = {graph.operands(reduction)[0]};
  std::set<ir::ValueId> seen(ahead.begin(), ahead.end());
  while (!ahead.empty() && count < most) {
    const ir::ValueId value = ahead.back();
    ahead.pop_back();
    const bool is_view = ir::is_view(graph.op(value));
    if (!is_view && !ir::is_elementwise(graph.op(value))) continue;
    if (!is_view) ++count;
    for (const ir::ValueId operand : graph.operands(value)) {
      if (seen.insert(operand).second) ahead.push_back(operand);
    }
  }
  return count;
}

}  // namespace heddle::passes
