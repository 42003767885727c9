#pragma once

#include <optional>

#include "passes/calls/gemm.h"
#include "passes/calls/lowering.h"

namespace heddle::passes {

/// The array that a library call reads for an operand. A transpose of the last two axes is part of
/// the call, and so are the conjugate of a transposed operand and a slice of rows and columns that
/// follow each other; a reshape below them does not change the memory.
struct LibraryOperand {
  ir::ValueId value{};
  bool transposed = false;
  bool conjugated = false;  ///< only if transposed
  bool sliced = false;
  /// The first element of a slice, in the array. Its rows are the array's, or parts of them.
  ir::Dim batch = 0, row = 0, column = 0;
};
/// Both operands; their arrays have dtype `dtype`.
struct LibraryOperands {
  LibraryOperand a, b;
  DType dtype = DType::f32;
};
/// If `widens`, operands that are casts of f16 or bf16 to f32 are read before the cast: the
/// products are exact in f32, in which the library sums them.
/// `counter`: of the loop whose region the graph is.
LibraryOperands library_operands(const ir::Graph& graph, ir::ValueId product, bool widens,
                                 std::optional<ir::SymbolId> counter);
/// Whether the target's library can read narrower operands than it writes.
bool library_widens(const ir::Target& target, bool strict);

/// Whether the target's library multiplies matrices of this dtype.
bool library_multiplies(DType dtype, const ir::Target& target);

/// Lowers a matmul. A product over an empty axis is zeros. Products that the library cannot
/// compute, and dot and outer products on the host, become a multiplication and a sum, which fuse
/// into one reduction. Half-precision products are computed in float32 if the library supports only
/// that. An operand that has only some of the batch axes is broadcast to the whole batch.
std::vector<ValueId> lower_matmul(Graph& graph, const OldCall& call, const ir::Target& target);
/// The operands below slices, transposes, conjugates, reshapes and, if the library widens, casts.
std::vector<ValueId> matmul_reads(const Graph& graph, ValueId call, const CallTarget& target);

/// The gemm call for a matmul. The caller sets its result.
GemmCall describe_matmul(CallBuilder& builder);
/// A multiplication and an addition for each element and term; four times that for complex numbers.
Dim matmul_flops(const Graph& graph, ValueId call);
/// The step of a product without an epilogue.
DescribedCall describe_product(CallBuilder& builder);

}  // namespace heddle::passes
