#include <bit>
#include <cmath>
#include <complex>
#include <limits>

#include <fmt/format.h>

#include "heddle/creation.h"
#include "heddle/elementwise.h"
#include "heddle/manipulation.h"

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/graph/storage.h"

namespace heddle {

using frontend::Access;
using frontend::at;
using frontend::cast_to;
using frontend::NodeRef;
using frontend::record;
using frontend::record_constant;
using frontend::record_iota;
using frontend::record_scalar;
using frontend::rounded;
using frontend::Site;
using frontend::value_of;
using ir::Op;

namespace {

/// Holds the difference of any two 64-bit integers.
__extension__ using Wide = __int128;

Wide whole_number(const Scalar& scalar) {
  return scalar.kind == Scalar::Kind::unsigned_integer ? Wide{scalar.unsigned_integer}
                                                       : Wide{scalar.integer};
}

/// Integers beyond 64 bits count as floats.
bool is_whole(const Scalar& scalar) {
  return !scalar.is_inexact() && scalar.kind != Scalar::Kind::large_integer;
}

/// True if a number of a range allows float32: NumPy computes a range of float32 numbers in
/// float32.
bool is_single(const Scalar& scalar) { return is_whole(scalar) || scalar.dtype == DType::f32; }

/// The arguments of numpy.arange.
struct Range {
  Scalar start, stop, step;
  Site site;

