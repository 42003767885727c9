#include <vector>

#include "heddle/linalg.h"

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/array/views.h"
#include "frontend/linalg/matrix_operand.h"
#include "ir/calls/calls.h"

namespace heddle {

using frontend::Access;
using frontend::NodeRef;
using frontend::OpRecorder;
using frontend::record_constant;
using ir::Op;

linalg::LuFactors linalg::lu_factor(const Operand& a) {
  const SourceLocation site = a.where();
  const OpRecorder on{site};
  const NodeRef matrices = frontend::inexact_operand("linalg.lu_factor", a);
  frontend::require_matrices("linalg.lu_factor", matrices, site);
  frontend::smaller_extent("linalg.lu_factor", matrices, site);
  const NodeRef transposed = frontend::matrix_transpose(matrices, site);
  const std::vector<NodeRef> made =
      frontend::record_call(ir::calls::lu(), {&transposed, 1}, {}, site);
  return {Access::make(frontend::matrix_transpose(made[0], site)),
          Access::make(on(Op::subtract, made[1], record_constant(DType::i32, 1)))};
}

Array linalg::permutation_of_pivots(const Operand& pivots, std::int64_t rows) {
  const SourceLocation site = pivots.where();
  const OpRecorder on{site};
  NodeRef swaps = frontend::asarray_node("linalg.permutation_of_pivots", pivots);
  frontend::require_rank("linalg.permutation_of_pivots", swaps, 1, site);
  swaps = on(Op::add, on.cast(swaps, DType::i32), record_constant(DType::i32, 1));
  const auto axis = static_cast<std::int64_t>(swaps->shape.size()) - 1;
  const std::int64_t count =
      frontend::constant_extent("linalg.permutation_of_pivots", swaps, axis, site);
  if (rows > count) {
    // The last rows are not swapped.
    ir::Shape shape = swaps->shape;
    shape.back() = rows - count;
    const NodeRef rest = on(Op::add, frontend::record_iota(shape, axis, DType::i32, site),
                            record_constant(DType::i32, static_cast<double>(count + 1)));
    const NodeRef parts[] = {swaps, rest};
    swaps = frontend::join_along(parts, axis, site);
  }
  return Access::make(
      frontend::record_call(ir::calls::permutation_of_pivots(), {&swaps, 1}, {}, site)[0]);
}

}  // namespace heddle
