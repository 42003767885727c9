#include "heddle/matrices.h"

#include <algorithm>

#include <fmt/format.h>

#include "heddle/creation.h"
#include "heddle/elementwise.h"
#include "heddle/manipulation.h"
#include "heddle/reductions.h"

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/array/views.h"
#include "frontend/graph/at_location.h"

namespace heddle {

using frontend::Access;
using frontend::at;
using frontend::AtLocation;
using frontend::NodeRef;
using frontend::rank_of;
using frontend::record;
using frontend::record_constant;
using frontend::Site;
using ir::Op;

namespace {

/// Compares each element's column with its row + k by `op`, for a matrix.
NodeRef compare_places(Op op, const ir::Dim& rows, const ir::Dim& columns, std::int64_t k,
                       const Site& site) {
  NodeRef row = frontend::record_iota({rows, columns}, 0, DType::i64, site);
  if (k != 0) {
    row = record(Op::add, {row, record_constant(DType::i64, static_cast<double>(k))}, site);
  }
  return record(op, {frontend::record_iota({rows, columns}, 1, DType::i64, site), row}, site);
}

std::int64_t checked_extent(const char* op, std::int64_t extent, const Site& site) {
  if (extent >= 0) return extent;
  throw ShapeError(at(fmt::format("{}: the extent {} is negative", op, extent), site));
}

/// The elements of x where `op` is true for column and row + k, else 0.
Array triangle(const char* name, Op op, const Operand& x, std::int64_t k) {
  const NodeRef node = frontend::node_of(name, x);
  const Site site = x.where();
  frontend::require_rank(name, node, 1, site);
  const ir::Dim columns = node->shape.back();
  const ir::Dim rows = rank_of(node) == 1 ? columns : node->shape[node->shape.size() - 2];
  const NodeRef inside = compare_places(op, rows, columns, k, site);
  return Access::make(record(Op::select, {inside, node, record_constant(node->dtype, 0)}, site));
}

/// A matrix with the vector on its k-th diagonal.
NodeRef matrix_with(const NodeRef& vector, std::int64_t k, const Site& site) {
  const std::int64_t length = frontend::constant_extent("diag", vector, 0, site);
  const std::int64_t size = length + std::abs(k);
  const NodeRef zero = record_constant(vector->dtype, 0);
  const NodeRef rest = frontend::broadcast_to_shape(zero, {size - length}, site);
  const NodeRef parts[] = {vector, rest};
  const NodeRef padded = size == length ? vector : frontend::join_along(parts, 0, site);
  // Element i is in row i, or in column i if the diagonal is below the main one.
  const NodeRef line = k < 0 ? padded : frontend::insert_axis(padded, 1, site);
  return record(Op::select, {compare_places(Op::equal, size, size, k, site), line, zero}, site);
}

}  // namespace

Array identity(std::int64_t n, DType dtype, SourceLocation where) {
  return eye(n, n, 0, dtype, where);
}

Array tri(std::int64_t rows, std::int64_t columns, std::int64_t k, DType dtype,
          SourceLocation where) {
  checked_extent("tri", rows, where);
  if (columns == -1) columns = rows;
  checked_extent("tri", columns, where);
  return Access::make(
      frontend::cast_to(compare_places(Op::less_equal, rows, columns, k, where), dtype, where));
}

Array tril(const Operand& x, std::int64_t k) { return triangle("tril", Op::less_equal, x, k); }
Array triu(const Operand& x, std::int64_t k) { return triangle("triu", Op::greater_equal, x, k); }

Array diagonal(const Operand& x, std::int64_t offset, std::int64_t axis1, std::int64_t axis2) {
  const NodeRef node = frontend::node_of("diagonal", x);
  const Site site = x.where();
  frontend::require_rank("diagonal", node, 2, site);
  const std::vector<std::int64_t> plane =
      frontend::axes_of("diagonal", {axis1, axis2}, rank_of(node), site);
  std::vector<std::int64_t> order;
  for (std::int64_t axis : frontend::all_axes(rank_of(node))) {
    if (std::find(plane.begin(), plane.end(), axis) == plane.end()) order.push_back(axis);
  }
  order.insert(order.end(), plane.begin(), plane.end());
  return Access::make(frontend::diagonal_of(
      "diagonal", frontend::permute(node, std::move(order), site), offset, site));
}

Array diag(const Operand& x, std::int64_t k) {
  const NodeRef node = frontend::node_of("diag", x);
  if (rank_of(node) == 2) return diagonal(x, k);
  if (rank_of(node) == 1) return Access::make(matrix_with(node, k, x.where()));
  throw ValueError(at(
      fmt::format("diag({}): takes a vector or a matrix", frontend::describe(*node)), x.where()));
}

Array diagflat(const Operand& x, std::int64_t k) {
  const NodeRef node = frontend::node_of("diagflat", x);
  return Access::make(matrix_with(frontend::flatten(node, x.where()), k, x.where()));
}

Array trace(const Operand& x, std::int64_t offset, std::int64_t axis1, std::int64_t axis2,
            std::optional<DType> dtype) {
  return sum(AtLocation(x)(diagonal(x, offset, axis1, axis2)), -1, false, dtype);
}

Array vander(const Operand& x, std::int64_t columns, bool increasing) {
  const NodeRef node = frontend::node_of("vander", x);
  const AtLocation here(x);
  if (rank_of(node) != 1) {
    throw ValueError(
        at(fmt::format("vander({}): takes a vector", frontend::describe(*node)), x.where()));
  }
  if (columns == -1) columns = frontend::constant_extent("vander", node, 0, x.where());
  checked_extent("vander", columns, x.where());
  const DType dtype = promote_types(node->dtype, DType::i64);
  NodeRef exponent = frontend::record_iota({columns}, 0, DType::i64, x.where());
  const std::int64_t axes[] = {0};
  if (!increasing) exponent = frontend::reverse_along(exponent, axes, x.where());
  const Array base = astype(here(expand_dims(x, 1)), dtype);
  return power(here(base), here(astype(here(Access::make(exponent)), dtype)));
}

}  // namespace heddle
