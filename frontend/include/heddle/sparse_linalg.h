#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "heddle/array.h"
#include "heddle/fields.h"
#include "heddle/sparse.h"

// Systems of equations with sparse matrices, solved step by step, with the names and the meaning of
// scipy.sparse.linalg. A solver is one loop on the device, which waits for nothing; inside jit it
// is recorded like other functions.

namespace heddle::sparse::linalg {

/// A matrix that is given by its products with vectors: scipy.sparse.linalg.LinearOperator.
struct LinearOperator {
  using Product = std::function<Array(const Array&)>;

  // NOLINTBEGIN: a matrix is an operator
  LinearOperator(const Csr& a);
  LinearOperator(const Dia& a);
  /// A dense matrix. ShapeError unless it has two axes.
  LinearOperator(const Array& a);
  // NOLINTEND
  /// `matvec` maps a vector [columns] to [rows]; `dtype` is that of the matrix.
  LinearOperator(const Extents& shape, Product matvec, DType dtype = DType::f64);

  Extents shape;
  Product matvec;
  DType dtype;
};

struct SolverOptions {
  std::optional<Array> x0 = {};              ///< where to begin; zeros
  double rtol = 1e-5, atol = 0;              ///< the residual to reach: max(rtol * |b|, atol)
  std::optional<std::int64_t> maxiter = {};  ///< steps; of gmres restarts; 10 n
  std::optional<LinearOperator> M = {};      ///< a preconditioner, which approximates the inverse
  std::int64_t restart = 20;                 ///< the steps of gmres between restarts
};

/// x, and a 0-d int64: 0 if the residual is small enough, else the number of steps, or -10 or -11
/// for a breakdown.
struct Solution {
  Array x, info;
};

HEDDLE_STRUCT(Solution, x, info)

/// Solves a x = b for a Hermitian positive definite matrix, by conjugate gradients. `b` is [n]. The
/// result has the dtype of a and b together, float64 for integers. ShapeError for a matrix that is
/// not square, and for shapes that do not fit; ValueError for a negative atol.
Solution cg(const LinearOperator& a, const Operand& b, const SolverOptions& options = {});
/// The same for any square matrix: by conjugate gradients squared, by stabilised biconjugate
/// gradients, and by generalised minimal residuals. gmres also throws ValueError for a `restart`
/// that is not positive.
Solution cgs(const LinearOperator& a, const Operand& b, const SolverOptions& options = {});
Solution bicgstab(const LinearOperator& a, const Operand& b, const SolverOptions& options = {});
Solution gmres(const LinearOperator& a, const Operand& b, const SolverOptions& options = {});

}  // namespace heddle::sparse::linalg
