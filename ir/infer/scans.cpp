#include "ir/infer/call.h"

namespace heddle::ir {

Type infer_scan(const Call& call) {
  if (call.operands.empty() || call.operands.size() > 2) {
    fail<ValueError>(call,
                     "takes the operand to scan and, optionally, a mask that marks where to "
                     "restart, not {} operands",
                     call.operands.size());
  }
  check_allowed(call, call.operand(0).dtype);
  if (call.operands.size() == 2) {
    require_dtype(call, 1, DType::boolean);
    if (call.operand(1).shape != call.operand(0).shape) {
      fail<ShapeError>(call,
                       "operand 1 marks the elements of operand 0 at which the scan restarts, and "
                       "must have the same shape; broadcast it");
    }
  }
  single_axis(call, call.rank());
  return call.operand(0);
}

}  // namespace heddle::ir
