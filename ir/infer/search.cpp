#include "ir/infer/call.h"

namespace heddle::ir {

Type infer_search(const Call& call) {
  common_dtype(call, 0, 2);
  if (call.rank() != 1) {
    fail<ShapeError>(call, "operand 0 (the sorted array) must have 1 dimension, not {}",
                     call.rank());
  }
  return {DType::i64, call.operand(1).shape};
}

}  // namespace heddle::ir
