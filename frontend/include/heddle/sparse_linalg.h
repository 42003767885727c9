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
  /// `matvec` maps a vector [columns] to [rows]; `dtype` is that of the matrix. `rmatvec`, the
  /// product with the conjugate transpose, maps a vector [rows] to [columns]; lsqr and lsmr need
  /// it.
  LinearOperator(const Extents& shape, Product matvec, DType dtype = DType::f64,
                 Product rmatvec = {});

  Extents shape;
  Product matvec;
  DType dtype;
  /// Makes rmatvec, before the loop that uses it: of a sparse matrix, transposes it. ValueError if
  /// the operator has none.
  std::function<Product()> adjoint;
};

struct SolverOptions {
  std::optional<Array> x0 = {};              ///< where to begin; zeros
  double rtol = 1e-5, atol = 0;              ///< the residual to reach: max(rtol * |b|, atol)
  std::optional<std::int64_t> maxiter = {};  ///< steps; of gmres restarts; 10 n
  std::optional<LinearOperator> M = {};      ///< a preconditioner, which approximates the inverse
  std::int64_t restart = 20;                 ///< the steps of gmres between restarts
  double shift = 0;                          ///< minres solves (a - shift I) x = b
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
/// The same for a Hermitian matrix, which may be indefinite, by minimal residuals. The test is
/// relative to the norms of a and x; maxiter is 5 n, unless it is given. info is -11 if a or M is
/// seen not to be symmetric, or M not to be positive definite.
Solution minres(const LinearOperator& a, const Operand& b, const SolverOptions& options = {});

struct LeastSquaresOptions {
  double damp = 0;                           ///< adds damp^2 |x - x0|^2; of lsmr damp^2 |x|^2
  double atol = 1e-6, btol = 1e-6;           ///< relative errors of a and of b
  double conlim = 1e8;                       ///< the greatest condition number
  std::optional<std::int64_t> maxiter = {};  ///< steps; 2 columns, of lsmr the lesser extent
  std::optional<Array> x0 = {};              ///< where to begin; zeros
  bool calc_var = false;                     ///< of lsqr: estimate `var`
};

/// Results of scipy.sparse.linalg.lsqr: 0-d arrays, but for x and var. istop is the reason to stop,
/// 1 if a x = b is solved, 2 if the least squares are, and 7 if maxiter was reached.
struct LsqrResult {
  Array x, istop, itn, r1norm, r2norm, anorm, acond, arnorm, xnorm, var;
};
/// Results of scipy.sparse.linalg.lsmr.
struct LsmrResult {
  Array x, istop, itn, normr, normar, norma, conda, normx;
};

HEDDLE_STRUCT(LsqrResult, x, istop, itn, r1norm, r2norm, anorm, acond, arnorm, xnorm, var)
HEDDLE_STRUCT(LsmrResult, x, istop, itn, normr, normar, norma, conda, normx)

/// The least squares solution of a x = b for any matrix [m, n] and b [m], by bidiagonalisation, in
/// float64 or complex128. ShapeError for shapes that do not fit, ValueError for an operator without
/// rmatvec.
LsqrResult lsqr(const LinearOperator& a, const Operand& b, const LeastSquaresOptions& options = {});
/// The same by minimal residuals: the errors of x fall in each step, so that it may stop earlier.
LsmrResult lsmr(const LinearOperator& a, const Operand& b, const LeastSquaresOptions& options = {});

/// exp(t a) b for a square matrix and a vector [n] or a matrix [n, k], without the exponential: by
/// products in one loop. ShapeError for shapes that do not fit.
Array expm_multiply(const Csr& a, const Operand& b, double t = 1,
                    SourceLocation where = SourceLocation::current());

/// Times from start to stop, which is among them unless endpoint is false.
struct Times {
  double start = 0, stop = 1;
  std::int64_t num = 50;
  bool endpoint = true;
};
/// The same for each of these times, along a new first axis. ValueError if there are none.
Array expm_multiply(const Csr& a, const Operand& b, const Times& times,
                    SourceLocation where = SourceLocation::current());

}  // namespace heddle::sparse::linalg
