#include "frontend/array/known_numbers.h"

#include <array>

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/graph/record.h"
#include "frontend/graph/trace.h"
#include "ir/interpreter/fold.h"

namespace heddle::frontend {

namespace {

using ir::TypeRule;

constexpr std::size_t most_operands = 2;

/// Rules that compute in the operands' dtype.
bool keeps_dtype(TypeRule rule, DType dtype) {
  return rule == TypeRule::arithmetic || rule == TypeRule::comparison ||
         (rule == TypeRule::divide && is_inexact(dtype));
}

/// Whether a weak scalar takes the dtype as it is.
bool takes(const Scalar& scalar, DType dtype) {
  switch (scalar.kind) {
    case Scalar::Kind::boolean:
      return true;
    case Scalar::Kind::integer:
    case Scalar::Kind::unsigned_integer:
      return compare_with_range(scalar, dtype) == 0;
    case Scalar::Kind::floating:
      return is_inexact(dtype);
    case Scalar::Kind::large_integer:
    case Scalar::Kind::complex:
      break;
  }
  return false;
}

/// The known number that an operand is; null for scalars and all other arrays.
const Node* number_of(const Operand& operand) {
  if (operand.array() == nullptr) return nullptr;
  const Node* const node = Access::raw(*operand.array()).get();
  return node != nullptr && node->is_number() && node->trace_id == 0 ? node : nullptr;
}

}  // namespace

std::optional<Array> of_known_numbers(ir::Op op, std::span<const Operand* const> operands) {
  if (operands.size() > most_operands || op == ir::Op::power) return std::nullopt;
  const Node* strong = nullptr;
  std::array<ir::ElementBits, most_operands> bits;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (operands[i]->array() == nullptr) continue;
    const Node* const node = number_of(*operands[i]);
    if (node == nullptr || (strong != nullptr && strong->dtype != node->dtype)) return std::nullopt;
    strong = node;
    bits[i] = node->bits;
  }
  const ir::OpInfo& info = ir::info(op);
  if (strong == nullptr || is_boolean(strong->dtype) || !keeps_dtype(info.rule, strong->dtype) ||
      (info.dtypes & ir::set_of(strong->dtype)) == 0 || Trace::current() != nullptr)
    return std::nullopt;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (operands[i]->array() != nullptr) continue;
    const Scalar& scalar = operands[i]->scalar();
    if (!takes(scalar, strong->dtype)) return std::nullopt;
    bits[i] = scalar_bits(info.name, scalar, strong->dtype, Site());
  }
  const auto result =
      ir::fold(op, strong->dtype, std::span(bits).first(operands.size()), ir::Attributes{});
  if (!result) return std::nullopt;
  const DType dtype = info.rule == TypeRule::comparison ? DType::boolean : strong->dtype;
  return Access::make(record_number(dtype, *result));
}

}  // namespace heddle::frontend
