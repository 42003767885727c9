#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "heddle/dtype.h"

namespace heddle {

/// How exactly a matrix product multiplies float32 and complex64 elements. The lower precisions are
/// permissions: a GPU's matrix units may use them, the CPU always multiplies as IEEE 754 defines.
/// Sums are computed in float32 in any case. Products of other dtypes have one precision only.
enum class Precision : std::uint8_t {
  ieee,  ///< float32 products as IEEE 754 defines
  tf32,  ///< operands may be rounded to 11 significant bits
  bf16   ///< operands may be rounded to bfloat16's 8 significant bits; complex64 as tf32
};

/// "ieee", "tf32", "bf16".
std::string_view name_of(Precision precision);
/// Inverse of name_of; nullopt for anything else.
std::optional<Precision> precision_from_name(std::string_view name);

/// Whether the precision of products of this dtype can be chosen.
constexpr bool has_precisions(DType dtype) { return dtype == DType::f32 || dtype == DType::c64; }

}  // namespace heddle
