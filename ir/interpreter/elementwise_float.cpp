#include "ir/interpreter/elementwise.h"

namespace heddle::ir::interpreter {

ElementwiseFunction float_function(Op op, DType dtype) {
  switch (dtype) {
    case DType::f32:
      return elementwise_function_of<float>(op);
    case DType::f64:
      return elementwise_function_of<double>(op);
    default:
      return nullptr;
  }
}

}  // namespace heddle::ir::interpreter
