#include "heddle/quantiles.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "frontend/array/access.h"
#include "frontend/array/ordering.h"
#include "frontend/array/promote.h"
#include "frontend/graph/axes.h"
#include "frontend/numpy/weighted_quantiles.h"
#include "ir/calls/calls.h"

namespace heddle {

using frontend::Access;
using frontend::at;
using frontend::NodeRef;
using frontend::OpRecorder;
using frontend::record_constant;
using frontend::Site;
using ir::Op;

namespace {

/// x sorted along the axes, which are merged into the first axis; and the shapes of results.
struct Rows {
  NodeRef sorted;     ///< [n, kept ...]
  NodeRef count;      ///< i64: n, or for each row the number of elements that are not NaN
  ir::Shape kept;     ///< of x without the axes
  ir::Shape reduced;  ///< of x, with 1 along the axes if they are kept
};

std::vector<bool> reduced_axes(std::string_view op, const NodeRef& node, const Axes& axes,
                               const Site& site) {
  std::vector<bool> reduced(node->shape.size());
  for (const std::int64_t axis : frontend::axes_of(op, axes, frontend::rank_of(node), site))
    reduced[static_cast<std::size_t>(axis)] = true;
  return reduced;
}

/// Moves the last axis to the front.
std::vector<std::int64_t> last_first(std::size_t rank) {
  std::vector<std::int64_t> order(rank);
  std::iota(order.begin(), order.end(), -1);
  order[0] = static_cast<std::int64_t>(rank) - 1;
  return order;
}

Rows rows_of(std::string_view op, const NodeRef& node, const Axes& axes, bool keepdims,
             bool skips_nan, const OpRecorder& on) {
  const std::vector<bool> reduced = reduced_axes(op, node, axes, on.site);
  Rows rows;
  std::vector<std::int64_t> order, walked;
  ir::Dim length = 1;
  for (std::size_t i = 0; i < reduced.size(); ++i) {
    (reduced[i] ? walked : order).push_back(static_cast<std::int64_t>(i));
    if (reduced[i]) {
      length *= node->shape[i];
      if (keepdims) rows.reduced.emplace_back(1);
    } else {
      rows.kept.push_back(node->shape[i]);
      rows.reduced.push_back(node->shape[i]);
    }
  }
  order.insert(order.end(), walked.begin(), walked.end());
  ir::Shape flat = rows.kept;
  flat.push_back(length);
  const bool in_order = std::is_sorted(order.begin(), order.end());
  const NodeRef joined = on.reshape(in_order ? node : on.transpose(node, order), flat);
  const auto last = static_cast<std::int64_t>(rows.kept.size());
  const NodeRef sorted = on.sort(ir::calls::sort(), joined, last);
  rows.sorted = last == 0 ? sorted : on.transpose(sorted, last_first(flat.size()));
  rows.count = on.extent(length);
  if (skips_nan && !is_integer(node->dtype) && !is_boolean(node->dtype)) {
    const NodeRef counts = on.cast(on(Op::logical_not, on(Op::isnan, rows.sorted)), DType::i64);
    rows.count = on.reduce(Op::sum, counts, {0});
  }
  return rows;
}

/// The elements of each row at `indices`, whose shape broadcasts to [m, kept ...]. The result has
/// the shape [m, kept ...].
NodeRef elements_at(const Rows& rows, const NodeRef& indices, const OpRecorder& on) {
  return on.gather(rows.sorted, indices, 0);
}

NodeRef whole(std::int64_t value) {
  return frontend::record_scalar(DType::i64, static_cast<std::uint64_t>(value), true);
}

/// Replaces the result of rows that end in NaN by NaN.
NodeRef with_nans(const Rows& rows, const NodeRef& result, const OpRecorder& on) {
  const NodeRef& sorted = rows.sorted;
  if (is_integer(sorted->dtype) || is_boolean(sorted->dtype)) return result;
  const NodeRef last = on.part(sorted, 0, sorted->shape[0] - 1, 1);
  return on(Op::select, on(Op::isnan, last), on.cast(last, result->dtype), result);
}

NodeRef nan_results(const ir::Shape& shape, DType dtype, const OpRecorder& on) {
  const NodeRef nan = record_constant(dtype, std::numeric_limits<double>::quiet_NaN());
  return frontend::broadcast_to_shape(nan, shape, on.site);
}

DType mean_dtype(DType dtype) {
  return is_integer(dtype) || is_boolean(dtype) ? DType::f64 : dtype;
}

Array median_of(std::string_view op, const Operand& x, const Axes& axes, bool keepdims,
                bool skips_nan) {
  const OpRecorder on{x.where()};
  const NodeRef node = frontend::node_of(op, x);
  const Rows rows = rows_of(op, node, axes, keepdims, skips_nan, on);
  const DType result = mean_dtype(node->dtype);
  if (rows.sorted->shape[0] == ir::Dim(0))
    return Access::make(nan_results(rows.reduced, result, on));
  const bool small = result == DType::f16 || result == DType::bf16;
  const DType inside = small ? DType::f32 : result;
  const NodeRef half = on(Op::floor_divide, rows.count, whole(2));
  // Without elements, both indices are 0, where a NaN is.
  const NodeRef before =
      on(Op::maximum, on(Op::floor_divide, on(Op::subtract, rows.count, whole(1)), whole(2)),
         whole(0));
  const auto at_index = [&](const NodeRef& index) {
    ir::Shape shape = index->shape;
    shape.insert(shape.begin(), 1);
    if (index->shape.empty()) shape.assign(rows.sorted->shape.size(), 1);
    return on.cast(elements_at(rows, on.reshape(index, shape), on), inside);
  };
  const NodeRef low = at_index(before), high = at_index(half);
  const NodeRef mean = on(Op::divide, on(Op::add, low, high), record_constant(inside, 2));
  const NodeRef odd = on(Op::equal, before, half);
  NodeRef middle = on(Op::select, odd, low, mean);
  if (!skips_nan) middle = with_nans(rows, middle, on);
  return Access::make(on.cast(on.reshape(middle, rows.reduced), result));
}

/// NumPy's methods: the position of a quantile between the sorted elements.
enum class Method : std::uint8_t {
  inverted_cdf,
  averaged_inverted_cdf,
  closest_observation,
  interpolated_inverted_cdf,
  hazen,
  weibull,
  linear,
  median_unbiased,
  normal_unbiased,
  lower,
  higher,
  midpoint,
  nearest
};

Method method_named(std::string_view op, std::string_view name, const Site& site) {
  static constexpr std::array<std::string_view, 13> names = {"inverted_cdf",
                                                             "averaged_inverted_cdf",
                                                             "closest_observation",
                                                             "interpolated_inverted_cdf",
                                                             "hazen",
                                                             "weibull",
                                                             "linear",
                                                             "median_unbiased",
                                                             "normal_unbiased",
                                                             "lower",
                                                             "higher",
                                                             "midpoint",
                                                             "nearest"};
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<Method>(found - names.begin());
  throw ValueError(
      at(fmt::format("{}: unknown method \"{}\"; use one of {}", op, name, fmt::join(names, ", ")),
         site));
}

/// The (alpha, beta) parameters of the continuous methods of Hyndman and Fan.
std::optional<std::array<double, 2>> plotting_positions(Method method) {
  switch (method) {
    case Method::interpolated_inverted_cdf:
      return {{0, 1}};
    case Method::hazen:
      return {{0.5, 0.5}};
    case Method::weibull:
      return {{0, 0}};
    case Method::median_unbiased:
      return {{1 / 3.0, 1 / 3.0}};
    case Method::normal_unbiased:
      return {{3 / 8.0, 3 / 8.0}};
    default:
      return {};
  }
}

bool chooses_element(Method method) {
  return method == Method::inverted_cdf || method == Method::closest_observation ||
         method == Method::lower || method == Method::higher || method == Method::nearest;
}

/// The rounded product of nonnegative numbers. The maximum prevents contraction with the addition
/// that follows, where a rounding decides between elements.
NodeRef rounded(const NodeRef& a, const NodeRef& b, const OpRecorder& on) {
  const NodeRef product = on(Op::multiply, a, b);
  return on(Op::maximum, product, record_constant(product->dtype, 0));
}

/// The positions of quantiles for a method, in q's dtype.
class Places {
 public:
  Places(Method method, const NodeRef& q, const NodeRef& count, const OpRecorder& on)
      : method_(method), q_(q), count_(on.cast(count, q->dtype)), on_(on) {}

