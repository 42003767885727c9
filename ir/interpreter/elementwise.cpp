#include "ir/interpreter/elementwise.h"

namespace heddle::ir::interpreter {

ElementwiseFunction boolean_function(Op op) { return elementwise_function_of<bool>(op); }

ElementwiseFunction elementwise_function(Op op, DType dtype) {
  ElementwiseFunction function = nullptr;
  if (is_boolean(dtype)) {
    function = boolean_function(op);
  } else if (is_signed_integer(dtype)) {
    function = signed_function(op, dtype);
  } else if (is_unsigned_integer(dtype)) {
    function = unsigned_function(op, dtype);
  } else if (dtype == DType::f16 || dtype == DType::bf16) {
    function = half_function(op, dtype);
  } else if (is_complex(dtype)) {
    function = complex_function(op, dtype);
  } else {
    function = float_function(op, dtype);
  }
  if (function == nullptr) {
    throw InternalError(fmt::format("{} is not defined for {}", info(op).name, name_of(dtype)));
  }
  return function;
}

}  // namespace heddle::ir::interpreter
