#include <vector>

#include "heddle/linalg.h"

#include "frontend/array/access.h"
#include "frontend/linalg/matrix_operand.h"
#include "ir/calls/calls.h"

namespace heddle {

using frontend::NodeRef;
using frontend::OpRecorder;
using ir::Op;

namespace {

linalg::SignAndLogarithm sign_and_logarithm(const NodeRef& a, const SourceLocation& site) {
  const std::vector<NodeRef> parts = frontend::record_call(ir::calls::slogdet(), {&a, 1}, {}, site);
  return {frontend::Access::make(parts[0]), frontend::Access::make(parts[1])};
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
