#include "passes/calls/fft.h"

#include <bit>
#include <cmath>
#include <numbers>
#include <utility>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/types/capabilities.h"
#include "passes/rewrite/rewrite.h"

namespace heddle::passes {

namespace {

using ir::Op;
using ir::Shape;

/// Whether two blocks for each row should share its transform: rows follow each other in memory,
/// and are not so few that half of the multiprocessors would be idle.
bool has_rows_for_halves(const Graph& graph, ValueId x, const ir::Target& target) {
  const Shape& shape = graph.shape(x);
  if (graph.op(x) == Op::transpose &&
      graph.attributes(x).axes.back() + 1 != static_cast<std::int64_t>(shape.size()))
    return false;
  const Dim rows = ir::element_count({shape.begin(), shape.end() - 1});
  return !rows.is_constant() || 4 * rows.constant() > target.multiprocessors;
}

/// Adds nodes of a lowered transform.
class Transform {
 public:
  Transform(Graph& graph, const ir::Target& target, ir::Location location)
      : graph_(graph), target_(target), location_(location) {}

  /// The transform of the last axis, split until each part is one item.
  ValueId fft(ValueId x, bool inverse) {
    const std::int64_t n = length(x);
    if (n == 1) return x;
    if (is_item_length(n, graph_.dtype(x), target_)) return call(x, inverse, 0);
    if (const std::int64_t columns = columns_of(n, graph_.dtype(x)); columns > 1)
      return split(x, columns, inverse);
    return convolved(x, inverse);
  }

  /// The transform of n real numbers: of as many complex ones, or of half as many.
  ValueId rfft(ValueId x) {
    const std::int64_t n = length(x);
    const DType dtype = graph_.dtype(x);
    if (n % 2 != 0) return first(fft(complex(x, zero(dtype)), false), n / 2 + 1);
    const ValueId pairs = complex(strided(x, 0, 2, n / 2), strided(x, 1, 2, n / 2));
    const ValueId z = joined(fft(pairs, false));
    const ValueId mirrored = unary(Op::conjugate, reversed(z));
    const ValueId even = scaled(add(Op::add, z, mirrored), 0.5);
    const ValueId odd = scaled(add(Op::subtract, z, mirrored), 0.5);
    return add(Op::add, even, add(Op::multiply, odd, turns(n, n / 2 + 1, complex_dtype(dtype))));
  }

  /// The inverse, without scaling.
  ValueId irfft(ValueId x, std::int64_t n) {
    const DType dtype = graph_.dtype(x);
    const ValueId bounded = without_ends(x, n);
    if (const std::int64_t rows = real_rows_of(n, graph_.dtype(x)); rows > 0)
      return split_inverse(bounded, n, rows);
    if (n % 2 != 0) {
      const ValueId upper = unary(Op::conjugate, reversed(part(bounded, 1, n / 2)));
      return unary(Op::real, fft(concatenated({bounded, upper}), true));
    }
    const std::int64_t m = n / 2;
    const ValueId mirrored = unary(Op::conjugate, reversed(bounded));
    const ValueId even = add(Op::add, bounded, mirrored);
    const ValueId odd = add(Op::multiply, add(Op::subtract, bounded, mirrored),
                            unary(Op::conjugate, turns(n, m + 1, dtype)));
    const ValueId z = fft(first(add(Op::add, even, odd), m), true);
    Shape shape = graph_.shape(z);
    const ValueId parts =
        concatenated({with_axis(unary(Op::real, z)), with_axis(unary(Op::imag, z))});
    shape.back() = n;
    return reshaped(parts, shape);
  }

 private:
  static constexpr std::int64_t exact_squares = std::int64_t{1} << 26;  // in float64

  std::int64_t length(ValueId x) const { return graph_.shape(x).back().constant(); }

