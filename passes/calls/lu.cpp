#include "passes/calls/lu.h"

#include <algorithm>
#include <cstdint>
#include <span>

#include "ir/calls/inverse.h"
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

/// Whether the value is a stack of identity matrices, written as comparisons of indices.
bool is_identity(const Graph& graph, ValueId value) {
  if (graph.op(value) == ir::Op::cast) value = graph.operands(value)[0];
  if (graph.op(value) != ir::Op::equal) return false;
  const ValueId a = graph.operands(value)[0], b = graph.operands(value)[1];
  if (graph.op(a) != ir::Op::iota || graph.op(b) != ir::Op::iota) return false;
  const auto rank = static_cast<std::int64_t>(graph.shape(value).size());
  const auto [low, high] =
      std::minmax(graph.attributes(a).axes.front(), graph.attributes(b).axes.front());
  return low == rank - 2 && high == rank - 1;
}

/// Whether a node uses one of the results of a call that are not solutions or statuses.
bool uses_factors(const Graph& graph, ValueId call) {
  for (std::uint32_t i = 0; i < graph.size(); ++i) {
    const ValueId value{i};
    if (graph.op(value) != ir::Op::result || graph.operands(value)[0] != call) continue;
    if (graph.attributes(value).index == 1 || graph.attributes(value).index == 2) return true;
  }
  return false;
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
  if (call.data().get<bool>("transposed") && is_identity(graph, call.operands[1]) &&
      !uses_factors(call.graph, call.node)) {
    const ValueId inverse = graph.add(ir::Op::call, {call.operands[0]},
                                      ir::call_attributes(ir::calls::inverse()), location);
    const std::span<const ir::Type> types = call.graph.result_types(call.node);
    if (inverse_item(graph, inverse, target)) {
      return {inverse, filled(graph, types[1], 0), filled(graph, types[2], 0),
              graph.result(inverse, 1, location)};
    }
  }
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

Dim inverse_flops(const Graph& graph, ValueId call) {
  const ir::Type& type = graph.type(graph.operands(call)[0]);
  if (!ir::is_constant(type.shape)) return 0;
  const std::int64_t n = type.shape.back().constant();
  return for_batch(type, flops_of(n, n) + 2 * n * n * n);
}

}  // namespace heddle::passes
