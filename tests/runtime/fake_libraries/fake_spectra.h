#pragma once

// What the fake cuSOLVER's singular values and eigenvalues share: elements of matrices, columns
// first, whose type is a number of cuSOLVER's.

#include <complex>
#include <cstdint>
#include <cstring>

#include "ir/calls/spectral.h"
#include "tests/runtime/fake_libraries/fake_cusolver.h"
#include "tests/runtime/fake_libraries/stream_order.h"

namespace fake_cusolver {

using heddle::ir::interpreter::Complex;
using heddle::ir::interpreter::ComplexMatrix;

constexpr int lower = 0;
constexpr int with_vectors = 1;

/// The stream of a handle, which is the first member of it.
inline void finish(void* handle) { finish_before(*static_cast<void**>(handle)); }

inline bool is_single(int type) { return type == f32 || type == c64; }
inline bool is_complex(int type) { return type == c64 || type == c128; }
inline int real_type(int type) { return is_single(type) ? f32 : f64; }
inline int complex_type(int type) { return is_single(type) ? c64 : c128; }
inline std::size_t size_of(int type) {
  return (is_single(type) ? 4U : 8U) * (is_complex(type) ? 2U : 1U);
}

inline double part(const void* memory, int type, std::size_t k) {
  return is_single(type) ? static_cast<double>(static_cast<const float*>(memory)[k])
                         : static_cast<const double*>(memory)[k];
}
inline void set_part(void* memory, int type, std::size_t k, double to) {
  if (is_single(type))
    static_cast<float*>(memory)[k] = static_cast<float>(to);
  else
    static_cast<double*>(memory)[k] = to;
}

inline Complex get(const void* memory, int type, std::size_t k) {
  if (!is_complex(type)) return part(memory, type, k);
  return {part(memory, type, 2 * k), part(memory, type, 2 * k + 1)};
}
inline void put(void* memory, int type, std::size_t k, Complex to) {
  if (!is_complex(type)) return set_part(memory, type, k, to.real());
  set_part(memory, type, 2 * k, to.real());
  set_part(memory, type, 2 * k + 1, to.imag());
}

inline void* item(void* memory, int type, std::int64_t elements) {
  return static_cast<std::byte*>(memory) + static_cast<std::size_t>(elements) * size_of(type);
}

inline ComplexMatrix read(const void* memory, int type, std::int64_t m, std::int64_t n,
                          std::int64_t leading) {
  ComplexMatrix made(static_cast<std::size_t>(m), static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < made.rows(); ++i) {
    for (std::size_t j = 0; j < made.columns(); ++j)
      made(i, j) = get(memory, type, j * static_cast<std::size_t>(leading) + i);
  }
  return made;
}
inline void write(const ComplexMatrix& matrix, void* memory, int type, std::int64_t leading) {
  for (std::size_t i = 0; i < matrix.rows(); ++i) {
    for (std::size_t j = 0; j < matrix.columns(); ++j)
      put(memory, type, j * static_cast<std::size_t>(leading) + i, matrix(i, j));
  }
}

inline void spoil(void* matrix, int type, std::int64_t elements) {
  std::memset(matrix, 0x5a, static_cast<std::size_t>(elements) * size_of(type));
}

/// Of the Hermitian matrix of which one triangle is given.
inline void solve_hermitian(int mode, int triangle, std::int64_t n, int type, void* a,
                            std::int64_t lda, void* w) {
  ComplexMatrix matrix = read(a, type, n, n, lda);
  for (std::size_t i = 0; i < matrix.rows(); ++i) {
    matrix(i, i) = matrix(i, i).real();
    for (std::size_t j = 0; j < i; ++j) {
      if (triangle == lower)
        matrix(j, i) = std::conj(matrix(i, j));
      else
        matrix(i, j) = std::conj(matrix(j, i));
    }
  }
  const auto made = heddle::ir::interpreter::hermitian_eigen(matrix);
  for (std::size_t j = 0; j < made.values.size(); ++j) put(w, real_type(type), j, made.values[j]);
  spoil(a, type, lda * n);
  if (mode == with_vectors) write(made.vectors, a, type, lda);
}

}  // namespace fake_cusolver
