#include "heddle/linear_algebra.h"

#include <algorithm>

#include <fmt/format.h>

#include "heddle/elementwise.h"
#include "heddle/joining.h"
#include "heddle/manipulation.h"
#include "heddle/reductions.h"
#include "heddle/settings.h"

#include "frontend/array/access.h"
#include "frontend/array/at_once.h"
#include "frontend/array/promote.h"
#include "frontend/array/views.h"
#include "frontend/graph/at_location.h"
#include "frontend/linalg/contraction.h"

namespace heddle {

using frontend::Access;
using frontend::at;
using frontend::AtLocation;
using frontend::describe;
using frontend::Label;
using frontend::Labelled;
using frontend::NodeRef;
using frontend::rank_of;
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
  const DType dtype = frontend::common_dtype(operands);
  return {frontend::node_of(op, a, dtype), frontend::node_of(op, b, dtype)};
}

[[noreturn]] void fail(std::string_view op, const Pair& pair, std::string_view why,
                       const Site& site) {
  throw ShapeError(
      at(fmt::format("{}({}, {}): {}", op, describe(*pair.a), describe(*pair.b), why), site));
}

NodeRef matmul_nodes(std::string_view op, const Pair& pair, const SourceLocation& where) {
  const auto [a, b] = pair;
  const Site site = where;
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
  if (row && (!has_precisions(a->dtype) || matmul_precision() == Precision::ieee)) {
    NodeRef computed =
        column ? frontend::dot_at_once(a, b, where) : frontend::vector_product_at_once(a, b, where);
    if (computed) return computed;
  }
  const NodeRef left = row ? reshape_to(a, {1, inner_a}, site) : a;
  const NodeRef right = column ? reshape_to(b, {inner_b, 1}, site) : b;
  const NodeRef product = frontend::multiply_matrices(left, right, site);
  ir::Shape shape = product->shape;
  if (column) shape.pop_back();
  if (row) shape.erase(shape.end() - (column ? 1 : 2));
  return reshape_to(product, std::move(shape), site);
}

/// dot of arrays of any rank: sums over the last axis of a and the second to last of b.
NodeRef dot_general(const Pair& pair, const Site& site) {
  const auto [a, b] = pair;
  const std::size_t place = b->shape.size() - 2;
  if (a->shape.back() != b->shape[place]) {
    fail("dot", pair, "the extents of the last axis of a and the second to last axis of b differ",
         site);
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
  return reshape_to(frontend::multiply_matrices(left, right, site), std::move(result), site);
}

}  // namespace

Array matmul(const Operand& a, const Operand& b) {
  return Access::make(matmul_nodes("matmul", promoted("matmul", a, b), a.where()));
}

