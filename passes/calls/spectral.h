#pragma once

#include "passes/calls/lowering.h"

// Singular values and eigenvalues.

namespace heddle::passes {

/// The call as it is where its handler checks the matrices (ir::Capabilities::checked_spectra).
/// Otherwise the call of matrices without NaN and infinities, which become 0 first; then its status
/// is set as the op says, and results that failed are NaN. These are elementwise ops, which fuse.
/// svd becomes svd_jacobi if the extents are at most 1024, else it and svdvals also transpose
/// matrices with more rows than columns.
std::vector<ValueId> lower_svd(Graph& graph, const OldCall& call, const ir::Target& target);
std::vector<ValueId> lower_svdvals(Graph& graph, const OldCall& call, const ir::Target& target);
/// eigh and eigvalsh.
std::vector<ValueId> lower_hermitian(Graph& graph, const OldCall& call, const ir::Target& target);
/// eig and eigvals.
std::vector<ValueId> lower_eigen(Graph& graph, const OldCall& call, const ir::Target& target);

/// Approximate operations of LAPACK's algorithms; 0 for symbolic extents.
Dim svd_flops(const Graph& graph, ValueId call);
Dim svdvals_flops(const Graph& graph, ValueId call);
Dim eigh_flops(const Graph& graph, ValueId call);
Dim eigvalsh_flops(const Graph& graph, ValueId call);
Dim eig_flops(const Graph& graph, ValueId call);
Dim eigvals_flops(const Graph& graph, ValueId call);

}  // namespace heddle::passes