  bool whole() const { return is_whole(start) && is_whole(stop) && is_whole(step); }
  bool single() const { return is_single(start) && is_single(stop) && is_single(step); }
  /// The second element.
  double second() const {
    return whole() ? static_cast<double>(whole_number(start) + whole_number(step))
                   : value_of(start) + value_of(step);
  }
};

std::int64_t whole_length(const Range& range) {
  const Wide distance = whole_number(range.stop) - whole_number(range.start);
  const Wide unit = whole_number(range.step);
  if (distance == 0 || (distance > 0) != (unit > 0)) return 0;
  const Wide length = (distance + unit + (unit > 0 ? -1 : 1)) / unit;
  if (length > std::numeric_limits<std::int64_t>::max()) {
    throw ValueError(at("arange: the length does not fit 64 bits", range.site));
  }
  return static_cast<std::int64_t>(length);
}

/// Number of steps from start to stop, excluding stop.
std::int64_t arange_length(const Range& range) {
  if (value_of(range.step) == 0) throw ValueError(at("arange: the step is 0", range.site));
  if (range.whole()) return whole_length(range);
  const DType dtype = range.single() ? DType::f32 : DType::f64;
  const double distance = rounded(dtype, value_of(range.stop) - value_of(range.start));
  const double steps = rounded(dtype, distance / value_of(range.step));
  // If the quotient underflows, the range still has the first element.
  if (steps == 0 && distance != 0) return std::signbit(steps) ? 0 : 1;
  if (!(std::ceil(steps) < 0x1p62)) {
    throw ValueError(at("arange: the length is not finite", range.site));
  }
  return steps > 0 ? static_cast<std::int64_t>(std::ceil(steps)) : 0;
}

NodeRef float_scalar(DType dtype, double value) {
  return record_scalar(dtype, frontend::bits_of(dtype, value),
                       value == 0 || value == 1 || value == -1);
}

/// True if factor times each index below `length` has at most `bits` significant bits.
bool products_are_exact(std::int64_t length, double factor, int bits) {
  int exponent = 0;
  double odd = std::abs(std::frexp(factor, &exponent));
  while (odd != std::floor(odd)) odd *= 2;
  return odd * static_cast<double>(length) <= std::ldexp(1.0, bits);
}

/// factor * index in float32 or float64, rounded before any addition, as in NumPy. A compiler could
/// contract a plain product with the addition that follows. For float64 this holds up to 2**26
/// elements.
NodeRef multiples(std::int64_t length, double factor, DType dtype, const Site& site) {
  NodeRef index = record_iota({length}, 0, dtype, site);
  const auto times = [&](const NodeRef& node, double value) {
    return record(Op::multiply, {node, float_scalar(node->dtype, value)}, site);
  };
  if (factor == 1) return index;
  if (!std::isfinite(factor) || products_are_exact(length, factor, dtype == DType::f32 ? 24 : 53)) {
    return times(index, factor);
  }
  if (dtype == DType::f32)
    return cast_to(times(cast_to(index, DType::f64, site), factor), dtype, site);
  // Both products are exact, so only their sum is rounded.
  const double high = std::bit_cast<double>(std::bit_cast<std::uint64_t>(factor) >> 27 << 27);
  return record(Op::add, {times(index, high), times(index, factor - high)}, site);
}

/// index / intervals * distance.
NodeRef shares(std::int64_t length, std::int64_t intervals, double distance, DType dtype,
               const Site& site) {
  const NodeRef share = record(
      Op::divide,
      {record_iota({length}, 0, dtype, site), float_scalar(dtype, static_cast<double>(intervals))},
      site);
  return record(Op::multiply, {share, float_scalar(dtype, distance)}, site);
}

/// first + i * (second - first) in the dtype (half precision in float32); exactly `second` for i =
/// 1.
NodeRef float_arange(const Range& range, std::int64_t length, DType dtype) {
  const DType inside = dtype == DType::f64 ? DType::f64 : DType::f32;
  const double first = rounded(dtype, value_of(range.start)),
               second = rounded(dtype, range.second());
  const double delta = length > 1 ? rounded(inside, second - first) : 1;
  NodeRef node = multiples(length, delta, inside, range.site);
  // 0 * delta may be -0; adding `first` makes it 0.
  if (first != 0 || delta < 0) {
    node = record(Op::add, {node, float_scalar(inside, first)}, range.site);
  }
  if (length > 1 && rounded(inside, first + delta) != second) {
    const NodeRef is_second =
        record(Op::equal,
               {record_iota({length}, 0, DType::i64, range.site), record_constant(DType::i64, 1)},
               range.site);
    node = record(Op::select, {is_second, float_scalar(inside, second), node}, range.site);
  }
  if (!std::isfinite(delta)) {
    // 0 * delta is NaN.
    const NodeRef is_first =
        record(Op::equal,
               {record_iota({length}, 0, DType::i64, range.site), record_constant(DType::i64, 0)},
               range.site);
    node = record(Op::select, {is_first, float_scalar(inside, first), node}, range.site);
  }
  return cast_to(node, dtype, range.site);
}

/// Truncates a number to an element of an integer dtype. DTypeError if it does not fit.
std::int64_t integer_element(Wide value, DType dtype, const Site& site) {
  const bool fits = value >= std::numeric_limits<std::int64_t>::min() &&
                    value <= std::numeric_limits<std::uint64_t>::max();
  if (!fits) {
    throw DTypeError(
        at(fmt::format("arange: an element does not fit {}", numpy_name_of(dtype)), site));
  }
  const Scalar scalar = value < 0 ? Scalar(static_cast<std::int64_t>(value))
                                  : Scalar(static_cast<std::uint64_t>(value));
  static_cast<void>(frontend::scalar_bits("arange", scalar, dtype, site));
  return static_cast<std::int64_t>(value);
}

/// As in NumPy, the first two elements must fit the dtype; later elements wrap.
NodeRef integer_arange(const Range& range, std::int64_t length, DType dtype) {
  if (is_boolean(dtype) && length > 2) {
    throw DTypeError(
        at(fmt::format("arange: a bool range has at most 2 elements, not {}", length), range.site));
  }
  const auto element = [&](const Scalar& start, const Scalar* step) {
    if (is_boolean(dtype)) return std::int64_t{value_of(start) + (step ? value_of(*step) : 0) != 0};
    if (range.whole()) {
      return integer_element(whole_number(start) + (step ? whole_number(*step) : 0), dtype,
                             range.site);
    }
    const double value = std::trunc(value_of(start) + (step ? value_of(*step) : 0));
    return integer_element(std::abs(value) < 0x1p65 ? static_cast<Wide>(value) : Wide{1} << 65,
                           dtype, range.site);
  };
  const std::int64_t first = length > 0 ? element(range.start, nullptr) : 0;
  const std::int64_t second = length > 1 ? element(range.start, &range.step) : first;
  const auto delta = static_cast<std::int64_t>(static_cast<std::uint64_t>(second) -
                                               static_cast<std::uint64_t>(first));
  const auto scalar = [&](std::int64_t value) {
    return record_scalar(DType::i64, static_cast<std::uint64_t>(value),
                         value == 0 || value == 1 || value == -1);
  };
  NodeRef node = record_iota({length}, 0, DType::i64, range.site);
  if (delta != 1) node = record(Op::multiply, {node, scalar(delta)}, range.site);
  if (first != 0) node = record(Op::add, {node, scalar(first)}, range.site);
  return cast_to(node, dtype, range.site);
}

}  // namespace

namespace {

/// The real or imaginary part of a scalar, in the C++ type of the parts.
Scalar part_of(const Scalar& scalar, bool imaginary) {
  const bool is_complex = scalar.kind == Scalar::Kind::complex;
  if (!is_complex) return imaginary ? Scalar(0.0f) : scalar;
  const double part = imaginary ? scalar.imaginary : scalar.floating;
  return scalar.dtype == DType::c64 ? Scalar(static_cast<float>(part)) : Scalar(part);
}

bool is_complex_number(const Scalar& scalar) { return scalar.kind == Scalar::Kind::complex; }

/// As in NumPy: the number of steps to the nearer of stop's real and imaginary part.
std::int64_t complex_length(Scalar start, Scalar stop, Scalar step, const Site& site) {
  using Complex = std::complex<double>;
  const auto number = [](const Scalar& s) { return Complex(value_of(s), s.imaginary); };
  const Complex unit = number(step);
  if (unit == 0.0) throw ValueError(at("arange: the step is 0", site));
  const Complex steps = (number(stop) - number(start)) / unit;
  const double length = std::ceil(std::min(steps.real(), steps.imag()));
  if (std::isnan(steps.real()) || std::isnan(steps.imag()) || length > 0x1p62) {
    throw ValueError(at("arange: the length is not finite", site));
  }
  return length > 0 ? static_cast<std::int64_t>(length) : 0;
}

Array complex_arange(Scalar start, Scalar stop, Scalar step, DType dtype, SourceLocation where) {
  if (!is_complex(dtype)) {
    throw DTypeError(at(
        fmt::format("arange: complex numbers cannot be cast to {}", numpy_name_of(dtype)), where));
  }
  const std::int64_t length = complex_length(start, stop, step, where);
  const auto part = [&](bool imaginary) {
    const Range range{part_of(start, imaginary), part_of(stop, imaginary), part_of(step, imaginary),
                      where};
    return Access::make(float_arange(range, length, real_dtype(dtype)));
  };
  return make_complex({part(false), where}, {part(true), where});
}

}  // namespace

Array arange(Scalar start, Scalar stop, Scalar step, DType dtype, SourceLocation where) {
  if (is_complex_number(start) || is_complex_number(stop) || is_complex_number(step))
    return complex_arange(start, stop, step, dtype, where);
  if (is_complex(dtype)) {
    return astype({arange(start, stop, step, real_dtype(dtype), where), where}, dtype);
  }
  const Range range{start, stop, step, where};
  const std::int64_t length = arange_length(range);
  return Access::make(is_floating(dtype) ? float_arange(range, length, dtype)
                                         : integer_arange(range, length, dtype));
}

Array arange(Scalar start, Scalar stop, Scalar step, SourceLocation where) {
  if (is_complex_number(start) || is_complex_number(stop) || is_complex_number(step))
    return complex_arange(start, stop, step, DType::c128, where);
  const Range range{start, stop, step, where};
  const DType dtype = range.whole() ? DType::i64 : range.single() ? DType::f32 : DType::f64;
  return arange(start, stop, step, dtype, where);
}

Array arange(Scalar stop, SourceLocation where) { return arange(0, stop, 1, where); }

Array linspace(Scalar start, Scalar stop, std::int64_t count, bool endpoint, SourceLocation where) {
  if (is_complex_number(start) || is_complex_number(stop)) {
    const auto part = [&](bool imaginary) {
      return linspace(part_of(start, imaginary), part_of(stop, imaginary), count, endpoint, where);
    };
    return make_complex({part(false), where}, {part(true), where});
  }
  if (count < 0) {
    throw ValueError(at(fmt::format("linspace: the count {} is negative", count), where));
  }
  const bool floats = !is_whole(start) || !is_whole(stop);
  const DType dtype = floats && is_single(start) && is_single(stop) ? DType::f32 : DType::f64;
  const std::int64_t intervals = endpoint ? count - 1 : count;
  const double first = value_of(start), last = value_of(stop);
  const double distance = rounded(dtype, last - first);
  const double step =
      intervals > 0 ? rounded(dtype, distance / static_cast<double>(intervals)) : distance;
  // If the step underflows, use fractions of the distance, as in NumPy.
  const bool vanishes = step == 0 && distance != 0;
  NodeRef node = vanishes ? shares(count, intervals, distance, dtype, where)
                          : multiples(count, step, dtype, where);
  node = record(Op::add, {node, float_scalar(dtype, first)}, where);
  if (endpoint && count > 1) {
    const NodeRef is_last = record(Op::equal,
                                   {record_iota({count}, 0, DType::i64, where),
                                    record_constant(DType::i64, static_cast<double>(intervals))},
                                   where);
    node = record(Op::select, {is_last, float_scalar(dtype, last), node}, where);
  }
  return Access::make(node);
}

}  // namespace heddle
