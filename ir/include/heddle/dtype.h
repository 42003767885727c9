#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string_view>

namespace heddle {

/// Element types. The IR spells them as their enumerators, except `bool`.
enum class DType : std::uint8_t {
  boolean,
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  f16,
  bf16,
  f32,
  f64,
  c64,
  c128
};

inline constexpr int dtype_count = 15;

inline constexpr DType bool_ = DType::boolean;
inline constexpr DType int8 = DType::i8, int16 = DType::i16, int32 = DType::i32, int64 = DType::i64;
inline constexpr DType uint8 = DType::u8, uint16 = DType::u16, uint32 = DType::u32,
                       uint64 = DType::u64;
inline constexpr DType float16 = DType::f16, bfloat16 = DType::bf16, float32 = DType::f32,
                       float64 = DType::f64;
inline constexpr DType complex64 = DType::c64, complex128 = DType::c128;

/// Bytes of one element.
std::size_t size_of(DType dtype);
/// "bool", "i8" ... "c128", as the IR's text form spells them.
std::string_view name_of(DType dtype);
/// "bool", "int8" ... "float32", as NumPy spells them.
std::string_view numpy_name_of(DType dtype);
/// Writes numpy_name_of.
std::ostream& operator<<(std::ostream& stream, DType dtype);
/// Inverse of name_of; nullopt for anything else.
std::optional<DType> dtype_from_name(std::string_view name);

constexpr bool is_boolean(DType d) { return d == DType::boolean; }
constexpr bool is_signed_integer(DType d) { return d >= DType::i8 && d <= DType::i64; }
constexpr bool is_unsigned_integer(DType d) { return d >= DType::u8 && d <= DType::u64; }
constexpr bool is_integer(DType d) { return d >= DType::i8 && d <= DType::u64; }
constexpr bool is_floating(DType d) { return d >= DType::f16 && d <= DType::f64; }
constexpr bool is_complex(DType d) { return d >= DType::c64; }
/// Floating or complex: NumPy's `inexact`.
constexpr bool is_inexact(DType d) { return d >= DType::f16; }
/// The dtype of a complex dtype's parts; any other dtype itself.
constexpr DType real_dtype(DType d) {
  return d == DType::c64 ? DType::f32 : d == DType::c128 ? DType::f64 : d;
}

/// The complex dtype whose parts hold what `d` holds: c128 for f64 and integers of 32 bits and
/// more.
constexpr DType complex_dtype(DType d) {
  if (is_complex(d)) return d;
  const bool wide =
      d == DType::f64 || d == DType::i32 || d == DType::i64 || d == DType::u32 || d == DType::u64;
  return wide ? DType::c128 : DType::c64;
}

/// The dtype that NumPy 2 gives an operation on two arrays: numpy.promote_types, and for bfloat16
/// what numpy.add gives with ml_dtypes (float32 with float16 and 16-bit integers, float64 with
/// wider ones).
DType promote_types(DType a, DType b);
/// The floating dtype that NumPy's floating functions (exp, sin ...) compute a dtype in:
/// bool, 8 bits -> f16, 16 bits -> f32, other integers -> f64, floating and complex dtypes
/// themselves.
DType floating_dtype(DType dtype);

}  // namespace heddle
