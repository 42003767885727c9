#include <algorithm>
#include <utility>

#include "ir/calls/spectral.h"

// Eigenvalues of matrices that need not be Hermitian: rotations to Hessenberg form, QR steps with
// Wilkinson's shift to triangular form, and back substitution for the vectors.

namespace heddle::ir::interpreter {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr int most_steps_each = 60;  ///< QR steps for one eigenvalue

/// A unitary 2 by 2 matrix that takes (a, b) to (r, 0).
struct Givens {
  double cosine = 1;
  Complex sine = 0;

  static Givens eliminating(Complex a, Complex b) {
    const double length = std::hypot(std::abs(a), std::abs(b));
    if (b == Complex(0) || length == 0) return {};
    if (a == Complex(0)) return {0, std::conj(b) / std::abs(b)};
    return {std::abs(a) / length, a / std::abs(a) * std::conj(b) / length};
  }
  /// Multiplies rows p and q from the left, in columns [first, end).
  void rows(ComplexMatrix& t, std::size_t p, std::size_t q, std::size_t first) const {
    for (std::size_t j = first; j < t.columns(); ++j) {
      const Complex x = t(p, j), y = t(q, j);
      t(p, j) = cosine * x + sine * y;
      t(q, j) = cosine * y - std::conj(sine) * x;
    }
  }
  /// Multiplies columns p and q by the inverse from the right, in rows [0, end).
  void columns(ComplexMatrix& t, std::size_t p, std::size_t q, std::size_t end) const {
    for (std::size_t i = 0; i < end; ++i) {
      const Complex x = t(i, p), y = t(i, q);
      t(i, p) = cosine * x + std::conj(sine) * y;
      t(i, q) = cosine * y - sine * x;
    }
  }
};

double size_of_matrix(const ComplexMatrix& a) {
  double largest = 0;
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = 0; j < a.columns(); ++j) largest = std::max(largest, std::abs(a(i, j)));
  }
  return largest;
}

/// a = z t z^H.
struct Schur {
  ComplexMatrix t, z;
};

void make_hessenberg(Schur& schur) {
  const std::size_t n = schur.t.rows();
  for (std::size_t j = 0; j + 2 < n; ++j) {
    for (std::size_t i = n - 1; i > j + 1; --i) {
      const Givens givens = Givens::eliminating(schur.t(i - 1, j), schur.t(i, j));
      givens.rows(schur.t, i - 1, i, j);
      givens.columns(schur.t, i - 1, i, n);
      givens.columns(schur.z, i - 1, i, n);
      schur.t(i, j) = 0;
    }
  }
}

/// The eigenvalue of the 2 by 2 block that ends at `last` that is nearer to its last element.
Complex wilkinson_shift(const ComplexMatrix& t, std::size_t last) {
  const Complex a = t(last - 1, last - 1), d = t(last, last);
  const Complex half = (a - d) / 2.0;
  const Complex product = t(last - 1, last) * t(last, last - 1);
  const Complex root = std::sqrt(half * half + product);
  const Complex larger = std::abs(half + root) > std::abs(half - root) ? half + root : half - root;
  return larger == Complex(0) ? d : d - product / larger;
}

/// One QR step on rows and columns [first, last].
void step(Schur& schur, std::size_t first, std::size_t last, Complex shift) {
  const std::size_t n = schur.t.rows();
  for (std::size_t k = first; k <= last; ++k) schur.t(k, k) -= shift;
  std::vector<Givens> applied;
  for (std::size_t k = first; k < last; ++k) {
    applied.push_back(Givens::eliminating(schur.t(k, k), schur.t(k + 1, k)));
    applied.back().rows(schur.t, k, k + 1, k);
  }
  for (std::size_t k = first; k < last; ++k) {
    applied[k - first].columns(schur.t, k, k + 1, std::min(k + 2, last + 1));
    applied[k - first].columns(schur.z, k, k + 1, n);
  }
  for (std::size_t k = first; k <= last; ++k) schur.t(k, k) += shift;
}

/// Makes t triangular. Returns the number of eigenvalues that were not found.
std::size_t make_triangular(Schur& schur) {
  ComplexMatrix& t = schur.t;
  std::size_t last = t.rows() - 1;
  int steps = 0;
  while (last > 0) {
    std::size_t first = last;
    while (first > 0) {
      const double around = std::abs(t(first, first)) + std::abs(t(first - 1, first - 1));
      if (std::abs(t(first, first - 1)) <= epsilon * around) break;
      --first;
    }
    if (first > 0) t(first, first - 1) = 0;
    if (first == last) {
      --last;
      steps = 0;
      continue;
    }
    if (++steps > most_steps_each) return last + 1;
    // Every tenth step takes another shift, because a matrix can be a fixed point of the others.
    const Complex shift =
        steps % 10 == 0 ? t(last, last) + std::abs(t(last, last - 1)) : wilkinson_shift(t, last);
    step(schur, first, last, shift);
  }
  return 0;
}

