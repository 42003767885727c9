#include "passes/calls/lu.h"

#include <algorithm>

#include "ir/types/capabilities.h"
#include "passes/calls/failed_matrices.h"
#include "passes/calls/matrix_item.h"
#include "passes/rewrite/rewrite.h"

namespace heddle::passes {

namespace {

/// The flops of one m by n matrix of real numbers.
std::int64_t flops_of(std::int64_t m, std::int64_t n) {
  const std::int64_t k = std::min(m, n);
  return 2 * m * n * k - (m + n) * k * k + 2 * k * k * k / 3;
}

Dim for_batch(const ir::Type& type, std::int64_t flops) {
  const Dim batch = ir::element_count({type.shape.begin(), type.shape.end() - 2});
  return batch * Dim(flops * (is_complex(type.dtype) ? 4 : 1));
}

}  // namespace

std::vector<ValueId> lower_lu(Graph& graph, const OldCall& call, const ir::Target& target) {
  return lu_of(graph, call.operands[0], call.location(), target);
}

std::vector<ValueId> lu_of(Graph& graph, ValueId matrices, ir::Location location,
                           const ir::Target& target) {
  const ValueId factors =
      graph.add(ir::Op::call, {matrices}, ir::call_attributes(ir::calls::lu()), location);
  const ValueId pivots = graph.result(factors, 1, location);
  const ValueId status = graph.result(factors, 2, location);
  if (lu_item(graph, factors, target) || !ir::capabilities_of(target).lu_loses_nan)
    return {factors, pivots, status};
  return {nan_where_nan(graph, factors, matrices, location), pivots,
          fine_where_nan(graph, status, matrices, location)};
}

std::vector<ValueId> lower_solve(Graph& graph, const OldCall& call, const ir::Target& target) {
  const ir::Location location = call.location();
  const ValueId x = copy_node(graph, call.graph, call.node, call.operands);
  const auto result = [&](std::uint32_t i) { return graph.result(x, i, location); };
  ValueId status = result(3);
  if (solve_item(graph, x, target)) return {x, result(1), result(2), status};
  ValueId solutions = x;
  if (ir::capabilities_of(target).lu_loses_nan) {
    status = fine_where_nan(graph, status, call.operands[0], location);
    solutions = nan_where_nan(graph, solutions, call.operands[0], location);
  }
  return {nan_where_failed(graph, solutions, status, location), result(1), result(2), status};
}

Dim lu_flops(const Graph& graph, ValueId call) {
  const ir::Type& type = graph.type(graph.operands(call)[0]);
  if (!ir::is_constant(type.shape)) return 0;
  const std::size_t rank = type.shape.size();
  return for_batch(type,
                   flops_of(type.shape[rank - 1].constant(), type.shape[rank - 2].constant()));
}

Dim solve_flops(const Graph& graph, ValueId call) {
  const ir::Type& type = graph.type(graph.operands(call)[1]);
  if (!ir::is_constant(type.shape)) return 0;
  const std::size_t rank = type.shape.size();
  const std::int64_t n = type.shape[rank - 1].constant(), sides = type.shape[rank - 2].constant();
  return for_batch(type, flops_of(n, n) + 2 * n * n * sides);
}

}  // namespace heddle::passes
