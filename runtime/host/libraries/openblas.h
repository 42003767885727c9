#pragma once

#include <cstddef>
#include <string>

#include "runtime/libraries/blas.h"

// OpenBLAS, which has BLAS and LAPACK: opened when first needed.

namespace heddle::runtime::openblas {

const std::string& unavailable_reason();
/// Products have no extent of 0.
void gemm(const Gemm& product, const void* a, const void* b, void* out);

template <class T>
using GemmFunction = void (*)(int order, int transpose_a, int transpose_b, int m, int n, int k,
                              T alpha, const T* a, int lda, const T* b, int ldb, T beta, T* c,
                              int ldc);

/// Of complex numbers, which are passed by address.
using ComplexGemmFunction = void (*)(int order, int transpose_a, int transpose_b, int m, int n,
                                     int k, const void* alpha, const void* a, int lda,
                                     const void* b, int ldb, const void* beta, void* c, int ldc);

template <class T>
using GemvFunction = void (*)(int order, int transpose_a, int m, int n, T alpha, const T* a,
                              int lda, const T* x, int incx, T beta, T* y, int incy);

using ComplexGemvFunction = void (*)(int order, int transpose_a, int m, int n, const void* alpha,
                                     const void* a, int lda, const void* x, int incx,
                                     const void* beta, void* y, int incy);

/// The two products of a dtype.
template <class GemmOf, class GemvOf>
struct Functions {
  GemmOf gemm = nullptr;
  GemvOf gemv = nullptr;
};

/// LAPACK's Cholesky factorisation. Arguments by address, columns first; T is what elements are.
template <class T>
using PotrfFunction = void (*)(const char* triangle, const int* n, T* matrix, const int* leading,
                               int* info, std::size_t triangle_length);

struct Api {
  Functions<GemmFunction<float>, GemvFunction<float>> f32;
  Functions<GemmFunction<double>, GemvFunction<double>> f64;
  Functions<ComplexGemmFunction, ComplexGemvFunction> c64, c128;
  PotrfFunction<void> spotrf = nullptr, dpotrf = nullptr, cpotrf = nullptr, zpotrf = nullptr;
  std::string reason;         ///< why it cannot be used; empty where it can
  std::string lapack_reason;  ///< why it has no LAPACK
};

/// While one has `entered`, OpenBLAS is not ended. Where the process ends, none enters.
class Inside {
 public:
  Inside();
  ~Inside();
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

  bool entered = false;
};

/// The functions. Called inside.
const Api& loaded();

}  // namespace heddle::runtime::openblas
