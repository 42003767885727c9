#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "heddle/array.h"

namespace heddle {

/// numpy.result_type: the dtype that arrays and numbers have together; numbers are weak. ValueError
/// for none of them.
DType result_type(std::initializer_list<Operand> operands);
DType result_type(std::span<const Operand> operands);

/// How much a cast may lose: nothing, only equal dtypes; what NumPy calls safe, same_kind, unsafe.
enum class Casting : std::uint8_t { equiv, safe, same_kind, unsafe };
/// numpy.can_cast.
bool can_cast(DType from, DType to, Casting casting = Casting::safe);

/// numpy.isdtype: whether a dtype is "bool", "signed integer", "unsigned integer", "integral",
/// "real floating", "complex floating" or "numeric". ValueError for another kind.
bool isdtype(DType dtype, std::string_view kind);

/// numpy.finfo, of a complex dtype that of its parts.
struct FloatInfo {
  DType dtype;
  int bits;
  double eps;  ///< from 1 to the next number
  double max, min, smallest_normal, smallest_subnormal;
};
/// ValueError for a dtype that is neither floating nor complex.
FloatInfo finfo(DType dtype);

/// numpy.iinfo.
struct IntegerInfo {
  DType dtype;
  int bits;
  std::uint64_t max;
  std::int64_t min;
};
/// ValueError for a dtype that is no integer.
IntegerInfo iinfo(DType dtype);

}  // namespace heddle