  /// The position in 0 .. count - 1; fractions are between elements.
  NodeRef virtual_place() const {
    if (const auto positions = plotting_positions(method_)) {
      const auto [alpha, beta] = *positions;
      const NodeRef shift = add(constant(alpha), multiply(q_, constant(1 - alpha - beta)));
      return subtract(add(multiply(count_, q_), shift), constant(1));
    }
    NodeRef of_last = multiply(subtract(count_, constant(1)), q_);
    switch (method_) {
      case Method::averaged_inverted_cdf:
      case Method::inverted_cdf:
        return subtract(multiply(count_, q_), constant(1));
      case Method::closest_observation:
        return subtract(subtract(multiply(count_, q_), constant(1)), constant(0.5));
      case Method::midpoint:
        return multiply(constant(0.5), add(on_(Op::floor, of_last), on_(Op::ceil, of_last)));
      default:
        return of_last;
    }
  }

  /// For methods that choose an element: the element.
  NodeRef element() const {
    const NodeRef place = virtual_place();
    switch (method_) {
      case Method::lower:
        return on_(Op::floor, place);
      case Method::higher:
        return on_(Op::ceil, place);
      case Method::nearest:
        return on_(Op::rint, place);
      default:
        break;
    }
    const NodeRef below = on_(Op::floor, place);
    NodeRef stays = on_(Op::equal, subtract(place, below), constant(0));
    if (method_ == Method::closest_observation) {
      const NodeRef odd = on_(Op::equal, on_(Op::remainder, below, constant(2)), constant(1));
      stays = on_(Op::logical_and, stays, odd);
    }
    return on_(Op::select, stays, below, add(below, constant(1)));
  }

