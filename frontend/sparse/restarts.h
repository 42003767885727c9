#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "heddle/sparse_eigen.h"

// Krylov iterations with thick restarts, for a few eigenvalues of an operator.
//
// A cycle extends an orthonormal basis of ncv vectors, the rows of `basis`. Each new vector is made
// orthogonal to all vectors before, twice, so that the basis stays orthogonal. `matrix` is the
// operator in this basis. A restart keeps the best Ritz vectors and the vector that comes next.
//
// One vector leads to one eigenvector of an eigenvalue that occurs several times. So once the
// wanted values have converged, a round begins: cycles go on from a random vector that is
// orthogonal to theirs. If a round finds better values, another one follows. Cycles and rounds are
// loops on the device.

namespace heddle::sparse::linalg {

/// Which Ritz pairs are wanted, and whether they are found.
struct Wanted {
  std::int64_t k = 0;
  std::function<Array(const Array&)> key;  ///< how much a value is wanted
  bool both_ends = false;                  ///< the least keys are wanted as much as the greatest
  double tol = 0, eps = 0;

  /// The indices of values, the most wanted first; of equal values those that are held.
  Array order(const Array& values, const Array& held) const;
  /// The greatest errors with which values have converged: ARPACK's bound, but at least 4 units of
  /// rounding of the greatest value. Small values are bounded relative to the greatest, too.
  Array allowed(const Array& values) const;
  /// Distances below which values count as equal.
  Array equal(const Array& values) const;
  /// Of the first k.
  Array converged(const Array& values, const Array& errors) const;
  /// Whether the next values have come close enough to say that they are not wanted.
  Array unrivalled(const Array& values, const Array& errors) const;
  /// Whether a round found other values.
  Array differ(const Array& before, const Array& after) const;
};

/// Ritz values and vectors, and which of them are locked.
struct RitzPairs {
  Array values, vectors, held;
};

/// Coefficients [ncv, keep] of a basis of the best Ritz vectors, and the operator in it.
struct Projection {
  Array turn, matrix;
};

/// What differs between Hermitian and other operators.
class RestartMethod {
 public:
  RestartMethod(Wanted wanted_pairs, DType of_values)
      : wanted(std::move(wanted_pairs)), value_dtype(of_values) {}
  RestartMethod(const RestartMethod&) = delete;
  RestartMethod& operator=(const RestartMethod&) = delete;
  virtual ~RestartMethod() = default;

  /// Stores in the matrix the products `along` of vector j with the basis. `next` is the length of
  /// the vector that comes after them in the basis.
  virtual Array with_products(const Array& matrix, const Array& j, const Array& along,
                              const Array& next, const Array& locked) const = 0;
  virtual RitzPairs solved(const Array& matrix, const Array& locked) const = 0;
  virtual Projection projected(const RitzPairs& pairs, const Array& matrix,
                               std::int64_t keep) const = 0;

  const Wanted wanted;
  const DType value_dtype;
};

struct RestartOptions {
  std::int64_t k = 0;
  std::string_view which;
  double tol = 0;
  std::int64_t ncv = 0, maxiter = 0;  ///< a round takes at most maxiter cycles
  bool is_real = false;               ///< for eigs: values come in conjugate pairs
  bool step_by_step = false;          ///< loops are not recorded, for a matvec that reads values
};

/// Lanczos iterations, for Hermitian operators. ValueError for an unknown `which`.
std::unique_ptr<RestartMethod> lanczos(const RestartOptions& options, DType dtype);
/// Arnoldi iterations, for operators of any kind, in complex numbers.
std::unique_ptr<RestartMethod> arnoldi(const RestartOptions& options, DType dtype);

/// The k pairs that method.wanted describes, the most wanted first. `start` is the first vector,
/// which is not 0; `noise` is real and random.
Eigenpairs iterate(const RestartMethod& method, const LinearOperator::Product& matvec,
                   const Array& start, const Array& noise, const RestartOptions& options);

}  // namespace heddle::sparse::linalg
