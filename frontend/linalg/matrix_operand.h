#pragma once

#include <string_view>
#include <utility>

#include "frontend/array/ordering.h"
#include "frontend/graph/record.h"

// Operands of functions of matrices, which LAPACK and cuSOLVER compute.

namespace heddle::frontend {

/// numpy.asarray of the operand, with bool and integers cast to float64. DTypeError, naming `op`,
/// for float16 and bfloat16.
NodeRef inexact_operand(std::string_view op, const Operand& a);
/// inexact_operand() of both, cast to their common dtype.
std::pair<NodeRef, NodeRef> inexact_operands(std::string_view op, const Operand& a,
                                             const Operand& b);

/// ShapeError, naming `op`, unless the node is a stack of matrices, [..., m, n].
void require_matrices(std::string_view op, const NodeRef& a, const Site& site);
/// The same; the matrices must be square.
void require_square(std::string_view op, const NodeRef& a, const Site& site);

inline ir::Dim rows_of(const NodeRef& a) { return a->shape[a->shape.size() - 2]; }
inline ir::Dim columns_of(const NodeRef& a) { return a->shape.back(); }
/// The axes in front of the matrices.
inline ir::Shape batch_of(const NodeRef& a) { return {a->shape.begin(), a->shape.end() - 2}; }

/// numpy.matrix_transpose, a view.
NodeRef matrix_transpose(const NodeRef& a, const Site& site);
/// The node broadcast to batch axes, in front of its last `core` axes.
NodeRef with_batch(const NodeRef& a, ir::Shape batch, std::size_t core, const Site& site);
/// min(m, n). ShapeError, naming `op`, if symbols decide it.
ir::Dim smaller_extent(std::string_view op, const NodeRef& a, const Site& site);

}  // namespace heddle::frontend
