#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "heddle/array.h"
#include "heddle/fields.h"
#include "heddle/sparse_linalg.h"

// A few eigenvalues and singular values of sparse matrices and operators, with the names and the
// meaning of scipy.sparse.linalg. Each function is one loop on the device, which waits for nothing;
// inside jit it is recorded like other functions.

namespace heddle::sparse::linalg {

struct EigenOptions {
  /// eigsh: "LM", "SM" (greatest and least magnitude), "LA", "SA" (greatest and least) or "BE"
  /// (from both ends). eigs: "LM", "SM", "LR", "SR" (real part), "LI" or "SI" (imaginary part; its
  /// size if the matrix is real).
  std::string which = "LM";
  /// `which` orders 1 / (w - sigma), so that "LM" finds the eigenvalues next to it.
  std::optional<double> sigma = {};
  std::optional<LinearOperator> OPinv = {};  ///< the inverse of a - sigma; sigma needs it
  std::optional<Array> v0 = {};              ///< the first vector; random
  std::optional<std::int64_t> ncv = {};      ///< vectors in the basis; min(n, max(2 k + 1, 20))
  std::optional<std::int64_t> maxiter = {};  ///< restarts from one vector; 10 n
  double tol = 0;                            ///< the relative accuracy; 0 for the dtype's
  std::uint64_t seed = 0;                    ///< of random vectors
};

/// values [k], vectors [n, k], and bool [k]: whether each of them converged.
struct Eigenpairs {
  Array values, vectors, converged;
};

HEDDLE_STRUCT(Eigenpairs, values, vectors, converged)

/// k eigenvalues, increasing, and eigenvectors of a real symmetric or complex Hermitian matrix, by
/// restarted Lanczos iterations. An eigenvalue that occurs several times is found as often. The
/// dtypes are those of a; float64 for integers. ShapeError for a matrix that is not square or a v0
/// that does not fit; ValueError unless 0 < k < ncv <= n, for other bad options, and for a sigma
/// without OPinv.
Eigenpairs eigsh(const LinearOperator& a, std::int64_t k = 6, const EigenOptions& options = {},
                 SourceLocation where = SourceLocation::current());
/// k eigenvalues of any square matrix, complex, the most wanted first, and eigenvectors, by Arnoldi
/// iterations. The operator is applied to complex vectors. The rest is as eigsh; k is less than
/// n - 1.
Eigenpairs eigs(const LinearOperator& a, std::int64_t k = 6, const EigenOptions& options = {},
                SourceLocation where = SourceLocation::current());

/// u [m, k], s [k], vh [k, n], and whether each of them converged.
struct SingularValues {
  Array u, s, vh, converged;
};

HEDDLE_STRUCT(SingularValues, u, s, vh, converged)

/// k singular values, increasing, and vectors of a matrix [m, n], from eigsh of its product with
/// its adjoint; small singular values of a matrix with great ones have fewer correct digits.
/// `which` is "LM" or "SM"; sigma is not used. ValueError as eigsh, and for an operator without
/// rmatvec.
SingularValues svds(const LinearOperator& a, std::int64_t k = 6, const EigenOptions& options = {},
                    SourceLocation where = SourceLocation::current());

}  // namespace heddle::sparse::linalg
