#include "ir/infer/call.h"

namespace heddle::ir {

Type infer_matmul(const Call& call) {
  const DType dtype = common_dtype(call, 0, 2);
  const Precision precision = call.attributes.precision;
  if (precision != Precision::ieee && !has_precisions(dtype)) {
    fail<DTypeError>(call, "precision {} is a choice of f32 and c64 only", name_of(precision));
  }
  const Shape &a = call.operand(0).shape, &b = call.operand(1).shape;
  if (a.size() < 2 || b.size() < 2) {
    fail<ShapeError>(call,
                     "operands need at least 2 dimensions; reshape a vector to [1,n] or [n,1]");
  }
  const Dim depth_a = a.back(), depth_b = b[b.size() - 2];
  if (depth_a != depth_b) {
    fail<ShapeError>(call,
                     "the last axis of the first has extent {}, the last but one of the "
                     "second {}; they must be equal",
                     depth_a.to_string(), depth_b.to_string());
  }
  Type result{dtype, broadcast(call, Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2))};
  result.shape.push_back(a[a.size() - 2]);
  result.shape.push_back(b.back());
  return result;
}
}  // namespace heddle::ir
