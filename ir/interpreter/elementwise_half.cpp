#include "ir/interpreter/elementwise.h"

namespace heddle::ir::interpreter {

ElementwiseFunction half_function(Op op, DType dtype) {
  switch (dtype) {
    case DType::f16:
      return elementwise_function_of<heddle_scalar::half>(op);
    case DType::bf16:
      return elementwise_function_of<heddle_scalar::bfloat16>(op);
    default:
      return nullptr;
  }
}

}  // namespace heddle::ir::interpreter
