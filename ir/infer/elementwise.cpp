#include "ir/infer/call.h"

namespace heddle::ir {

Type infer_source(const Call& call) {
  const Attributes& attributes = call.attributes;
  check_allowed(call, attributes.dtype);
  if (call.op == Op::parameter && attributes.scalar && !attributes.shape.empty()) {
    fail<ShapeError>(call, "a scalar parameter is 0-d, not {}", to_string(attributes.shape));
  }
  if (call.op == Op::iota) single_axis(call, static_cast<int>(attributes.shape.size()));
  if (call.op == Op::constant) {
    const std::size_t bits = is_boolean(attributes.dtype) ? 1 : 8 * size_of(attributes.dtype);
    const auto [low, high] = attributes.bits;
    if ((bits < 64 && low >> bits != 0) || (bits <= 64 && high != 0)) {
      const std::string text =
          high == 0 ? fmt::format("{:#x}", low) : fmt::format("{:#x}{:016x}", high, low);
      fail<ValueError>(call, "bits {} do not fit in {}", text, numpy_name_of(attributes.dtype));
    }
    return {attributes.dtype, {}};
  }
  return {attributes.dtype, attributes.shape};
}
namespace {

DType elementwise_dtype(const Call& call) {
  const std::size_t count = call.operands.size();
  switch (info(call.op).rule) {
    case TypeRule::none:
      check_allowed(call, call.operand(0).dtype);
      check_allowed(call, call.attributes.dtype);
      return call.attributes.dtype;
    case TypeRule::arithmetic:
    case TypeRule::floating:
    case TypeRule::divide:
      return common_dtype(call, 0, count);
    case TypeRule::complex_of:
      return complex_dtype(common_dtype(call, 0, count));
    case TypeRule::real_part:
      return real_dtype(common_dtype(call, 0, count));
    case TypeRule::comparison:
    case TypeRule::predicate:
    case TypeRule::logical:
      common_dtype(call, 0, count);
      return DType::boolean;
    case TypeRule::select:
      require_dtype(call, 0, DType::boolean);
      return common_dtype(call, 1, count);
    case TypeRule::load_exponent:
      require_dtype(call, 1, DType::i32);
      return common_dtype(call, 0, 1);
    case TypeRule::exponent:
      common_dtype(call, 0, count);
      return DType::i32;
    case TypeRule::bit_count:
      common_dtype(call, 0, count);
      return DType::u8;
    case TypeRule::draw:
      require_dtype(call, 0, DType::u64);
      require_dtype(call, 1, DType::u64);
      return common_dtype(call, 2, count);
    case TypeRule::sample_single:
      common_dtype(call, 0, count);
      return DType::f32;
  }
  throw InternalError(fmt::format("{} has no type rule", info(call.op).name));
}
}  // namespace

Type infer_elementwise(const Call& call) {
  Type result{elementwise_dtype(call), call.operand(0).shape};
  for (std::size_t i = 1; i < call.operands.size(); ++i) {
    if (call.operand(i).shape != result.shape) {
      result.shape = broadcast(call, result.shape, call.operand(i).shape);
    }
  }
  return result;
}
}  // namespace heddle::ir
