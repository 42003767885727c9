#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "heddle/error.h"

#include "runtime/host/libraries/openblas.h"

namespace heddle::runtime::openblas {

namespace {

enum Order : int { row_major = 101 };
enum Transpose : int { no_transpose = 111, transpose = 112, conjugate_transpose = 113 };
enum Triangle : int { upper = 121 };

int narrow(std::int64_t value) {
  if (value > std::numeric_limits<int>::max()) {
    throw DeviceError(fmt::format(
        "OpenBLAS takes extents and row distances up to 2^31 - 1 elements, not {}", value));
  }
  return static_cast<int>(value);
}

int transpose_if(bool transposed, bool conjugated) {
  if (!transposed) return no_transpose;
  return conjugated ? conjugate_transpose : transpose;
}
int transpose_of_a(const Gemm& p) { return transpose_if(p.a_transposed, p.a_conjugated); }
int transpose_of_b(const Gemm& p) { return transpose_if(p.b_transposed, p.b_conjugated); }

/// A matrix-vector product: out = matrix x vector, or with the matrix transposed.
struct Gemv {
  bool matrix_is_a = false;
  int transpose = no_transpose;
  int rows = 0, columns = 0;  ///< of the matrix as stored
  int leading = 0, vector_step = 1;
};

/// The product as a matrix-vector product, if an operand is a row or a column.
std::optional<Gemv> matrix_times_vector(const Gemm& p) {
  const int rows = narrow(p.rows), columns = narrow(p.columns), depth = narrow(p.depth);
  const int a_leading = narrow(p.a_leading), b_leading = narrow(p.b_leading);
  if (columns == 1 && !p.b_conjugated) {
    const int step = p.b_transposed ? 1 : b_leading;
    if (p.a_transposed) return Gemv{true, transpose_of_a(p), depth, rows, a_leading, step};
    return Gemv{true, no_transpose, rows, depth, a_leading, step};
  }
  if (rows == 1 && !p.a_conjugated && !p.b_conjugated) {
    const int step = p.a_transposed ? a_leading : 1;
    if (p.b_transposed) return Gemv{false, no_transpose, columns, depth, b_leading, step};
    return Gemv{false, transpose, depth, columns, b_leading, step};
  }
  return std::nullopt;
}

/// The same, unless OpenBLAS may read beyond the vector (see SpareColumn).
std::optional<Gemv> as_gemv(const Gemm& p) {
  const std::optional<Gemv> product = matrix_times_vector(p);
  const bool reads_beyond = is_complex(p.dtype) && product && product->transpose != no_transpose &&
                            product->vector_step != 1;
  return reads_beyond ? std::nullopt : product;
}

/// A product of a matrix and its transpose has a symmetric result; one of a matrix and its
/// conjugate transpose, a Hermitian one.
enum class Symmetry : std::uint8_t { none, symmetric, hermitian };

Symmetry symmetry_of(const Gemm& p, const void* a, const void* b) {
  const bool of_transpose = a == b && p.a_transposed != p.b_transposed && p.rows == p.columns &&
                            p.a_leading == p.b_leading && p.a_batch_stride == p.b_batch_stride;
  if (!of_transpose) return Symmetry::none;
  return p.a_conjugated || p.b_conjugated ? Symmetry::hermitian : Symmetry::symmetric;
}

template <class T>
T conjugate(T value) {
  return value;
}
template <class Part>
std::complex<Part> conjugate(std::complex<Part> value) {
  return std::conj(value);
}

/// Copies the elements above the diagonal of an n x n matrix to those below it, tile by tile; their
/// conjugates if it is Hermitian.
template <class T>
void mirror_upper(T* matrix, std::int64_t n, Symmetry symmetry) {
  const bool conjugates = symmetry == Symmetry::hermitian;
  constexpr std::int64_t edge = 32;
  for (std::int64_t top = 0; top < n; top += edge) {
    for (std::int64_t left = top; left < n; left += edge) {
      for (std::int64_t i = top; i < std::min(top + edge, n); ++i) {
        for (std::int64_t j = std::max(left, i + 1); j < std::min(left + edge, n); ++j)
          matrix[j * n + i] = conjugates ? conjugate(matrix[i * n + j]) : matrix[i * n + j];
      }
    }
  }
}

/// The triangle on and above the diagonal of a product of a matrix and its conjugate transpose,
/// one of which `matrix` is. herk makes the diagonal real; where a sum is not finite, the
/// imaginary parts of its terms may be NaN, and are added, too.
template <class Part>
void multiply_by_own_conjugate(const ComplexFunctions<Part>& functions, const Gemm& p,
                               const std::complex<Part>* matrix, std::complex<Part>* result) {
  const bool by_columns = p.a_transposed;
  functions.herk(row_major, upper, by_columns ? conjugate_transpose : no_transpose, narrow(p.rows),
                 narrow(p.depth), Part(1), matrix, narrow(p.a_leading), Part(0), result,
                 narrow(p.rows));
  const std::int64_t across = by_columns ? 1 : p.a_leading, along = by_columns ? p.a_leading : 1;
  for (std::int64_t i = 0; i < p.rows; ++i) {
    std::complex<Part>& sum = result[i * p.rows + i];
    if (std::isfinite(sum.real())) continue;
    Part imaginary(0);
    for (std::int64_t k = 0; k < p.depth; ++k) {
      const std::complex<Part> one = matrix[i * across + k * along];
      imaginary += one.real() * one.imag() - one.imag() * one.real();
    }
    sum = {sum.real(), imaginary};
  }
}

template <class T>
inline constexpr bool is_complex_type = false;
template <class Part>
inline constexpr bool is_complex_type<std::complex<Part>> = true;

/// Calls gemm for each product of the batch; gemv, syrk or herk where one is possible, because they
/// are faster. T is the element type, Factor the type of alpha and beta.
template <class T, class Functions, class Factor>
void multiply(const Functions& functions, Factor one, Factor zero, const Gemm& p, const void* a,
              const void* b, void* out) {
  const std::optional<Gemv> vector = as_gemv(p);
  const Symmetry symmetry = symmetry_of(p, a, b);
  for (std::int64_t i = 0; i < p.batch; ++i) {
    const T* const left = static_cast<const T*>(a) + i * p.a_batch_stride;
    const T* const right = static_cast<const T*>(b) + i * p.b_batch_stride;
    T* const result = static_cast<T*>(out) + i * p.out_batch_stride;
    // Some releases multiply the existing values by the factor 0, even if they are NaN.
    if (vector || symmetry != Symmetry::none) std::fill_n(result, p.rows * p.columns, T(0));
    if (vector) {
      functions.gemv(row_major, vector->transpose, vector->rows, vector->columns, one,
                     vector->matrix_is_a ? left : right, vector->leading,
                     vector->matrix_is_a ? right : left, vector->vector_step, zero, result, 1);
    } else if (symmetry == Symmetry::symmetric) {
      functions.syrk(row_major, upper, transpose_of_a(p), narrow(p.rows), narrow(p.depth), one,
                     left, narrow(p.a_leading), zero, result, narrow(p.rows));
    } else if (symmetry == Symmetry::hermitian) {
      if constexpr (is_complex_type<T>) multiply_by_own_conjugate(functions, p, left, result);
    } else {
      functions.gemm(row_major, transpose_of_a(p), transpose_of_b(p), narrow(p.rows),
                     narrow(p.columns), narrow(p.depth), one, left, narrow(p.a_leading), right,
                     narrow(p.b_leading), zero, result, narrow(p.columns));
    }
    if (symmetry != Symmetry::none && !vector) mirror_upper(result, p.rows, symmetry);
  }
}

template <class Part>
void multiply_complex(const ComplexFunctions<Part>& functions, const Gemm& p, const void* a,
                      const void* b, void* out) {
  using Element = std::complex<Part>;
  const Element one(1), zero(0);
  multiply<Element, ComplexFunctions<Part>, const void*>(functions, &one, &zero, p, a, b, out);
}

/// For static destructors, and for threads that still work while the process exits.
template <class T>
void multiply_without_library(const Gemm& p, const void* a, const void* b, void* out) {
  const std::int64_t a_row = p.a_transposed ? 1 : p.a_leading;
  const std::int64_t a_step = p.a_transposed ? p.a_leading : 1;
  const std::int64_t b_column = p.b_transposed ? p.b_leading : 1;
  const std::int64_t b_step = p.b_transposed ? 1 : p.b_leading;
  const auto term = [](T value, bool conjugated) { return conjugated ? conjugate(value) : value; };
  T* result = static_cast<T*>(out);
  for (std::int64_t i = 0; i < p.batch; ++i, result += p.out_batch_stride) {
    const T* const left = static_cast<const T*>(a) + i * p.a_batch_stride;
    const T* const right = static_cast<const T*>(b) + i * p.b_batch_stride;
    for (std::int64_t row = 0; row < p.rows; ++row) {
      for (std::int64_t column = 0; column < p.columns; ++column) {
        T sum(0);
        for (std::int64_t k = 0; k < p.depth; ++k) {
          sum += term(left[row * a_row + k * a_step], p.a_conjugated) *
                 term(right[column * b_column + k * b_step], p.b_conjugated);
        }
        result[row * p.columns + column] = sum;
      }
    }
  }
}

void multiply_without_library(const Gemm& product, const void* a, const void* b, void* out) {
  switch (product.dtype) {
    case DType::f32:
      return multiply_without_library<float>(product, a, b, out);
    case DType::f64:
      return multiply_without_library<double>(product, a, b, out);
    case DType::c64:
      return multiply_without_library<std::complex<float>>(product, a, b, out);
    default:
      return multiply_without_library<std::complex<double>>(product, a, b, out);
  }
}

}  // namespace

void gemm(const Gemm& product, const void* a, const void* b, void* out) {
  const Inside inside;
  if (!inside.entered) return multiply_without_library(product, a, b, out);
  const Api& state = loaded();
  if (!state.reason.empty()) {
    throw DeviceError(fmt::format("matrices cannot be multiplied on the CPU: {}", state.reason));
  }
  switch (product.dtype) {
    case DType::f32:
      return multiply<float>(state.f32, 1.0f, 0.0f, product, a, b, out);
    case DType::f64:
      return multiply<double>(state.f64, 1.0, 0.0, product, a, b, out);
    case DType::c64:
      return multiply_complex<float>(state.c64, product, a, b, out);
    default:
      return multiply_complex<double>(state.c128, product, a, b, out);
  }
}

}  // namespace heddle::runtime::openblas
