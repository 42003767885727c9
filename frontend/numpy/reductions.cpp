#include "heddle/reductions.h"

#include <algorithm>

#include <fmt/format.h>

#include "heddle/dtype_info.h"
#include "heddle/elementwise.h"

#include "frontend/array/access.h"
#include "frontend/array/at_once.h"
#include "frontend/array/promote.h"
#include "frontend/graph/at_location.h"
#include "frontend/graph/axes.h"

namespace heddle {

using frontend::Access;
using frontend::at;
using frontend::cast_to;
using frontend::NodeRef;
using frontend::record;
using frontend::Site;
using ir::Op;

namespace {

/// NumPy's ufunc reductions (but not its means) accept axis 0 and -1 of a 0-d array.
bool is_only_element(const NodeRef& node, const Axes& axes) {
  return node->shape.empty() && axes.values().size() == 1 &&
         (axes.values()[0] == 0 || axes.values()[0] == -1);
}

std::vector<std::int64_t> sorted_axes(std::string_view op, const NodeRef& node, const Axes& axes,
                                      const Site& site) {
  std::vector<std::int64_t> result = frontend::axes_of(op, axes, frontend::rank_of(node), site);
  std::sort(result.begin(), result.end());
  return result;
}

NodeRef reduce(Op op, const NodeRef& node, const Axes& axes, bool keepdims, const Site& site) {
  ir::Attributes attributes;
  if (!is_only_element(node, axes)) {
    attributes.axes = sorted_axes(ir::info(op).name, node, axes, site);
  }
  attributes.keepdims = keepdims;
  if (attributes.axes.empty()) {
    // Without axes, each element is a result, in the dtype that the op returns.
    if (op == Op::any || op == Op::all) {
      return record(Op::not_equal, {node, frontend::record_constant(node->dtype, 0)}, site);
    }
    if (op != Op::argmin && op != Op::argmax) return node;
    return frontend::record_constant(DType::i64, 0);
  }
  if (attributes.axes.size() == node->shape.size() && !keepdims && site.location.file != nullptr) {
    const auto where = SourceLocation::at(site.location.file, site.location.line, site.column);
    if (NodeRef computed = frontend::reduce_at_once(op, node, where)) return computed;
  }
  return record(op, {node}, std::move(attributes), site);
}

/// The bool array that selects the elements of `node` that count.
NodeRef mask_of(std::string_view op, const NodeRef& node, const Array& mask, const Site& site,
                const SourceLocation& where) {
  NodeRef chosen = Access::node(mask, where);
  if (!is_boolean(chosen->dtype)) {
    throw DTypeError(
        at(fmt::format("{}: a mask must be bool, not {}", op, frontend::describe(*chosen)), site));
  }
  const ir::Shape shape =
      frontend::located(site, [&] { return ir::broadcast_shapes(node->shape, chosen->shape); });
  if (shape != node->shape) {
    throw ShapeError(at(fmt::format("{}: the mask {} does not broadcast to {}", op,
                                    frontend::describe(*chosen), frontend::describe(*node)),
                        site));
  }
  return chosen;
}

/// A reduction, except for its operand.
struct Reduction {
  Op op;
  Op combine;      ///< combines two results
  double neutral;  ///< replaces elements that do not count
  const Axes& axes;
  bool keepdims;
  const std::optional<Scalar>& initial;
  const Array& mask;
};

/// Applies NumPy's mask and initial value around a reduction.
NodeRef reduce_from(const Reduction& reduction, NodeRef node, const Operand& x) {
  const Site site = x.where();
  const std::string_view name = ir::info(reduction.op).name;
  if (reduction.mask.has_value()) {
    const NodeRef chosen = mask_of(name, node, reduction.mask, site, x.where());
    const NodeRef neutral = frontend::record_constant(node->dtype, reduction.neutral);
    node = record(Op::select, {chosen, node, neutral}, site);
  }
  NodeRef result = reduce(reduction.op, node, reduction.axes, reduction.keepdims, site);
  if (!reduction.initial) return result;
  const NodeRef start = frontend::element_node(name, {*reduction.initial, x.where()}, node->dtype);
  return record(reduction.combine, {result, start}, site);
}

Array accumulate(Reduction reduction, const Operand& x, std::optional<DType> dtype) {
  const NodeRef node = frontend::node_of(ir::info(reduction.op).name, x);
  const DType inside = dtype.value_or(frontend::accumulator_dtype(node->dtype));
  if (is_boolean(inside)) {
    const bool sum = reduction.op == Op::sum;
    reduction.op = sum ? Op::any : Op::all;
    reduction.combine = sum ? Op::logical_or : Op::logical_and;
    reduction.neutral = sum ? 0 : 1;
  }
  return Access::make(reduce_from(reduction, cast_to(node, inside, x.where()), x));
}

/// True if the reduction over the axes has no elements.
bool is_over_nothing(const NodeRef& node, const Axes& axes, const Site& site) {
  if (is_only_element(node, axes)) return false;
  for (std::int64_t axis : sorted_axes("min", node, axes, site)) {
    if (frontend::extent_of(node, axis) == ir::Dim(0)) return true;
  }
  return false;
}

/// min and max, which have no neutral element: masked elements are replaced by the initial value.
Array extremum(Op op, Op combine, const Operand& x, const Axes& axes, bool keepdims,
               const std::optional<Scalar>& initial, const Array& mask) {
  const Site site = x.where();
  const std::string_view name = ir::info(op).name;
  NodeRef node = frontend::node_of(name, x);
  if (!initial) {
    if (mask.has_value()) {
      throw ValueError(
          at(fmt::format("{}({}): a mask needs an initial value", name, frontend::describe(*node)),
             site));
    }
    return Access::make(reduce(op, node, axes, keepdims, site));
  }
  const NodeRef start = frontend::element_node(name, {*initial, x.where()}, node->dtype);
  if (mask.has_value()) {
    node = record(Op::select, {mask_of(name, node, mask, site, x.where()), node, start}, site);
  }
  if (is_over_nothing(node, axes, site)) {
    // A dummy reduction that gives the shape of the result.
    const NodeRef shape =
        reduce(Op::sum, cast_to(node, frontend::accumulator_dtype(node->dtype), site), axes,
               keepdims, site);
    return Access::make(frontend::broadcast_to_shape(start, shape->shape, site));
  }
  return Access::make(record(combine, {reduce(op, node, axes, keepdims, site), start}, site));
}

/// Number of elements per result of a reduction, in a floating dtype.
NodeRef count_over(std::string_view op, const NodeRef& node, const Axes& axes, DType dtype,
                   const Site& site) {
  ir::Dim count = 1;
  ir::Shape extents;
  for (std::int64_t axis : sorted_axes(op, node, axes, site)) {
    extents.push_back(frontend::extent_of(node, axis));
    count *= extents.back();
  }
  if (count.is_constant()) {
    return frontend::record_constant(dtype, static_cast<double>(count.constant()));
  }
  // The extent is known only at launch, so sum as many ones.
  const NodeRef ones =
      frontend::broadcast_to_shape(frontend::record_constant(DType::i64, 1), extents, site);
  return cast_to(reduce(Op::sum, ones, {}, false, site), dtype, site);
}

/// The elements of a mean or variance.
struct Sample {
  std::string_view op;
  NodeRef node;  ///< in the dtype of the computation
  NodeRef mask;  ///< null if all elements count
  const Axes& axes;
  Site site;

