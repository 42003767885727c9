#include <algorithm>

#include <fmt/format.h>

#include "heddle/elementwise.h"
#include "heddle/manipulation.h"
#include "heddle/quantiles.h"
#include "heddle/rearranging.h"
#include "heddle/reductions.h"

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/array/views.h"
#include "frontend/graph/at_location.h"

namespace heddle {

using frontend::Access;
using frontend::at;
using frontend::AtLocation;
using frontend::broadcast_to_shape;
using frontend::constant_extent;
using frontend::join_along;
using frontend::NodeRef;
using frontend::record;
using frontend::record_constant;
using frontend::Site;
using frontend::slice_along;
using ir::Op;

namespace {

/// One axis to pad, and the caller's source location.
struct Side {
  std::int64_t axis;
  PadWidth width;
  AtLocation here;
  Site site() const { return here.where; }

  /// Repeats a 0-d value, or a slice of extent 1 along the axis, `count` times.
  NodeRef filled(const NodeRef& node, const NodeRef& value, std::int64_t count) const {
    ir::Shape shape = node->shape;
    shape[static_cast<std::size_t>(axis)] = count;
    return broadcast_to_shape(value, std::move(shape), site());
  }
  /// Joins the padding before and after the node; empty padding is omitted.
  NodeRef between(const NodeRef& before, const NodeRef& node, const NodeRef& behind) const {
    std::vector<NodeRef> parts;
    if (width[0] > 0) parts.push_back(before);
    parts.push_back(node);
    if (width[1] > 0) parts.push_back(behind);
    return join_along(parts, axis, site());
  }
  NodeRef first(const NodeRef& node) const { return slice_along(node, axis, 0, 1, 1, site()); }
  NodeRef last(const NodeRef& node) const {
    return slice_along(node, axis, frontend::extent_of(node, axis) - 1, 1, 1, site());
  }
};

NodeRef pad_constant(const NodeRef& node, const Side& side, const std::array<Scalar, 2>& values) {
  const auto value = [&](std::size_t i) {
    const NodeRef element = frontend::element_node("pad", side.here(values[i]), node->dtype);
    return side.filled(node, element, side.width[i]);
  };
  return side.between(value(0), node, value(1));
}

NodeRef pad_edge(const NodeRef& node, const Side& side) {
  return side.between(side.filled(node, side.first(node), side.width[0]), node,
                      side.filled(node, side.last(node), side.width[1]));
}

/// Values from the end value towards the edge, in float64 or complex128 as NumPy's linspace;
/// integers round down.
NodeRef ramp(const NodeRef& edge, const Side& side, const Scalar& end, std::int64_t count,
             bool reversed) {
  if (count == 0) return edge;
  const AtLocation& here = side.here;
  const DType wide = is_complex(edge->dtype) ? DType::c128 : DType::f64;
  const Array start = Access::make(frontend::element_node("pad", here(end), wide));
  const Array stop = astype(here(Access::make(edge)), wide);
  const Array step =
      divide(here(subtract(here(stop), here(start))), here(Scalar(static_cast<double>(count))));
  ir::Shape shape(edge->shape.size(), 1);
  shape[static_cast<std::size_t>(side.axis)] = count;
  const NodeRef places = frontend::record_iota(shape, side.axis, DType::i64, side.site());
  const Array place = astype(here(Access::make(places)), wide);
  Array distance = multiply(here(place), here(step));
  if (is_integer(edge->dtype)) {
    // Two exact products: a compiler that contracts one with the addition then still rounds as
    // NumPy does.
    const Array high = astype(here(astype(here(step), DType::f32)), DType::f64);
    const Array low = subtract(here(step), here(high));
    distance = add(here(multiply(here(place), here(high))), here(multiply(here(place), here(low))));
  }
  Array values = add(here(distance), here(start));
  if (is_integer(edge->dtype)) values = floor(here(values));
  const NodeRef node = Access::node(astype(here(values), edge->dtype), here.where);
  const std::int64_t axes[] = {side.axis};
  return reversed ? frontend::reverse_along(node, axes, side.site()) : node;
}

NodeRef pad_ramp(const NodeRef& node, const Side& side, const std::array<Scalar, 2>& ends) {
  return side.between(ramp(side.first(node), side, ends[0], side.width[0], false), node,
                      ramp(side.last(node), side, ends[1], side.width[1], true));
}

using Statistic = Array (*)(const Operand&, std::int64_t);

/// Casts a statistic to x's dtype; integers are rounded.
Array in_dtype_of(const Operand& x, const Array& middle) {
  const DType dtype = frontend::node_of("pad", x)->dtype;
  const AtLocation here(x);
  if (is_inexact(dtype)) return middle;
  return astype(here(is_boolean(dtype) ? middle : rint(here(middle))), dtype);
}
Array mean_along(const Operand& x, std::int64_t axis) {
  return in_dtype_of(x, mean(x, axis, true));
}
Array median_along(const Operand& x, std::int64_t axis) {
  return in_dtype_of(x, median(x, axis, true));
}
Array max_along(const Operand& x, std::int64_t axis) { return max(x, axis, true); }
Array min_along(const Operand& x, std::int64_t axis) { return min(x, axis, true); }

NodeRef pad_statistic(const NodeRef& node, const Side& side, Statistic statistic,
                      const PadWidth& lengths) {
  const std::int64_t extent = constant_extent("pad", node, side.axis, side.site());
  const auto of = [&](std::size_t i) {
    const std::int64_t length = std::min(lengths[i], extent);
    const NodeRef read =
        slice_along(node, side.axis, i == 0 ? 0 : extent - length, length, 1, side.site());
    const Array value = statistic(side.here(Access::make(read)), side.axis);
    return side.filled(node, Access::node(value, side.here.where), side.width[i]);
  };
  return side.between(of(0), node, of(1));
}

/// How values continue beyond an edge: mirrored at the edge element, or at the border if the edge
/// is repeated. With `odd`, they are also mirrored at the edge's value.
struct Mirror {
  bool repeats_edge;
  bool odd;
};

/// Adds `count` elements on one side. Each step mirrors all existing elements. While several
/// periods are missing it adds whole periods, so that the existing elements always end in a mirror
/// point.
NodeRef extend(NodeRef node, const Side& side, std::size_t which, std::int64_t period,
               const Mirror& mirror) {
  const std::int64_t skipped = mirror.repeats_edge ? 0 : 1;
  for (std::int64_t left = side.width[which]; left > 0;) {
    const std::int64_t extent = frontend::extent_of(node, side.axis).constant();
    const std::int64_t available = extent - skipped;
    const std::int64_t count = left <= available ? left : available / period * period;
    const std::int64_t from = which == 0 ? skipped : extent - skipped - count;
    const std::int64_t axes[] = {side.axis};
    NodeRef part = frontend::reverse_along(
        slice_along(node, side.axis, from, count, 1, side.site()), axes, side.site());
    if (mirror.odd) {
      const NodeRef edge = which == 0 ? side.first(node) : side.last(node);
      const NodeRef twice = record(Op::add, {edge, edge}, side.site());
      part = record(Op::subtract, {twice, part}, side.site());
    }
    const NodeRef parts[] = {which == 0 ? part : node, which == 0 ? node : part};
    node = join_along(parts, side.axis, side.site());
    left -= count;
  }
  return node;
}

NodeRef pad_mirrored(const NodeRef& node, const Side& side, const Mirror& mirror) {
  const std::int64_t extent = constant_extent("pad", node, side.axis, side.site());
  const std::int64_t period = mirror.repeats_edge ? extent : extent - 1;
  if (period == 0) return pad_edge(node, side);
  return extend(extend(node, side, 0, period, mirror), side, 1, period, mirror);
}

NodeRef pad_wrapped(const NodeRef& node, const Side& side) {
  const std::int64_t extent = constant_extent("pad", node, side.axis, side.site());
  return frontend::periodic(node, side.axis, -side.width[0], side.width[0] + extent + side.width[1],
                            side.site());
}

/// The entry for an axis in a list that has one for each axis, or one for all.
template <class T>
T entry(const std::vector<T>& list, std::int64_t axis, T absent) {
  if (list.empty()) return absent;
  return list[list.size() == 1 ? 0 : static_cast<std::size_t>(axis)];
}

NodeRef pad_along(const NodeRef& node, const Side& side, std::string_view mode,
                  const PadOptions& options) {
  constexpr std::int64_t everything = std::int64_t{1} << 62;
  const PadWidth lengths = entry(options.stat_length, side.axis, PadWidth{everything, everything});
  if (mode == "constant" || mode == "empty") {
    return pad_constant(node, side, entry(options.constant_values, side.axis, {0, 0}));
  }
  if (mode == "edge") return pad_edge(node, side);
  if (mode == "linear_ramp")
    return pad_ramp(node, side, entry(options.end_values, side.axis, {0, 0}));
  if (mode == "maximum") return pad_statistic(node, side, max_along, lengths);
  if (mode == "mean") return pad_statistic(node, side, mean_along, lengths);
  if (mode == "median") return pad_statistic(node, side, median_along, lengths);
  if (mode == "minimum") return pad_statistic(node, side, min_along, lengths);
  if (mode == "reflect") return pad_mirrored(node, side, {false, options.odd});
  if (mode == "symmetric") return pad_mirrored(node, side, {true, options.odd});
  return pad_wrapped(node, side);
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

void check_options(const NodeRef& node, const std::vector<PadWidth>& widths, std::string_view mode,
                   const PadOptions& options, const Site& site) {
  const auto fail = [&](const std::string& why) {
    throw ValueError(at(fmt::format("pad({}): {}", frontend::describe(*node), why), site));
  };
  if (!is_one_of(mode, {"constant", "edge", "linear_ramp", "maximum", "mean", "median", "minimum",
                        "reflect", "symmetric", "wrap", "empty"})) {
    fail(fmt::format("there is no mode '{}'", mode));
  }
  const bool statistic = is_one_of(mode, {"maximum", "mean", "median", "minimum"});
  const bool mirrored = is_one_of(mode, {"reflect", "symmetric"});
  if ((!options.constant_values.empty() && mode != "constant") ||
      (!options.end_values.empty() && mode != "linear_ramp") ||
      (!options.stat_length.empty() && !statistic) || (options.odd && !mirrored)) {
    fail(fmt::format("mode '{}' does not take one of the options", mode));
  }
  const auto check_length = [&](const char* what, std::size_t length, bool may_lack) {
    if (length != 1 && length != node->shape.size() && !(may_lack && length == 0)) {
      fail(fmt::format("{} {} for {} axes", length, what, node->shape.size()));
    }
  };
  check_length("widths", widths.size(), false);
  check_length("constant values", options.constant_values.size(), true);
  check_length("end values", options.end_values.size(), true);
  check_length("lengths", options.stat_length.size(), true);
  for (const PadWidth& width : widths) {
    if (width[0] < 0 || width[1] < 0) fail("a width is negative");
  }
  for (const PadWidth& length : options.stat_length) {
    if (length[0] < 1 || length[1] < 1) fail("a statistic needs a positive length");
  }
}

}  // namespace

Array pad(const Operand& x, const std::vector<PadWidth>& widths, std::string_view mode,
          const PadOptions& options) {
  NodeRef node = frontend::node_of("pad", x);
  const Site site = x.where();
  check_options(node, widths, mode, options, site);
  for (std::int64_t axis : frontend::all_axes(frontend::rank_of(node))) {
    const PadWidth width = entry(widths, axis, PadWidth{0, 0});
    if (width[0] == 0 && width[1] == 0) continue;
    if (frontend::extent_of(node, axis) == ir::Dim(0) && !is_one_of(mode, {"constant", "empty"})) {
      throw ValueError(at(fmt::format("pad({}): axis {} is empty, which mode '{}' cannot extend",
                                      frontend::describe(*node), axis, mode),
                          site));
    }
    node = pad_along(node, {axis, width, AtLocation(x)}, mode, options);
  }
  return Access::make(node);
}

}  // namespace heddle
