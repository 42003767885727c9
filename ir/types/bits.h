#pragma once

#include <cstddef>
#include <cstdint>

#include "heddle/dtype.h"

namespace heddle::ir {

/// The bytes of an element of any dtype, least significant first; the bytes after the element are
/// 0.
struct alignas(16) ElementBits {
  std::uint64_t low = 0;
  std::uint64_t high = 0;  ///< complex128: the imaginary part

  constexpr ElementBits() = default;
  constexpr ElementBits(std::uint64_t first, std::uint64_t second = 0)  // NOLINT: most fit 64 bits
      : low(first), high(second) {}
  std::byte* bytes() { return reinterpret_cast<std::byte*>(this); }
  const std::byte* bytes() const { return reinterpret_cast<const std::byte*>(this); }
  friend constexpr bool operator==(const ElementBits&, const ElementBits&) = default;
};

/// The bits of a complex element's real and imaginary parts. complex_parts() and complex_bits()
/// convert.
struct PartBits {
  std::uint64_t real, imaginary;
};
constexpr PartBits complex_parts(DType dtype, const ElementBits& bits) {
  if (dtype == DType::c128) return {bits.low, bits.high};
  return {bits.low & 0xffffffffu, bits.low >> 32};
}
constexpr ElementBits complex_bits(DType dtype, PartBits parts) {
  if (dtype == DType::c128) return {parts.real, parts.imaginary};
  return parts.real | parts.imaginary << 32;
}

}  // namespace heddle::ir
