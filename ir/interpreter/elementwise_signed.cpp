#include "ir/interpreter/elementwise.h"

namespace heddle::ir::interpreter {

ElementwiseFunction signed_function(Op op, DType dtype) {
  switch (dtype) {
    case DType::i8:
      return elementwise_function_of<signed char>(op);
    case DType::i16:
      return elementwise_function_of<short>(op);
    case DType::i32:
      return elementwise_function_of<int>(op);
    case DType::i64:
      return elementwise_function_of<long long>(op);
    default:
      return nullptr;
  }
}

}  // namespace heddle::ir::interpreter
