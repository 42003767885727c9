#include "passes/calls/qr.h"

#include <algorithm>

namespace heddle::passes {

namespace {

struct Extents {
  std::int64_t rows = 0, columns = 0;
};

/// Calls flops(a, b) with the extents of an item of both operands; b is 0 by 0 without a second
/// one.
template <class Flops>
Dim count(const Graph& graph, ValueId call, const Flops& flops) {
  Extents extents[2];
  const std::span<const ValueId> operands = graph.operands(call);
  const ir::Type& type = graph.type(operands[0]);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const ir::Shape& shape = graph.shape(operands[i]);
    if (!ir::is_constant(shape)) return 0;
    extents[i].columns = shape.back().constant();
    extents[i].rows = shape.size() < 2 ? 1 : shape[shape.size() - 2].constant();
  }
  const Dim batch = ir::element_count({type.shape.begin(), type.shape.end() - 2});
  return batch * Dim(flops(extents[0], extents[1]) * (is_complex(type.dtype) ? 4 : 1));
}

}  // namespace

Dim geqrf_flops(const Graph& graph, ValueId call) {
  return count(graph, call, [](Extents a, Extents) {
    const std::int64_t k = std::min(a.rows, a.columns), larger = std::max(a.rows, a.columns);
    return 2 * larger * k * k - 2 * k * k * k / 3;
  });
}

Dim householder_product_flops(const Graph& graph, ValueId call) {
  return count(graph, call, [](Extents a, Extents tau) {
    const std::int64_t m = a.columns, c = a.rows, k = tau.columns;
    return 4 * m * c * k - 2 * (m + c) * k * k + 4 * k * k * k / 3;
  });
}

Dim solve_triangular_flops(const Graph& graph, ValueId call) {
  return count(graph, call, [](Extents a, Extents b) { return a.rows * a.rows * b.columns; });
}

}  // namespace heddle::passes
