#include "heddle/histograms.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "heddle/creation.h"
#include "heddle/dtype_info.h"
#include "heddle/joining.h"
#include "heddle/reductions.h"

#include "frontend/array/access.h"
#include "frontend/array/indices_where.h"
#include "frontend/array/ordering.h"
#include "frontend/array/promote.h"
#include "frontend/array/views.h"
#include "frontend/graph/trace.h"
#include "frontend/numpy/bins.h"
#include "frontend/numpy/sums_by_key.h"

namespace heddle {

using frontend::Access;
using frontend::at;
using frontend::bins_of;
using frontend::Edges;
using frontend::Ends;
using frontend::NodeRef;
using frontend::OpRecorder;
using frontend::record_constant;
using ir::Op;

namespace {

/// Number of times that each of 0 .. length - 1 occurs in `indices`. Larger indices are ignored;
/// there must be no negative ones.
NodeRef occurrences(const NodeRef& indices, ir::Dim length, const OpRecorder& on) {
  const NodeRef one = frontend::record_scalar(DType::i64, 1, true);
  const NodeRef ones = frontend::broadcast_to_shape(one, indices->shape, on.site);
  return on.scatter_add(ones, indices, length);
}

/// The flattened weights; null if `weights` holds no value.
NodeRef weights_for(std::string_view op, const NodeRef& x, const Array& weights,
                    const OpRecorder& on) {
  if (!weights.has_value()) return {};
  const NodeRef node = Access::node(weights, on.site);
  if (node->shape == x->shape) return on.flat(node);
  throw ShapeError(at(fmt::format("{}({}): the weights {} do not have its shape", op,
                                  frontend::describe(*x), frontend::describe(*node)),
                      on.site));
}

/// The dtype of the sums, before the cast to the weights' dtype.
DType sum_dtype(const NodeRef& weights) {
  return is_complex(weights->dtype) ? DType::c128 : DType::f64;
}

/// The sums of the weights of each of 0 .. length - 1; without weights, the number of occurrences.
NodeRef total_by_key(const NodeRef& keys, const NodeRef& weights, ir::Dim length,
                     const OpRecorder& on) {
  if (!weights) return occurrences(keys, length, on);
  return frontend::sums_by_key(on.cast(weights, sum_dtype(weights)), keys, length, on);
}

/// ValueError if edges decrease, ignoring NaN. Waits for the edges; a trace has no values to check.
void check_rising(std::string_view op, const NodeRef& edges, const OpRecorder& on) {
  if (frontend::Trace::current() != nullptr) return;
  const auto values = Access::make(edges).to_vector<double>(on.site);
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (!(values[i - 1] > values[i])) continue;
    throw ValueError(at(fmt::format("{}: edges must not decrease, but edge {} is {} after {}", op,
                                    i, values[i], values[i - 1]),
                        on.site));
  }
}

/// As in NumPy, integer weights add up exactly between given edges, and in float64 between even
/// edges.
Histogram histogram_of(const NodeRef& flat, const Edges& between, bool even, bool density,
                       const NodeRef& weights, const OpRecorder& on) {
  const NodeRef& edges = between.node;
  const ir::Dim bins = edges->shape[0] - 1;
  const bool exact = weights && !even && !is_inexact(weights->dtype);
  const NodeRef summed =
      exact ? on.cast(weights, frontend::accumulator_dtype(weights->dtype)) : weights;
  const NodeRef keys = bins_of(flat, between, on);
  NodeRef counts =
      exact ? frontend::sums_by_key(summed, keys, bins, on) : total_by_key(keys, weights, bins, on);
  if (weights) counts = on.cast(counts, weights->dtype);
  if (density) {
    const DType dtype = weights ? sum_dtype(weights) : DType::f64;
    const NodeRef widths = on(Op::subtract, on.part(edges, 0, 1, bins), on.part(edges, 0, 0, bins));
    const NodeRef share = on(Op::divide, on.cast(counts, dtype), on.cast(widths, dtype));
    counts = on(Op::divide, share, on.reduce(Op::sum, on.cast(counts, dtype), {0}));
  }
  return {Access::make(counts), Access::make(edges)};
}

}  // namespace