  /// A divisor of n near its root such that both factors can be transformed; 1 if there is none.
  std::int64_t columns_of(std::int64_t n, DType dtype) const {
    const auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)));
    for (std::int64_t low = root; low > 1; --low) {
      if (n % low == 0 && fft_radices(low, target_) && fits_stages(low, dtype, target_) &&
          fft_radices(n / low, target_))
        return low;
    }
    return 1;
  }

  // x[j1, j2] of n = n1 * n2 numbers: columns of n1, turned by exp(-2 pi i j2 k1 / n), then rows of
  // n2. Element k2 of row k1 is element k1 + n1 * k2 of the result.
  ValueId split(ValueId x, std::int64_t columns, bool inverse) {
    const std::int64_t n = length(x), rows = n / columns;
    Shape shape = graph_.shape(x);
    const Shape whole = shape;
    shape.back() = columns;
    shape.emplace_back(rows);
    const ValueId transformed = call(swapped(reshaped(x, shape)), inverse, n);
    return reshaped(swapped(fft(swapped(transformed), inverse)), whole);
  }

  /// On the CPU, an even divisor of n near its root such that so many complex numbers, and n over
  /// as many real ones, are one item each; else 0.
  std::int64_t real_rows_of(std::int64_t n, DType dtype) const {
    if (n % 4 != 0 || ir::capabilities_of(target_).blocks) return 0;
    const auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)));
    for (std::int64_t rows = root / 2 * 2; rows > 0; rows -= 2) {
      if (n % rows == 0 && n / rows % 2 == 0 && fft_radices(rows, target_) &&
          fits_stages(rows, dtype, target_) && is_real_item_length(n / rows, dtype, target_))
        return rows;
    }
    return 0;
  }

  // x[k2, k1] of n = n1 * n2 complex numbers, of which those from n / 2 on are the conjugates of
  // those before: columns of n2 for the first half of the k1, turned by exp(2 pi i j2 k1 / n), then
  // rows of n1 real numbers. Number j1 of row j2 is number j2 + n2 * j1 of the result.
  ValueId split_inverse(ValueId x, std::int64_t n, std::int64_t n2) {
    const std::int64_t n1 = n / n2, half = n / 2;
    Shape shape = graph_.shape(x);
    shape.back() = n2 / 2;
    shape.emplace_back(n1);
    const ValueId lower = first(reshaped(first(x, half), shape), n1 / 2 + 1);
    const ValueId mirrored = reshaped(reversed(part(x, 1, half)), shape);
    const ValueId upper = unary(Op::conjugate, first(mirrored, n1 / 2 + 1));
    const ValueId all = concatenated({lower, upper}, shape.size() - 2);
    const ValueId turned = call(swapped(all), true, n);
    const ValueId real =
        graph_.add(Op::call, {swapped(turned)},
                   ir::call_attributes(ir::calls::irfft(), {{"length", n1}}), location_);
    Shape whole = graph_.shape(x);
    whole.back() = n;
    return reshaped(swapped(real), whole);
  }

  // With jk = (j^2 + k^2 - (k - j)^2) / 2, the transform is a convolution with a chirp, which
  // shorter transforms compute.
  ValueId convolved(ValueId x, bool inverse) {
    const std::int64_t n = length(x);
    const std::int64_t m = convolution_length(n, target_);
    const ValueId chirp = this->chirp(n, graph_.dtype(x), inverse);
    const ValueId away = unary(Op::conjugate, chirp);
    const ValueId filter =
        concatenated({away, zeros(away, m - 2 * n + 1), reversed(part(away, 1, n - 1))});
    const ValueId turned = add(Op::multiply, x, chirp);
    const ValueId padded = concatenated({turned, zeros(turned, m - n)});
    const auto [spectrum, response] = both_transformed(padded, filter);
    const ValueId product = add(Op::multiply, spectrum, response);
    const ValueId back = first(fft(product, true), n);
    return scaled(add(Op::multiply, back, chirp), 1.0 / static_cast<double>(m));
  }

  /// The transforms of x and of one more row. On a GPU they share kernels: those of few rows take
  /// as long as those of one.
  std::pair<ValueId, ValueId> both_transformed(ValueId x, ValueId row) {
    if (!ir::capabilities_of(target_).blocks) return {fft(x, false), fft(row, false)};
    const Shape shape = graph_.shape(x);
    const Dim n = shape.back(), rows = ir::element_count({shape.begin(), shape.end() - 1});
    const ValueId all =
        fft(concatenated({reshaped(x, {rows, n}), reshaped(row, {1, n})}, 0), false);
    return {reshaped(sliced(all, 0, 0, 1, rows), shape), sliced(all, 0, rows, 1, 1)};
  }

  ValueId chirp(std::int64_t n, DType dtype, bool inverse) {
    const ValueId k = counted(n);
    const ValueId square = add(Op::multiply, k, k);
    const ValueId rest = n < exact_squares ? near_zero(cast(square, DType::f64), 2 * n)
                                           : add(Op::remainder, square, integer(2 * n));
    return unit(rest, 2 * n, inverse, dtype);
  }

  /// Integers k, in float64, less a multiple of m each: from -m to 2 m, as quotients are rounded.
  /// Integer division would keep the compiler from using vectors.
  ValueId near_zero(ValueId k, std::int64_t m) {
    const auto divisor = static_cast<double>(m);
    const ValueId quotient = unary(Op::floor, scaled(k, 1 / divisor));
    return add(Op::subtract, k, scaled(quotient, divisor));
  }

  /// -i exp(-2 pi i k / n) for k < count. Many are products of two factors each, of few.
  ValueId turns(std::int64_t n, std::int64_t count, DType dtype) {
    constexpr std::int64_t few = 4096;
    if (count <= few) return quarter_turns(counted(count), n, dtype);
    const std::int64_t step = std::int64_t{1}
                              << (std::bit_width(static_cast<std::uint64_t>(count)) + 1) / 2;
    const std::int64_t rows = (count + step - 1) / step;
    const ValueId high =
        quarter_turns(add(Op::multiply, counted(rows), integer(step)), n, DType::c128);
    const ValueId low = unit(counted(step), n, false, DType::c128);
    const ValueId all = add(Op::multiply, reshaped(high, {rows, 1}), low);
    return cast(first(reshaped(all, {rows * step}), count), dtype);
  }

  ValueId quarter_turns(ValueId k, std::int64_t n, DType dtype) {
    const ValueId quarters = add(Op::add, add(Op::multiply, k, integer(4)), integer(n));
    return unit(quarters, 4 * n, false, dtype);
  }

  /// exp(-2 pi i k / n), or its conjugate, computed in float64.
  ValueId unit(ValueId k, std::int64_t n, bool inverse, DType dtype) {
    const double angle = (inverse ? 2 : -2) * std::numbers::pi / static_cast<double>(n);
    const ValueId angles = add(Op::multiply, cast(k, DType::f64), real(angle, DType::f64));
    const DType part = real_dtype(dtype);
    return complex(cast(unary(Op::cos, angles), part), cast(unary(Op::sin, angles), part));
  }

  /// z, followed by its first element: z is periodic.
  ValueId joined(ValueId z) { return concatenated({z, first(z, 1)}); }

  /// Without the imaginary parts of elements 0 and n / 2, which are ignored.
  ValueId without_ends(ValueId x, std::int64_t n) {
    const std::int64_t held = n / 2 + 1;
    const ValueId k = counted(held);
    ValueId is_end = add(Op::equal, k, integer(0));
    if (n % 2 == 0) is_end = add(Op::logical_or, is_end, add(Op::equal, k, integer(n / 2)));
    const DType part = real_dtype(graph_.dtype(x));
    const ValueId imaginary =
        graph_.add(Op::select, {is_end, zero(part), unary(Op::imag, x)}, {}, location_);
    return complex(unary(Op::real, x), imaginary);
  }

  ValueId call(ValueId x, bool inverse, std::int64_t root) {
    return graph_.add(Op::call, {x},
                      ir::call_attributes(ir::calls::fft(), {{"inverse", inverse}, {"root", root}}),
                      location_);
  }
  ValueId unary(Op op, ValueId x) { return graph_.add(op, {x}, {}, location_); }
  ValueId add(Op op, ValueId a, ValueId b) { return graph_.add(op, {a, b}, {}, location_); }
  ValueId complex(ValueId re, ValueId im) { return add(Op::make_complex, re, im); }
  ValueId cast(ValueId x, DType dtype) {
    if (graph_.dtype(x) == dtype) return x;
    ir::Attributes attributes;
    attributes.dtype = dtype;
    return graph_.add(Op::cast, {x}, attributes, location_);
  }
  ValueId real(double value, DType dtype) {
    return graph_.constant(dtype, ir::constant_bits(dtype, value));
  }
  ValueId zero(DType dtype) { return real(0, dtype); }
  ValueId integer(std::int64_t value) {
    return graph_.constant(DType::i64, ir::constant_bits(DType::i64, static_cast<double>(value)));
  }
  ValueId scaled(ValueId x, double factor) {
    return add(Op::multiply, x, real(factor, graph_.dtype(x)));
  }
  ValueId counted(std::int64_t count) {
    ir::Attributes attributes;
    attributes.shape = {ir::Dim(count)};
    attributes.axes = {0};
    attributes.dtype = DType::i64;
    return graph_.add(Op::iota, {}, attributes, location_);
  }
  /// As many zeros as `count` at the end of each row of x.
  ValueId zeros(ValueId x, std::int64_t count) {
    ir::Type type = graph_.type(x);
    type.shape.back() = count;
    return filled(graph_, type, 0);
  }
  ValueId reshaped(ValueId x, const Shape& shape) {
    ir::Attributes attributes;
    attributes.shape = shape;
    return graph_.add(Op::reshape, {x}, attributes, location_);
  }
  ValueId with_axis(ValueId x) {
    Shape shape = graph_.shape(x);
    shape.emplace_back(1);
    return reshaped(x, shape);
  }
  ValueId swapped(ValueId x) {
    ir::Attributes attributes;
    const auto rank = static_cast<std::int64_t>(graph_.shape(x).size());
    for (std::int64_t axis = 0; axis < rank - 2; ++axis) attributes.axes.push_back(axis);
    attributes.axes.push_back(rank - 1);
    attributes.axes.push_back(rank - 2);
    return graph_.add(Op::transpose, {x}, attributes, location_);
  }
  ValueId sliced(ValueId x, std::size_t axis, Dim start, std::int64_t step, Dim count) {
    ir::Attributes attributes;
    attributes.shape = graph_.shape(x);
    attributes.starts.assign(attributes.shape.size(), 0);
    attributes.steps.assign(attributes.shape.size(), 1);
    attributes.shape[axis] = count;
    attributes.starts[axis] = start;
    attributes.steps[axis] = step;
    return graph_.add(Op::slice, {x}, attributes, location_);
  }
  ValueId strided(ValueId x, std::int64_t start, std::int64_t step, std::int64_t count) {
    return sliced(x, graph_.shape(x).size() - 1, start, step, count);
  }
  ValueId part(ValueId x, std::int64_t start, std::int64_t count) {
    return strided(x, start, 1, count);
  }
  ValueId first(ValueId x, std::int64_t count) { return part(x, 0, count); }
  ValueId reversed(ValueId x) { return strided(x, length(x) - 1, -1, length(x)); }
  ValueId concatenated(const std::vector<ValueId>& parts) {
    return concatenated(parts, graph_.shape(parts[0]).size() - 1);
  }
  ValueId concatenated(const std::vector<ValueId>& parts, std::size_t axis) {
    ir::Attributes attributes;
    attributes.axes = {static_cast<std::int64_t>(axis)};
    return graph_.add(Op::concatenate, parts, attributes, location_);
  }

  Graph& graph_;
  const ir::Target& target_;
  ir::Location location_;
};

}  // namespace

