#pragma once

#include "ir/graph.h"
#include "ir/target.h"
#include "passes/program.h"

namespace heddle::passes {

/// The array that a library call reads for an operand: a transpose of the last two axes is part of
/// the call, and a reshape below it changes nothing in memory.
struct LibraryOperand {
  ir::ValueId value{};
  bool transposed = false;
};
/// Both, in memory of `dtype`.
struct LibraryOperands {
  LibraryOperand a, b;
  DType dtype = DType::f32;
};
/// With `widens` operands that were f16, or bf16, before they became f32 are read as those: their
/// products are exact in f32, in which the library sums them.
LibraryOperands library_operands(const ir::Graph& graph, ir::ValueId product, bool widens);
/// Whether the library of such a target reads narrower operands than it writes.
bool library_widens(const ir::Target& target, bool strict);

/// A BLAS of this kind of target multiplies this dtype.
bool library_multiplies(DType dtype, const ir::Target& target);

/// Rewrites products that no library does, and on the host dot products and those of a column by a
/// row, into a multiplication and a sum, which fuse into one reduction, has those of half precision
/// multiplied in float where it only does that, and spells out batch axes that only one operand has
/// in part.
ir::Graph lower_matmul(const ir::Graph& graph, const ir::Target& target);

/// The call for a matmul whose operands are in memory; buffers are left to the caller.
MatmulStep describe_matmul(const ir::Graph& graph, ir::ValueId node, bool widens);

}  // namespace heddle::passes
