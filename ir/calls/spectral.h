#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "ir/calls/matrices.h"

// Singular values and eigenvalues by the book, in complex128: the reference for LAPACK and
// cuSOLVER. A real matrix stays real, as its phases are 1 and -1.

namespace heddle::ir::interpreter {

using Complex = std::complex<double>;
using ComplexMatrix = Matrix<Complex>;

/// The status of a matrix with elements that are not finite; LAPACK's for an argument that is NaN.
constexpr std::int32_t not_finite = -4;
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// A unitary rotation of two columns that makes a Hermitian 2 by 2 matrix diagonal.
struct Rotation {
  double cosine = 1, sine = 0;
  Complex phase = 1;

  /// Of the matrix with diagonal `alpha`, `beta` and the element `gamma`, which is not 0, above it.
  static Rotation diagonalizing(double alpha, double beta, Complex gamma);
  /// Rotates columns p and q.
  void apply(ComplexMatrix& matrix, std::size_t p, std::size_t q) const;
};

/// a = u diag(values) vh. The values are in descending order.
struct Singular {
  ComplexMatrix u, vh;
  std::vector<double> values;
};
/// One-sided Jacobi. With `full`, u and vh are square. The elements must be finite.
Singular singular_decomposition(const ComplexMatrix& a, bool full);

/// Column j of `vectors` belongs to values[j]. `failed` is the number of values that were not
/// found.
template <class Value>
struct Eigen {
  std::vector<Value> values;
  ComplexMatrix vectors;
  std::int32_t failed = 0;
};
/// Of a Hermitian matrix, by Jacobi rotations. The values are in ascending order. The elements must
/// be finite.
Eigen<double> hermitian_eigen(ComplexMatrix a);
/// Of any square matrix, by shifted QR steps on its Hessenberg form. Vectors have length 1. The
/// elements must be finite. If `real`, the matrix is: values that are not real are pairs of
/// conjugates, the one with the positive imaginary part first.
Eigen<Complex> general_eigen(const ComplexMatrix& a, bool real);

ComplexMatrix conjugate_transpose(const ComplexMatrix& a);
ComplexMatrix identity(std::size_t n);
inline void normalize_column(ComplexMatrix& matrix, std::size_t column) {
  double square = 0;
  for (std::size_t i = 0; i < matrix.rows(); ++i) square += std::norm(matrix(i, column));
  const double scale = 1 / std::sqrt(square);
  for (std::size_t i = 0; i < matrix.rows(); ++i) matrix(i, column) *= scale;
}

inline Complex complex_of(double x) { return x; }
inline Complex complex_of(complex128 x) { return {x.re, x.im}; }

template <class Wide>
ComplexMatrix complex_matrix(const Matrix<Wide>& from) {
  ComplexMatrix made(from.rows(), from.columns());
  for (std::size_t i = 0; i < from.rows(); ++i) {
    for (std::size_t j = 0; j < from.columns(); ++j) made(i, j) = complex_of(from(i, j));
  }
  return made;
}
/// Stores a result; of a result that is real, the real parts.
template <class Wide>
void store_complex(StackItem<Wide>& item, std::size_t number, const ComplexMatrix& from) {
  Matrix<complex128> made(from.rows(), from.columns());
  for (std::size_t i = 0; i < from.rows(); ++i) {
    for (std::size_t j = 0; j < from.columns(); ++j)
      made(i, j) = complex128(from(i, j).real(), from(i, j).imag());
  }
  item.store(number, std::move(made));
}
/// Stores a vector as a result.
template <class Wide, class Value>
void store_values(StackItem<Wide>& item, std::size_t number, const std::vector<Value>& values) {
  ComplexMatrix row(1, values.size());
  for (std::size_t i = 0; i < values.size(); ++i) row(0, i) = values[i];
  store_complex(item, number, row);
}
/// Sets a result's matrix to NaN.
template <class Wide>
void store_nan(StackItem<Wide>& item, std::size_t number) {
  const Matrix<Wide> extents = item.result(number);
  store_complex(item, number, ComplexMatrix(extents.rows(), extents.columns(), not_a_number));
}

struct Elements {
  bool nan = false, infinity = false;
  bool finite() const { return !nan && !infinity; }
};
inline Elements kinds_of(const ComplexMatrix& a) {
  Elements found;
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = 0; j < a.columns(); ++j) {
      const double real = a(i, j).real(), imaginary = a(i, j).imag();
      found.nan |= std::isnan(real) || std::isnan(imaginary);
      found.infinity |= std::isinf(real) || std::isinf(imaginary);
    }
  }
  return found;
}

}  // namespace heddle::ir::interpreter
