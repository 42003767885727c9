#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "heddle/dtype.h"

namespace heddle {

/// How exactly a matrix product multiplies float32 and complex64 elements. A lower precision is a
/// permission, which a GPU's matrix units make use of; the CPU multiplies as IEEE says all the
/// same. Sums are in float32 either way, and other dtypes know one precision only.
enum class Precision : std::uint8_t {
  ieee,  ///< products of float32, as IEEE says
  tf32,  ///< of operands that are rounded to 11 significant bits
  bf16   ///< of operands that may be rounded to bfloat16's 8; complex64 as under tf32
};

/// "ieee", "tf32", "bf16".
std::string_view name_of(Precision precision);
/// Inverse of name_of; nullopt for anything else.
std::optional<Precision> precision_from_name(std::string_view name);

/// Whether products of this dtype have a choice.
constexpr bool has_precisions(DType dtype) { return dtype == DType::f32 || dtype == DType::c64; }

}  // namespace heddle
