#include "ir/interpreter/elementwise.h"

namespace heddle::ir::interpreter {

ElementwiseFunction unsigned_function(Op op, DType dtype) {
  switch (dtype) {
    case DType::u8:
      return elementwise_function_of<unsigned char>(op);
    case DType::u16:
      return elementwise_function_of<unsigned short>(op);
    case DType::u32:
      return elementwise_function_of<unsigned int>(op);
    case DType::u64:
      return elementwise_function_of<unsigned long long>(op);
    default:
      return nullptr;
  }
}

}  // namespace heddle::ir::interpreter
