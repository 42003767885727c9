#include "frontend/linalg/matrix_operand.h"

#include <fmt/format.h>

#include "frontend/array/promote.h"
#include "frontend/array/views.h"
#include "frontend/graph/open_extents.h"

namespace heddle::frontend {

NodeRef inexact_operand(std::string_view op, const Operand& a) {
  const NodeRef node = asarray_node(op, a);
  if (!is_inexact(node->dtype)) return cast_to(node, DType::f64, a.where());
  if (size_of(real_dtype(node->dtype)) < 4) {
    throw DTypeError(
        at(fmt::format("{}({}): this dtype is not supported; cast to float32", op, describe(*node)),
           a.where()));
  }
  return node;
}

std::pair<NodeRef, NodeRef> inexact_operands(std::string_view op, const Operand& a,
                                             const Operand& b) {
  const NodeRef first = inexact_operand(op, a), second = inexact_operand(op, b);
  const DType dtype = promote_types(first->dtype, second->dtype);
  return {cast_to(first, dtype, a.where()), cast_to(second, dtype, a.where())};
}

void require_matrices(std::string_view op, const NodeRef& a, const Site& site) {
  if (rank_of(a) >= 2) return;
  throw ShapeError(at(fmt::format("{}({}): takes matrices; the operand must have at least 2 "
                                  "dimensions",
                                  op, describe(*a)),
                      site));
}

void require_square(std::string_view op, const NodeRef& a, const Site& site) {
  require_matrices(op, a, site);
  if (rows_of(a) == columns_of(a)) return;
  throw ShapeError(at(fmt::format("{}({}): takes square matrices, not {} by {}", op, describe(*a),
                                  rows_of(a).to_string(), columns_of(a).to_string()),
                      site));
}

NodeRef matrix_transpose(const NodeRef& a, const Site& site) {
  std::vector<std::int64_t> order = all_axes(rank_of(a));
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return permute(a, std::move(order), site);
}

NodeRef with_batch(const NodeRef& a, ir::Shape batch, std::size_t core, const Site& site) {
  batch.insert(batch.end(), a->shape.end() - static_cast<std::ptrdiff_t>(core), a->shape.end());
  return broadcast_to_shape(a, std::move(batch), site);
}

ir::Dim smaller_extent(std::string_view op, const NodeRef& a, const Site& site) {
  const ir::Dim m = rows_of(a), n = columns_of(a);
  if ((m - n).is_non_negative()) return n;
  if ((n - m).is_non_negative()) return m;
  fail_open({.first = m, .second = n, .only_order = true},
            at(fmt::format("{}({}): it must be known which of the extents {} and {} is "
                           "smaller: name them so that it is, as n+k and n",
                           op, describe(*a), m.to_string(), n.to_string()),
               site));
}

}  // namespace heddle::frontend
