#pragma once

#include "passes/calls/gemm.h"
#include "passes/calls/lowering.h"

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

/// Products over nothing are zeros. Rewrites products that no library does, and on the host dot
/// products and those of a column by a row, into a multiplication and a sum, which fuse into one
/// reduction; has those of half precision multiplied in float where it only does that, and spells
/// out batch axes that only one operand has in part.
std::vector<ValueId> lower_matmul(Graph& graph, const OldCall& call, const ir::Target& target);
/// The factors below transposes, reshapes and, where the library widens, casts.
std::vector<ValueId> matmul_reads(const Graph& graph, ValueId call, const CallTarget& target);

/// The call for a matmul; its result is left to the caller.
GemmCall describe_matmul(CallBuilder& builder);
/// The step of one without an epilogue.
DescribedCall describe_product(CallBuilder& builder);

}  // namespace heddle::passes
