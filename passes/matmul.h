#pragma once

#include "ir/graph.h"
#include "ir/target.h"
#include "passes/program.h"

namespace heddle::passes {

/// The array that a library call reads for an operand: a transpose of the last two axes is part of
/// the call.
struct LibraryOperand {
  ir::ValueId value{};
  bool transposed = false;
};
LibraryOperand library_operand(const ir::Graph& graph, ir::ValueId operand);

/// A BLAS of this kind of target multiplies this dtype.
bool library_multiplies(DType dtype, const ir::Target& target);

/// Rewrites products that no library does into a multiplication and a sum, which fuse into one
/// reduction, and spells out batch axes that only one operand has in part.
ir::Graph lower_matmul(const ir::Graph& graph, const ir::Target& target);

/// The call for a matmul whose operands are in memory; buffers are left to the caller.
MatmulStep describe_matmul(const ir::Graph& graph, ir::ValueId node);

}  // namespace heddle::passes
