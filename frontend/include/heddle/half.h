#pragma once

#include <bit>
#include <complex>
#include <cstdint>
#include <type_traits>

#include "heddle/dtype.h"

namespace heddle {

/// IEEE binary16. A storage type, to move data into and out of arrays of dtype float16.
struct float16_t {
  std::uint16_t bits = 0;

  constexpr float16_t() = default;
  /// Rounds to nearest even.
  explicit constexpr float16_t(float value);
  static constexpr float16_t from_bits(std::uint16_t bits) {
    float16_t result;
    result.bits = bits;
    return result;
  }
  constexpr operator float() const;  // NOLINT: widening is exact
};

/// bfloat16, the upper half of a float. A storage type for arrays of dtype bfloat16.
struct bfloat16_t {
  std::uint16_t bits = 0;

  constexpr bfloat16_t() = default;
  /// Rounds to nearest even.
  explicit constexpr bfloat16_t(float value) {
    const std::uint32_t word = std::bit_cast<std::uint32_t>(value);
    const bool nan = (word & 0x7fffffffu) > 0x7f800000u;
    const std::uint32_t rounded = word + 0x7fffu + ((word >> 16) & 1u);
    bits = static_cast<std::uint16_t>(nan ? (word >> 16) | 0x40u : rounded >> 16);
  }
  static constexpr bfloat16_t from_bits(std::uint16_t bits) {
    bfloat16_t result;
    result.bits = bits;
    return result;
  }
  constexpr operator float() const {  // NOLINT: widening is exact
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
};

using half = float16_t;

constexpr float16_t::float16_t(float value) {
  const std::uint32_t word = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((word >> 16) & 0x8000u);
  const std::uint32_t magnitude = word & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {
    bits = static_cast<std::uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  } else if (magnitude >= 0x477ff000u) {  // 65520, halfway between the largest half and 2^16
    bits = static_cast<std::uint16_t>(sign | 0x7c00u);
  } else if (magnitude >= 0x38800000u) {  // normal: rebias the exponent from 127 to 15
    const std::uint32_t rounded = magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u);
    bits = static_cast<std::uint16_t>(sign | (rounded >> 13));
  } else if (magnitude >= 0x33000000u) {  // subnormal
    const std::uint32_t shift = 126u - (magnitude >> 23);
    const std::uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
    const std::uint32_t kept = mantissa >> shift;
    const std::uint32_t rest = mantissa & ((1u << shift) - 1u);
    const std::uint32_t half_unit = 1u << (shift - 1u);
    const bool up = rest > half_unit || (rest == half_unit && (kept & 1u) != 0);
    bits = static_cast<std::uint16_t>(sign | (kept + (up ? 1u : 0u)));
  } else {
    bits = sign;
  }
}

constexpr float16_t::operator float() const {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fu;
  std::uint32_t mantissa = bits & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent != 0) {
    return std::bit_cast<float>(sign | ((exponent + 112u) << 23) | (mantissa << 13));
  }
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  return sign != 0 ? -magnitude : magnitude;
}

namespace frontend {

template <class T>
consteval int dtype_index() {
  if constexpr (std::is_same_v<T, bool>) {
    return static_cast<int>(DType::boolean);
  } else if constexpr (std::is_same_v<T, float16_t>) {
    return static_cast<int>(DType::f16);
  } else if constexpr (std::is_same_v<T, bfloat16_t>) {
    return static_cast<int>(DType::bf16);
  } else if constexpr (std::is_same_v<T, float>) {
    return static_cast<int>(DType::f32);
  } else if constexpr (std::is_same_v<T, double>) {
    return static_cast<int>(DType::f64);
  } else if constexpr (std::is_same_v<T, std::complex<float>>) {
    return static_cast<int>(DType::c64);
  } else if constexpr (std::is_same_v<T, std::complex<double>>) {
    return static_cast<int>(DType::c128);
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, wchar_t> &&
                       !std::is_same_v<T, char16_t> && !std::is_same_v<T, char32_t>) {
    const int log_size = std::bit_width(sizeof(T)) - 1;
    return static_cast<int>(std::is_signed_v<T> ? DType::i8 : DType::u8) + log_size;
  } else {
    return -1;
  }
}

}  // namespace frontend

/// The C++ types that array elements may have: bool, the integers, float, double, float16_t,
/// bfloat16_t, std::complex<float>, std::complex<double>.
template <class T>
concept Element = frontend::dtype_index<T>() >= 0;

/// The dtype of a C++ type: float -> float32, int -> int32 ...
template <Element T>
inline constexpr DType dtype_of = static_cast<DType>(frontend::dtype_index<T>());

namespace frontend {
/// The C++ types that a Scalar can have.
template <class T>
inline constexpr bool IsNumber = std::is_arithmetic_v<T>;
template <>
inline constexpr bool IsNumber<std::complex<float>> = true;
template <>
inline constexpr bool IsNumber<std::complex<double>> = true;
}  // namespace frontend

}  // namespace heddle