  NodeRef total(const NodeRef& values, bool keepdims) const {
    const NodeRef counted =
        !mask
            ? values
            : record(Op::select, {mask, values, frontend::record_constant(values->dtype, 0)}, site);
    return reduce(Op::sum, counted, axes, keepdims, site);
  }
  NodeRef count(bool keepdims) const { return count_of(node->dtype, keepdims); }
  NodeRef count_of(DType dtype, bool keepdims) const {
    if (!mask) return count_over(op, node, axes, dtype, site);
    const NodeRef each =
        frontend::broadcast_to_shape(cast_to(mask, DType::i64, site), node->shape, site);
    return cast_to(reduce(Op::sum, each, axes, keepdims, site), dtype, site);
  }
  NodeRef mean(bool keepdims) const {
    return record(Op::divide, {total(node, keepdims), count(keepdims)}, site);
  }
};

/// The dtypes in which means and variances are computed and returned. For variances, the real dtype
/// of each, unless a dtype is requested.
struct MeanDTypes {
  DType inside, result;
};
MeanDTypes mean_dtypes(DType dtype, std::optional<DType> wanted) {
  const DType result = wanted.value_or(is_inexact(dtype) ? dtype : DType::f64);
  const bool small = result == DType::f16 || result == DType::bf16;
  // If an integer dtype is requested, sums are exact in float64 up to 2^53.
  return {small ? DType::f32 : is_inexact(result) ? result : DType::f64, result};
}

Sample sample_of(std::string_view op, const Operand& x, const Axes& axes, DType inside,
                 std::optional<DType> wanted, const Array& mask) {
  const Site site = x.where();
  NodeRef node = frontend::node_of(op, x);
  if (wanted && !is_inexact(*wanted)) node = cast_to(node, *wanted, site);
  node = cast_to(node, inside, site);
  NodeRef chosen;
  if (mask.has_value()) chosen = mask_of(op, node, mask, site, x.where());
  return {op, node, chosen, axes, site};
}

/// |x|^2, without a square root.
NodeRef squared_magnitude(const NodeRef& node, const Site& site) {
  if (!is_complex(node->dtype)) return record(Op::multiply, {node, node}, site);
  const NodeRef real = record(Op::real, {node}, site), imaginary = record(Op::imag, {node}, site);
  return record(Op::add,
                {record(Op::multiply, {real, real}, site),
                 record(Op::multiply, {imaginary, imaginary}, site)},
                site);
}

/// The sum of |x - centre|^2. If the mean is computed here, its rounding error adds |sum of (x -
/// centre)|^2 / count, which is subtracted again.
NodeRef squared_deviations(const Sample& sample, bool keepdims, const Array& mean) {
  const Site& site = sample.site;
  const DType inside = sample.node->dtype, real = real_dtype(inside);
  const NodeRef centre = mean.has_value()
                             ? cast_to(Access::node(mean, SourceLocation()), inside, site)
                             : sample.mean(true);
  const NodeRef centred = record(Op::subtract, {sample.node, centre}, site);
  const NodeRef squares = sample.total(squared_magnitude(centred, site), keepdims);
  if (mean.has_value()) return squares;
  const NodeRef drift = squared_magnitude(sample.total(centred, keepdims), site);
  const NodeRef count = cast_to(sample.count(keepdims), real, site);
  // Infinite squares stay infinite, and rounding makes no result negative.
  const NodeRef largest = frontend::record_constant(real, finfo(real).max);
  const NodeRef excess =
      record(Op::minimum, {record(Op::divide, {drift, count}, site), largest}, site);
  const NodeRef rest = record(Op::subtract, {squares, excess}, site);
  return record(Op::maximum, {rest, frontend::record_constant(real, 0)}, site);
}

NodeRef variance_node(const Sample& sample, double correction, bool keepdims, const Array& mean) {
  const Site& site = sample.site;
  const NodeRef total = squared_deviations(sample, keepdims, mean);
  const DType real = real_dtype(sample.node->dtype);
  NodeRef count = cast_to(sample.count(keepdims), real, site);
  if (correction != 0) {
    count = record(Op::subtract, {count, frontend::record_constant(real, correction)}, site);
    count = record(Op::maximum, {count, frontend::record_constant(real, 0)}, site);
  }
  return record(Op::divide, {total, count}, site);
}

Array index_of_extremum(Op op, const Operand& x, const Axes& axis, bool keepdims) {
  const std::string_view name = ir::info(op).name;
  const Site site = x.where();
  NodeRef node = frontend::node_of(name, x);
  if (!axis.all() && axis.values().size() != 1) {
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

Array sum(const Operand& x, const Axes& axes, bool keepdims, std::optional<DType> dtype,
          std::optional<Scalar> initial, const Array& mask) {
  return accumulate({Op::sum, Op::add, 0, axes, keepdims, initial, mask}, x, dtype);
}
Array prod(const Operand& x, const Axes& axes, bool keepdims, std::optional<DType> dtype,
           std::optional<Scalar> initial, const Array& mask) {
  return accumulate({Op::prod, Op::multiply, 1, axes, keepdims, initial, mask}, x, dtype);
}
Array min(const Operand& x, const Axes& axes, bool keepdims, std::optional<Scalar> initial,
          const Array& mask) {
  return extremum(Op::min, Op::minimum, x, axes, keepdims, initial, mask);
}
Array max(const Operand& x, const Axes& axes, bool keepdims, std::optional<Scalar> initial,
          const Array& mask) {
  return extremum(Op::max, Op::maximum, x, axes, keepdims, initial, mask);
}
Array amin(const Operand& x, const Axes& axes, bool keepdims, std::optional<Scalar> initial,
           const Array& mask) {
  return min(x, axes, keepdims, initial, mask);
}
Array amax(const Operand& x, const Axes& axes, bool keepdims, std::optional<Scalar> initial,
           const Array& mask) {
  return max(x, axes, keepdims, initial, mask);
}
Array any(const Operand& x, const Axes& axes, bool keepdims, const Array& mask) {
  const Reduction reduction{Op::any, Op::logical_or, 0, axes, keepdims, {}, mask};
  return Access::make(reduce_from(reduction, frontend::node_of("any", x), x));
}
Array all(const Operand& x, const Axes& axes, bool keepdims, const Array& mask) {
  const Reduction reduction{Op::all, Op::logical_and, 1, axes, keepdims, {}, mask};
  return Access::make(reduce_from(reduction, frontend::node_of("all", x), x));
}

Array ptp(const Operand& x, const Axes& axes, bool keepdims) {
  const frontend::AtLocation here(x);
  return subtract(here(max(x, axes, keepdims)), here(min(x, axes, keepdims)));
}

Array mean(const Operand& x, const Axes& axes, bool keepdims, std::optional<DType> dtype,
           const Array& mask) {
  const auto [inside, result] = mean_dtypes(frontend::node_of("mean", x)->dtype, dtype);
  if (is_integer(result)) {
    // As in NumPy, the sum wraps in that dtype.
    const Sample sample = sample_of("mean", x, axes, result, dtype, mask);
    const NodeRef total = cast_to(sample.total(sample.node, keepdims), inside, x.where());
    const NodeRef mean = record(Op::divide, {total, sample.count_of(inside, keepdims)}, x.where());
    return Access::make(cast_to(mean, result, x.where()));
  }
  const Sample sample = sample_of("mean", x, axes, inside, dtype, mask);
  return Access::make(cast_to(sample.mean(keepdims), result, x.where()));
}

Array var(const Operand& x, const Axes& axes, double correction, bool keepdims,
          std::optional<DType> dtype, const Array& mask, const Array& mean) {
  const auto [inside, result] = mean_dtypes(frontend::node_of("var", x)->dtype, dtype);
  const DType spread = dtype.value_or(real_dtype(result));
  const Sample sample = sample_of("var", x, axes, inside, dtype, mask);
  return Access::make(
      cast_to(variance_node(sample, correction, keepdims, mean), spread, x.where()));
}

Array std(const Operand& x, const Axes& axes, double correction, bool keepdims,
          std::optional<DType> dtype, const Array& mask, const Array& mean) {
  const auto [inside, result] = mean_dtypes(frontend::node_of("std", x)->dtype, dtype);
  const DType spread = dtype.value_or(real_dtype(result));
  const Sample sample = sample_of("std", x, axes, inside, dtype, mask);
  const NodeRef variance = variance_node(sample, correction, keepdims, mean);
  return Access::make(cast_to(record(Op::sqrt, {variance}, x.where()), spread, x.where()));
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
