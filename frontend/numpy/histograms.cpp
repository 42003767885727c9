#include "heddle/histograms.h"

#include <algorithm>
#include <cmath>

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
#include "frontend/numpy/searching.h"
#include "frontend/numpy/sums_by_key.h"

namespace heddle {

using frontend::Access;
using frontend::at;
using frontend::NodeRef;
using frontend::OpRecorder;
using frontend::record_constant;
using ir::Op;

namespace {

DType edge_dtype(DType dtype) { return is_floating(dtype) ? dtype : DType::f64; }

void check_range(std::string_view op, double first, double last, const SourceLocation& site) {
  if (std::isfinite(first) && std::isfinite(last) && first <= last) return;
  throw ValueError(at(
      fmt::format("{}: the range [{}, {}] must be finite and must not decrease", op, first, last),
      site));
}

/// Edges from the data are computed in its precision, those of a range in float64, as in NumPy.
Array evenly_spaced(double first, double last, std::int64_t bins, DType dtype, bool from_data,
                    const SourceLocation& site) {
  if (first == last) first -= 0.5, last += 0.5;
  const bool narrow = from_data && dtype != DType::f64;
  const Scalar from = narrow ? Scalar(static_cast<float>(first)) : Scalar(first);
  const Scalar to = narrow ? Scalar(static_cast<float>(last)) : Scalar(last);
  return Access::make(
      frontend::cast_to(Access::node(linspace(from, to, bins + 1, true, site), site), dtype, site));
}

/// The edges, computed from elements that are not known yet.
NodeRef traced_edges(const NodeRef& flat, std::int64_t bins, const OpRecorder& on) {
  const DType dtype = edge_dtype(flat->dtype);
  const auto constant = [&](double value) { return record_constant(dtype, value); };
  const NodeRef least = on.cast(on.reduce(Op::min, flat, {0}), dtype);
  const NodeRef greatest = on.cast(on.reduce(Op::max, flat, {0}), dtype);
  const NodeRef margin = on(Op::select, on(Op::equal, least, greatest), constant(0.5), constant(0));
  const NodeRef first = on(Op::subtract, least, margin), last = on(Op::add, greatest, margin);
  const NodeRef step =
      on(Op::divide, on(Op::subtract, last, first), constant(static_cast<double>(bins)));
  const NodeRef place = frontend::record_iota({bins + 1}, 0, dtype, on.site);
  const NodeRef edges = on(Op::add, on(Op::multiply, place, step), first);
  const NodeRef is_last = on(Op::equal, place, constant(static_cast<double>(bins)));
  return on(Op::select, is_last, last, edges);
}

void check_bins(std::string_view op, std::int64_t bins, const OpRecorder& on) {
  constexpr std::int64_t most = std::int64_t{1} << 48;
  if (bins >= 1 && bins <= most) return;
  throw ValueError(at(
      fmt::format("{}: {} bins are {}", op, bins, bins < 1 ? "fewer than one" : "more than 2^48"),
      on.site));
}

void refuse_complex(std::string_view op, const NodeRef& node, const OpRecorder& on) {
  if (!is_complex(node->dtype)) return;
  throw DTypeError(
      at(fmt::format("{}({}): takes real numbers", op, frontend::describe(*node)), on.site));
}

using Ends = std::pair<double, double>;

/// The least and the greatest element of nonempty vectors, computed in one program; waits.
std::vector<Ends> ends_of(std::span<const NodeRef> vectors, const OpRecorder& on) {
  if (vectors.empty()) return {};
  std::vector<Array> found;
  for (const NodeRef& each : vectors) {
    for (const Op op : {Op::min, Op::max}) found.push_back(Access::make(on.reduce(op, each, {0})));
  }
  eval(found);
  std::vector<Ends> result;
  for (std::size_t i = 0; i < found.size(); i += 2)
    result.emplace_back(found[i].item<double>(on.site), found[i + 1].item<double>(on.site));
  return result;
}

[[noreturn]] void too_many_bins(std::string_view op, const Ends& ends, std::int64_t bins,
                                const OpRecorder& on) {
  throw ValueError(at(
      fmt::format("{}: too many bins for the range [{}, {}]: {} bins would not have a finite width",
                  op, ends.first, ends.second, bins),
      on.site));
}

NodeRef edges_between(std::string_view op, const Ends& ends, std::int64_t bins, DType dtype,
                      bool from_data, const OpRecorder& on) {
  check_range(op, ends.first, ends.second, on.site);
  const double width = ends.second - ends.first;
  const bool narrow = from_data && dtype != DType::f64;
  if (!std::isfinite(narrow ? static_cast<double>(static_cast<float>(width)) : width))
    too_many_bins(op, ends, bins, on);
  return Access::node(evenly_spaced(ends.first, ends.second, bins, dtype, from_data, on.site),
                      on.site);
}

/// ValueError unless the edges between two ends increase. They are computed and checked only if a
/// bin is as narrow as a few floats.
void check_widths(std::string_view op, const Ends& ends, std::int64_t bins, const NodeRef& edges,
                  const OpRecorder& on) {
  const double largest = std::max({std::abs(ends.first), std::abs(ends.second), 0.5});
  const double width = (ends.second - ends.first) / static_cast<double>(bins);
  if (ends.first != ends.second && width > 4 * finfo(edges->dtype).eps * largest) return;
  if (ends.first == ends.second && 1 > 4 * finfo(edges->dtype).eps * largest * double(bins)) return;
  const auto values = Access::make(edges).to_vector<double>(on.site);
  const auto stays = [](double a, double b) { return !(a < b); };
  if (std::adjacent_find(values.begin(), values.end(), stays) != values.end())
    too_many_bins(op, ends, bins, on);
}

NodeRef even_edges(std::string_view op, const NodeRef& flat, std::int64_t bins,
                   const BinRange& range, const OpRecorder& on) {
  check_bins(op, bins, on);
  refuse_complex(op, flat, on);
  const bool from_data = !range && !(flat->shape[0] == ir::Dim(0));
  if (from_data && frontend::Trace::current() != nullptr) return traced_edges(flat, bins, on);
  const Ends ends = from_data ? ends_of({&flat, 1}, on)[0] : range.value_or(Ends{0, 1});
  NodeRef edges = edges_between(op, ends, bins, edge_dtype(flat->dtype), from_data, on);
  // A trace has no values to check.
  if (frontend::Trace::current() == nullptr) check_widths(op, ends, bins, edges, on);
  return edges;
}

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

/// The bin of each element; the number of bins if it is in none.
NodeRef bins_of(const NodeRef& flat, const NodeRef& edges, const OpRecorder& on) {
  const frontend::Searched what = frontend::promoted_search(
      "histogram", {Access::make(edges), on.site}, {Access::make(flat), on.site});
  const ir::Dim bins = edges->shape[0] - 1;
  const NodeRef one = frontend::record_scalar(DType::i64, 1, true), none = on.extent(bins);
  const NodeRef found = on(Op::subtract, on(Op::searchsorted_right, what.sorted, what.values), one);
  const NodeRef is_below = on(Op::less, found, record_constant(DType::i64, 0));
  const NodeRef last_edge = on.part(what.sorted, 0, bins, 1);
  const NodeRef is_last = on(Op::equal, what.values, last_edge);
  const NodeRef bin = on(Op::select, is_last, on(Op::subtract, none, one), found);
  return on(Op::select, is_below, none, bin);
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
Histogram histogram_of(const NodeRef& flat, const NodeRef& edges, bool even, bool density,
                       const NodeRef& weights, const OpRecorder& on) {
  const ir::Dim bins = edges->shape[0] - 1;
  const bool exact = weights && !even && !is_inexact(weights->dtype);
  const NodeRef summed =
      exact ? on.cast(weights, frontend::accumulator_dtype(weights->dtype)) : weights;
  const NodeRef keys = bins_of(flat, edges, on);
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
  const NodeRef edges = even_edges("histogram", flat, bins, range, on);
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
  return histogram_of(on.flat(whole), node, false, density, weight, on);
}

Array histogram_bin_edges(const Operand& x, std::int64_t bins, BinRange range) {
  const OpRecorder on{x.where()};
  const NodeRef flat = on.flat(frontend::node_of("histogram_bin_edges", x));
  return Access::make(even_edges("histogram_bin_edges", flat, bins, range, on));
}

namespace {

/// One coordinate of points, and the bins along it.
struct BinnedAxis {
  NodeRef values;
  NodeRef edges;          ///< null for bins of equal width
  std::int64_t bins = 0;  ///< number of bins of equal width
  BinRange range;

  bool needs_data() const { return !edges && !range && !(values->shape[0] == ir::Dim(0)); }
};

NodeRef given_edges(std::string_view op, const Array& edges, const OpRecorder& on) {
  const NodeRef node = Access::node(edges, on.site);
  refuse_complex(op, node, on);
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
    refuse_complex(op, axis.values, on);
    if (axis.values->shape.size() != 1 || axis.values->shape != coordinates[0]->shape) {
      throw ShapeError(
          at(fmt::format("{}: coordinates are vectors of one length, not {} and {}", op,
                         frontend::describe(*coordinates[0]), frontend::describe(*axis.values)),
             on.site));
    }
    if (!ranges.empty()) axis.range = ranges[i];
    const auto& value = bins[bins.size() == 1 ? 0 : i].value();
    if (const auto* edges = std::get_if<Array>(&value)) {
      axis.edges = given_edges(op, *edges, on);
    } else {
      axis.bins = std::get<std::int64_t>(value);
      check_bins(op, axis.bins, on);
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
  const std::vector<Ends> found = ends_of(open, on);
  auto next = found.begin();
  for (BinnedAxis& axis : axes) {
    if (axis.edges) continue;
    if (axis.needs_data() && tracing) {
      axis.edges = traced_edges(axis.values, axis.bins, on);
      continue;
    }
    const bool from_data = axis.needs_data();
    const Ends ends = from_data ? *next++ : axis.range.value_or(Ends{0, 1});
    const DType dtype = from_data ? edge_dtype(axis.values->dtype) : DType::f64;
    axis.edges = edges_between(op, ends, axis.bins, dtype, from_data, on);
  }
}

/// For each point the index of its bin in C order; for points in no bin, the number of all bins.
NodeRef point_bins(std::span<const BinnedAxis> axes, const NodeRef& none, const OpRecorder& on) {
  NodeRef key, inside;
  for (const BinnedAxis& axis : axes) {
    const NodeRef count = on.extent(axis.edges->shape[0] - 1);
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
    const NodeRef& edges = axes[i].edges;
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
  if (weight) refuse_complex(op, weight, on);
  find_edges(op, axes, on);
  PointHistogram result;
  ir::Shape shape;
  for (const BinnedAxis& axis : axes) {
    shape.push_back(axis.edges->shape[0] - 1);
    result.edges.push_back(Access::make(axis.edges));
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
