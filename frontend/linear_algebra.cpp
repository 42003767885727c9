#include "heddle/linear_algebra.h"

#include <fmt/format.h>

#include "heddle/elementwise.h"
#include "heddle/manipulation.h"
#include "heddle/reductions.h"

#include "frontend/promote.h"

namespace heddle {

using frontend::Access;
using frontend::at;
using frontend::describe;
using frontend::NodeRef;
using frontend::record;
using frontend::reshape_to;
using frontend::Site;
using ir::Op;

namespace {

struct Pair {
  NodeRef a, b;
};

Pair promoted(std::string_view op, const Operand& a, const Operand& b) {
  const Operand* operands[] = {&a, &b};
  const DType dtype = frontend::common_dtype(op, operands);
  return {frontend::node_of(op, a, dtype), frontend::node_of(op, b, dtype)};
}

[[noreturn]] void fail(std::string_view op, const Pair& pair, std::string_view why,
                       const Site& site) {
  throw ShapeError(
      at(fmt::format("{}({}, {}): {}", op, describe(*pair.a), describe(*pair.b), why), site));
}

/// The product of matrices; that of bool is computed as "any of both" is.
NodeRef multiply_matrices(const NodeRef& a, const NodeRef& b, const Site& site) {
  if (!is_boolean(a->dtype)) return record(Op::matmul, {a, b}, site);
  const NodeRef counts = record(
      Op::matmul, {frontend::cast_to(a, DType::i32, site), frontend::cast_to(b, DType::i32, site)},
      site);
  return frontend::cast_to(counts, DType::boolean, site);
}

NodeRef matmul_nodes(std::string_view op, const Pair& pair, const Site& site) {
  const auto [a, b] = pair;
  if (a->shape.empty() || b->shape.empty()) {
    fail(op, pair, "operands need at least one axis; use * for a scalar", site);
  }
  const bool row = a->shape.size() == 1, column = b->shape.size() == 1;
  const ir::Dim inner_a = a->shape.back();
  const ir::Dim inner_b = column ? b->shape[0] : b->shape[b->shape.size() - 2];
  if (inner_a != inner_b) {
    fail(op, pair,
         fmt::format("the inner extents {} and {} must be equal", inner_a.to_string(),
                     inner_b.to_string()),
         site);
  }
  const NodeRef left = row ? reshape_to(a, {1, inner_a}, site) : a;
  const NodeRef right = column ? reshape_to(b, {inner_b, 1}, site) : b;
  const NodeRef product = multiply_matrices(left, right, site);
  ir::Shape shape = product->shape;
  if (column) shape.pop_back();
  if (row) shape.erase(shape.end() - (column ? 1 : 2));
  return reshape_to(product, std::move(shape), site);
}

/// dot of arrays of any rank: the last axis of a with the last but one of b, all others kept.
NodeRef dot_general(const Pair& pair, const Site& site) {
  const auto [a, b] = pair;
  const std::size_t place = b->shape.size() - 2;
  if (a->shape.back() != b->shape[place]) {
    fail("dot", pair, "the last axis of the first and the last but one of the second differ", site);
  }
  ir::Shape result(a->shape.begin(), a->shape.end() - 1);
  const ir::Dim rows = ir::element_count(result);
  ir::Dim columns = 1;
  ir::Attributes order;
  order.axes.push_back(static_cast<std::int64_t>(place));
  for (std::size_t i = 0; i < b->shape.size(); ++i) {
    if (i == place) continue;
    order.axes.push_back(static_cast<std::int64_t>(i));
    result.push_back(b->shape[i]);
    columns *= b->shape[i];
  }
  const NodeRef left = reshape_to(a, {rows, a->shape.back()}, site);
  const NodeRef moved =
      b->shape.size() == 2 ? b : record(Op::transpose, {b}, std::move(order), site);
  const NodeRef right = reshape_to(moved, {b->shape[place], columns}, site);
  return reshape_to(multiply_matrices(left, right, site), std::move(result), site);
}

}  // namespace

Array matmul(const Operand& a, const Operand& b) {
  return Access::make(matmul_nodes("matmul", promoted("matmul", a, b), a.where()));
}

Array dot(const Operand& a, const Operand& b) {
  const Pair pair = promoted("dot", a, b);
  if (pair.a->shape.empty() || pair.b->shape.empty()) return multiply(a, b);
  if (pair.b->shape.size() <= 2) {
    return Access::make(pair.b->shape.size() == 2 ? dot_general(pair, a.where())
                                                  : matmul_nodes("dot", pair, a.where()));
  }
  return Access::make(dot_general(pair, a.where()));
}

Array vecdot(const Operand& a, const Operand& b) {
  const Pair pair = promoted("vecdot", a, b);
  if (pair.a->shape.empty() || pair.b->shape.empty() ||
      pair.a->shape.back() != pair.b->shape.back()) {
    fail("vecdot", pair, "the last extents must be equal", a.where());
  }
  const DType dtype = pair.a->dtype;
  return astype({sum({multiply(a, b), a.where()}, -1), a.where()}, dtype);
}

Array outer(const Operand& a, const Operand& b) {
  const Array column = expand_dims({ravel(a), a.where()}, -1);
  const Array row = expand_dims({ravel(b), b.where()}, 0);
  return multiply({column, a.where()}, {row, b.where()});
}

}  // namespace heddle
