#include "passes/calls/spectral.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "ir/types/capabilities.h"
#include "passes/calls/checked_matrices.h"
#include "passes/calls/matrix_item.h"
#include "passes/rewrite/rewrite.h"

namespace heddle::passes {

using ir::Op;

namespace {

/// Extents up to which Jacobi's method is faster than the QR method.
constexpr std::int64_t jacobi_extent = 1024;
/// Extents up to which a stack is given to one call of it, whose factors are square.
constexpr std::int64_t stacked_extent = 32;

std::vector<ValueId> results_of(Graph& graph, ValueId call, ir::Location location) {
  std::vector<ValueId> results{call};
  for (std::size_t i = 1; i < graph.result_types(call).size(); ++i)
    results.push_back(graph.result(call, i, location));
  return results;
}

std::vector<ValueId> unchanged(Graph& graph, const OldCall& call) {
  return results_of(graph, copy_node(graph, call.graph, call.node, call.operands), call.location());
}

/// The same call of other matrices.
std::vector<ValueId> call_again(Graph& graph, const OldCall& call, ValueId matrices) {
  return results_of(graph, copy_node(graph, call.graph, call.node, {matrices}), call.location());
}

ValueId transposed(Graph& graph, ValueId matrices, ir::Location location) {
  const std::size_t rank = graph.shape(matrices).size();
  ir::Attributes attributes;
  attributes.axes.resize(rank);
  std::iota(attributes.axes.begin(), attributes.axes.end(), std::int64_t{0});
  std::swap(attributes.axes[rank - 1], attributes.axes[rank - 2]);
  return graph.add(Op::transpose, {matrices}, std::move(attributes), location);
}

struct Extents {
  Dim m, n;
  bool tall() const { return !(n - m).is_non_negative(); }
};

Extents extents_of(const Graph& graph, ValueId matrices) {
  const ir::Shape& shape = graph.shape(matrices);
  return {shape[shape.size() - 2], shape.back()};
}

/// Whether the extents of these matrices are known and at most `most`.
bool are_within(const Graph& graph, ValueId matrices, std::int64_t most) {
  const auto [m, n] = extents_of(graph, matrices);
  return m.is_constant() && n.is_constant() && std::max(m.constant(), n.constant()) <= most;
}

/// Whether one Jacobi call takes all matrices.
bool are_stacked(const Graph& graph, ValueId matrices) {
  const ir::Shape& shape = graph.shape(matrices);
  return are_within(graph, matrices, stacked_extent) &&
         !is_single({shape.begin(), shape.end() - 2});
}

/// The first `rows` rows and `columns` columns of matrices.
ValueId corner(Graph& graph, ValueId matrices, Dim rows, Dim columns, ir::Location location) {
  ir::Attributes attributes;
  attributes.shape = graph.shape(matrices);
  const std::size_t rank = attributes.shape.size();
  attributes.shape[rank - 2] = rows;
  attributes.shape[rank - 1] = columns;
  attributes.starts.assign(rank, Dim(0));
  attributes.steps.assign(rank, Dim(1));
  return graph.add(Op::slice, {matrices}, std::move(attributes), location);
}

/// u, s, vh and the status of svd_jacobi.
std::vector<ValueId> by_jacobi(Graph& graph, const OldCall& call, ValueId matrices) {
  const ir::Location location = call.location();
  const bool full = call.data().get<bool>("full_matrices");
  const bool square = full || are_stacked(graph, matrices);
  const std::vector<ValueId> made = results_of(
      graph,
      graph.add(Op::call, {matrices},
                ir::call_attributes(ir::calls::svd_jacobi(), {{"full_matrices", square}}),
                location),
      location);
  ValueId u = transposed(graph, made[0], location);
  if (is_complex(graph.dtype(u))) u = graph.add(Op::conjugate, {u}, {}, location);
  ValueId vh = made[2];
  if (square && !full) {
    const auto [m, n] = extents_of(graph, matrices);
    const Dim k = std::min(m.constant(), n.constant());
    u = corner(graph, u, m, k, location);
    vh = corner(graph, vh, k, n, location);
  }
  return {u, made[1], vh, made[3]};
}

/// u, s, vh and the status of matrices that may have more rows than columns: a^T = vh^T s u^T.
std::vector<ValueId> by_wide_svd(Graph& graph, const OldCall& call, ValueId matrices) {
  if (!extents_of(graph, matrices).tall()) return call_again(graph, call, matrices);
  const ir::Location location = call.location();
  const std::vector<ValueId> made = call_again(graph, call, transposed(graph, matrices, location));
  return {transposed(graph, made[2], location), made[1], transposed(graph, made[0], location),
          made[3]};
}

/// The triangle that counts, with 0 in the other one, and a real diagonal.
ValueId triangle(Graph& graph, ValueId matrices, bool upper, ir::Location location) {
  const ir::Shape shape = graph.shape(matrices);
  const auto index = [&](std::int64_t axis) {
    ir::Attributes attributes;
    attributes.dtype = DType::i32;
    attributes.shape = {shape.end() - 2, shape.end()};
    attributes.axes = {axis};
    return graph.add(Op::iota, {}, std::move(attributes), location);
  };
  const DType dtype = graph.dtype(matrices);
  const ValueId row = index(0), column = index(1);
  const ValueId stored =
      graph.add(Op::less_equal, {upper ? row : column, upper ? column : row}, {}, location);
  const ValueId zero = graph.constant(dtype, ir::constant_bits(dtype, 0));
  const ValueId half = graph.add(Op::select, {stored, matrices, zero}, {}, location);
  if (!is_complex(dtype)) return half;
  ir::Attributes to;
  to.dtype = dtype;
  const ValueId real =
      graph.add(Op::cast, {graph.add(Op::real, {half}, {}, location)}, std::move(to), location);
  const ValueId diagonal = graph.add(Op::equal, {row, column}, {}, location);
  return graph.add(Op::select, {diagonal, real, half}, {}, location);
}

/// `factor` times m n min(m, n), for each matrix of operand 0; four times that for complex numbers.
Dim cubic_flops(const Graph& graph, ValueId call, double factor) {
  const ir::Type type = graph.type(graph.operands(call)[0]);
  if (!ir::is_constant(type.shape)) return 0;
  const Dim batch = ir::element_count({type.shape.begin(), type.shape.end() - 2});
  const std::int64_t m = type.shape[type.shape.size() - 2].constant();
  const std::int64_t n = type.shape.back().constant();
  const double each = factor * (is_complex(type.dtype) ? 4 : 1);
  const double cube =
      static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(std::min(m, n));
  return batch * Dim(static_cast<std::int64_t>(each * cube));
}

}  // namespace

std::vector<ValueId> lower_svd(Graph& graph, const OldCall& call, const ir::Target& target) {
  if (ir::capabilities_of(target).checked_spectra || svd_item(call.graph, call.node, target))
    return unchanged(graph, call);
  const CheckedMatrices checked(graph, call.operands[0], call.location());
  const std::vector<ValueId> made = are_within(graph, checked.matrices(), jacobi_extent)
                                        ? by_jacobi(graph, call, checked.matrices())
                                        : by_wide_svd(graph, call, checked.matrices());
  const ValueId said = made[3];
  return {checked.result(made[0], said, 2), checked.result(made[1], said, 1),
          checked.result(made[2], said, 2), checked.status(said, checked.has_nan())};
}

std::vector<ValueId> lower_svdvals(Graph& graph, const OldCall& call, const ir::Target& target) {
  if (ir::capabilities_of(target).checked_spectra || svdvals_item(call.graph, call.node, target))
    return unchanged(graph, call);
  const CheckedMatrices checked(graph, call.operands[0], call.location());
  const bool tall = extents_of(graph, checked.matrices()).tall();
  const ValueId wide =
      tall ? transposed(graph, checked.matrices(), call.location()) : checked.matrices();
  const std::vector<ValueId> made = call_again(graph, call, wide);
  return {checked.result(made[0], made[1], 1), checked.status(made[1], checked.has_nan())};
}

std::vector<ValueId> lower_hermitian(Graph& graph, const OldCall& call, const ir::Target& target) {
  if (ir::capabilities_of(target).checked_spectra || hermitian_item(call.graph, call.node, target))
    return unchanged(graph, call);
  const ir::Location location = call.location();
  const bool upper = call.data().get<bool>("upper");
  const CheckedMatrices checked(graph, triangle(graph, call.operands[0], upper, location),
                                location);
  const std::vector<ValueId> made = call_again(graph, call, checked.matrices());
  const bool vectors = made.size() == 3;
  const ValueId said = made.back();
  const ValueId values = checked.result(made[0], said, 1);
  if (vectors) return {values, checked.result(made[1], said, 2), said};
  const ValueId bad = graph.add(Op::logical_not, {checked.is_finite()}, {}, location);
  return {values, checked.status(said, bad)};
}

std::vector<ValueId> lower_eigen(Graph& graph, const OldCall& call, const ir::Target& target) {
  if (ir::capabilities_of(target).checked_spectra) return unchanged(graph, call);
  const CheckedMatrices checked(graph, call.operands[0], call.location());
  const std::vector<ValueId> made = call_again(graph, call, checked.matrices());
  const ValueId said = made.back();
  const ValueId bad = graph.add(Op::logical_not, {checked.is_finite()}, {}, call.location());
  std::vector<ValueId> results{checked.result(made[0], said, 1)};
  if (made.size() == 3) results.push_back(checked.result(made[1], said, 2));
  results.push_back(checked.status(said, bad));
  return results;
}

// Golub and Van Loan, Matrix Computations, for square matrices.
Dim svd_flops(const Graph& graph, ValueId call) { return cubic_flops(graph, call, 22); }
Dim svdvals_flops(const Graph& graph, ValueId call) { return cubic_flops(graph, call, 8. / 3); }
Dim eigh_flops(const Graph& graph, ValueId call) { return cubic_flops(graph, call, 9); }
Dim eigvalsh_flops(const Graph& graph, ValueId call) { return cubic_flops(graph, call, 4. / 3); }
Dim eig_flops(const Graph& graph, ValueId call) { return cubic_flops(graph, call, 25); }
Dim eigvals_flops(const Graph& graph, ValueId call) { return cubic_flops(graph, call, 10); }

}  // namespace heddle::passes
