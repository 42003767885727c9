#include "frontend/numpy/bins.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "heddle/creation.h"
#include "heddle/dtype_info.h"
#include "heddle/reductions.h"

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/graph/trace.h"
#include "frontend/numpy/searching.h"

namespace heddle::frontend {

using ir::Op;

namespace {

void check_range(std::string_view op, double first, double last, const SourceLocation& site) {
  if (std::isfinite(first) && std::isfinite(last) && first <= last) return;
  throw ValueError(at(
      fmt::format("{}: the range [{}, {}] must be finite and must not decrease", op, first, last),
      site));
}

/// Edges from the data are computed in its precision, those of a range in float64, as in NumPy.
NodeRef evenly_spaced(const Ends& ends, std::int64_t bins, DType dtype, bool from_data,
                      const SourceLocation& site) {
  const auto [first, last] = ends;
  const bool narrow = from_data && dtype != DType::f64;
  const Scalar from = narrow ? Scalar(static_cast<float>(first)) : Scalar(first);
  const Scalar to = narrow ? Scalar(static_cast<float>(last)) : Scalar(last);
  return cast_to(Access::node(linspace(from, to, bins + 1, true, site), site), dtype, site);
}

[[noreturn]] void too_many_bins(std::string_view op, const Ends& ends, std::int64_t bins,
                                const OpRecorder& on) {
  throw ValueError(at(
      fmt::format("{}: too many bins for the range [{}, {}]: {} bins would not have a finite width",
                  op, ends.first, ends.second, bins),
      on.site));
}

/// The ends, moved apart if they are equal.
Ends apart(const Ends& ends) {
  if (ends.first != ends.second) return ends;
  return {ends.first - 0.5, ends.second + 0.5};
}

/// Whether a bin is wider than a few floats of the edges' dtype.
bool are_wide(const Ends& ends, std::int64_t bins, DType dtype) {
  const auto [first, last] = apart(ends);
  const double largest = std::max({std::abs(first), std::abs(last), 0.5});
  return (last - first) / static_cast<double>(bins) > 4 * finfo(dtype).eps * largest;
}

/// ValueError unless the edges increase.
void check_widths(std::string_view op, const Ends& ends, std::int64_t bins, const NodeRef& edges,
                  const OpRecorder& on) {
  const auto values = Access::make(edges).to_vector<double>(on.site);
  const auto stays = [](double a, double b) { return !(a < b); };
  if (std::adjacent_find(values.begin(), values.end(), stays) != values.end())
    too_many_bins(op, ends, bins, on);
}

/// The bin of each value between edges of equal distance; for others `none`, the number of bins. It
/// is estimated and then compared with its edges, as NumPy does.
NodeRef even_bins(const Searched& what, const Ends& ends, const NodeRef& none,
                  const OpRecorder& on) {
  const ir::Dim bins = what.sorted->shape[0] - 1;
  const auto number = [](double value) {
    return record_scalar(DType::f64, bits_of(DType::f64, value), false);
  };
  const NodeRef zero = record_constant(DType::i64, 0), one = record_constant(DType::i64, 1);
  const NodeRef first = on.part(what.sorted, 0, 0, 1), last = on.part(what.sorted, 0, bins, 1);
  const NodeRef inside = on(Op::logical_and, on(Op::greater_equal, what.values, first),
                            on(Op::less_equal, what.values, last));
  const NodeRef distance = on(Op::subtract, on.cast(what.values, DType::f64), number(ends.first));
  const double rate = static_cast<double>(bins.constant()) / (ends.second - ends.first);
  const NodeRef scaled = on(Op::multiply, distance, number(rate));
  const NodeRef place = on.cast(on(Op::select, inside, scaled, number(0)), DType::i64);
  const NodeRef greatest = on(Op::subtract, none, one);
  const NodeRef bin = on(Op::minimum, on(Op::maximum, place, zero), greatest);
  const NodeRef below = on(Op::less, what.values, on.gather(what.sorted, bin, 0));
  const NodeRef next = on.gather(what.sorted, on(Op::add, bin, one), 0);
  const NodeRef above =
      on(Op::logical_and, on(Op::greater_equal, what.values, next), on(Op::less, bin, greatest));
  const NodeRef found =
      on(Op::subtract, on(Op::add, bin, on.cast(above, DType::i64)), on.cast(below, DType::i64));
  return on(Op::select, inside, found, none);
}

}  // namespace

DType edge_dtype(DType dtype) { return is_floating(dtype) ? dtype : DType::f64; }

void check_bins(std::string_view op, std::int64_t bins, const OpRecorder& on) {
  constexpr std::int64_t most = std::int64_t{1} << 48;
  if (bins >= 1 && bins <= most) return;
  throw ValueError(at(
      fmt::format("{}: {} bins are {}", op, bins, bins < 1 ? "fewer than one" : "more than 2^48"),
      on.site));
}

void refuse_complex(std::string_view op, const NodeRef& node, const OpRecorder& on) {
  if (!is_complex(node->dtype)) return;
  throw DTypeError(at(fmt::format("{}({}): takes real numbers", op, describe(*node)), on.site));
}

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

Edges traced_edges(const NodeRef& flat, std::int64_t bins, const OpRecorder& on) {
  const DType dtype = edge_dtype(flat->dtype);
  const auto constant = [&](double value) { return record_constant(dtype, value); };
  const NodeRef least = on.cast(on.reduce(Op::min, flat, {0}), dtype);
  const NodeRef greatest = on.cast(on.reduce(Op::max, flat, {0}), dtype);
  const NodeRef margin = on(Op::select, on(Op::equal, least, greatest), constant(0.5), constant(0));
  const NodeRef first = on(Op::subtract, least, margin), last = on(Op::add, greatest, margin);
  const NodeRef step =
      on(Op::divide, on(Op::subtract, last, first), constant(static_cast<double>(bins)));
  const NodeRef place = record_iota({bins + 1}, 0, dtype, on.site);
  const NodeRef edges = on(Op::add, on(Op::multiply, place, step), first);
  const NodeRef is_last = on(Op::equal, place, constant(static_cast<double>(bins)));
  return {on(Op::select, is_last, last, edges), {}};
}

Edges edges_between(std::string_view op, const Ends& ends, std::int64_t bins, DType dtype,
                    bool from_data, const OpRecorder& on) {
  check_range(op, ends.first, ends.second, on.site);
  const double width = ends.second - ends.first;
  const bool narrow = from_data && dtype != DType::f64;
  if (!std::isfinite(narrow ? static_cast<double>(static_cast<float>(width)) : width))
    too_many_bins(op, ends, bins, on);
  Edges edges{evenly_spaced(apart(ends), bins, dtype, from_data, on.site), {}};
  if (are_wide(ends, bins, dtype)) edges.even = apart(ends);
  return edges;
}

Edges even_edges(std::string_view op, const NodeRef& flat, std::int64_t bins, const BinRange& range,
                 const OpRecorder& on) {
  check_bins(op, bins, on);
  refuse_complex(op, flat, on);
  const bool from_data = !range && !(flat->shape[0] == ir::Dim(0));
  if (from_data && Trace::current() != nullptr) return traced_edges(flat, bins, on);
  const Ends ends = from_data ? ends_of({&flat, 1}, on)[0] : range.value_or(Ends{0, 1});
  Edges edges = edges_between(op, ends, bins, edge_dtype(flat->dtype), from_data, on);
  // A trace has no values to check.
  if (!edges.even && Trace::current() == nullptr) check_widths(op, ends, bins, edges.node, on);
  return edges;
}

NodeRef bins_of(const NodeRef& flat, const Edges& edges, const OpRecorder& on) {
  const Searched what = promoted_search("histogram", {Access::make(edges.node), on.site},
                                        {Access::make(flat), on.site});
  const ir::Dim bins = edges.node->shape[0] - 1;
  const NodeRef one = record_scalar(DType::i64, 1, true), none = on.extent(bins);
  if (edges.even) return even_bins(what, *edges.even, none, on);
  const NodeRef found = on(Op::subtract, on(Op::searchsorted_right, what.sorted, what.values), one);
  const NodeRef is_below = on(Op::less, found, record_constant(DType::i64, 0));
  const NodeRef last_edge = on.part(what.sorted, 0, bins, 1);
  const NodeRef is_last = on(Op::equal, what.values, last_edge);
  const NodeRef bin = on(Op::select, is_last, on(Op::subtract, none, one), found);
  return on(Op::select, is_below, none, bin);
}

}  // namespace heddle::frontend
