#include "heddle/scans.h"

#include <fmt/format.h>

#include "heddle/elementwise.h"

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/array/views.h"
#include "frontend/graph/at_location.h"
#include "frontend/graph/axes.h"

namespace heddle {

using frontend::Access;
using frontend::at;
using frontend::cast_to;
using frontend::NodeRef;
using frontend::record;
using frontend::record_constant;
using frontend::Site;
using ir::Dim;
using ir::Op;

namespace {

/// An operand and the axis that is scanned.
struct Scanned {
  NodeRef node;
  std::size_t axis = 0;
};

void require_one_axis(std::string_view op, const NodeRef& node, const Axes& axis,
                      const Site& site) {
  if (axis.all() || axis.values().size() == 1) return;
  throw ValueError(at(fmt::format("{}({}): takes one axis, not {}", op, frontend::describe(*node),
                                  axis.values().size()),
                      site));
}

/// The rule of numpy.cumsum: without an axis, the flattened array; a 0-d array has axis 0.
Scanned along_axis_or_flat(std::string_view op, const Operand& x, const Axes& axis) {
  NodeRef node = frontend::node_of(op, x);
  require_one_axis(op, node, axis, x.where());
  if (axis.all() || node->shape.empty()) node = frontend::flatten(node, x.where());
  if (axis.all()) return {node, 0};
  return {node, static_cast<std::size_t>(
                    frontend::axis_of(op, axis.values()[0], frontend::rank_of(node), x.where()))};
}

/// The rule of numpy.cumulative_sum: the axis may be absent if there is only one.
Scanned along_only_axis(std::string_view op, const Operand& x, const Axes& axis) {
  const NodeRef node = frontend::node_of(op, x);
  if (axis.all() && node->shape.size() > 1) {
    throw ValueError(at(fmt::format("{}({}): give the axis to scan along, as x has {} of them", op,
                                    frontend::describe(*node), node->shape.size()),
                        x.where()));
  }
  return along_axis_or_flat(op, x, axis);
}

NodeRef scan(Op op, const Scanned& scanned, const Site& site) {
  // Sums and products of bool that stay bool are "or" and "and".
  if (is_boolean(scanned.node->dtype) && op == Op::cumsum) op = Op::cummax;
  if (is_boolean(scanned.node->dtype) && op == Op::cumprod) op = Op::cummin;
  ir::Attributes attributes;
  attributes.axes = {static_cast<std::int64_t>(scanned.axis)};
  return record(op, {scanned.node}, std::move(attributes), site);
}

Scanned in_accumulator(Scanned scanned, std::optional<DType> dtype, const Site& site) {
  const DType wide = dtype.value_or(frontend::accumulator_dtype(scanned.node->dtype));
  scanned.node = cast_to(scanned.node, wide, site);
  return scanned;
}

Array accumulate(Op op, const Operand& x, const Axes& axis, std::optional<DType> dtype) {
  const Scanned scanned = along_axis_or_flat(ir::info(op).name, x, axis);
  return Access::make(scan(op, in_accumulator(scanned, dtype, x.where()), x.where()));
}

Array accumulate_without_nan(Op op, std::string_view name, const Operand& x, const Axes& axis,
                             std::optional<DType> dtype, double neutral) {
  const Site site = x.where();
  Scanned scanned = along_axis_or_flat(name, x, axis);
  if (is_inexact(scanned.node->dtype)) {
    const NodeRef is_nan = record(Op::isnan, {scanned.node}, site);
    const NodeRef instead = record_constant(scanned.node->dtype, neutral);
    scanned.node = record(Op::select, {is_nan, instead, scanned.node}, site);
  }
  return Access::make(scan(op, in_accumulator(std::move(scanned), dtype, site), site));
}

/// Prepends one value along the axis.
Scanned with_first(const Scanned& scanned, double value, const Site& site) {
  ir::Shape front = scanned.node->shape;
  front[scanned.axis] = 1;
  const NodeRef first = frontend::broadcast_to_shape(record_constant(scanned.node->dtype, value),
                                                     std::move(front), site);
  ir::Attributes attributes;
  attributes.axes = {static_cast<std::int64_t>(scanned.axis)};
  return {record(Op::concatenate, {first, scanned.node}, std::move(attributes), site),
          scanned.axis};
}

Array cumulative(Op op, std::string_view name, const Operand& x, const Axes& axis,
                 std::optional<DType> dtype, bool include_initial) {
  const Site site = x.where();
  const Scanned scanned = in_accumulator(along_only_axis(name, x, axis), dtype, site);
  if (!include_initial) return Access::make(scan(op, scanned, site));
  // Join before the scan, so that everything is one kernel. Starting from -0 keeps the sign of zero
  // sums; the first result must still be +0.
  const bool is_sum = op == Op::cumsum;
  const bool signed_zero = is_sum && is_floating(scanned.node->dtype);
  const double first = signed_zero ? -0.0 : is_sum ? 0 : 1;
  const NodeRef result = scan(op, with_first(scanned, first, site), site);
  if (!signed_zero) return Access::make(result);
  const auto along = static_cast<std::int64_t>(scanned.axis);
  const NodeRef index = frontend::record_iota(result->shape, along, DType::i64, site);
  const NodeRef is_first = record(Op::equal, {index, record_constant(DType::i64, 0)}, site);
  return Access::make(
      record(Op::select, {is_first, record_constant(result->dtype, 0), result}, site));
}

/// Scans along an existing axis, in the op's own dtype.
Array plain(Op op, const NodeRef& node, std::int64_t axis, const Site& site) {
  const auto along = static_cast<std::size_t>(
      frontend::axis_of(ir::info(op).name, axis, frontend::rank_of(node), site));
  return Access::make(scan(op, {node, along}, site));
}

/// Elements [start, start + extent) of the axis.
Array part(const Scanned& scanned, Dim start, Dim extent, const Site& site) {
  ir::Attributes attributes;
  attributes.shape = scanned.node->shape;
  attributes.shape[scanned.axis] = extent;
  attributes.starts.assign(attributes.shape.size(), 0);
  attributes.starts[scanned.axis] = start;
  attributes.steps.assign(attributes.shape.size(), 1);
  return Access::make(record(Op::slice, {scanned.node}, std::move(attributes), site));
}

/// The correction of each step of an angle, as in numpy.unwrap.
Array step_corrections(const Array& steps, std::optional<double> discont, const Array& period,
                       const frontend::AtLocation& here) {
  const bool whole = !is_floating(period.dtype());
  const Array half = whole ? floor_divide(here(period), here(2)) : here(period) / here(2);
  const Array raised = here(steps) + here(half);
  const Array wrapped = remainder(here(raised), here(period)) - half;
  // At exactly half a period, both directions are equally far, and the step keeps its sign.
  Array turned = (wrapped == -half) & (steps > 0);
  if (whole) turned = turned & (remainder(period, 2) == 0);
  const Array corrections = where(turned, half, wrapped) - steps;
  const Array size = absolute(steps);
  return where(discont ? size < *discont : size < period / 2, 0, corrections);
}

}  // namespace

Array cumsum(const Operand& x, const Axes& axis, std::optional<DType> dtype) {
  return accumulate(Op::cumsum, x, axis, dtype);
}
Array cumprod(const Operand& x, const Axes& axis, std::optional<DType> dtype) {
  return accumulate(Op::cumprod, x, axis, dtype);
}
Array nancumsum(const Operand& x, const Axes& axis, std::optional<DType> dtype) {
  return accumulate_without_nan(Op::cumsum, "nancumsum", x, axis, dtype, 0);
}
Array nancumprod(const Operand& x, const Axes& axis, std::optional<DType> dtype) {
  return accumulate_without_nan(Op::cumprod, "nancumprod", x, axis, dtype, 1);
}
Array cumulative_sum(const Operand& x, const Axes& axis, std::optional<DType> dtype,
                     bool include_initial) {
  return cumulative(Op::cumsum, "cumulative_sum", x, axis, dtype, include_initial);
}
Array cumulative_prod(const Operand& x, const Axes& axis, std::optional<DType> dtype,
                      bool include_initial) {
  return cumulative(Op::cumprod, "cumulative_prod", x, axis, dtype, include_initial);
}
Array cummax(const Operand& x, std::int64_t axis) {
  return plain(Op::cummax, frontend::node_of("cummax", x), axis, x.where());
}
Array cummin(const Operand& x, std::int64_t axis) {
  return plain(Op::cummin, frontend::node_of("cummin", x), axis, x.where());
}
Array logcumsumexp(const Operand& x, std::int64_t axis) {
  const NodeRef node = frontend::node_of("logcumsumexp", x);
  if (is_complex(node->dtype)) {
    throw DTypeError(frontend::at(
        fmt::format("logcumsumexp({}): takes real numbers", frontend::describe(*node)), x.where()));
  }
  const DType dtype = is_floating(node->dtype) ? node->dtype : DType::f64;
  return plain(Op::logcumsumexp, cast_to(node, dtype, x.where()), axis, x.where());
}

Array unwrap(const Operand& x, std::optional<double> discont, std::int64_t axis,
             const Operand& period) {
  const Site site = x.where();
  const NodeRef node = frontend::node_of("unwrap", x);
  const auto along =
      static_cast<std::size_t>(frontend::axis_of("unwrap", axis, frontend::rank_of(node), site));
  const Operand* const both[] = {&x, &period};
  const DType dtype = frontend::common_dtype(both);
  if (is_complex(dtype)) {
    throw DTypeError(frontend::at(
        fmt::format("unwrap({}): angles are real; use angle", frontend::describe(*node)), site));
  }
  const NodeRef start = cast_to(node, dtype, site);
  const Dim extent = node->shape[along];
  if (extent == Dim(0)) return Access::make(start);
  const Scanned angles{node, along};
  const Array before = part(angles, 0, extent - 1, site), after = part(angles, 1, extent - 1, site);
  // numpy.diff of bool tests for inequality.
  const Array steps = is_boolean(node->dtype) ? not_equal(after, before) : after - before;
  const Array width = Access::make(frontend::node_of("unwrap", period, dtype));
  const Array corrections = step_corrections(steps, discont, width, frontend::AtLocation(x));
  // Join before the scan, so that everything is one kernel. Adding -0 keeps the bits of the first
  // angle.
  const NodeRef each = cast_to(Access::node(corrections, x.where()), dtype, site);
  const Scanned all = with_first({each, along}, is_floating(dtype) ? -0.0 : 0.0, site);
  return Access::make(record(Op::add, {start, scan(Op::cumsum, all, site)}, site));
}

}  // namespace heddle
