#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string_view>

namespace heddle {

/// Element types. The IR's text form uses the enumerators' names, except "bool" for boolean.
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
/// "bool", "i8" ... "c128", as in the IR's text form.
std::string_view name_of(DType dtype);
/// "bool", "int8" ... "float32", as in NumPy.
std::string_view numpy_name_of(DType dtype);
/// Writes numpy_name_of(dtype).
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
/// The dtype of a complex dtype's parts; any other dtype is returned unchanged.
constexpr DType real_dtype(DType d) {
  return d == DType::c64 ? DType::f32 : d == DType::c128 ? DType::f64 : d;
}

/// The complex dtype for values of `d`: c128 for f64 and for integers of 32 bits and more, else
/// c64. Complex dtypes are returned unchanged.
constexpr DType complex_dtype(DType d) {
  if (is_complex(d)) return d;
  const bool wide =
      d == DType::f64 || d == DType::i32 || d == DType::i64 || d == DType::u32 || d == DType::u64;
  return wide ? DType::c128 : DType::c64;
}

/// The result dtype of an operation on two arrays, as in NumPy 2: numpy.promote_types. For
/// bfloat16, the dtype of numpy.add with ml_dtypes' bfloat16: float32 with float16 and 16-bit
/// integers, float64 with wider integers.
DType promote_types(DType a, DType b);
/// The dtype in which NumPy's floating functions (exp, sin ...) compute: f16 for bool and 8-bit
/// integers, f32 for 16-bit integers, f64 for wider integers. Floating and complex dtypes are
/// returned unchanged.
DType floating_dtype(DType dtype);

}  // namespace heddle
