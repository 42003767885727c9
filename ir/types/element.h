#pragma once

#include <type_traits>

#include <fmt/format.h>

#include "heddle/dtype.h"
#include "heddle/error.h"

#include "ir/types/scalar.h"

namespace heddle::ir {

template <class T>
inline constexpr DType dtype_of = DType::c128;
template <>
inline constexpr DType dtype_of<heddle_scalar::complex64> = DType::c64;
template <>
inline constexpr DType dtype_of<bool> = DType::boolean;
template <>
inline constexpr DType dtype_of<signed char> = DType::i8;
template <>
inline constexpr DType dtype_of<short> = DType::i16;
template <>
inline constexpr DType dtype_of<int> = DType::i32;
template <>
inline constexpr DType dtype_of<long long> = DType::i64;
template <>
inline constexpr DType dtype_of<unsigned char> = DType::u8;
template <>
inline constexpr DType dtype_of<unsigned short> = DType::u16;
template <>
inline constexpr DType dtype_of<unsigned int> = DType::u32;
template <>
inline constexpr DType dtype_of<unsigned long long> = DType::u64;
template <>
inline constexpr DType dtype_of<heddle_scalar::half> = DType::f16;
template <>
inline constexpr DType dtype_of<heddle_scalar::bfloat16> = DType::bf16;
template <>
inline constexpr DType dtype_of<float> = DType::f32;
template <>
inline constexpr DType dtype_of<double> = DType::f64;

/// Calls `function` with std::type_identity of the C++ element type of `dtype`, as used in
/// ir/scalar/.
template <class Function>
decltype(auto) with_element(DType dtype, Function&& function) {
  switch (dtype) {
    case DType::boolean:
      return function(std::type_identity<bool>());
    case DType::i8:
      return function(std::type_identity<signed char>());
    case DType::i16:
      return function(std::type_identity<short>());
    case DType::i32:
      return function(std::type_identity<int>());
    case DType::i64:
      return function(std::type_identity<long long>());
    case DType::u8:
      return function(std::type_identity<unsigned char>());
    case DType::u16:
      return function(std::type_identity<unsigned short>());
    case DType::u32:
      return function(std::type_identity<unsigned int>());
    case DType::u64:
      return function(std::type_identity<unsigned long long>());
    case DType::f16:
      return function(std::type_identity<heddle_scalar::half>());
    case DType::bf16:
      return function(std::type_identity<heddle_scalar::bfloat16>());
    case DType::f32:
      return function(std::type_identity<float>());
    case DType::f64:
      return function(std::type_identity<double>());
    case DType::c64:
      return function(std::type_identity<heddle_scalar::complex64>());
    case DType::c128:
      return function(std::type_identity<heddle_scalar::complex128>());
  }
  throw InternalError("invalid dtype");
}

}  // namespace heddle::ir
