#include <algorithm>
#include <numeric>
#include <utility>

#include "ir/calls/spectral.h"

namespace heddle::ir::interpreter {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr int most_sweeps = 60;  ///< a few suffice; the limit only bounds the loop
/// A column this much shorter than the longest one is made of rounding errors.
constexpr double negligible = 8 * epsilon;

/// The sum of conj(x) y over the rows of two columns.
Complex inner_product(const ComplexMatrix& x, std::size_t p, const ComplexMatrix& y,
                      std::size_t q) {
  Complex sum = 0;
  for (std::size_t i = 0; i < x.rows(); ++i) sum += std::conj(x(i, p)) * y(i, q);
  return sum;
}

double largest_magnitude(const ComplexMatrix& a) {
  double largest = 0;
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = 0; j < a.columns(); ++j)
      largest = std::max({largest, std::abs(a(i, j).real()), std::abs(a(i, j).imag())});
  }
  return largest;
}

/// Divides by the largest part of an element, unless that is 0. Returns it.
double take_scale(ComplexMatrix& a) {
  const double scale = largest_magnitude(a);
  if (scale == 0) return 1;
  // The reciprocal of a subnormal number is infinite.
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = 0; j < a.columns(); ++j)
      a(i, j) = {a(i, j).real() / scale, a(i, j).imag() / scale};
  }
  return scale;
}

double longest_column(const ComplexMatrix& a) {
  double longest = 0;
  for (std::size_t j = 0; j < a.columns(); ++j)
    longest = std::max(longest, std::sqrt(inner_product(a, j, a, j).real()));
  return longest;
}

/// Rotates pairs of columns of `w` until all are orthogonal, and those of `v` with them. Columns
/// that are negligible are left as they are.
void orthogonalize(ComplexMatrix& w, ComplexMatrix& v) {
  bool rotated = true;
  for (int sweep = 0; rotated && sweep < most_sweeps; ++sweep) {
    rotated = false;
    const double shortest = negligible * longest_column(w);
    for (std::size_t p = 0; p + 1 < w.columns(); ++p) {
      for (std::size_t q = p + 1; q < w.columns(); ++q) {
        const double alpha = inner_product(w, p, w, p).real();
        const double beta = inner_product(w, q, w, q).real();
        const Complex gamma = inner_product(w, p, w, q);
        const double lengths = std::sqrt(alpha) * std::sqrt(beta);
        if (std::abs(gamma) <= epsilon * lengths) continue;
        if (std::sqrt(std::min(alpha, beta)) <= shortest) continue;
        const Rotation rotation = Rotation::diagonalizing(alpha, beta, gamma);
        rotation.apply(w, p, q);
        rotation.apply(v, p, q);
        rotated = true;
      }
    }
  }
}

/// Replaces column `column` by a unit vector that is orthogonal to the columns before it.
void complete_column(ComplexMatrix& u, std::size_t column) {
  ComplexMatrix best(u.rows(), 1);
  double longest = -1;
  for (std::size_t unit = 0; unit < u.rows() && longest < 0.5; ++unit) {
    ComplexMatrix candidate(u.rows(), 1);
    candidate(unit, 0) = 1;
    // Twice, because the first pass loses digits where vectors are almost parallel.
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t j = 0; j < column; ++j) {
        const Complex along = inner_product(u, j, candidate, 0);
        for (std::size_t i = 0; i < u.rows(); ++i) candidate(i, 0) -= along * u(i, j);
      }
    }
    const double square = inner_product(candidate, 0, candidate, 0).real();
    if (square <= longest) continue;
    longest = square;
    best = candidate;
  }
  normalize_column(best, 0);
  for (std::size_t i = 0; i < u.rows(); ++i) u(i, column) = best(i, 0);
}

template <class Less>
std::vector<std::size_t> order_of(std::size_t count, const Less& less) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, less);
  return order;
}

