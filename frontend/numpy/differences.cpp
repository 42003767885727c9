#include "heddle/differences.h"

#include <optional>

#include <fmt/format.h>

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
using frontend::axis_of;
using frontend::constant_extent;
using frontend::NodeRef;
using frontend::rank_of;
using frontend::Site;

namespace {

/// Elements [from, extent - but) of an axis.
Array part(const Operand& x, std::int64_t axis, std::int64_t from, std::int64_t but) {
  const NodeRef node = frontend::node_of("diff", x);
  ir::Dim count = frontend::extent_of(node, axis) - (from + but);
  if (count.is_constant() && count.constant() < 0) count = 0;
  return Access::make(frontend::slice_along(node, axis, from, count, 1, x.where()));
}

/// An array to join along an axis. A 0-d array is broadcast to extent 1 along the axis.
Array slab(const Array& value, const NodeRef& node, std::int64_t axis, const AtLocation& here) {
  const NodeRef slab = Access::node(value, here.where);
  if (rank_of(slab) > 0) return value;
  ir::Shape shape = node->shape;
  shape[static_cast<std::size_t>(axis)] = 1;
  return Access::make(frontend::broadcast_to_shape(slab, std::move(shape), here.where));
}

}  // namespace

Array diff(const Operand& x, std::int64_t n, std::int64_t axis, const Array& prepend,
           const Array& append) {
  const NodeRef node = frontend::node_of("diff", x);
  const AtLocation here(x);
  if (n < 0) throw ValueError(at(fmt::format("diff: the order {} is negative", n), x.where()));
  if (n == 0) return Access::make(node);
  frontend::require_rank("diff", node, 1, x.where());
  const std::int64_t place = axis_of("diff", axis, rank_of(node), x.where());
  std::vector<Array> parts{Access::make(node)};
  if (prepend.has_value()) parts.insert(parts.begin(), slab(prepend, node, place, here));
  if (append.has_value()) parts.push_back(slab(append, node, place, here));
  Array result = concatenate(parts, place, x.where());
  for (std::int64_t i = 0; i < n; ++i) {
    const NodeRef current = Access::node(result, x.where());
    if (frontend::extent_of(current, place) == ir::Dim(0)) break;
    const Array after = part(here(result), place, 1, 0), before = part(here(result), place, 0, 1);
    result = is_boolean(current->dtype) ? not_equal(here(after), here(before))
                                        : subtract(here(after), here(before));
  }
  return result;
}

Array ediff1d(const Operand& x, const Array& to_end, const Array& to_begin) {
  const AtLocation here(x);
  const Array flat = ravel(x);
  const DType dtype = Access::node(flat, x.where())->dtype;
  const bool empty = Access::node(flat, x.where())->shape[0] == ir::Dim(0);
  std::vector<Array> parts;
  const auto add_end = [&](const Array& end) {
    if (!end.has_value()) return;
    const NodeRef node = Access::node(end, x.where());
    if (!frontend::can_cast_same_kind(node->dtype, dtype)) {
      throw DTypeError(
          at(fmt::format("ediff1d: to_begin or to_end has dtype {}, which cannot be cast to {}",
                         numpy_name_of(node->dtype), numpy_name_of(dtype)),
             x.where()));
    }
    parts.push_back(astype(here(ravel(here(end))), dtype));
  };
  add_end(to_begin);
  parts.push_back(
      empty ? flat : subtract(here(part(here(flat), 0, 1, 0)), here(part(here(flat), 0, 0, 1))));
  add_end(to_end);
  return concatenate(parts, 0, x.where());
}

namespace {

/// True if the spacing is a 0-d array that holds the distance.
bool is_array_distance(const Spacing& spacing) {
  return spacing.coordinates.has_value() && spacing.coordinates.ndim() == 0;
}

/// Differences along one axis of an array.
class Gradient {
 public:
  Gradient(const Operand& x, std::int64_t axis, const Spacing& spacing, const AtLocation& here)
      : x_(x), axis_(axis), spacing_(spacing), here_(here) {
    const NodeRef node = frontend::node_of("gradient", x);
    extent_ = constant_extent("gradient", node, axis, here.where);
    if (spacing.coordinates.has_value()) find_distances(node);
  }

