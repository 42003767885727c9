#include <limits>
#include <utility>

#include "heddle/linalg.h"

#include "frontend/array/access.h"
#include "frontend/array/views.h"
#include "frontend/linalg/matrix_operand.h"
#include "ir/calls/calls.h"

namespace heddle {

using frontend::NodeRef;
using frontend::OpRecorder;
using frontend::record_constant;
using ir::Op;

namespace {

/// The diagonals of square matrices of any extent.
NodeRef diagonal_of_square(const NodeRef& a, const OpRecorder& on) {
  const ir::Dim n = frontend::rows_of(a);
  const std::int64_t axis = static_cast<std::int64_t>(a->shape.size()) - 2;
  if (n.is_constant()) return frontend::diagonal_of("linalg.det", a, 0, on.site);
  const NodeRef row = frontend::record_iota({n, n}, 0, DType::i64, on.site);
  const NodeRef column = frontend::record_iota({n, n}, 1, DType::i64, on.site);
  // Each row has one element on the diagonal; the others add 0.
  const NodeRef kept = on(Op::select, on(Op::equal, row, column), a, record_constant(a->dtype, 0));
  return on.reduce(Op::sum, kept, {axis + 1});
}

/// -1 where an odd number of rows was swapped, else 1.
NodeRef sign_of_swaps(const NodeRef& pivots, DType dtype, const OpRecorder& on) {
  const auto axis = static_cast<std::int64_t>(pivots->shape.size()) - 1;
  const NodeRef number =
      on(Op::add, frontend::record_iota({pivots->shape.back()}, 0, DType::i32, on.site),
         record_constant(DType::i32, 1));
  const NodeRef swaps =
      on.reduce(Op::sum, on.cast(on(Op::not_equal, pivots, number), DType::i64), {axis});
  const NodeRef odd = on(Op::equal, on(Op::remainder, swaps, record_constant(DType::i64, 2)),
                         record_constant(DType::i64, 1));
  return on(Op::select, odd, record_constant(dtype, -1), record_constant(dtype, 1));
}

/// The determinant of the operand's matrices is that of their transposes, so LU takes them as they
/// are.
linalg::SignAndLogarithm sign_and_logarithm(const NodeRef& a, const SourceLocation& site) {
  const OpRecorder on{site};
  const std::vector<NodeRef> lu = frontend::record_call(ir::calls::lu(), {&a, 1}, {}, site);
  const NodeRef diagonal = diagonal_of_square(lu[0], on);
  const auto axis = static_cast<std::int64_t>(diagonal->shape.size()) - 1;
  const NodeRef size = on(Op::absolute, diagonal);
  const NodeRef signs = is_complex(a->dtype) ? on(Op::divide, diagonal, on.cast(size, a->dtype))
                                             : on(Op::sign, diagonal);
  const NodeRef sign =
      on(Op::multiply, on.reduce(Op::prod, signs, {axis}), sign_of_swaps(lu[1], a->dtype, on));
  const NodeRef logarithm = on.reduce(Op::sum, on(Op::log, size), {axis});
  const NodeRef regular = on(Op::equal, lu[2], record_constant(DType::i32, 0));
  const double infinity = std::numeric_limits<double>::infinity();
  using frontend::Access;
  return {Access::make(on(Op::select, regular, sign, record_constant(a->dtype, 0))),
          Access::make(
              on(Op::select, regular, logarithm, record_constant(logarithm->dtype, -infinity)))};
}

NodeRef square_operand(const char* op, const Operand& a) {
  NodeRef node = frontend::inexact_operand(op, a);
  frontend::require_square(op, node, a.where());
  return node;
}

}  // namespace

linalg::SignAndLogarithm linalg::slogdet(const Operand& a) {
  return sign_and_logarithm(square_operand("linalg.slogdet", a), a.where());
}

Array linalg::det(const Operand& a) {
  const NodeRef matrices = square_operand("linalg.det", a);
  const SourceLocation site = a.where();
  const OpRecorder on{site};
  const SignAndLogarithm parts = sign_and_logarithm(matrices, site);
  const NodeRef size = on(Op::exp, frontend::Access::node(parts.logabsdet, site));
  return frontend::Access::make(
      on(Op::multiply, frontend::Access::node(parts.sign, site), on.cast(size, matrices->dtype)));
}

}  // namespace heddle
