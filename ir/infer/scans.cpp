#include "ir/infer/call.h"

namespace heddle::ir {

Type infer_scan(const Call& call) {
  check_allowed(call, call.operand(0).dtype);
  single_axis(call, call.rank());
  return call.operand(0);
}

}  // namespace heddle::ir