/// Column k of the result is the eigenvector of eigenvalue t(k, k).
ComplexMatrix vectors_of(const Schur& schur) {
  const ComplexMatrix& t = schur.t;
  const std::size_t n = t.rows();
  const double smallest = std::max(epsilon * size_of_matrix(t), 1e-290);
  ComplexMatrix made(n, n);
  for (std::size_t k = 0; k < n; ++k) {
    std::vector<Complex> y(n);
    y[k] = 1;
    for (std::size_t i = k; i-- > 0;) {
      Complex sum = 0;
      for (std::size_t j = i + 1; j <= k; ++j) sum += t(i, j) * y[j];
      Complex divisor = t(k, k) - t(i, i);
      if (std::abs(divisor) < smallest) divisor = smallest;
      y[i] = sum / divisor;
      double largest = 0;
      for (std::size_t j = i; j <= k; ++j) largest = std::max(largest, std::abs(y[j]));
      if (largest < 1e100) continue;
      for (std::size_t j = i; j <= k; ++j) y[j] /= largest;
    }
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j <= k; ++j) made(i, k) += schur.z(i, j) * y[j];
    }
    normalize_column(made, k);
  }
  return made;
}

/// Turns the phase of a vector so that its largest element is real.
void turn_to_real(ComplexMatrix& vectors, std::size_t column) {
  Complex largest = 0;
  for (std::size_t i = 0; i < vectors.rows(); ++i) {
    if (std::abs(vectors(i, column)) > std::abs(largest)) largest = vectors(i, column);
  }
  const Complex turn = std::conj(largest) / std::abs(largest);
  for (std::size_t i = 0; i < vectors.rows(); ++i) vectors(i, column) *= turn;
}

/// The index in [first, n) of the value that is nearest to the conjugate of values[k].
std::size_t partner_of(const std::vector<Complex>& values, std::size_t k) {
  std::size_t nearest = k;
  double distance = 2 * std::abs(values[k].imag());
  for (std::size_t j = k + 1; j < values.size(); ++j) {
    const double other = std::abs(values[j] - std::conj(values[k]));
    if (other >= distance) continue;
    distance = other;
    nearest = j;
  }
  return nearest;
}

/// Eigenvalues of a real matrix are real, or pairs of conjugates. Rounding has moved them; each is
/// made what it is nearer to. `rounding` is the size of an imaginary part that rounding explains.
void restore_conjugates(Eigen<Complex>& eigen, double rounding) {
  const std::size_t n = eigen.values.size();
  for (Complex& value : eigen.values) {
    if (std::abs(value.imag()) <= rounding) value = value.real();
  }
  ComplexMatrix& vectors = eigen.vectors;
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t partner = partner_of(eigen.values, k);
    if (partner == k) {
      eigen.values[k] = eigen.values[k].real();
      for (std::size_t i = 0; i < n; ++i) vectors(i, k) = vectors(i, k).real();
      normalize_column(vectors, k);
      continue;
    }
    const bool positive = eigen.values[k].imag() > 0;
    const Complex value = (eigen.values[k] + std::conj(eigen.values[partner])) / 2.0;
    const Complex upper = positive ? value : std::conj(value);
    std::rotate(eigen.values.begin() + static_cast<std::ptrdiff_t>(k) + 1,
                eigen.values.begin() + static_cast<std::ptrdiff_t>(partner),
                eigen.values.begin() + static_cast<std::ptrdiff_t>(partner) + 1);
    eigen.values[k] = upper;
    eigen.values[k + 1] = std::conj(upper);
    for (std::size_t i = 0; i < n; ++i) {
      const Complex element = positive ? vectors(i, k) : std::conj(vectors(i, k));
      for (std::size_t j = partner; j > k + 1; --j) vectors(i, j) = vectors(i, j - 1);
      vectors(i, k) = element;
      vectors(i, k + 1) = std::conj(element);
    }
    ++k;
  }
}

}  // namespace

Eigen<Complex> general_eigen(const ComplexMatrix& a, bool real) {
  const std::size_t n = a.rows();
  Eigen<Complex> made{{}, ComplexMatrix(n, n)};
  if (n == 0) return made;
  const double size = size_of_matrix(a), scale = size > 0 ? size : 1;
  Schur schur{a, identity(n)};
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j)
      schur.t(i, j) = {a(i, j).real() / scale, a(i, j).imag() / scale};
  }
  make_hessenberg(schur);
  made.failed = static_cast<std::int32_t>(make_triangular(schur));
  if (made.failed != 0) return made;
  made.vectors = vectors_of(schur);
  for (std::size_t k = 0; k < n; ++k) {
    made.values.push_back(schur.t(k, k) * scale);
    turn_to_real(made.vectors, k);
  }
  if (real) restore_conjugates(made, 4 * epsilon * static_cast<double>(n) * size);
  return made;
}

}  // namespace heddle::ir::interpreter