Array matmul(const Operand& a, const Operand& b, const MatmulOptions& options) {
  const MatmulPrecision scope(options.precision);
  return matmul(a, b);
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

Array matvec(const Operand& a, const Operand& b) {
  const Pair pair = promoted("matvec", a, b);
  if (pair.a->shape.size() < 2 || pair.b->shape.empty()) {
    fail("matvec", pair, "takes matrices and vectors", a.where());
  }
  const AtLocation here(a);
  const Array column = expand_dims(b, -1);
  return squeeze(here(matmul(a, here(column))), -1);
}

Array vecmat(const Operand& a, const Operand& b) {
  const Pair pair = promoted("vecmat", a, b);
  if (pair.a->shape.empty() || pair.b->shape.size() < 2) {
    fail("vecmat", pair, "takes vectors and matrices", a.where());
  }
  const AtLocation here(a);
  const Array row = expand_dims(a, -2);
  const bool conjugates = is_complex(row.dtype());
  return squeeze(here(matmul(here(conjugates ? conj(here(row)) : row), b)), -2);
}

Array vdot(const Operand& a, const Operand& b) {
  const AtLocation here(a);
  const Array first = ravel(a);
  // NumPy's conjugate of bool is int8, but the product here stays bool.
  return dot(here(is_complex(first.dtype()) ? conj(here(first)) : first), here(ravel(b)));
}

Array vecdot(const Operand& a, const Operand& b, std::int64_t axis) {
  const Pair pair = promoted("vecdot", a, b);
  if (pair.a->shape.empty() || pair.b->shape.empty()) {
    fail("vecdot", pair, "operands need at least one axis", a.where());
  }
  const AtLocation here(a);
  const Array x = moveaxis(a, axis, -1), y = moveaxis(b, axis, -1);
  if (Access::node(x, a.where())->shape.back() != Access::node(y, a.where())->shape.back()) {
    fail("vecdot", pair, "the extents that are summed over differ", a.where());
  }
  return sum(here(multiply(here(conj(here(x))), here(y))), -1, false, pair.a->dtype);
}

Array inner(const Operand& a, const Operand& b) {
  const Pair pair = promoted("inner", a, b);
  if (pair.a->shape.empty() || pair.b->shape.empty()) return multiply(a, b);
  return tensordot(a, b, {-1}, {-1});
}

Array outer(const Operand& a, const Operand& b) {
  const Array column = expand_dims({ravel(a), a.where()}, -1);
  const Array row = expand_dims({ravel(b), b.where()}, 0);
  return multiply({column, a.where()}, {row, b.where()});
}

Array tensordot(const Operand& a, const Operand& b, const std::vector<std::int64_t>& axes_a,
                const std::vector<std::int64_t>& axes_b) {
  const Pair pair = promoted("tensordot", a, b);
  const Site site = a.where();
  const auto left = frontend::axes_of("tensordot", axes_a, rank_of(pair.a), site);
  const auto right = frontend::axes_of("tensordot", axes_b, rank_of(pair.b), site);
  if (left.size() != right.size()) {
    throw ValueError(at(
        fmt::format("tensordot: {} axes of a, but {} axes of b", left.size(), right.size()), site));
  }
  Labelled x{pair.a, {}}, y{pair.b, {}};
  std::vector<Label> result;
  for (std::int64_t axis : frontend::all_axes(rank_of(pair.a))) {
    x.labels.push_back(static_cast<Label>(axis));
    if (std::find(left.begin(), left.end(), axis) == left.end()) result.push_back(x.labels.back());
  }
  for (std::int64_t axis : frontend::all_axes(rank_of(pair.b))) {
    const auto place = std::find(right.begin(), right.end(), axis) - right.begin();
    const bool summed = place < static_cast<std::ptrdiff_t>(right.size());
    const std::int64_t partner = summed ? left[static_cast<std::size_t>(place)] : 0;
    if (summed && frontend::extent_of(pair.a, partner) != frontend::extent_of(pair.b, axis)) {
      fail("tensordot", pair, fmt::format("axes {} and {} differ in extent", partner, axis), site);
    }
    y.labels.push_back(static_cast<Label>(summed ? partner : axis + rank_of(pair.a)));
    if (!summed) result.push_back(y.labels.back());
  }
  return Access::make(frontend::contract("tensordot", {x, y}, result, site));
}

Array tensordot(const Operand& a, const Operand& b, std::int64_t axes) {
  const int rank = rank_of(frontend::node_of("tensordot", a));
  if (axes < 0 || axes > rank || axes > rank_of(frontend::node_of("tensordot", b))) {
    throw ValueError(
        at(fmt::format("tensordot: the operands do not have {} axes", axes), a.where()));
  }
  std::vector<std::int64_t> last, first;
  for (std::int64_t i = 0; i < axes; ++i) {
    last.push_back(rank - axes + i);
    first.push_back(i);
  }
  return tensordot(a, b, last, first);
}

Array kron(const Operand& a, const Operand& b) {
  const Pair pair = promoted("kron", a, b);
  const std::size_t rank = std::max(pair.a->shape.size(), pair.b->shape.size());
  ir::Shape left(rank - pair.a->shape.size(), 1), right(rank - pair.b->shape.size(), 1);
  left.insert(left.end(), pair.a->shape.begin(), pair.a->shape.end());
  right.insert(right.end(), pair.b->shape.begin(), pair.b->shape.end());
  ir::Shape spread_left, spread_right, joined;
  for (std::size_t i = 0; i < rank; ++i) {
    spread_left.insert(spread_left.end(), {left[i], ir::Dim(1)});
    spread_right.insert(spread_right.end(), {ir::Dim(1), right[i]});
    joined.push_back(left[i] * right[i]);
  }
  const Site site = a.where();
  const NodeRef product =
      record(Op::multiply,
             {reshape_to(pair.a, spread_left, site), reshape_to(pair.b, spread_right, site)}, site);
  return Access::make(reshape_to(product, joined, site));
}

namespace {

/// The elements of the vectors along the axis, as arrays without the axis.
std::vector<Array> components(const Operand& x, std::int64_t axis, const Pair& pair) {
  const NodeRef node = frontend::node_of("cross", x);
  const std::int64_t place = frontend::axis_of("cross", axis, rank_of(node), x.where());
  const std::int64_t extent = frontend::constant_extent("cross", node, place, x.where());
  if (extent != 2 && extent != 3) {
    fail("cross", pair, "vectors have 2 or 3 elements", x.where());
  }
  return unstack(x, place);
}

}  // namespace

Array cross(const Operand& a, const Operand& b, std::int64_t axis_a, std::int64_t axis_b,
            std::int64_t axis_c) {
  const Pair pair = promoted("cross", a, b);
  const AtLocation here(a);
  const std::vector<Array> x = components(a, axis_a, pair), y = components(b, axis_b, pair);
  const auto product = [&](std::size_t i, std::size_t j) -> Array {
    return multiply(here(x[i]), here(y[j]));
  };
  const auto minor = [&](std::size_t i, std::size_t j) {
    // A missing element counts as 0.
    const bool first = i < x.size() && j < y.size(), second = j < x.size() && i < y.size();
    if (first && second) return subtract(here(product(i, j)), here(product(j, i)));
    return first ? product(i, j) : negative(here(product(j, i)));
  };
  if (x.size() == 2 && y.size() == 2) return minor(0, 1);
  return stack({minor(1, 2), minor(2, 0), minor(0, 1)}, axis_c, a.where());
}

}  // namespace heddle