Histogram histogram(const Operand& x, std::int64_t bins, BinRange range, bool density,
                    const Array& weights) {
  const OpRecorder on{x.where()};
  const NodeRef whole = frontend::node_of("histogram", x), flat = on.flat(whole);
  const NodeRef weight = weights_for("histogram", whole, weights, on);
  const Edges edges = frontend::even_edges("histogram", flat, bins, range, on);
  return histogram_of(flat, edges, true, density, weight, on);
}

Histogram histogram(const Operand& x, const Array& edges, bool density, const Array& weights) {
  const OpRecorder on{x.where()};
  const NodeRef node = frontend::node_of("histogram", {edges, x.where()});
  const bool fits =
      node->shape.size() == 1 && (!node->shape[0].is_constant() || node->shape[0].constant() >= 2);
  if (!fits) {
    throw ShapeError(
        at(fmt::format("histogram: the edges are {}; they must be 1-d with at least two elements",
                       frontend::describe(*node)),
           x.where()));
  }
  check_rising("histogram", node, on);
  const NodeRef whole = frontend::node_of("histogram", x);
  const NodeRef weight = weights_for("histogram", whole, weights, on);
  return histogram_of(on.flat(whole), {node, {}}, false, density, weight, on);
}

Array histogram_bin_edges(const Operand& x, std::int64_t bins, BinRange range) {
  const OpRecorder on{x.where()};
  const NodeRef flat = on.flat(frontend::node_of("histogram_bin_edges", x));
  return Access::make(frontend::even_edges("histogram_bin_edges", flat, bins, range, on).node);
}

namespace {

/// One coordinate of points, and the bins along it.
struct BinnedAxis {
  NodeRef values;
  Edges edges;            ///< null for bins of equal width, until they are computed
  std::int64_t bins = 0;  ///< number of bins of equal width
  BinRange range;

