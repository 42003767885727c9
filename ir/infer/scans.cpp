#include "ir/infer/call.h"

namespace heddle::ir {

Type infer_scan(const Call& call) {
  if (call.operands.empty() || call.operands.size() > 2) {
    fail<ValueError>(call,
                     "takes what is scanned and, where that is wanted, where to begin anew, "
                     "not {} operands",
                     call.operands.size());
  }
  check_allowed(call, call.operand(0).dtype);
  if (call.operands.size() == 2) {
    require_dtype(call, 1, DType::boolean);
    if (call.operand(1).shape != call.operand(0).shape) {
      fail<ShapeError>(call,
                       "operand 1 says of each element of operand 0 whether to begin anew, and "
                       "must have its shape; broadcast it");
    }
  }
  single_axis(call, call.rank());
  return call.operand(0);
}

}  // namespace heddle::ir
