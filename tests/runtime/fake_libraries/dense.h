#pragma once

// Linear algebra of column-major matrices by the book, for the fake libraries.

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace dense {

enum Operation : int { none = 0, transpose = 1, conjugate_transpose = 2 };

inline double conjugate(double x) { return x; }
inline std::complex<double> conjugate(std::complex<double> x) { return std::conj(x); }

template <class T>
using Wide = decltype(conjugate(T()));

template <class T>
struct Matrix {
  T* elements;
  std::int64_t leading;
  T& operator()(std::int64_t row, std::int64_t column) const {
    return elements[column * leading + row];
  }
};

/// Factorises with partial pivoting. Pivots count from 1. Returns the order of the first pivot that
/// is 0, or 0.
template <class T, class Pivot>
int lu(std::int64_t m, std::int64_t n, Matrix<T> a, Pivot* pivots) {
  int info = 0;
  for (std::int64_t j = 0; j < std::min(m, n); ++j) {
    std::int64_t pivot = j;
    for (std::int64_t i = j; i < m; ++i) {
      if (std::abs(a(i, j)) > std::abs(a(pivot, j))) pivot = i;
    }
    pivots[j] = static_cast<Pivot>(pivot + 1);
    if (a(pivot, j) == T(0)) {
      if (info == 0) info = static_cast<int>(j + 1);
      continue;
    }
    for (std::int64_t c = 0; c < n; ++c) std::swap(a(j, c), a(pivot, c));
    for (std::int64_t i = j + 1; i < m; ++i) {
      a(i, j) = static_cast<T>(a(i, j) / a(j, j));
      for (std::int64_t c = j + 1; c < n; ++c)
        a(i, c) = static_cast<T>(a(i, c) - a(i, j) * a(j, c));
    }
  }
  return info;
}

/// Solves op(a) x = b for one column, for the triangle of a that is named.
template <class T>
void substitute(bool lower, int operation, bool unit, std::int64_t n, Matrix<T> a, T* b) {
  const auto at = [&](std::int64_t i, std::int64_t j) {
    const Wide<T> element(operation == none ? a(i, j) : a(j, i));
    return operation == conjugate_transpose ? conjugate(element) : element;
  };
  const bool forwards = lower == (operation == none);
  for (std::int64_t step = 0; step < n; ++step) {
    const std::int64_t i = forwards ? step : n - 1 - step;
    Wide<T> sum(b[i]);
    for (std::int64_t j = forwards ? 0 : i + 1; j < (forwards ? i : n); ++j)
      sum -= at(i, j) * Wide<T>(b[j]);
    b[i] = static_cast<T>(unit ? sum : sum / at(i, i));
  }
}

template <class T, class Pivot>
void lu_solve(int operation, std::int64_t n, std::int64_t columns, Matrix<T> a, const Pivot* pivots,
              Matrix<T> b) {
  for (std::int64_t c = 0; c < columns; ++c) {
    T* const x = &b(0, c);
    if (operation == none) {
      for (std::int64_t i = 0; i < n; ++i) std::swap(x[i], x[pivots[i] - 1]);
      substitute(true, operation, true, n, a, x);
      substitute(false, operation, false, n, a, x);
    } else {
      substitute(false, operation, false, n, a, x);
      substitute(true, operation, true, n, a, x);
      for (std::int64_t i = n; i-- > 0;) std::swap(x[i], x[pivots[i] - 1]);
    }
  }
}

/// Solves x op(a) = b, where the rows of b are the unknowns: the transpose of op(a)^T x^T = b^T.
template <class T>
void solve_right(bool lower, int operation, bool unit, std::int64_t m, std::int64_t n, Matrix<T> a,
                 Matrix<T> b) {
  std::vector<T> conjugated, row(static_cast<std::size_t>(n));
  Matrix<T> of = a;
  int transposed = operation == none ? transpose : none;
  if (operation == conjugate_transpose) {
    for (std::int64_t c = 0; c < n; ++c) {
      for (std::int64_t r = 0; r < n; ++r)
        conjugated.push_back(static_cast<T>(conjugate(Wide<T>(a(r, c)))));
    }
    of = {conjugated.data(), n};
  }
  for (std::int64_t r = 0; r < m; ++r) {
    for (std::int64_t c = 0; c < n; ++c) row[static_cast<std::size_t>(c)] = b(r, c);
    substitute(lower, transposed, unit, n, of, row.data());
    for (std::int64_t c = 0; c < n; ++c) b(r, c) = row[static_cast<std::size_t>(c)];
  }
}

/// Multiplies column c of `to`, from row j on, by 1 - factor v v^H, with v in column j of a.
template <class T>
void reflect(std::int64_t m, Matrix<T> a, std::int64_t j, Wide<T> factor, Matrix<T> to,
             std::int64_t c) {
  Wide<T> sum(to(j, c));
  for (std::int64_t i = j + 1; i < m; ++i) sum += conjugate(Wide<T>(a(i, j))) * Wide<T>(to(i, c));
  sum *= factor;
  to(j, c) = static_cast<T>(Wide<T>(to(j, c)) - sum);
  for (std::int64_t i = j + 1; i < m; ++i)
    to(i, c) = static_cast<T>(Wide<T>(to(i, c)) - Wide<T>(a(i, j)) * sum);
}

template <class T>
void qr(std::int64_t m, std::int64_t n, Matrix<T> a, T* tau) {
  for (std::int64_t j = 0; j < std::min(m, n); ++j) {
    double norm = 0;
    for (std::int64_t i = j; i < m; ++i) norm = std::hypot(norm, std::abs(a(i, j)));
    const Wide<T> alpha(a(j, j));
    double below = 0;
    for (std::int64_t i = j + 1; i < m; ++i) below = std::hypot(below, std::abs(a(i, j)));
    tau[j] = T(0);
    if (below == 0 && std::imag(alpha) == 0) continue;
    const double beta = std::real(alpha) > 0 ? -norm : norm;
    const Wide<T> factor = (beta - alpha) / beta;
    for (std::int64_t i = j + 1; i < m; ++i)
      a(i, j) = static_cast<T>(Wide<T>(a(i, j)) / (alpha - beta));
    a(j, j) = static_cast<T>(beta);
    tau[j] = static_cast<T>(factor);
    for (std::int64_t c = j + 1; c < n; ++c) reflect(m, a, j, conjugate(factor), a, c);
  }
}

/// Replaces the vectors of k reflectors by n columns of their product.
template <class T>
void reflector_product(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<T> a, const T* tau) {
  std::vector<T> elements(static_cast<std::size_t>(m * n), T(0));
  const Matrix<T> q{elements.data(), m};
  for (std::int64_t c = 0; c < n; ++c) {
    q(c, c) = T(1);
    for (std::int64_t j = k; j-- > 0;) reflect(m, a, j, Wide<T>(tau[j]), q, c);
  }
  for (std::int64_t c = 0; c < n; ++c) std::copy_n(&q(0, c), m, &a(0, c));
}

}  // namespace dense
