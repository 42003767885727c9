#include "ir/interpreter/fold.h"

#include <array>
#include <cstddef>

#include "ir/interpreter/functions.h"

namespace heddle::ir {
namespace {

constexpr std::size_t most_operands = 3;

DType result_dtype(Op op, DType operand_dtype, const Attributes& attributes) {
  switch (info(op).rule) {
    case TypeRule::none:
      return attributes.dtype;
    case TypeRule::complex_of:
      return complex_dtype(operand_dtype);
    case TypeRule::real_part:
      return real_dtype(operand_dtype);
    case TypeRule::comparison:
    case TypeRule::predicate:
    case TypeRule::logical:
      return DType::boolean;
    case TypeRule::exponent:
      return DType::i32;
    case TypeRule::bit_count:
      return DType::u8;
    default:
      return operand_dtype;
  }
}

bool is_nan(DType dtype, const ElementBits& bits) {
  if (!is_inexact(dtype)) return false;
  const std::byte* const operand[] = {bits.bytes()};
  std::byte result{};
  interpreter::elementwise_function(Op::isnan, dtype)(operand, &result, 1);
  return result != std::byte{0};
}

}  // namespace

std::optional<ElementBits> fold(Op op, DType operand_dtype, std::span<const ElementBits> operands,
                                const Attributes& attributes) {
  const bool foldable = op == Op::cast || (is_elementwise(op) && info(op).is_exact(operand_dtype));
  if (!foldable || operands.empty() || operands.size() > most_operands) return std::nullopt;
  // Bits are stored least significant byte first, so an element's bytes come first.
  std::array<const std::byte*, most_operands> data{};
  for (std::size_t i = 0; i < operands.size(); ++i) {
    data[i] = operands[i].bytes();
  }
  const DType dtype = result_dtype(op, operand_dtype, attributes);
  const auto function = op == Op::cast ? interpreter::cast_function(operand_dtype, dtype)
                                       : interpreter::elementwise_function(op, operand_dtype);
  ElementBits bits;
  function(data.data(), bits.bytes(), 1);
  if (is_nan(dtype, bits)) return std::nullopt;
  return bits;
}

}  // namespace heddle::ir