std::vector<ValueId> lower_fft(Graph& graph, const OldCall& call, const ir::Target& target) {
  const ir::CallData& data = call.data();
  if (data.get<std::int64_t>("root") > 0)
    return {copy_node(graph, call.graph, call.node, call.operands)};
  const ValueId x = call.operands[0];
  if (is_half_length(graph.shape(x).back().constant(), graph.dtype(x), target) &&
      has_rows_for_halves(graph, x, target))
    return {copy_node(graph, call.graph, call.node, call.operands)};
  return {Transform(graph, target, call.location()).fft(x, data.get<bool>("inverse"))};
}

std::vector<ValueId> lower_rfft(Graph& graph, const OldCall& call, const ir::Target& target) {
  const ValueId x = call.operands[0];
  const std::int64_t length = graph.shape(x).back().constant();
  if (is_real_item_length(length, graph.dtype(x), target) ||
      (is_real_half_length(length, graph.dtype(x), target) &&
       has_rows_for_halves(graph, x, target)))
    return {copy_node(graph, call.graph, call.node, call.operands)};
  return {Transform(graph, target, call.location()).rfft(x)};
}

std::vector<ValueId> lower_irfft(Graph& graph, const OldCall& call, const ir::Target& target) {
  const ValueId x = call.operands[0];
  const auto length = call.data().get<std::int64_t>("length");
  if (is_real_item_length(length, graph.dtype(x), target))
    return {copy_node(graph, call.graph, call.node, call.operands)};
  return {Transform(graph, target, call.location()).irfft(x, length)};
}

}  // namespace heddle::passes
