#include "ir/interpreter/elementwise.h"

namespace heddle::ir::interpreter {

ElementwiseFunction complex_function(Op op, DType dtype) {
  switch (dtype) {
    case DType::c64:
      return elementwise_function_of<heddle_scalar::complex64>(op);
    case DType::c128:
      return elementwise_function_of<heddle_scalar::complex128>(op);
    default:
      return nullptr;
  }
}

}  // namespace heddle::ir::interpreter
