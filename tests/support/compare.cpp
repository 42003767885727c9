#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "tests/support/oracle.h"

namespace heddle::test {
namespace {

constexpr std::size_t shown_differences = 6;

template <class T>
T element(const ir::HostArray& array, std::size_t index) {
  T value;
  std::memcpy(&value, array.data.data() + index * sizeof(T), sizeof(T));
  return value;
}

/// A 16-bit float's value, by its format's mantissa and exponent fields.
double decode(std::uint16_t bits, int mantissa_bits) {
  const int exponent_bits = 15 - mantissa_bits;
  const int largest = (1 << exponent_bits) - 1;
  const int exponent = (bits >> mantissa_bits) & largest;
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const double sign = (bits >> 15) != 0 ? -1.0 : 1.0;
  if (exponent == largest) {
    return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  }
  const int bias = largest >> 1;
  const int implicit = exponent != 0 ? 1 << mantissa_bits : 0;
  const int power = (exponent != 0 ? exponent : 1) - bias - mantissa_bits;
  return sign * std::ldexp(implicit + mantissa, power);
}

/// Of complex dtypes, element 2k is the real part of number k, and 2k + 1 the imaginary one.
double floating_element(const ir::HostArray& array, std::size_t index) {
  switch (real_dtype(array.type.dtype)) {
    case DType::f16:
      return decode(element<std::uint16_t>(array, index), 10);
    case DType::bf16:
      return decode(element<std::uint16_t>(array, index), 7);
    case DType::f32:
      return element<float>(array, index);
    default:
      return element<double>(array, index);
  }
}

bool same_bytes(const ir::HostArray& a, const ir::HostArray& b, std::size_t index) {
  const std::size_t size = size_of(a.type.dtype);
  return std::memcmp(a.data.data() + index * size, b.data.data() + index * size, size) == 0;
}

bool within(double a, double b, double tolerance, bool bitwise) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (bitwise) return a == b && std::signbit(a) == std::signbit(b);
  return a == b || std::abs(a - b) <= tolerance;
}

bool within(const ir::HostArray& actual, const ir::HostArray& expected, std::size_t index,
            double tolerance, bool bitwise) {
  if (same_bytes(actual, expected, index) || std::isinf(tolerance)) return true;
  if (!is_inexact(actual.type.dtype)) return false;
  const std::size_t parts = is_complex(actual.type.dtype) ? 2 : 1;
  for (std::size_t k = parts * index; k < parts * (index + 1); ++k) {
    if (!within(floating_element(actual, k), floating_element(expected, k), tolerance, bitwise)) {
      return false;
    }
  }
  return true;
}

std::string index_text(std::size_t flat, const ir::Shape& shape) {
  std::string text;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    const auto extent = static_cast<std::size_t>(shape[axis].constant());
    text = fmt::format("{}{}{}", flat % extent, text.empty() ? "" : ",", text);
    flat /= extent;
  }
  return "[" + text + "]";
}

/// Appends what differs to `message`, the first elements of it one by one.
void compare_values(const ir::HostArray& actual, const ir::HostArray& expected,
                    std::span<const double> tolerance, bool bitwise, std::size_t output,
                    std::string& message) {
  const std::size_t count = actual.data.size() / size_of(actual.type.dtype);
  std::size_t different = 0;
  std::string shown;
  for (std::size_t i = 0; i < count; ++i) {
    const double allowed = tolerance.empty() ? 0.0 : tolerance[i];
    if (within(actual, expected, i, allowed, bitwise)) continue;
    if (++different <= shown_differences) {
      shown +=
          fmt::format("  {} is {}, not {} (allowed: {:.3g})\n", index_text(i, actual.type.shape),
                      element_text(actual, i), element_text(expected, i), allowed);
    }
  }
  if (different > 0) {
    message += fmt::format("output {}, {}: {} of {} elements differ\n{}", output,
                           to_string(actual.type), different, count, shown);
  }
}

bool comparable(const ir::HostArray& actual, const ir::HostArray& expected, std::size_t output,
                std::string& message) {
  if (actual.type == expected.type && actual.data.size() == expected.data.size()) return true;
  message += fmt::format("output {} is {} of {} bytes, not {} of {} bytes\n", output,
                         to_string(actual.type), actual.data.size(), to_string(expected.type),
                         expected.data.size());
  return false;
}

}  // namespace

std::string element_text(const ir::HostArray& array, std::size_t index) {
  switch (array.type.dtype) {
    case DType::boolean:
      return element<std::uint8_t>(array, index) != 0 ? "true" : "false";
    case DType::i8:
      return fmt::format("{}", int{element<std::int8_t>(array, index)});
    case DType::i16:
      return fmt::format("{}", element<std::int16_t>(array, index));
    case DType::i32:
      return fmt::format("{}", element<std::int32_t>(array, index));
    case DType::i64:
      return fmt::format("{}", element<std::int64_t>(array, index));
    case DType::u8:
      return fmt::format("{}", int{element<std::uint8_t>(array, index)});
    case DType::u16:
      return fmt::format("{}", element<std::uint16_t>(array, index));
    case DType::u32:
      return fmt::format("{}", element<std::uint32_t>(array, index));
    case DType::u64:
      return fmt::format("{}", element<std::uint64_t>(array, index));
    case DType::f64:
      return fmt::format("{:.17g}", floating_element(array, index));
    case DType::c64:
      return fmt::format("({:.9g},{:.9g})", floating_element(array, 2 * index),
                         floating_element(array, 2 * index + 1));
    case DType::c128:
      return fmt::format("({:.17g},{:.17g})", floating_element(array, 2 * index),
                         floating_element(array, 2 * index + 1));
    default:
      return fmt::format("{:.9g}", floating_element(array, index));
  }
}

Comparison compare(std::span<const ir::HostArray> actual, const OracleResult& expected,
                   const CompareOptions& options) {
  Comparison result;
  if (!expected.error.empty()) {
    result.message = fmt::format("the oracle raised {}: {}", expected.error_type, expected.error);
    return result;
  }
  if (actual.size() != expected.outputs.size()) {
    result.message = fmt::format("{} outputs, not {}", actual.size(), expected.outputs.size());
    return result;
  }
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const Expected& output = expected.outputs[i];
    if (!comparable(actual[i], output.value, i, result.message)) continue;
    const std::span<const double> tolerance(output.tolerance);
    compare_values(actual[i], output.value, options.bitwise ? tolerance.first(0) : tolerance,
                   options.bitwise, i, result.message);
    result.elements += output.tolerance.size();
    result.ambiguous += options.bitwise ? 0 : output.ambiguous;
  }
  const double most = options.most_ambiguous * static_cast<double>(result.elements);
  if (static_cast<double>(result.ambiguous) > most) {
    result.message += fmt::format("{} of {} elements have no definite value, more than {:.0f}\n",
                                  result.ambiguous, result.elements, most);
  }
  result.equal = result.message.empty();
  return result;
}

Comparison compare_equal(const ir::HostArray& actual, const ir::HostArray& expected) {
  Comparison result;
  result.elements = expected.data.size() / size_of(expected.type.dtype);
  if (comparable(actual, expected, 0, result.message)) {
    compare_values(actual, expected, {}, false, 0, result.message);
  }
  result.equal = result.message.empty();
  return result;
}

}  // namespace heddle::test