  Array compute(int edge_order) const {
    if (extent_ < edge_order + 1) {
      throw ValueError(at(fmt::format("gradient: an axis of extent {} is too short; edges of order "
                                      "{} need {}",
                                      extent_, edge_order, edge_order + 1),
                          here_.where));
    }
    std::vector<Array> parts{edge(edge_order, false)};
    if (extent_ > 2) parts.push_back(interior());
    parts.push_back(edge(edge_order, true));
    const DType dtype = frontend::node_of("gradient", x_)->dtype;
    for (Array& each : parts) each = astype(here_(each), dtype);
    return concatenate(parts, axis_, here_.where);
  }

 private:
  void find_distances(const NodeRef& node) {
    const NodeRef coordinates = Access::node(spacing_.coordinates, here_.where);
    if (rank_of(coordinates) != 1 || coordinates->shape[0] != ir::Dim(extent_)) {
      throw ValueError(
          at(fmt::format("gradient: the coordinates {} do not fit axis {} of {}",
                         frontend::describe(*coordinates), axis_, frontend::describe(*node)),
             here_.where));
    }
    Array values = spacing_.coordinates;
    if (is_integer(coordinates->dtype)) values = astype(here_(values), DType::f64);
    ir::Shape shape(node->shape.size(), 1);
    shape[static_cast<std::size_t>(axis_)] = extent_ - 1;
    const Array distances = diff(here_(values));
    distances_ = Access::make(
        frontend::reshape_to(Access::node(distances, here_.where), std::move(shape), here_.where));
  }

  Array elements(std::int64_t from, std::int64_t but) const { return part(x_, axis_, from, but); }
  Array element(std::int64_t i) const { return elements(i, extent_ - i - 1); }
  Array distance(std::int64_t from, std::int64_t but) const {
    return part(here_(*distances_), axis_, from, but);
  }
  Array times(const Array& a, const Array& b) const { return multiply(here_(a), here_(b)); }
  Array plus(const Array& a, const Array& b) const { return add(here_(a), here_(b)); }
  Array minus(const Array& a, const Array& b) const { return subtract(here_(a), here_(b)); }
  Array over(const Array& a, const Array& b) const { return divide(here_(a), here_(b)); }
  Array scaled(double factor, const Array& a) const {
    return multiply(here_(Scalar(factor)), here_(a));
  }

  double even() const { return frontend::value_of(spacing_.distance); }
  Array over_even(const Array& a, double factor) const {
    return divide(here_(a), here_(Scalar(factor * even())));
  }

  Array interior() const {
    if (!distances_) return over_even(minus(elements(2, 0), elements(0, 2)), 2.0);
    const Array before = distance(0, 1), after = distance(1, 0), both = plus(before, after);
    const Array left = negative(here_(over(after, times(before, both))));
    const Array middle = over(minus(after, before), times(before, after));
    const Array right = over(before, times(after, both));
    return plus(plus(times(left, elements(0, 2)), times(middle, elements(1, 1))),
                times(right, elements(2, 0)));
  }

