#pragma once

#include "runtime/calls/call_handler.h"

// Handlers of calls on matrices, by LAPACK. Each is one file in this folder.

namespace heddle::runtime::host {

const CallHandler& cholesky_handler();
const CallHandler& lu_handler();
const CallHandler& solve_handler();
const CallHandler& geqrf_handler();
const CallHandler& householder_product_handler();
const CallHandler& solve_triangular_handler();
const CallHandler& svd_handler();
const CallHandler& svdvals_handler();
const CallHandler& eigh_handler();
const CallHandler& eigvalsh_handler();
const CallHandler& eig_handler();
const CallHandler& eigvals_handler();

}  // namespace heddle::runtime::host