  bool needs_data() const { return !edges.node && !range && !(values->shape[0] == ir::Dim(0)); }
};

NodeRef given_edges(std::string_view op, const Array& edges, const OpRecorder& on) {
  const NodeRef node = Access::node(edges, on.site);
  frontend::refuse_complex(op, node, on);
  if (node->shape.size() == 1 && !(node->shape[0] == ir::Dim(0))) {
    check_rising(op, node, on);
    return node;
  }
  throw ShapeError(at(fmt::format("{}: edges are {}, and need one axis of at least one element", op,
                                  frontend::describe(*node)),
                      on.site));
}

std::vector<BinnedAxis> binned_axes(std::string_view op, const std::vector<NodeRef>& coordinates,
                                    const std::vector<Bins>& bins,
                                    const std::vector<BinRange>& ranges, const OpRecorder& on) {
  const std::size_t count = coordinates.size();
  if ((bins.size() != 1 && bins.size() != count) || (!ranges.empty() && ranges.size() != count)) {
    throw ValueError(at(fmt::format("{}: bins for {} and ranges for {} of {} coordinates", op,
                                    bins.size(), ranges.size(), count),
                        on.site));
  }
  std::vector<BinnedAxis> result;
  for (std::size_t i = 0; i < count; ++i) {
    BinnedAxis& axis = result.emplace_back();
    axis.values = coordinates[i];
    frontend::refuse_complex(op, axis.values, on);
    if (axis.values->shape.size() != 1 || axis.values->shape != coordinates[0]->shape) {
      throw ShapeError(
          at(fmt::format("{}: coordinates are vectors of one length, not {} and {}", op,
                         frontend::describe(*coordinates[0]), frontend::describe(*axis.values)),
             on.site));
    }
    if (!ranges.empty()) axis.range = ranges[i];
    const auto& value = bins[bins.size() == 1 ? 0 : i].value();
    if (const auto* edges = std::get_if<Array>(&value)) {
      axis.edges.node = given_edges(op, *edges, on);
    } else {
      axis.bins = std::get<std::int64_t>(value);
      frontend::check_bins(op, axis.bins, on);
    }
  }
  return result;
}

/// Computes the edges that are not given. Waits once if a range comes from the data.
void find_edges(std::string_view op, std::span<BinnedAxis> axes, const OpRecorder& on) {
  std::vector<NodeRef> open;
  const bool tracing = frontend::Trace::current() != nullptr;
  for (const BinnedAxis& axis : axes) {
    if (axis.needs_data() && !tracing) open.push_back(axis.values);
  }
  const std::vector<Ends> found = frontend::ends_of(open, on);
  auto next = found.begin();
  for (BinnedAxis& axis : axes) {
    if (axis.edges.node) continue;
    if (axis.needs_data() && tracing) {
      axis.edges = frontend::traced_edges(axis.values, axis.bins, on);
      continue;
    }
    const bool from_data = axis.needs_data();
    const Ends ends = from_data ? *next++ : axis.range.value_or(Ends{0, 1});
    const DType dtype = from_data ? frontend::edge_dtype(axis.values->dtype) : DType::f64;
    axis.edges = frontend::edges_between(op, ends, axis.bins, dtype, from_data, on);
  }
}

/// For each point the index of its bin in C order; for points in no bin, the number of all bins.
NodeRef point_bins(std::span<const BinnedAxis> axes, const NodeRef& none, const OpRecorder& on) {
  NodeRef key, inside;
  for (const BinnedAxis& axis : axes) {
    const NodeRef count = on.extent(axis.edges.node->shape[0] - 1);
    const NodeRef bin = bins_of(axis.values, axis.edges, on);
    const NodeRef is_in = on(Op::less, bin, count);
    key = key ? on(Op::add, on(Op::multiply, key, count), bin) : bin;
    inside = inside ? on(Op::logical_and, inside, is_in) : is_in;
  }
  return on(Op::select, inside, key, none);
}

/// Divides counts by their sum and the widths of their bins.
NodeRef density_of(NodeRef counts, std::span<const BinnedAxis> axes, const OpRecorder& on) {
  const NodeRef sum = on.reduce(Op::sum, on.flat(counts), {0});
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const NodeRef& edges = axes[i].edges.node;
    const ir::Dim bins = edges->shape[0] - 1;
    const NodeRef widths = on(Op::subtract, on.part(edges, 0, 1, bins), on.part(edges, 0, 0, bins));
    ir::Shape along(axes.size(), 1);
    along[i] = bins;
    counts = on(Op::divide, counts, on.reshape(on.cast(widths, DType::f64), std::move(along)));
  }
  return on(Op::divide, counts, sum);
}

PointHistogram histogram_of_points(std::string_view op, Arrays coordinates,
                                   const std::vector<Bins>& bins,
                                   const std::vector<BinRange>& ranges, bool density,
                                   const Array& weights, const OpRecorder& on) {
  if (coordinates.empty()) throw ValueError(at(fmt::format("{}: no coordinates", op), on.site));
  std::vector<BinnedAxis> axes =
      binned_axes(op, frontend::promoted(op, coordinates, on.site), bins, ranges, on);
  const NodeRef weight = weights_for(op, axes[0].values, weights, on);
  if (weight) frontend::refuse_complex(op, weight, on);
  find_edges(op, axes, on);
  PointHistogram result;
  ir::Shape shape;
  for (const BinnedAxis& axis : axes) {
    shape.push_back(axis.edges.node->shape[0] - 1);
    result.edges.push_back(Access::make(axis.edges.node));
  }
  const ir::Dim total = frontend::located(on.site, [&] { return ir::element_count(shape); });
  const NodeRef keys = point_bins(axes, on.extent(total), on);
  const NodeRef counts = on.cast(total_by_key(keys, weight, total, on), DType::f64);
  const NodeRef shaped = on.reshape(counts, shape);
  result.counts = Access::make(density ? density_of(shaped, axes, on) : shaped);
  return result;
}

}  // namespace

