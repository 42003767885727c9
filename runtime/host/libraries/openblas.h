#pragma once

#include <cstddef>
#include <string>

#include "runtime/host/libraries/lapack_api.h"
#include "runtime/libraries/blas.h"

// OpenBLAS, a library that contains BLAS and LAPACK. It is opened at its first use.

namespace heddle::runtime::openblas {

const std::string& unavailable_reason();
/// Products must not have an extent of 0.
void gemm(const Gemm& product, const void* a, const void* b, void* out);

template <class T>
using GemmFunction = void (*)(int order, int transpose_a, int transpose_b, int m, int n, int k,
                              T alpha, const T* a, int lda, const T* b, int ldb, T beta, T* c,
                              int ldc);

/// As GemmFunction, for complex numbers. alpha and beta are passed by address.
using ComplexGemmFunction = void (*)(int order, int transpose_a, int transpose_b, int m, int n,
                                     int k, const void* alpha, const void* a, int lda,
                                     const void* b, int ldb, const void* beta, void* c, int ldc);

template <class T>
using GemvFunction = void (*)(int order, int transpose_a, int m, int n, T alpha, const T* a,
                              int lda, const T* x, int incx, T beta, T* y, int incy);

using ComplexGemvFunction = void (*)(int order, int transpose_a, int m, int n, const void* alpha,
                                     const void* a, int lda, const void* x, int incx,
                                     const void* beta, void* y, int incy);

/// C = alpha * A * A.T + beta * C, or with A.T * A, of which one triangle is computed.
template <class T>
using SyrkFunction = void (*)(int order, int triangle, int transpose_a, int n, int k, T alpha,
                              const T* a, int lda, T beta, T* c, int ldc);

using ComplexSyrkFunction = void (*)(int order, int triangle, int transpose_a, int n, int k,
                                     const void* alpha, const void* a, int lda, const void* beta,
                                     void* c, int ldc);

/// As SyrkFunction, with the conjugate transpose of A. `Part` is the type of its parts.
template <class Part>
using HerkFunction = void (*)(int order, int triangle, int transpose_a, int n, int k, Part alpha,
                              const void* a, int lda, Part beta, void* c, int ldc);

/// The product functions of a dtype.
template <class GemmOf, class GemvOf, class SyrkOf>
struct Functions {
  GemmOf gemm = nullptr;
  GemvOf gemv = nullptr;
  SyrkOf syrk = nullptr;
};
template <class T>
using RealFunctions = Functions<GemmFunction<T>, GemvFunction<T>, SyrkFunction<T>>;
template <class Part>
struct ComplexFunctions : Functions<ComplexGemmFunction, ComplexGemvFunction, ComplexSyrkFunction> {
  HerkFunction<Part> herk = nullptr;
};

struct Api {
  RealFunctions<float> f32;
  RealFunctions<double> f64;
  ComplexFunctions<float> c64;
  ComplexFunctions<double> c128;
  lapack::Api lapack;
  void (*set_threads)(int count) = nullptr;
  std::string reason;         ///< why it cannot be used; empty if it can
  std::string lapack_reason;  ///< why LAPACK cannot be used; empty if it can
};

/// Keeps OpenBLAS loaded while it lives, if `entered` is true. `entered` is false if the process
/// was already exiting; OpenBLAS must not be called then.
class Inside {
 public:
  Inside();
  ~Inside();
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

  bool entered = false;
};

/// The function table. Call it only while an `Inside` that has entered lives.
const Api& loaded();

/// While an instance lives, OpenBLAS starts no threads of its own. It does for matrices that are
/// too small for that, and its calls from several threads wait for each other then. The setting is
/// the process's: products that other threads begin meanwhile run on one thread each. Create only
/// inside.
class WithoutThreads {
 public:
  WithoutThreads();
  ~WithoutThreads();
  WithoutThreads(const WithoutThreads&) = delete;
  WithoutThreads& operator=(const WithoutThreads&) = delete;
};

}  // namespace heddle::runtime::openblas