  /// The weight of the element above, for a position and the integer below it.
  NodeRef weight(const NodeRef& place, const NodeRef& below) const {
    NodeRef fraction = subtract(place, below);
    const NodeRef is_zero = on_(Op::equal, fraction, constant(0));
    if (method_ == Method::averaged_inverted_cdf)
      return on_(Op::select, is_zero, constant(0.5), constant(1));
    if (method_ == Method::midpoint) {
      const NodeRef is_whole = on_(Op::equal, on_(Op::remainder, place, constant(1)), constant(0));
      return on_(Op::select, is_whole, constant(0), constant(0.5));
    }
    return fraction;
  }

  /// The position as an index, clipped to the first and last element.
  NodeRef index(const NodeRef& place) const {
    const NodeRef last = on_(Op::maximum, subtract(count_, constant(1)), constant(0));
    const NodeRef inside = on_(Op::minimum, on_(Op::maximum, place, constant(0)), last);
    return on_.cast(inside, DType::i64);
  }
  NodeRef index_above(const NodeRef& place, const NodeRef& below) const {
    // Below the first element, both neighbours are the first element.
    const NodeRef next =
        on_(Op::select, on_(Op::less, place, constant(0)), below, add(below, constant(1)));
    return index(next);
  }

 private:
  NodeRef constant(double value) const { return record_constant(q_->dtype, value); }
  NodeRef add(const NodeRef& a, const NodeRef& b) const { return on_(Op::add, a, b); }
  NodeRef subtract(const NodeRef& a, const NodeRef& b) const { return on_(Op::subtract, a, b); }
  NodeRef multiply(const NodeRef& a, const NodeRef& b) const { return rounded(a, b, on_); }

