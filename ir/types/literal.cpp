#include "ir/types/literal.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "heddle/error.h"

namespace heddle::ir {
namespace {

/// A binary floating-point format with the fields of IEEE 754.
struct Format {
  int exponent_bits;
  int mantissa_bits;

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  std::uint64_t sign_bit() const { return std::uint64_t{1} << (exponent_bits + mantissa_bits); }
  std::uint64_t infinity() const {
    return ((std::uint64_t{1} << exponent_bits) - 1) << mantissa_bits;
  }
  std::uint64_t quiet_nan() const { return infinity() | std::uint64_t{1} << (mantissa_bits - 1); }
};

Format format_of(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return {5, 10};
    case DType::bf16:
      return {8, 7};
    case DType::f32:
      return {8, 23};
    case DType::f64:
      return {11, 52};
    default:
      throw InternalError(fmt::format("{} is not a floating dtype", numpy_name_of(dtype)));
  }
}

/// A finite value of a 16-bit format.
double decode(const Format& format, std::uint64_t bits) {
  const auto mantissa =
      static_cast<double>(bits & ((std::uint64_t{1} << format.mantissa_bits) - 1));
  const auto exponent = static_cast<int>((bits & format.infinity()) >> format.mantissa_bits);
  const int scale = (exponent == 0 ? 1 : exponent) - format.bias() - format.mantissa_bits;
  const double implicit = exponent == 0 ? 0.0 : std::ldexp(1.0, format.mantissa_bits);
  const double magnitude = std::ldexp(implicit + mantissa, scale);
  return (bits & format.sign_bit()) != 0 ? -magnitude : magnitude;
}

/// The nearest value of a 16-bit format, ties to even; infinity beyond its range.
std::uint64_t encode(const Format& format, double value) {
  const std::uint64_t sign = std::signbit(value) ? format.sign_bit() : 0;
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  const int exponent = std::max(std::ilogb(magnitude), 1 - format.bias());
  // `units` counts units in the last place. A carry out of the mantissa increments the exponent, as
  // it should.
  const auto units = static_cast<std::uint64_t>(
      std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - exponent)));
  const auto biased = static_cast<std::uint64_t>(exponent + format.bias() - 1);
  const std::uint64_t bits = (biased << format.mantissa_bits) + units;
  return sign | std::min(bits, format.infinity());
}

template <class... Arguments>
std::string digits(Arguments... arguments) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, arguments...).ptr;
  return {buffer, end};
}

