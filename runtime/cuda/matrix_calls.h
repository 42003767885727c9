#pragma once

#include "runtime/calls/call_handler.h"
#include "runtime/cuda/libraries/cusolver.h"

// Handlers of calls on matrices, by cuSOLVER and cuBLAS. Each is one file in this folder.

namespace heddle::runtime::cuda {

const CallHandler& cholesky_handler();
const CallHandler& lu_handler();
const CallHandler& solve_handler();
const CallHandler& geqrf_handler();
const CallHandler& householder_product_handler();
const CallHandler& solve_triangular_handler();
const CallHandler& svd_handler();
const CallHandler& svd_jacobi_handler();
const CallHandler& svdvals_handler();
const CallHandler& eigh_handler();
const CallHandler& eigvalsh_handler();
const CallHandler& eig_handler();
const CallHandler& eigvals_handler();

/// Allocates workspaces for one run of a call, which it refers to.
cusolver::Allocate workspace_of(const CallBuffers& frame);

}  // namespace heddle::runtime::cuda
