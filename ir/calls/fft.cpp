#include <cmath>
#include <numbers>
#include <vector>

#include "ir/calls/calls.h"
#include "ir/infer/call.h"
#include "ir/interpreter/host_array.h"
#include "ir/types/element.h"

namespace heddle::ir {

namespace {

using Number = heddle_scalar::complex128;

/// The last extent, which must be a positive constant.
std::int64_t checked_length(const Call& call) {
  const Type& operand = call.operand(0);
  check_allowed(call, operand.dtype);
  if (operand.shape.empty())
    fail<ShapeError>(call, "transforms along the last axis; the operand must have an axis");
  if (!operand.shape.back().is_constant()) {
    fail<ShapeError>(call, "needs a transformed axis of constant length, not {}",
                     operand.shape.back().to_string());
  }
  const std::int64_t length = operand.shape.back().constant();
  if (length < 1) fail<ValueError>(call, "cannot transform an axis of {} elements", length);
  return length;
}

std::vector<Type> infer_fft(const Call& call) {
  checked_length(call);
  const auto root = call.attributes.call->get<std::int64_t>("root");
  if (root < 0) fail<ValueError>(call, "the order of a root must not be negative, as {} is", root);
  if (root > 0 && call.operand(0).shape.size() < 2)
    fail<ShapeError>(call, "with a root, the operand must have at least 2 dimensions");
  return {call.operand(0)};
}

std::vector<Type> infer_rfft(const Call& call) {
  Type result = call.operand(0);
  result.shape.back() = checked_length(call) / 2 + 1;
  result.dtype = complex_dtype(result.dtype);
  return {result};
}

std::vector<Type> infer_irfft(const Call& call) {
  const std::int64_t held = checked_length(call);
  const auto length = call.attributes.call->get<std::int64_t>("length");
  if (length < 1 || length / 2 + 1 != held) {
    fail<ShapeError>(call, "{} elements are not the half spectrum of {} samples", held, length);
  }
  Type result = call.operand(0);
  result.shape.back() = length;
  result.dtype = real_dtype(result.dtype);
  return {result};
}

/// exp(-2 pi i k / n), or its conjugate.
Number root_of_unity(std::int64_t k, std::int64_t n, bool inverse) {
  const double angle = 2 * std::numbers::pi * static_cast<double>(k % n) / static_cast<double>(n);
  return {std::cos(angle), inverse ? std::sin(angle) : -std::sin(angle)};
}

std::int64_t smallest_factor(std::int64_t n) {
  for (std::int64_t p = 2; p * p <= n; ++p) {
    if (n % p == 0) return p;
  }
  return n;
}

/// The sums over j of x[j * stride] exp(-2 pi i j k / n), for k < n, without scaling: the transform
/// of each residue class of j modulo the smallest factor of n, and their combination.
std::vector<Number> transform(const Number* x, std::int64_t n, std::int64_t stride, bool inverse) {
  if (n == 1) return {*x};
  const std::int64_t p = smallest_factor(n), m = n / p;
  std::vector<std::vector<Number>> parts;
  if (m > 1) {
    for (std::int64_t r = 0; r < p; ++r)
      parts.push_back(transform(x + r * stride, m, stride * p, inverse));
  }
  std::vector<Number> result;
  for (std::int64_t k = 0; k < n; ++k) {
    Number sum(0);
    for (std::int64_t r = 0; r < p; ++r) {
      const Number part = m > 1 ? parts[r][k % m] : x[r * stride];
      sum = sum + part * root_of_unity(r * k, n, inverse);
    }
    result.push_back(sum);
  }
  return result;
}

/// Calls row(from, to) for each row of the operand and of the result.
template <class From, class To, class Row>
std::vector<HostArray> for_each_row(const CallArguments& arguments, const Row& row) {
  const HostArray& operand = *arguments.operands[0];
  HostArray result = interpreter::allocate(arguments.results[0]);
  const std::int64_t length = result.type.shape.back().constant();
  const std::int64_t held = operand.type.shape.back().constant();
  const auto* from = reinterpret_cast<const From*>(operand.data.data());
  auto* to = reinterpret_cast<To*>(result.data.data());
  const auto rows = static_cast<std::int64_t>(interpreter::count_of(result.type)) / length;
  for (std::int64_t i = 0; i < rows; ++i) row(i, from + i * held, to + i * length);
  std::vector<HostArray> results;
  results.push_back(std::move(result));
  return results;
}

template <class Function>
std::vector<HostArray> in_real_type(const CallArguments& arguments, const Function& function) {
  const DType dtype = real_dtype(arguments.operands[0]->type.dtype);
  return dtype == DType::f32 ? function(std::type_identity<float>())
                             : function(std::type_identity<double>());
}

std::vector<HostArray> interpret_fft(const CallArguments& arguments) {
  const Shape& shape = arguments.results[0].shape;
  const std::int64_t length = shape.back().constant();
  const bool inverse = arguments.call.get<bool>("inverse");
  const auto root = arguments.call.get<std::int64_t>("root");
  const std::int64_t items = root > 0 ? shape[shape.size() - 2].constant() : 1;
  return in_real_type(arguments, [&]<class T>(std::type_identity<T>) {
    using Element = heddle_scalar::complex<T>;
    return for_each_row<Element, Element>(
        arguments, [&](std::int64_t row, const Element* from, Element* to) {
          std::vector<Number> x;
          for (std::int64_t j = 0; j < length; ++j)
            x.push_back(heddle_scalar::cast<Number>(from[j]));
          const std::vector<Number> y = transform(x.data(), length, 1, inverse);
          for (std::int64_t k = 0; k < length; ++k) {
            const Number turned =
                root > 0 ? y[k] * root_of_unity(row % items * k, root, inverse) : y[k];
            to[k] = heddle_scalar::cast<Element>(turned);
          }
        });
  });
}

std::vector<HostArray> interpret_rfft(const CallArguments& arguments) {
  const std::int64_t length = arguments.operands[0]->type.shape.back().constant();
  return in_real_type(arguments, [&]<class T>(std::type_identity<T>) {
    using Element = heddle_scalar::complex<T>;
    return for_each_row<T, Element>(arguments, [&](std::int64_t, const T* from, Element* to) {
      std::vector<Number> x;
      for (std::int64_t j = 0; j < length; ++j) x.emplace_back(static_cast<double>(from[j]), 0.0);
      const std::vector<Number> y = transform(x.data(), length, 1, false);
      for (std::int64_t k = 0; k <= length / 2; ++k) to[k] = heddle_scalar::cast<Element>(y[k]);
    });
  });
}

std::vector<HostArray> interpret_irfft(const CallArguments& arguments) {
  const std::int64_t length = arguments.results[0].shape.back().constant();
  return in_real_type(arguments, [&]<class T>(std::type_identity<T>) {
    using Element = heddle_scalar::complex<T>;
    return for_each_row<Element, T>(arguments, [&](std::int64_t, const Element* from, T* to) {
      std::vector<Number> x;
      for (std::int64_t k = 0; k < length; ++k) {
        const Number half = heddle_scalar::cast<Number>(from[std::min(k, length - k)]);
        x.push_back(2 * k <= length ? half : Number(half.re, -half.im));
      }
      x[0].im = 0;
      if (length % 2 == 0) x[length / 2].im = 0;
      const std::vector<Number> y = transform(x.data(), length, 1, true);
      for (std::int64_t j = 0; j < length; ++j) to[j] = static_cast<T>(y[j].re);
    });
  });
}

}  // namespace

namespace calls {

const CallOp& fft() {
  static const CallOp& op =
      *new CallOp{.name = "fft.fft",
                  .numpy = "numpy.fft.fft",
                  .dtypes = complexes,
                  .attributes = {{.name = "inverse", .initial = false},
                                 {.name = "root", .initial = std::int64_t{0}}},
                  .infer = infer_fft,
                  .interpret = interpret_fft,
                  .core_axes = 1};
  return op;
}

const CallOp& rfft() {
  static const CallOp& op = *new CallOp{.name = "fft.rfft",
                                        .numpy = "numpy.fft.rfft",
                                        .dtypes = parts_of_complexes,
                                        .infer = infer_rfft,
                                        .interpret = interpret_rfft,
                                        .core_axes = 1};
  return op;
}

const CallOp& irfft() {
  static const CallOp& op =
      *new CallOp{.name = "fft.irfft",
                  .numpy = "numpy.fft.irfft",
                  .dtypes = complexes,
                  .attributes = {{.name = "length", .initial = std::int64_t{0}}},
                  .infer = infer_irfft,
                  .interpret = interpret_irfft,
                  .core_axes = 1};
  return op;
}

}  // namespace calls

}  // namespace heddle::ir
