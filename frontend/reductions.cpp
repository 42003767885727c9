#include "heddle/reductions.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "heddle/elementwise.h"
#include "heddle/manipulation.h"

#include "frontend/promote.h"

namespace heddle {

using frontend::Access;
using frontend::at;
using frontend::cast_to;
using frontend::NodeRef;
using frontend::record;
using frontend::Site;
using ir::Op;

namespace {

/// Sorted, non-negative, each once; all axes when none are given.
std::vector<std::int64_t> sorted_axes(const NodeRef& node, const Axes& axes, const Site& site) {
  const int rank = static_cast<int>(node->shape.size());
  std::vector<std::int64_t> result(axes.values());
  if (axes.all()) {
    result.resize(static_cast<std::size_t>(rank));
    std::iota(result.begin(), result.end(), 0);
    return result;
  }
  frontend::located(site, [&] {
    for (std::int64_t& axis : result) axis = ir::normalize_axis(axis, rank);
  });
  std::sort(result.begin(), result.end());
  if (std::adjacent_find(result.begin(), result.end()) != result.end()) {
    throw ValueError(
        at(fmt::format("an axis is given twice for {}", frontend::describe(*node)), site));
  }
  return result;
}

NodeRef reduce(Op op, const NodeRef& node, const Axes& axes, bool keepdims, const Site& site) {
  ir::Attributes attributes;
  // NumPy's ufuncs, unlike its means, take axis 0 and -1 of a 0-d array.
  const bool only_element = node->shape.empty() && axes.values().size() == 1 &&
                            (axes.values()[0] == 0 || axes.values()[0] == -1);
  if (!only_element) attributes.axes = sorted_axes(node, axes, site);
  attributes.keepdims = keepdims;
  if (attributes.axes.empty()) {
    // A 0-d array: its only element is the result, in the dtype that the op gives.
    if (op == Op::any || op == Op::all) {
      return record(Op::not_equal, {node, frontend::record_constant(node->dtype, 0)}, site);
    }
    if (op != Op::argmin && op != Op::argmax) return node;
    return frontend::record_constant(DType::i64, 0);
  }
  return record(op, {node}, std::move(attributes), site);
}

/// What NumPy accumulates sums and products in.
DType accumulator_dtype(DType dtype) {
  if (is_unsigned_integer(dtype)) return DType::u64;
  if (is_boolean(dtype) || is_signed_integer(dtype)) return DType::i64;
  return dtype;
}

Array accumulate(Op op, const Operand& x, const Axes& axes, bool keepdims) {
  const NodeRef node = frontend::node_of(ir::info(op).name, x);
  const NodeRef wide = cast_to(node, accumulator_dtype(node->dtype), x.where());
  return Access::make(reduce(op, wide, axes, keepdims, x.where()));
}

Array plain(Op op, const Operand& x, const Axes& axes, bool keepdims) {
  return Access::make(
      reduce(op, frontend::node_of(ir::info(op).name, x), axes, keepdims, x.where()));
}

/// How many elements each result of a reduction stands for, in a floating dtype.
NodeRef count_over(const NodeRef& node, const Axes& axes, DType dtype, const Site& site) {
  ir::Dim count = 1;
  ir::Shape extents;
  for (std::int64_t axis : sorted_axes(node, axes, site)) {
    extents.push_back(node->shape[static_cast<std::size_t>(axis)]);
    count *= extents.back();
  }
  if (count.is_constant()) {
    return frontend::record_constant(dtype, static_cast<double>(count.constant()));
  }
  // The extent is known at launch only: as many ones are summed.
  const NodeRef ones =
      frontend::broadcast_to_shape(frontend::record_constant(DType::i64, 1), extents, site);
  return cast_to(reduce(Op::sum, ones, {}, false, site), dtype, site);
}

/// What means and variances are computed in, and come out in.
struct MeanDTypes {
  DType inside, result;
};
MeanDTypes mean_dtypes(DType dtype) {
  if (!is_floating(dtype)) return {DType::f64, DType::f64};
  const bool small = dtype == DType::f16 || dtype == DType::bf16;
  return {small ? DType::f32 : dtype, dtype};
}

NodeRef mean_node(const NodeRef& node, const Axes& axes, bool keepdims, const Site& site) {
  const NodeRef total = reduce(Op::sum, node, axes, keepdims, site);
  return record(Op::divide, {total, count_over(node, axes, node->dtype, site)}, site);
}

NodeRef variance_node(const Operand& x, const Axes& axes, double correction, bool keepdims,
                      DType inside, std::string_view op) {
  const Site site = x.where();
  const NodeRef node = cast_to(frontend::node_of(op, x), inside, site);
  const NodeRef centred = record(Op::subtract, {node, mean_node(node, axes, true, site)}, site);
  const NodeRef squares = record(Op::multiply, {centred, centred}, site);
  const NodeRef total = reduce(Op::sum, squares, axes, keepdims, site);
  NodeRef count = count_over(node, axes, inside, site);
  if (correction != 0) {
    count = record(Op::subtract, {count, frontend::record_constant(inside, correction)}, site);
    count = record(Op::maximum, {count, frontend::record_constant(inside, 0)}, site);
  }
  return record(Op::divide, {total, count}, site);
}

Array index_of_extremum(Op op, const Operand& x, const Axes& axis, bool keepdims) {
  const std::string_view name = ir::info(op).name;
  const Site site = x.where();
  NodeRef node = frontend::node_of(name, x);
  if (axis.values().size() > 1) {
    throw ValueError(at(fmt::format("{}({}): takes one axis, or none for the flattened array", name,
                                    frontend::describe(*node)),
                        site));
  }
  const std::size_t rank = node->shape.size();
  if (!axis.all()) return Access::make(reduce(op, node, axis, keepdims, site));
  if (rank != 1) node = frontend::reshape_to(node, {ir::element_count(node->shape)}, site);
  const NodeRef index = reduce(op, node, 0, false, site);
  if (!keepdims) return Access::make(index);
  return Access::make(frontend::reshape_to(index, ir::Shape(rank, 1), site));
}

}  // namespace

Array sum(const Operand& x, const Axes& axes, bool keepdims) {
  return accumulate(Op::sum, x, axes, keepdims);
}
Array prod(const Operand& x, const Axes& axes, bool keepdims) {
  return accumulate(Op::prod, x, axes, keepdims);
}
Array min(const Operand& x, const Axes& axes, bool keepdims) {
  return plain(Op::min, x, axes, keepdims);
}
Array max(const Operand& x, const Axes& axes, bool keepdims) {
  return plain(Op::max, x, axes, keepdims);
}
Array any(const Operand& x, const Axes& axes, bool keepdims) {
  return plain(Op::any, x, axes, keepdims);
}
Array all(const Operand& x, const Axes& axes, bool keepdims) {
  return plain(Op::all, x, axes, keepdims);
}

Array mean(const Operand& x, const Axes& axes, bool keepdims) {
  const Site site = x.where();
  const NodeRef node = frontend::node_of("mean", x);
  const auto [inside, result] = mean_dtypes(node->dtype);
  const NodeRef mean = mean_node(cast_to(node, inside, site), axes, keepdims, site);
  return Access::make(cast_to(mean, result, site));
}

Array var(const Operand& x, const Axes& axes, double correction, bool keepdims) {
  const auto [inside, result] = mean_dtypes(frontend::node_of("var", x)->dtype);
  return Access::make(
      cast_to(variance_node(x, axes, correction, keepdims, inside, "var"), result, x.where()));
}

Array std(const Operand& x, const Axes& axes, double correction, bool keepdims) {
  const auto [inside, result] = mean_dtypes(frontend::node_of("std", x)->dtype);
  const NodeRef variance = variance_node(x, axes, correction, keepdims, inside, "std");
  return Access::make(cast_to(record(Op::sqrt, {variance}, x.where()), result, x.where()));
}

Array count_nonzero(const Operand& x, const Axes& axes, bool keepdims) {
  const Site site = x.where();
  const NodeRef node = frontend::node_of("count_nonzero", x);
  const NodeRef nonzero =
      record(Op::not_equal, {node, frontend::record_constant(node->dtype, 0)}, site);
  return Access::make(reduce(Op::sum, cast_to(nonzero, DType::i64, site), axes, keepdims, site));
}

Array argmin(const Operand& x, const Axes& axis, bool keepdims) {
  return index_of_extremum(Op::argmin, x, axis, keepdims);
}
Array argmax(const Operand& x, const Axes& axis, bool keepdims) {
  return index_of_extremum(Op::argmax, x, axis, keepdims);
}

}  // namespace heddle
