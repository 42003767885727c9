#pragma once

#include <optional>

#include "passes/calls/lowering.h"

// Small matrices, whose extents are constants of at most 32: each is factorised in the memory of an
// item, and fuses with elementwise ops around it. On a CPU, a single matrix is LAPACK's.

namespace heddle::passes {

/// Whether the last two axes are those of small matrices that are factorised in items.
bool are_small(const ir::Shape& shape, const ir::Target& target);

/// Factors and statuses as ir::calls::cholesky() says, also of NaN: nothing is left to lower.
std::optional<ItemCall> cholesky_item(const Graph& graph, ValueId call, const ir::Target& target);
/// Factors, pivots and statuses of square and other matrices.
std::optional<ItemCall> lu_item(const Graph& graph, ValueId call, const ir::Target& target);
/// Solutions and statuses as ir::calls::solve() says: nothing is left to lower.
std::optional<ItemCall> solve_item(const Graph& graph, ValueId call, const ir::Target& target);
/// Inverses and statuses of matrices that a GPU's lane holds.
std::optional<ItemCall> inverse_item(const Graph& graph, ValueId call, const ir::Target& target);
/// Signs and logarithms.
std::optional<ItemCall> slogdet_item(const Graph& graph, ValueId call, const ir::Target& target);
/// Reflectors and their factors, on a GPU.
std::optional<ItemCall> geqrf_item(const Graph& graph, ValueId call, const ir::Target& target);
/// Columns of products of reflectors, on a GPU.
std::optional<ItemCall> householder_item(const Graph& graph, ValueId call,
                                         const ir::Target& target);
/// Results as ir::calls::eigh() and eigvalsh() say, on a GPU: nothing is left to lower.
std::optional<ItemCall> hermitian_item(const Graph& graph, ValueId call, const ir::Target& target);
/// Results as ir::calls::svd() and svdvals() say, of stacks on a GPU: nothing is left to lower. Its
/// kernel takes longer to compile than a library takes for a single matrix.
std::optional<ItemCall> svd_item(const Graph& graph, ValueId call, const ir::Target& target);
std::optional<ItemCall> svdvals_item(const Graph& graph, ValueId call, const ir::Target& target);
/// Products of large batches, whose operands both have all batch axes.
std::optional<ItemCall> matmul_item(const Graph& graph, ValueId call, const ir::Target& target);

}  // namespace heddle::passes