template <class Float>
std::optional<Float> parse_decimal(std::string_view text) {
  // from_chars also accepts inf, infinity and nan(payload), which this text form spells
  // differently.
  const std::size_t start = text.starts_with('-') ? 1 : 0;
  if (start >= text.size() || text[start] < '0' || text[start] > '9') return std::nullopt;
  Float value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string shortest_narrow(const Format& format, std::uint64_t bits) {
  const double value = decode(format, bits);
  for (int precision = 1;; ++precision) {
    const std::string text = digits(value, std::chars_format::general, precision);
    if (encode(format, *parse_decimal<double>(text)) == bits) return text;
  }
}

std::string finite_text(DType dtype, std::uint64_t bits) {
  switch (dtype) {
    case DType::f32:
      return digits(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    case DType::f64:
      return digits(std::bit_cast<double>(bits));
    default:
      return shortest_narrow(format_of(dtype), bits);
  }
}

std::string float_text(DType dtype, std::uint64_t bits) {
  const Format format = format_of(dtype);
  const std::uint64_t magnitude = bits & ~format.sign_bit();
  if (bits == format.quiet_nan()) return "nan";
  if (magnitude > format.infinity()) {
    return fmt::format("{:#0{}x}", bits, 2 + 2 * size_of(dtype));
  }
  if (magnitude == format.infinity()) return bits == magnitude ? "inf" : "-inf";
  std::string text = finite_text(dtype, bits);
  // ".0" is for readers only; the dtype is enough for parsing.
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::optional<std::uint64_t> parse_finite(DType dtype, std::string_view text) {
  if (dtype == DType::f32) {
    const auto value = parse_decimal<float>(text);
    if (!value) return std::nullopt;
    return std::bit_cast<std::uint32_t>(*value);
  }
  const auto value = parse_decimal<double>(text);
  if (!value) return std::nullopt;
  if (dtype == DType::f64) return std::bit_cast<std::uint64_t>(*value);
  const Format format = format_of(dtype);
  const std::uint64_t bits = encode(format, *value);
  if ((bits & ~format.sign_bit()) == format.infinity()) return std::nullopt;
  return bits;
}

std::optional<std::uint64_t> parse_float(DType dtype, std::string_view text) {
  const Format format = format_of(dtype);
  if (text == "nan") return format.quiet_nan();
  if (text == "inf") return format.infinity();
  if (text == "-inf") return format.infinity() | format.sign_bit();
  return parse_finite(dtype, text);
}

std::optional<std::uint64_t> parse_bits(DType dtype, std::string_view hex) {
  std::uint64_t bits = 0;
  const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), bits, 16);
  const std::size_t width = 8 * size_of(dtype);
  if (error != std::errc() || end != hex.data() + hex.size()) return std::nullopt;
  if (width < 64 && bits >> width != 0) return std::nullopt;
  return bits;
}

template <class Integer>
std::optional<std::uint64_t> parse_integer(DType dtype, std::string_view text, Integer low,
                                           Integer high) {
  Integer value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (value < low || value > high) return std::nullopt;
  const std::size_t unused = 64 - 8 * size_of(dtype);
  return static_cast<std::uint64_t>(value) << unused >> unused;
}

std::int64_t sign_extended(DType dtype, std::uint64_t bits) {
  const std::size_t unused = 64 - 8 * size_of(dtype);
  return static_cast<std::int64_t>(bits << unused) >> unused;
}

/// "(1.0,-0.5)"
std::optional<ElementBits> parse_complex(DType dtype, std::string_view text) {
  const std::size_t comma = text.find(',');
  if (!text.starts_with('(') || !text.ends_with(')') || comma == std::string_view::npos) {
    return std::nullopt;
  }
  const DType part = real_dtype(dtype);
  const auto real = parse_literal(part, text.substr(1, comma - 1));
  const auto imaginary = parse_literal(part, text.substr(comma + 1, text.size() - comma - 2));
  if (!real || !imaginary) return std::nullopt;
  return complex_bits(dtype, {real->low, imaginary->low});
}

}  // namespace

std::string literal_text(DType dtype, ElementBits bits) {
  if (is_boolean(dtype)) return bits.low != 0 ? "true" : "false";
  if (is_signed_integer(dtype)) return digits(sign_extended(dtype, bits.low));
  if (is_unsigned_integer(dtype)) return digits(bits.low);
  if (is_floating(dtype)) return float_text(dtype, bits.low);
  const DType part = real_dtype(dtype);
  const auto [real, imaginary] = complex_parts(dtype, bits);
  return fmt::format("({},{})", float_text(part, real), float_text(part, imaginary));
}

std::optional<ElementBits> parse_literal(DType dtype, std::string_view text) {
  if (is_boolean(dtype)) {
    if (text == "true") return 1;
    if (text == "false") return 0;
    return std::nullopt;
  }
  if (is_floating(dtype)) {
    return text.starts_with("0x") ? parse_bits(dtype, text.substr(2)) : parse_float(dtype, text);
  }
  if (is_complex(dtype)) return parse_complex(dtype, text);
  const std::size_t unused = 64 - 8 * size_of(dtype);
  if (is_signed_integer(dtype)) {
    const std::int64_t high = std::numeric_limits<std::int64_t>::max() >> unused;
    return parse_integer<std::int64_t>(dtype, text, -high - 1, high);
  }
  return parse_integer<std::uint64_t>(dtype, text, 0,
                                      std::numeric_limits<std::uint64_t>::max() >> unused);
}

}  // namespace heddle::ir
