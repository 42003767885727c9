#pragma once

#include <cstdint>
#include <string_view>

#include "heddle/sparse_linalg.h"

#include "frontend/sparse/lengths.h"

// What the solvers share; heddle/sparse/linalg/_systems.py is the same for Python's.

namespace heddle::sparse::linalg {

/// A system, checked, with operands of one floating dtype. Vectors are in multiples of `unit`, so
/// that their squares are in range.
struct System {
  std::function<Array(const Array&)> matvec, psolve;
  Array x, b, r;  ///< the first x, the right side, and its residual
  Array unit, b_norm, limit;
  std::int64_t maxiter = 0;
  DType dtype = DType::f64;
};

System make_system(std::string_view name, const LinearOperator& a, const Operand& b,
                   const SolverOptions& options);

/// The inner product, with x conjugated.
Array inner(const Array& x, const Array& y);
/// x, or 1 where it is 0.
Array nonzero_of(const Array& x);

}  // namespace heddle::sparse::linalg
