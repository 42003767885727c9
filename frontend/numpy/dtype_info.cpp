#include "heddle/dtype_info.h"

#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "frontend/array/promote.h"

namespace heddle {

DType result_type(std::initializer_list<Operand> operands) {
  return result_type(std::span(operands.begin(), operands.size()));
}

DType result_type(std::span<const Operand> operands) {
  if (operands.empty()) throw ValueError("result_type: there are no operands");
  std::vector<const Operand*> pointers;
  for (const Operand& operand : operands) pointers.push_back(&operand);
  return frontend::common_dtype(pointers);
}

bool can_cast(DType from, DType to, Casting casting) {
  if (from == to || casting == Casting::unsafe) return true;
  if (casting == Casting::equiv) return false;
  if (casting == Casting::same_kind && frontend::can_cast_same_kind(from, to)) return true;
  return is_boolean(from) || promote_types(from, to) == to;
}

bool isdtype(DType dtype, std::string_view kind) {
  if (kind == "bool") return is_boolean(dtype);
  if (kind == "signed integer") return is_signed_integer(dtype);
  if (kind == "unsigned integer") return is_unsigned_integer(dtype);
  if (kind == "integral") return is_integer(dtype);
  if (kind == "real floating") return is_floating(dtype);
  if (kind == "complex floating") return is_complex(dtype);
  if (kind == "numeric") return !is_boolean(dtype);
  throw ValueError(fmt::format(
      "isdtype: there is no kind '{}'; kinds are 'bool', 'signed integer', 'unsigned integer', "
      "'integral', 'real floating', 'complex floating' and 'numeric'",
      kind));
}

FloatInfo finfo(DType dtype) {
  struct Format {
    DType real;
    int bits, fraction, exponent;  ///< bits of the fraction; the greatest exponent
  };
  const auto format = [&]() -> Format {
    switch (dtype) {
      case DType::f16:
        return {DType::f16, 16, 10, 15};
      case DType::bf16:
        return {DType::bf16, 16, 7, 127};
      case DType::f32:
      case DType::c64:
        return {DType::f32, 32, 23, 127};
      case DType::f64:
      case DType::c128:
        return {DType::f64, 64, 52, 1023};
      default:
        throw ValueError(
            fmt::format("finfo: {} is not a floating dtype; use iinfo", numpy_name_of(dtype)));
    }
  }();
  const double eps = std::ldexp(1.0, -format.fraction);
  const double max = std::ldexp(2 - eps, format.exponent);
  const double normal = std::ldexp(1.0, 1 - format.exponent);
  return {format.real,
          format.bits,
          eps,
          max,
          -max,
          normal,
          std::ldexp(1.0, 1 - format.exponent - format.fraction)};
}

IntegerInfo iinfo(DType dtype) {
  if (!is_integer(dtype)) {
    throw ValueError(
        fmt::format("iinfo: {} is not an integer dtype; use finfo", numpy_name_of(dtype)));
  }
  const int bits = 8 * static_cast<int>(size_of(dtype));
  const bool negatives = is_signed_integer(dtype);
  const std::uint64_t max = ~std::uint64_t{0} >> (64 - bits + (negatives ? 1 : 0));
  return {dtype, bits, max, negatives ? -static_cast<std::int64_t>(max) - 1 : 0};
}

}  // namespace heddle
