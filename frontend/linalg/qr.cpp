#include <vector>

#include <fmt/format.h>

#include "heddle/linalg.h"
#include "heddle/matrices.h"

#include "frontend/array/access.h"
#include "frontend/array/views.h"
#include "frontend/graph/at_location.h"
#include "frontend/linalg/matrix_operand.h"
#include "ir/calls/calls.h"

namespace heddle {

using frontend::Access;
using frontend::NodeRef;
using frontend::OpRecorder;

namespace {

/// Reflectors and their factors, and the extents of the matrices.
struct Reflectors {
  NodeRef rows;  ///< [..., n, m]: row j is column j of the matrix
  NodeRef tau;   ///< [..., k]
  ir::Dim m, n, k;
};

Reflectors factorize(const Operand& a) {
  const SourceLocation site = a.where();
  const NodeRef matrices = frontend::inexact_operand("linalg.qr", a);
  frontend::require_matrices("linalg.qr", matrices, site);
  const ir::Dim k = frontend::smaller_extent("linalg.qr", matrices, site);
  const NodeRef transposed = frontend::matrix_transpose(matrices, site);
  const std::vector<NodeRef> results =
      frontend::record_call(ir::calls::geqrf(), {&transposed, 1}, {}, site);
  return {results[0], results[1], frontend::rows_of(matrices), frontend::columns_of(matrices), k};
}

std::int64_t row_axis(const NodeRef& a) { return static_cast<std::int64_t>(a->shape.size()) - 2; }

/// R, `rows` by n: of the factors, what is on and above the diagonal.
Array upper_factor(const Reflectors& of, ir::Dim rows, const SourceLocation& site) {
  NodeRef factors = frontend::matrix_transpose(of.rows, site);
  if (rows != of.m) factors = OpRecorder{site}.part(factors, row_axis(factors), 0, rows);
  return triu(frontend::AtLocation(site)(Access::make(factors)));
}

/// Q, m by `columns`.
Array orthogonal_factor(const Reflectors& of, ir::Dim columns, const SourceLocation& site) {
  const OpRecorder on{site};
  const std::int64_t axis = row_axis(of.rows);
  if (of.k == ir::Dim(0)) {
    const ir::Shape shape = {of.m, columns};
    const NodeRef diagonal = on(ir::Op::equal, frontend::record_iota(shape, 0, DType::i64, site),
                                frontend::record_iota(shape, 1, DType::i64, site));
    return Access::make(frontend::with_batch(on.cast(diagonal, of.rows->dtype),
                                             frontend::batch_of(of.rows), 2, site));
  }
  NodeRef rows = of.n == of.k ? of.rows : on.part(of.rows, axis, 0, of.k);
  if (columns != of.k) {
    ir::Shape shape = frontend::batch_of(of.rows);
    shape.push_back(columns - of.k);
    shape.push_back(of.m);
    const NodeRef parts[] = {
        rows, frontend::broadcast_to_shape(frontend::record_constant(rows->dtype, 0), shape, site)};
    rows = frontend::join_along(parts, axis, site);
  }
  const NodeRef operands[] = {rows, of.tau};
  const NodeRef q = frontend::record_call(ir::calls::householder_product(), operands, {}, site)[0];
  return Access::make(frontend::matrix_transpose(q, site));
}

}  // namespace

linalg::QrFactors linalg::qr(const Operand& a, QrMode mode) {
  const SourceLocation site = a.where();
  const Reflectors made = factorize(a);
  if (mode == QrMode::raw) return {Access::make(made.rows), Access::make(made.tau)};
  if (mode == QrMode::r) return {Array(), upper_factor(made, made.k, site)};
  const ir::Dim columns = mode == QrMode::complete ? made.m : made.k;
  return {orthogonal_factor(made, columns, site), upper_factor(made, columns, site)};
}

}  // namespace heddle
