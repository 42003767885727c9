#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <vector>

// Small matrices of complex128, for the equations that results of linear algebra must satisfy.

namespace heddle::test {

using Complex = std::complex<double>;

/// A matrix in C order, or a vector as one row.
struct Matrix {
  std::size_t rows = 0, columns = 0;
  std::vector<Complex> elements;
  Complex operator()(std::size_t i, std::size_t j) const { return elements[i * columns + j]; }
};

inline Matrix operator*(const Matrix& a, const Matrix& b) {
  Matrix made{a.rows, b.columns, std::vector<Complex>(a.rows * b.columns)};
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t j = 0; j < b.columns; ++j) {
      for (std::size_t k = 0; k < a.columns; ++k)
        made.elements[i * b.columns + j] += a(i, k) * b(k, j);
    }
  }
  return made;
}

inline Matrix adjoint(const Matrix& a) {
  Matrix made{a.columns, a.rows, {}};
  for (std::size_t i = 0; i < a.columns; ++i) {
    for (std::size_t j = 0; j < a.rows; ++j) made.elements.push_back(std::conj(a(j, i)));
  }
  return made;
}

inline double distance(const Matrix& a, const Matrix& b) {
  if (a.rows != b.rows || a.columns != b.columns) return std::numeric_limits<double>::infinity();
  double most = 0;
  for (std::size_t i = 0; i < a.elements.size(); ++i) {
    const double apart = std::abs(a.elements[i] - b.elements[i]);
    if (std::isnan(apart)) return std::numeric_limits<double>::infinity();
    most = std::max(most, apart);
  }
  return most;
}

inline Matrix identity(std::size_t n) {
  Matrix made{n, n, std::vector<Complex>(n * n)};
  for (std::size_t i = 0; i < n; ++i) made.elements[i * n + i] = 1;
  return made;
}

/// Column j times element j of a row.
inline Matrix scaled_columns(Matrix a, const Matrix& row) {
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t j = 0; j < a.columns; ++j) a.elements[i * a.columns + j] *= row(0, j);
  }
  return a;
}

inline Matrix columns(const Matrix& a, std::size_t count) {
  Matrix made{a.rows, count, {}};
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t j = 0; j < count; ++j) made.elements.push_back(a(i, j));
  }
  return made;
}

}  // namespace heddle::test