PointHistogram histogramdd(Arrays coordinates, const std::vector<Bins>& bins,
                           const std::vector<BinRange>& ranges, bool density, const Array& weights,
                           SourceLocation where) {
  return histogram_of_points("histogramdd", coordinates, bins, ranges, density, weights,
                             OpRecorder{where});
}

PointHistogram histogramdd(const Operand& points, const std::vector<Bins>& bins,
                           const std::vector<BinRange>& ranges, bool density,
                           const Array& weights) {
  const OpRecorder on{points.where()};
  const NodeRef node = frontend::node_of("histogramdd", points);
  if (node->shape.size() != 1 && node->shape.size() != 2) {
    throw ShapeError(
        at(fmt::format("histogramdd({}): points are rows of a matrix", frontend::describe(*node)),
           on.site));
  }
  const std::vector<Array> coordinates = node->shape.size() == 1
                                             ? std::vector{Access::make(node)}
                                             : unstack({Access::make(node), on.site}, 1);
  return histogram_of_points("histogramdd", coordinates, bins, ranges, density, weights, on);
}

PointHistogram histogram2d(const Operand& x, const Operand& y, const std::vector<Bins>& bins,
                           const std::vector<BinRange>& ranges, bool density,
                           const Array& weights) {
  const Array coordinates[] = {Access::make(frontend::node_of("histogram2d", x)),
                               Access::make(frontend::node_of("histogram2d", y))};
  return histogram_of_points("histogram2d", coordinates, bins, ranges, density, weights,
                             OpRecorder{x.where()});
}

Array bincount(const Operand& x, std::int64_t minlength, const Array& weights) {
  const OpRecorder on{x.where()};
  const NodeRef node = frontend::node_of("bincount", x);
  const auto name = [&] { return frontend::describe(*node); };
  if (node->shape.size() != 1) {
    throw ShapeError(at(fmt::format("bincount({}): takes one axis", name()), on.site));
  }
  const bool counts =
      is_boolean(node->dtype) || (is_integer(node->dtype) && node->dtype != DType::u64);
  if (!counts) {
    throw DTypeError(
        at(fmt::format("bincount({}): takes integers that fit int64; cast it", name()), on.site));
  }
  if (minlength < 0) {
    throw ValueError(at(fmt::format("bincount: minlength is {}", minlength), on.site));
  }
  const bool none = node->shape[0] == ir::Dim(0);
  NodeRef weight = weights_for("bincount", node, weights, on);
  if (weight && is_complex(weight->dtype)) {
    throw DTypeError(at(fmt::format("bincount({}): takes real weights, not {}; count the parts one "
                                    "by one",
                                    name(), numpy_name_of(weight->dtype)),
                        on.site));
  }
  if (frontend::Trace::current() != nullptr) frontend::value_in_trace("bincount", on.site);
  const NodeRef indices = on.cast(node, DType::i64);
  std::int64_t length = minlength;
  if (none) {
    weight = {};  // as in NumPy, without elements the result is counts
  } else {
    const Array least = Access::make(on.reduce(Op::min, indices, {0}));
    const Array greatest = Access::make(on.reduce(Op::max, indices, {0}));
    eval({least, greatest});
    if (const auto negative = least.item<std::int64_t>(on.site); negative < 0) {
      throw ValueError(at(fmt::format("bincount({}): {} is negative", name(), negative), on.site));
    }
    length = std::max(length, greatest.item<std::int64_t>(on.site) + 1);
  }
  return Access::make(total_by_key(indices, weight, length, on));
}

}  // namespace heddle
