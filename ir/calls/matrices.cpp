#include "ir/calls/matrices.h"

namespace heddle::ir {

const Type& matrices(const Call& call, std::size_t operand) {
  const Type& type = call.operand(operand);
  check_allowed(call, type.dtype);
  if (type.shape.size() < 2) {
    if (call.operands.size() == 1)
      fail<ShapeError>(call, "takes matrices; the operand must have at least 2 dimensions");
    fail<ShapeError>(call, "takes matrices; operand {} must have at least 2 dimensions", operand);
  }
  return type;
}

const Type& square_matrices(const Call& call, std::size_t operand) {
  const Type& type = matrices(call, operand);
  const std::size_t rank = type.shape.size();
  if (type.shape[rank - 1] != type.shape[rank - 2]) {
    fail<ShapeError>(call, "takes square matrices, not {} by {}", type.shape[rank - 2].to_string(),
                     type.shape[rank - 1].to_string());
  }
  return type;
}

Shape batch_of(const Type& type, std::size_t core_axes) {
  return {type.shape.begin(), type.shape.end() - static_cast<std::ptrdiff_t>(core_axes)};
}

const Type& same_stack(const Call& call, std::size_t operand, std::size_t core_axes) {
  const Type& type = call.operand(operand);
  require_dtype(call, operand, call.operand(0).dtype);
  if (type.shape.size() < core_axes || batch_of(type, core_axes) != batch_of(call.operand(0)))
    fail<ShapeError>(call, "the axes before the matrices must be equal");
  return type;
}

void require_equal(const Call& call, Dim a, Dim b, const char* first, const char* second) {
  if (a == b) return;
  fail<ShapeError>(call, "{} is {}, {} is {}; they must be equal", first, a.to_string(), second,
                   b.to_string());
}

Dim smaller_extent(const Call& call, Dim m, Dim n) {
  if ((m - n).is_non_negative()) return n;
  if ((n - m).is_non_negative()) return m;
  fail<ShapeError>(call, "it must be known which of the extents {} and {} is smaller",
                   m.to_string(), n.to_string());
}

Type stack_of(DType dtype, Shape batch, std::initializer_list<Dim> core) {
  batch.insert(batch.end(), core.begin(), core.end());
  return {dtype, std::move(batch)};
}

}  // namespace heddle::ir
