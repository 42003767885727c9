#include "heddle/histograms.h"

#include <cmath>

#include <fmt/format.h>

#include "heddle/creation.h"
#include "heddle/reductions.h"

#include "frontend/compaction.h"
#include "frontend/ordering.h"
#include "frontend/promote.h"
#include "frontend/searching.h"
#include "frontend/sums_by_key.h"
#include "frontend/trace.h"

namespace heddle {

using frontend::Access;
using frontend::at;
using frontend::Composer;
using frontend::NodeRef;
using frontend::record_constant;
using ir::Op;

namespace {

DType edge_dtype(DType dtype) { return is_floating(dtype) ? dtype : DType::f64; }

void check_range(std::string_view op, double first, double last, const SourceLocation& site) {
  if (std::isfinite(first) && std::isfinite(last) && first <= last) return;
  throw ValueError(
      at(fmt::format("{}: the range [{}, {}] must be finite and not fall", op, first, last), site));
}

Array evenly_spaced(double first, double last, std::int64_t bins, DType dtype,
                    const SourceLocation& site) {
  if (first == last) first -= 0.5, last += 0.5;
  const bool narrow = dtype != DType::f64;
  const Scalar from = narrow ? Scalar(static_cast<float>(first)) : Scalar(first);
  const Scalar to = narrow ? Scalar(static_cast<float>(last)) : Scalar(last);
  return Access::make(
      frontend::cast_to(Access::node(linspace(from, to, bins + 1, true, site), site), dtype, site));
}

/// The edges from elements that are not known yet.
NodeRef traced_edges(const NodeRef& flat, std::int64_t bins, const Composer& on) {
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

NodeRef even_edges(std::string_view op, const NodeRef& flat, std::int64_t bins,
                   const BinRange& range, const Composer& on) {
  if (bins < 1) {
    throw ValueError(at(fmt::format("{}: needs at least one bin, not {}", op, bins), on.site));
  }
  const DType dtype = edge_dtype(flat->dtype);
  double first = 0, last = 1;
  const bool from_data = !range && !(flat->shape[0] == ir::Dim(0));
  if (from_data && frontend::Trace::current() != nullptr) return traced_edges(flat, bins, on);
  if (from_data) {
    const Array least = Access::make(on.reduce(Op::min, flat, {0}));
    const Array greatest = Access::make(on.reduce(Op::max, flat, {0}));
    eval({least, greatest});
    first = least.item<double>(on.site), last = greatest.item<double>(on.site);
  } else if (range) {
    first = range->first, last = range->second;
  }
  check_range(op, first, last, on.site);
  return Access::node(evenly_spaced(first, last, bins, dtype, on.site), on.site);
}

/// How often each of 0 .. length - 1 is among indices; others count nowhere, but negative ones.
NodeRef occurrences(const NodeRef& indices, ir::Dim length, const Composer& on) {
  const NodeRef one = frontend::record_scalar(DType::i64, 1, true);
  const NodeRef ones = frontend::broadcast_to_shape(one, indices->shape, on.site);
  return on.scatter_add(ones, indices, length);
}

/// The weights, flattened, or null where they hold no value.
NodeRef weights_for(std::string_view op, const NodeRef& x, const Array& weights,
                    const Composer& on) {
  if (!weights.has_value()) return {};
  const NodeRef node = Access::node(weights, on.site);
  if (node->shape == x->shape) return on.flat(node);
  throw ShapeError(at(fmt::format("{}({}): the weights {} do not have its shape", op,
                                  frontend::describe(*x), frontend::describe(*node)),
                      on.site));
}

/// What is summed in before it takes the weights' dtype.
DType sum_dtype(const NodeRef& weights) {
  return is_complex(weights->dtype) ? DType::c128 : DType::f64;
}

/// The sums of what is in each of 0 .. length - 1, or without weights how often each is there.
NodeRef total_by_key(const NodeRef& keys, const NodeRef& weights, ir::Dim length,
                     const Composer& on) {
  if (!weights) return occurrences(keys, length, on);
  return frontend::sums_by_key(on.cast(weights, sum_dtype(weights)), keys, length, on);
}

/// In which bin each element is; in none of them, the one behind the last.
NodeRef bins_of(const NodeRef& flat, const NodeRef& edges, const Composer& on) {
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

Histogram histogram_of(const NodeRef& flat, const NodeRef& edges, bool density,
                       const NodeRef& weights, const Composer& on) {
  const ir::Dim bins = edges->shape[0] - 1;
  NodeRef counts = total_by_key(bins_of(flat, edges, on), weights, bins, on);
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
  const Composer on{x.where()};
  const NodeRef whole = frontend::node_of("histogram", x), flat = on.flat(whole);
  const NodeRef weight = weights_for("histogram", whole, weights, on);
  return histogram_of(flat, even_edges("histogram", flat, bins, range, on), density, weight, on);
}

Histogram histogram(const Operand& x, const Array& edges, bool density, const Array& weights) {
  const Composer on{x.where()};
  const NodeRef node = frontend::node_of("histogram", {edges, x.where()});
  const bool fits =
      node->shape.size() == 1 && (!node->shape[0].is_constant() || node->shape[0].constant() >= 2);
  if (!fits) {
    throw ShapeError(at(fmt::format("histogram: edges are {}, and need one axis of at least two "
                                    "elements",
                                    frontend::describe(*node)),
                        x.where()));
  }
  const NodeRef whole = frontend::node_of("histogram", x);
  const NodeRef weight = weights_for("histogram", whole, weights, on);
  return histogram_of(on.flat(whole), node, density, weight, on);
}

Array histogram_bin_edges(const Operand& x, std::int64_t bins, BinRange range) {
  const Composer on{x.where()};
  const NodeRef flat = on.flat(frontend::node_of("histogram_bin_edges", x));
  return Access::make(even_edges("histogram_bin_edges", flat, bins, range, on));
}

Array bincount(const Operand& x, std::int64_t minlength, const Array& weights) {
  const Composer on{x.where()};
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
                                    name(), name_of(weight->dtype)),
                        on.site));
  }
  if (frontend::Trace::current() != nullptr) frontend::value_in_trace("bincount", on.site);
  const NodeRef indices = on.cast(node, DType::i64);
  std::int64_t length = minlength;
  if (none) {
    weight = {};  // in NumPy what has no elements has counts
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
