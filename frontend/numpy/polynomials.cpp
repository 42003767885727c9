#include "heddle/polynomials.h"

#include <algorithm>
#include <utility>

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
using frontend::constant_extent;
using frontend::NodeRef;
using frontend::rank_of;
using frontend::Site;
using frontend::slice_along;

Array polyval(const Array& coefficients, const Operand& x) {
  const AtLocation here(x);
  const NodeRef factors = Access::node(coefficients, x.where());
  if (rank_of(factors) != 1) {
    throw ShapeError(
        at(fmt::format("polyval: the coefficients {} must be 1-d", frontend::describe(*factors)),
           x.where()));
  }
  const std::int64_t count = constant_extent("polyval", factors, 0, x.where());
  Array value = zeros_like(x);
  for (std::int64_t i = 0; i < count; ++i) {
    const NodeRef factor =
        frontend::reshape_to(slice_along(factors, 0, i, 1, 1, x.where()), {}, x.where());
    const Array product = multiply(here(value), x);
    value = add(here(product), here(Access::make(factor)));
  }
  return value;
}

namespace {

/// The windows along the last axis, stacked before a new axis. The array is repeated periodically
/// and split into rows that are one element longer than the axis, so each row starts one element
/// later. Only index maps, nothing is copied.
NodeRef windows_of(const NodeRef& node, std::int64_t window, const Site& site) {
  const std::int64_t axis = rank_of(node) - 1;
  const std::int64_t extent = frontend::extent_of(node, axis).constant();
  const std::int64_t count = extent - window + 1;
  const NodeRef line = frontend::periodic(node, axis, 0, count * (extent + 1), site);
  ir::Shape shape = node->shape;
  shape.back() = count;
  shape.emplace_back(extent + 1);
  return slice_along(frontend::reshape_to(line, std::move(shape), site), axis + 1, 0, window, 1,
                     site);
}

/// Pads with `left` and `right` zeros.
NodeRef with_zeros(const NodeRef& a, std::int64_t left, std::int64_t right, const Site& site) {
  const auto zeros = [&](std::int64_t count) {
    return frontend::broadcast_to_shape(frontend::record_constant(a->dtype, 0), {count}, site);
  };
  std::vector<NodeRef> parts{a};
  if (left > 0) parts.insert(parts.begin(), zeros(left));
  if (right > 0) parts.push_back(zeros(right));
  return frontend::join_along(parts, 0, site);
}

struct Vectors {
  NodeRef a, v;
  std::int64_t length_a, length_v;
};

Vectors vectors_of(std::string_view op, const Operand& a, const Operand& v) {
  const Operand* operands[] = {&a, &v};
  const DType dtype = frontend::common_dtype(operands);
  Vectors result{frontend::node_of(op, a, dtype), frontend::node_of(op, v, dtype), 0, 0};
  const auto length = [&](NodeRef& node) {
    if (rank_of(node) == 0) node = frontend::reshape_to(node, {1}, a.where());
    if (rank_of(node) != 1) {
      throw ShapeError(
          at(fmt::format("{}: takes vectors, not {}", op, frontend::describe(*node)), a.where()));
    }
    const std::int64_t extent = constant_extent(op, node, 0, a.where());
    if (extent == 0) throw ValueError(at(fmt::format("{}: a vector is empty", op), a.where()));
    return extent;
  };
  result.length_a = length(result.a);
  result.length_v = length(result.v);
  return result;
}

/// sum over n of a[n + k] * v[n] for all k of the mode. v must not be longer than a.
Array slide(std::string_view op, const Vectors& vectors, std::string_view mode,
            const AtLocation& here) {
  const Site site = here.where;
  const std::int64_t length = vectors.length_v;
  std::int64_t left = 0, right = 0;
  if (mode == "full") {
    left = right = length - 1;
  } else if (mode == "same") {
    left = length / 2;
    right = length - left - 1;
  } else if (mode != "valid") {
    throw ValueError(at(fmt::format("{}: there is no mode '{}'", op, mode), site));
  }
  const NodeRef padded = with_zeros(vectors.a, left, right, site);
  const Array windows = Access::make(windows_of(padded, length, site));
  const Array products = multiply(here(windows), here(Access::make(vectors.v)));
  return sum(here(products), -1, false, vectors.a->dtype);
}

NodeRef reversed(const NodeRef& node, const Site& site) {
  const std::int64_t axes[] = {0};
  return frontend::reverse_along(node, axes, site);
}

}  // namespace

Array convolve(const Operand& a, const Operand& v, std::string_view mode) {
  Vectors vectors = vectors_of("convolve", a, v);
  if (vectors.length_v > vectors.length_a) {
    std::swap(vectors.a, vectors.v);
    std::swap(vectors.length_a, vectors.length_v);
  }
  vectors.v = reversed(vectors.v, a.where());
  return slide("convolve", vectors, mode, AtLocation(a));
}

Array correlate(const Operand& a, const Operand& v, std::string_view mode) {
  Vectors vectors = vectors_of("correlate", a, v);
  if (is_complex(vectors.v->dtype))
    vectors.v = frontend::record(ir::Op::conjugate, {vectors.v}, a.where());
  if (vectors.length_v <= vectors.length_a) return slide("correlate", vectors, mode, AtLocation(a));
  std::swap(vectors.a, vectors.v);
  std::swap(vectors.length_a, vectors.length_v);
  return flip(AtLocation(a)(slide("correlate", vectors, mode, AtLocation(a))));
}

Array sliding_window_view(const Operand& x, std::int64_t window, std::int64_t axis) {
  const NodeRef node = frontend::node_of("sliding_window_view", x);
  const AtLocation here(x);
  const std::int64_t place =
      frontend::axis_of("sliding_window_view", axis, rank_of(node), x.where());
  const std::int64_t extent = constant_extent("sliding_window_view", node, place, x.where());
  if (window < 0 || window > extent) {
    throw ValueError(at(fmt::format("sliding_window_view({}): a window of {} in an axis of {}",
                                    frontend::describe(*node), window, extent),
                        x.where()));
  }
  const NodeRef last = Access::node(moveaxis(x, place, -1), x.where());
  if (window == 0) {  // there are extent + 1 windows, without elements
    ir::Shape shape = last->shape;
    shape.back() = extent + 1;
    shape.emplace_back(0);
    const Array none = Access::make(
        frontend::broadcast_to_shape(frontend::record_constant(node->dtype, 0), shape, x.where()));
    return moveaxis(here(none), -2, place);
  }
  const Array windows = Access::make(windows_of(last, window, x.where()));
  return moveaxis(here(windows), -2, place);
}

}  // namespace heddle