/// Of a matrix that is not wide.
Singular tall_decomposition(ComplexMatrix w, bool full) {
  const std::size_t m = w.rows(), n = w.columns();
  const double scale = take_scale(w);
  ComplexMatrix v = identity(n);
  orthogonalize(w, v);
  std::vector<double> lengths;
  for (std::size_t j = 0; j < n; ++j)
    lengths.push_back(std::sqrt(inner_product(w, j, w, j).real()));
  const auto order =
      order_of(n, [&](std::size_t a, std::size_t b) { return lengths[a] > lengths[b]; });
  const double shortest = negligible * longest_column(w);
  Singular made{ComplexMatrix(m, full ? m : n), ComplexMatrix(n, n), {}};
  for (std::size_t j = 0; j < n; ++j) {
    const double length = lengths[order[j]];
    made.values.push_back(length * scale);
    for (std::size_t i = 0; i < n; ++i) made.vh(j, i) = std::conj(v(i, order[j]));
    if (length > shortest) {
      for (std::size_t i = 0; i < m; ++i) made.u(i, j) = w(i, order[j]) / length;
    } else {
      complete_column(made.u, j);
    }
  }
  for (std::size_t j = n; j < made.u.columns(); ++j) complete_column(made.u, j);
  return made;
}

}  // namespace

Rotation Rotation::diagonalizing(double alpha, double beta, Complex gamma) {
  const double size = std::abs(gamma);
  const double zeta = (beta - alpha) / (2 * size);
  const double tangent = (zeta < 0 ? -1 : 1) / (std::abs(zeta) + std::hypot(1.0, zeta));
  const double cosine = 1 / std::hypot(1.0, tangent);
  return {cosine, cosine * tangent, gamma / size};
}

void Rotation::apply(ComplexMatrix& matrix, std::size_t p, std::size_t q) const {
  for (std::size_t i = 0; i < matrix.rows(); ++i) {
    const Complex first = matrix(i, p), second = std::conj(phase) * matrix(i, q);
    matrix(i, p) = cosine * first - sine * second;
    matrix(i, q) = sine * first + cosine * second;
  }
}

ComplexMatrix identity(std::size_t n) {
  ComplexMatrix made(n, n);
  for (std::size_t i = 0; i < n; ++i) made(i, i) = 1;
  return made;
}

ComplexMatrix conjugate_transpose(const ComplexMatrix& a) {
  ComplexMatrix made(a.columns(), a.rows());
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = 0; j < a.columns(); ++j) made(j, i) = std::conj(a(i, j));
  }
  return made;
}

Singular singular_decomposition(const ComplexMatrix& a, bool full) {
  if (a.rows() >= a.columns()) return tall_decomposition(a, full);
  Singular other = tall_decomposition(conjugate_transpose(a), full);
  return {conjugate_transpose(other.vh), conjugate_transpose(other.u), std::move(other.values)};
}

Eigen<double> hermitian_eigen(ComplexMatrix a) {
  const std::size_t n = a.rows();
  const double scale = take_scale(a);
  ComplexMatrix v = identity(n);
  bool rotated = true;
  for (int sweep = 0; rotated && sweep < most_sweeps; ++sweep) {
    rotated = false;
    for (std::size_t p = 0; p + 1 < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) {
        // Relative to the whole matrix, whose largest element is near 1.
        if (std::abs(a(p, q)) <= epsilon * epsilon) continue;
        const Rotation rotation = Rotation::diagonalizing(a(p, p).real(), a(q, q).real(), a(p, q));
        rotation.apply(a, p, q);
        a = conjugate_transpose(a);
        rotation.apply(a, p, q);
        a(p, q) = a(q, p) = 0;
        rotation.apply(v, p, q);
        rotated = true;
      }
    }
  }
  const auto order =
      order_of(n, [&](std::size_t i, std::size_t j) { return a(i, i).real() < a(j, j).real(); });
  Eigen<double> made{{}, ComplexMatrix(n, n)};
  for (std::size_t j = 0; j < n; ++j) {
    made.values.push_back(a(order[j], order[j]).real() * scale);
    for (std::size_t i = 0; i < n; ++i) made.vectors(i, j) = v(i, order[j]);
  }
  return made;
}

}  // namespace heddle::ir::interpreter
