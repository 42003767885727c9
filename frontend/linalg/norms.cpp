#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "heddle/elementwise.h"
#include "heddle/manipulation.h"
#include "heddle/reductions.h"
#include "heddle/spectral.h"

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/graph/at_location.h"
#include "frontend/graph/axes.h"

namespace heddle {

using frontend::Access;
using frontend::AtLocation;
using frontend::NodeRef;
using linalg::NormOrder;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The operand; integers and bool as float64.
Array inexact(const Operand& x) {
  const NodeRef node = frontend::asarray_node("linalg.norm", x);
  return Access::make(is_inexact(node->dtype) ? node
                                              : frontend::cast_to(node, DType::f64, x.where()));
}

Array squares(const Array& x, const AtLocation& here) {
  if (!is_complex(x.dtype())) return multiply(here(x), here(x));
  const Array re = real(here(x)), im = imag(here(x));
  return add(here(multiply(here(re), here(re))), here(multiply(here(im), here(im))));
}

/// Sums in the dtype of x; NumPy does the same.
Array total(const Array& x, const Axes& axes, bool keepdims, const AtLocation& here) {
  return sum(here(x), axes, keepdims, x.dtype());
}

Array euclidean(const Array& x, const Axes& axes, bool keepdims, const AtLocation& here) {
  return sqrt(here(total(squares(x, here), axes, keepdims, here)));
}

[[noreturn]] void fail(const std::string& why, const AtLocation& here) {
  throw ValueError(frontend::at("linalg.norm: " + why, here.where));
}

/// "fro", "3" or "none"
std::string text_of(const NormOrder& order) {
  if (!order.name.empty()) return "'" + order.name + "'";
  return order.power ? fmt::format("{}", *order.power) : "none";
}

/// The norm of the vectors along `axes`, which count as one axis.
Array of_vectors(const Array& x, const NormOrder& order, const Axes& axes, bool keepdims,
                 const AtLocation& here) {
  if (!order.name.empty()) fail("there is no norm " + text_of(order) + " of vectors", here);
  const double p = order.power.value_or(2);
  if (p == 2) return euclidean(x, axes, keepdims, here);
  const Array sizes = absolute(here(x));
  if (p == infinity) return max(here(sizes), axes, keepdims, Scalar(0.0));
  if (p == -infinity) return min(here(sizes), axes, keepdims);
  if (p == 1) return total(sizes, axes, keepdims, here);
  if (p == 0) {
    const Array nonzero = not_equal(here(x), here(Scalar(0.0)));
    return total(astype(here(nonzero), sizes.dtype()), axes, keepdims, here);
  }
  const Array powers = power(here(sizes), here(Scalar(p)));
  return power(here(total(powers, axes, keepdims, here)), here(Scalar(1 / p)));
}

struct MatrixAxes {
  std::int64_t row = 0, column = 0;
};

/// The singular values of the matrices in the two axes, along a new last axis.
Array singular_values(const Array& x, MatrixAxes axes, const AtLocation& here) {
  const Array moved = moveaxis(here(x), {axes.row, axes.column}, {-2, -1});
  return linalg::svdvals(here(moved));
}

/// Adds axes of extent 1 where the matrices were.
Array with_axes(const Array& x, MatrixAxes axes, bool keepdims, const AtLocation& here) {
  if (!keepdims) return x;
  return expand_dims(here(x), {axes.row, axes.column});
}

/// The largest or smallest of the sums over one axis of a matrix.
Array of_sums(const Array& sizes, std::int64_t summed, std::int64_t other, bool largest,
              bool keepdims, const AtLocation& here) {
  const Array sums = total(sizes, summed, true, here);
  const Array found =
      largest ? max(here(sums), other, true, Scalar(0.0)) : min(here(sums), other, true);
  return keepdims ? found : squeeze(here(found), {summed, other});
}

Array of_matrices(const Array& x, const NormOrder& order, MatrixAxes axes, bool keepdims,
                  const AtLocation& here) {
  const bool none = order.name.empty() && !order.power;
  if (none || order.name == "fro" || order.name == "f")
    return euclidean(x, {axes.row, axes.column}, keepdims, here);
  if (order.name == "nuc") {
    const Array values = singular_values(x, axes, here);
    return with_axes(total(values, -1, false, here), axes, keepdims, here);
  }
  const double p = order.power.value_or(0);
  if (std::abs(p) == 2) {
    const Array values = singular_values(x, axes, here);
    const Array found = p > 0 ? max(here(values), -1, false, Scalar(0.0)) : min(here(values), -1);
    return with_axes(found, axes, keepdims, here);
  }
  const Array sizes = absolute(here(x));
  if (std::abs(p) == 1) return of_sums(sizes, axes.row, axes.column, p > 0, keepdims, here);
  if (std::abs(p) == infinity) return of_sums(sizes, axes.column, axes.row, p > 0, keepdims, here);
  fail("there is no norm " + text_of(order) + " of matrices", here);
}

}  // namespace

Array linalg::norm(const Operand& x, const NormOrder& order, const Axes& axes, bool keepdims) {
  const AtLocation here(x);
  const Array values = inexact(x);
  const int rank = values.ndim();
  const bool unordered = order.name.empty() && !order.power;
  if (axes.all() && unordered) return euclidean(values, {}, keepdims, here);
  if (!axes.all() && axes.values().empty()) fail("takes one or two axes", here);
  const std::vector<std::int64_t> over =
      axes.all() ? frontend::all_axes(rank)
                 : frontend::axes_of("linalg.norm", axes.values(), rank, x.where());
  if (over.size() == 1) return of_vectors(values, order, over[0], keepdims, here);
  if (over.size() == 2) return of_matrices(values, order, {over[0], over[1]}, keepdims, here);
  fail(fmt::format("takes vectors or matrices: one or two axes, not {}", over.size()), here);
}

Array linalg::vector_norm(const Operand& x, const Axes& axes, bool keepdims,
                          const NormOrder& order) {
  return of_vectors(inexact(x), order, axes, keepdims, AtLocation(x));
}

Array linalg::matrix_norm(const Operand& x, bool keepdims, const NormOrder& order) {
  const Array values = inexact(x);
  const std::int64_t rank = values.ndim();
  if (rank < 2) {
    throw ShapeError(frontend::at(fmt::format("linalg.matrix_norm({}): takes matrices",
                                              frontend::describe(*Access::node(values, x.where()))),
                                  x.where()));
  }
  return of_matrices(values, order, {rank - 2, rank - 1}, keepdims, AtLocation(x));
}

}  // namespace heddle