  Method method_;
  NodeRef q_, count_;
  OpRecorder on_;
};

/// a + (b - a) * t, computed from the nearer end, as NumPy's _lerp.
NodeRef interpolate(const NodeRef& a, const NodeRef& b, const NodeRef& weight, DType dtype,
                    const OpRecorder& on) {
  // Integers are subtracted as integers, in a dtype in which this cannot overflow.
  const bool whole = !is_floating(a->dtype);
  const DType wide = is_unsigned_integer(a->dtype) ? DType::u64 : DType::i64;
  const NodeRef difference = on.cast(
      whole ? on(Op::subtract, on.cast(b, wide), on.cast(a, wide)) : on(Op::subtract, b, a), dtype);
  const NodeRef t = on.cast(weight, dtype);
  const NodeRef from_a = on(Op::add, on.cast(a, dtype), rounded(difference, t, on));
  const NodeRef rest = on(Op::subtract, record_constant(dtype, 1), t);
  const NodeRef from_b = on(Op::subtract, on.cast(b, dtype), rounded(difference, rest, on));
  const NodeRef above = on(Op::greater_equal, t, record_constant(dtype, 0.5));
  return on(Op::select, above, from_b, from_a);
}

/// q as a node of a floating dtype. A scalar is weak, and its range is checked.
struct Shares {
  NodeRef node;
  bool weak = false, whole = false;
};

Shares shares_of(std::string_view op, const Operand& q, double most, const OpRecorder& on) {
  Shares shares;
  if (q.array() == nullptr) {
    const double value = frontend::value_of(q.scalar());
    const bool inside = value >= 0 && value <= most;
    if (!inside) {
      throw ValueError(
          at(fmt::format("{}: q is {}, and must be in [0, {}]", op, value, most), on.site));
    }
    shares.weak = true;
    shares.whole = most == 1 && q.scalar().kind != Scalar::Kind::floating;
    shares.node = frontend::node_of(op, value, DType::f64);
  } else {
    shares.node = frontend::node_of(op, q);
    shares.whole = most == 1 && !is_floating(shares.node->dtype);
    if (!is_floating(shares.node->dtype)) shares.node = on.cast(shares.node, DType::f64);
  }
  if (most != 1) {
    const NodeRef unit = record_constant(shares.node->dtype, most);
    shares.node = on(Op::divide, shares.node, unit);
  }
  return shares;
}

struct Request {
  std::string_view op;
  double most;  ///< maximum of q: 1, or 100 for percentiles
  bool skips_nan;
};

Array quantile_of(const Request& request, const Operand& x, const Operand& q, const Axes& axes,
                  std::string_view method_name, bool keepdims, const Array& weights) {
  const OpRecorder on{x.where()};
  const Method method = method_named(request.op, method_name, on.site);
  const NodeRef node = frontend::node_of(request.op, x);
  const NodeRef share = frontend::node_of(request.op, q);
  if (is_complex(node->dtype) || is_complex(share->dtype)) {
    throw DTypeError(at(fmt::format("{}({}, {}): takes real numbers", request.op,
                                    frontend::describe(*node), frontend::describe(*share)),
                        on.site));
  }
  const Shares shares = shares_of(request.op, q, request.most, on);
  if (weights.has_value()) {
    if (method != Method::inverted_cdf) {
      throw ValueError(at(fmt::format("{}: weights need the method \"inverted_cdf\", not \"{}\"",
                                      request.op, method_name),
                          on.site));
    }
    return frontend::weighted_quantile(
        {request.op, node, shares.node, weights, keepdims, request.skips_nan}, axes, on.site);
  }
  const Rows rows = rows_of(request.op, node, axes, keepdims, request.skips_nan, on);
  ir::Shape shape = shares.node->shape;
  shape.insert(shape.end(), rows.reduced.begin(), rows.reduced.end());
  const bool chooses = chooses_element(method) || (method == Method::linear && shares.whole);
  const DType own = mean_dtype(node->dtype);
  const DType dtype = chooses       ? node->dtype
                      : shares.weak ? own
                                    : promote_types(node->dtype, shares.node->dtype);
  if (request.skips_nan && rows.sorted->shape[0] == ir::Dim(0))
    return Access::make(nan_results(shape, own, on));

  // q runs along the first axis, rows along the axes after it.
  ir::Shape first(rows.sorted->shape.size(), 1);
  first[0] = ir::element_count(shares.node->shape);
  const Places places(method, on.reshape(shares.node, first), rows.count, on);
  NodeRef result;
  if (chooses) {
    result = elements_at(rows, places.index(places.element()), on);
  } else {
    const NodeRef place = places.virtual_place();
    const NodeRef below = on(Op::floor, place);
    result = interpolate(elements_at(rows, places.index(below), on),
                         elements_at(rows, places.index_above(place, below), on),
                         places.weight(place, below), dtype, on);
  }
  if (!request.skips_nan) result = with_nans(rows, result, on);
  return Access::make(on.reshape(result, shape));
}

}  // namespace

Array median(const Operand& x, const Axes& axes, bool keepdims) {
  return median_of("median", x, axes, keepdims, false);
}
Array nanmedian(const Operand& x, const Axes& axes, bool keepdims) {
  return median_of("nanmedian", x, axes, keepdims, true);
}
Array quantile(const Operand& x, const Operand& q, const Axes& axes, std::string_view method,
               bool keepdims, const Array& weights) {
  return quantile_of({"quantile", 1, false}, x, q, axes, method, keepdims, weights);
}
Array nanquantile(const Operand& x, const Operand& q, const Axes& axes, std::string_view method,
                  bool keepdims, const Array& weights) {
  return quantile_of({"nanquantile", 1, true}, x, q, axes, method, keepdims, weights);
}
Array percentile(const Operand& x, const Operand& q, const Axes& axes, std::string_view method,
                 bool keepdims, const Array& weights) {
  return quantile_of({"percentile", 100, false}, x, q, axes, method, keepdims, weights);
}
Array nanpercentile(const Operand& x, const Operand& q, const Axes& axes, std::string_view method,
                    bool keepdims, const Array& weights) {
  return quantile_of({"nanpercentile", 100, true}, x, q, axes, method, keepdims, weights);
}

}  // namespace heddle
