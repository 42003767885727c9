#include "heddle/searching.h"

#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "heddle/elementwise.h"
#include "heddle/manipulation.h"

#include "frontend/array/access.h"
#include "frontend/array/ordering.h"
#include "frontend/array/promote.h"
#include "frontend/graph/storage.h"
#include "frontend/numpy/searching.h"
#include "ir/calls/calls.h"

namespace heddle {

using frontend::Access;
using frontend::at;
using frontend::NodeRef;
using frontend::OpRecorder;
using frontend::record_constant;
using ir::Op;

namespace frontend {

Searched promoted_search(std::string_view op, const Operand& sorted, const Operand& values) {
  const OpRecorder on{sorted.where()};
  Searched result{asarray_node(op, sorted), asarray_node(op, values)};
  const DType dtype = promote_types(result.sorted->dtype, result.values->dtype);
  result = {on.cast(result.sorted, dtype), on.cast(result.values, dtype)};
  if (result.sorted->shape.size() != 1) {
    throw ShapeError(at(fmt::format("{}({}, {}): the sorted array must be 1-d", op,
                                    describe(*result.sorted), describe(*result.values)),
                        sorted.where()));
  }
  if (is_boolean(dtype)) {
    result.sorted = on.cast(result.sorted, DType::u8);
    result.values = on.cast(result.values, DType::u8);
  }
  return result;
}

}  // namespace frontend

namespace {

Op search_op(std::string_view side, const SourceLocation& site) {
  if (side == "left") return Op::searchsorted_left;
  if (side == "right") return Op::searchsorted_right;
  throw ValueError(
      at(fmt::format("searchsorted: side is \"left\" or \"right\", not \"{}\"", side), site));
}

}  // namespace

Array searchsorted(const Operand& sorted, const Operand& values, std::string_view side,
                   const Array& sorter) {
  const SourceLocation site = sorted.where();
  const OpRecorder on{site};
  const Op op = search_op(side, site);
  frontend::Searched what = frontend::promoted_search("searchsorted", sorted, values);
  if (sorter.has_value()) {
    const NodeRef order = frontend::node_of("searchsorted", {sorter, site});
    if (order->shape != what.sorted->shape || !is_integer(order->dtype)) {
      throw ShapeError(at(fmt::format("searchsorted: the sorter is {}, the sorted array {}; the "
                                      "sorter must be integers of the same shape",
                                      frontend::describe(*order), frontend::describe(*what.sorted)),
                          site));
    }
    if (!(what.sorted->shape[0] == ir::Dim(0))) what.sorted = on.gather(what.sorted, order, 0);
  }
  return Access::make(on(op, what.sorted, what.values));
}

namespace {

/// ValueError for bins that both increase and decrease, if they are computed and in host memory.
void check_monotonic(const NodeRef& bins, const SourceLocation& site) {
  const std::byte* const elements = frontend::elements_on_host(*bins);
  if (elements == nullptr || is_complex(bins->dtype)) return;
  std::vector<double> values(static_cast<std::size_t>(bins->shape[0].constant()));
  frontend::convert(elements, bins->dtype, values.data(), DType::f64, values.size());
  bool rises = false, falls = false;
  for (std::size_t i = 1; i < values.size(); ++i) {
    rises |= values[i - 1] < values[i];
    falls |= values[i - 1] > values[i];
  }
  if (rises && falls)
    throw ValueError(at("digitize: the bins must increase or decrease monotonically", site));
}

}  // namespace

Array digitize(const Operand& x, const Operand& bins, bool right) {
  const OpRecorder on{x.where()};
  const frontend::Searched what = frontend::promoted_search("digitize", bins, x);
  if (is_complex(what.values->dtype)) {
    throw DTypeError(at(fmt::format("digitize({}, {}): takes real numbers",
                                    frontend::describe(*frontend::node_of("digitize", x)),
                                    frontend::describe(*frontend::node_of("digitize", bins))),
                        on.site));
  }
  check_monotonic(frontend::node_of("digitize", bins), on.site);
  const ir::Dim length = what.sorted->shape[0];
  const Op op = right ? Op::searchsorted_left : Op::searchsorted_right;
  if (length == ir::Dim(0)) return Access::make(on(op, what.sorted, what.values));
  // Whether bins increase or decrease is known only with their values.
  // Bins that differ and never rise decrease, as in NumPy, where a NaN compares as false.
  const NodeRef before = on.part(what.sorted, 0, 0, length - 1);
  const NodeRef behind = on.part(what.sorted, 0, 1, length - 1);
  const NodeRef rises = on.reduce(Op::any, on(Op::less, before, behind), {0});
  const NodeRef differ = on.reduce(Op::any, on(Op::not_equal, before, behind), {0});
  const NodeRef falls = on(Op::logical_and, on(Op::logical_not, rises), differ);
  const NodeRef rising = on(Op::select, falls, on.flip(what.sorted, 0), what.sorted);
  const NodeRef found = on(op, rising, what.values);
  return Access::make(on(Op::select, falls, on(Op::subtract, on.extent(length), found), found));
}

namespace {

/// The sample points of numpy.interp: float64 places, real values.
struct Samples {
  NodeRef places, values;
};

Samples samples_of(const Operand& x, const Operand& places, const Operand& values,
                   const OpRecorder& on) {
  const NodeRef at_places = frontend::node_of("interp", places),
                at_values = frontend::node_of("interp", values);
  const auto fail = [&]<class Error>(std::type_identity<Error>, const char* why) {
    throw Error(at(fmt::format("interp: places {} and values {}: {}",
                               frontend::describe(*at_places), frontend::describe(*at_values), why),
                   on.site));
  };
  if (at_places->shape.size() != 1 || at_places->shape != at_values->shape)
    fail(std::type_identity<ShapeError>(), "they need one axis, of the same length");
  if (at_places->shape[0] == ir::Dim(0)) fail(std::type_identity<ValueError>(), "there are none");
  if (is_complex(at_places->dtype) || is_complex(frontend::asarray_node("interp", x)->dtype))
    fail(std::type_identity<DTypeError>(), "x and the places are real");
  return {on.cast(at_places, DType::f64), on.cast(at_values, DType::f64)};
}

/// Linear interpolation between the two neighbouring samples. It starts from the first one, or from
/// the second if the result is NaN, as in NumPy, because values may be infinite.
NodeRef on_line(const NodeRef& x, const NodeRef& low, const NodeRef& high, const Samples& samples,
                const OpRecorder& on) {
  const DType dtype = samples.values->dtype;
  const NodeRef x0 = on.gather(samples.places, low, 0), x1 = on.gather(samples.places, high, 0);
  const NodeRef y0 = on.gather(samples.values, low, 0), y1 = on.gather(samples.values, high, 0);
  const NodeRef slope =
      on(Op::divide, on(Op::subtract, y1, y0), on.cast(on(Op::subtract, x1, x0), dtype));
  const auto from = [&](const NodeRef& place, const NodeRef& value) {
    return on(Op::add, on(Op::multiply, slope, on.cast(on(Op::subtract, x, place), dtype)), value);
  };
  const auto unless_nan = [&](const NodeRef& value, const NodeRef& instead) {
    return on(Op::select, on(Op::isnan, value), instead, value);
  };
  const NodeRef level = on(Op::select, on(Op::equal, y0, y1), y0, from(x1, y1));
  const NodeRef line = unless_nan(from(x0, y0), unless_nan(from(x1, y1), level));
  return on(Op::select, on(Op::equal, x, x0), y0, line);
}

/// Samples within one period, sorted by place, with one more before and after.
Samples within_period(const Samples& samples, const NodeRef& period, const OpRecorder& on) {
  const NodeRef places = on(Op::remainder, samples.places, period);
  const NodeRef order = on.sort(ir::calls::argsort(), places, 0);
  const ir::Dim last = samples.places->shape[0] - 1;
  const NodeRef sorted = on.gather(places, order, 0), values = on.gather(samples.values, order, 0);
  const auto joined = [&](const NodeRef& before, const NodeRef& all, const NodeRef& behind) {
    return Access::node(
        concatenate({Access::make(before), Access::make(all), Access::make(behind)}, 0, on.site),
        on.site);
  };
  return {joined(on(Op::subtract, on.part(sorted, 0, last, 1), period), sorted,
                 on(Op::add, on.part(sorted, 0, 0, 1), period)),
          joined(on.part(values, 0, last, 1), values, on.part(values, 0, 0, 1))};
}

}  // namespace

Array interp(const Operand& x, const Operand& places, const Operand& values,
             std::optional<Scalar> left, std::optional<Scalar> right,
             std::optional<double> period) {
  const OpRecorder on{x.where()};
  if (is_complex(frontend::node_of("interp", values)->dtype)) {
    // Each part separately, so that an infinite part does not affect the other.
    const auto of_part = [&](bool imaginary) {
      const auto end = [&](const std::optional<Scalar>& value) -> std::optional<Scalar> {
        if (!value || !imaginary) return value ? std::optional(frontend::value_of(*value)) : value;
        return Scalar(value->imaginary);
      };
      const Array part = imaginary ? imag(values) : real(values);
      return interp(x, places, {part, on.site}, end(left), end(right), period);
    };
    const Array real_part = of_part(false), imaginary = of_part(true);
    return make_complex({real_part, on.site}, {imaginary, on.site});
  }
  Samples samples = samples_of(x, places, values, on);
  NodeRef given = on.cast(frontend::asarray_node("interp", x), DType::f64);
  if (period) {
    if (*period == 0) throw ValueError(at("interp: the period is 0", on.site));
    const NodeRef length = record_constant(DType::f64, std::abs(*period));
    given = on(Op::remainder, given, length);
    samples = within_period(samples, length, on);
    left = right = std::nullopt;
  }
  const NodeRef flat = on.flat(given);
  const ir::Dim length = samples.places->shape[0];
  const NodeRef zero = record_constant(DType::i64, 0), one = record_constant(DType::i64, 1);
  const NodeRef last = on(Op::subtract, on.extent(length), one);
  const NodeRef found = on(Op::searchsorted_right, samples.places, flat);
  const NodeRef low = on(Op::maximum, on(Op::minimum, on(Op::subtract, found, one), last), zero);
  const NodeRef high = on(Op::minimum, on(Op::add, low, one), last);
  const auto end = [&](const NodeRef& index, const std::optional<Scalar>& instead) {
    const NodeRef places_there = on.reshape(index, {1});
    if (!instead) return on.gather(samples.values, places_there, 0);
    return frontend::element_node("interp", {*instead, on.site}, samples.values->dtype);
  };
  const NodeRef first_index = on.gather(samples.places, on.reshape(zero, {1}), 0);
  const NodeRef last_place = on.gather(samples.places, on.reshape(last, {1}), 0);
  NodeRef result = on_line(flat, low, high, samples, on);
  result = on(Op::select, on(Op::greater, flat, last_place), end(last, right), result);
  result = on(Op::select, on(Op::less, flat, first_index), end(zero, left), result);
  const NodeRef nan = on.cast(flat, samples.values->dtype);
  return Access::make(on.reshape(on(Op::select, on(Op::isnan, flat), nan, result), given->shape));
}

}  // namespace heddle