  Array edge(int order, bool last) const {
    const std::int64_t end = extent_ - 1;
    if (order == 1) {
      const Array step =
          last ? minus(element(end), element(end - 1)) : minus(element(1), element(0));
      if (!distances_) return over_even(step, 1.0);
      return over(step, last ? distance(end - 1, 0) : distance(0, end - 1));
    }
    // Three elements from the end inwards. The sign depends on the direction.
    const double sign = last ? -1 : 1;
    const Array first = element(last ? end : 0), second = element(last ? end - 1 : 1),
                third = element(last ? end - 2 : 2);
    if (!distances_) {
      const auto weight = [&](double factor) { return Scalar(sign * factor / even()); };
      const Array sum = plus(multiply(here_(weight(-1.5)), here_(first)),
                             multiply(here_(weight(2.0)), here_(second)));
      return plus(sum, multiply(here_(weight(-0.5)), here_(third)));
    }
    const Array near = last ? distance(end - 1, 0) : distance(0, end - 1);
    const Array far = last ? distance(end - 2, 1) : distance(1, end - 2);
    const Array both = plus(near, far);
    const Array a = over(scaled(-sign, plus(scaled(2.0, near), far)), times(near, both));
    const Array b = over(scaled(sign, both), times(near, far));
    const Array c = over(scaled(-sign, near), times(far, both));
    return plus(plus(times(a, first), times(b, second)), times(c, third));
  }

  const Operand& x_;
  std::int64_t axis_;
  const Spacing& spacing_;
  AtLocation here_;
  std::int64_t extent_ = 0;
  std::optional<Array> distances_;  ///< between neighbours, along the axis
};

}  // namespace

std::vector<Array> gradient(const Operand& x, const std::vector<Spacing>& spacings,
                            const Axes& axes, int edge_order) {
  const NodeRef node = frontend::node_of("gradient", x);
  const AtLocation here(x);
  const std::vector<std::int64_t> places =
      frontend::axes_of("gradient", axes, rank_of(node), x.where());
  const bool one_number = spacings.size() == 1 &&
                          (!spacings[0].coordinates.has_value() || is_array_distance(spacings[0]));
  if (!spacings.empty() && spacings.size() != places.size() && !one_number) {
    throw ValueError(
        at(fmt::format("gradient: {} spacings for {} axes", spacings.size(), places.size()),
           x.where()));
  }
  if (edge_order != 1 && edge_order != 2) {
    throw ValueError(
        at(fmt::format("gradient: edges of order {}, not 1 or 2", edge_order), x.where()));
  }
  if (is_boolean(node->dtype)) {
    throw DTypeError(at("gradient: bool has no differences; astype to another dtype", x.where()));
  }
  const Array values = is_integer(node->dtype) ? astype(x, DType::f64) : Access::make(node);
  std::vector<Array> result;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Spacing given = spacings.empty() ? Spacing() : spacings[spacings.size() == 1 ? 0 : i];
    const Spacing spacing = is_array_distance(given) ? Spacing() : given;
    const Operand operand = here(values);
    Array found = Gradient(operand, places[i], spacing, here).compute(edge_order);
    if (is_array_distance(given)) {
      const DType dtype = Access::node(found, x.where())->dtype;
      found = astype(here(divide(here(found), here(given.coordinates))), dtype);
    }
    result.push_back(found);
  }
  return result;
}

Array trapezoid(const Operand& y, const Spacing& spacing, std::int64_t axis) {
  const NodeRef node = frontend::node_of("trapezoid", y);
  const AtLocation here(y);
  const std::int64_t place = axis_of("trapezoid", axis, rank_of(node), y.where());
  const Array pairs = add(here(part(y, place, 1, 0)), here(part(y, place, 0, 1)));
  Array areas;
  if (is_array_distance(spacing)) {
    areas = multiply(here(spacing.coordinates), here(pairs));
  } else if (spacing.coordinates.has_value()) {
    const NodeRef x = Access::node(spacing.coordinates, y.where());
    Array distances;
    if (rank_of(x) == 1) {
      const NodeRef steps = Access::node(diff(here(spacing.coordinates)), y.where());
      ir::Shape shape(node->shape.size(), 1);
      shape[static_cast<std::size_t>(place)] = steps->shape[0];
      distances = Access::make(frontend::reshape_to(steps, std::move(shape), y.where()));
    } else {
      distances = diff(here(spacing.coordinates), 1, axis);
    }
    areas = multiply(here(distances), here(pairs));
  } else {
    areas = multiply(here(spacing.distance), here(pairs));
  }
  return sum(here(divide(here(areas), here(Scalar(2.0)))), place);
}

}  // namespace heddle
