#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "heddle/array.h"

namespace heddle {

/// numpy.result_type: the common dtype of arrays and numbers; numbers are weak. ValueError if there
/// are no operands.
DType result_type(std::initializer_list<Operand> operands);
DType result_type(std::span<const Operand> operands);

/// What a cast may change. equiv: nothing, the dtypes are equal. The others have NumPy's meaning.
enum class Casting : std::uint8_t { equiv, safe, same_kind, unsafe };
/// numpy.can_cast.
bool can_cast(DType from, DType to, Casting casting = Casting::safe);

/// numpy.isdtype: true if a dtype is of the kind "bool", "signed integer", "unsigned integer",
/// "integral", "real floating", "complex floating" or "numeric". ValueError for another kind.
bool isdtype(DType dtype, std::string_view kind);

/// numpy.finfo. For a complex dtype: the properties of its real part.
struct FloatInfo {
  DType dtype;
  int bits;
  double eps;  ///< distance from 1 to the next number
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
/// ValueError unless the dtype is an integer dtype.
IntegerInfo iinfo(DType dtype);

}  // namespace heddle
