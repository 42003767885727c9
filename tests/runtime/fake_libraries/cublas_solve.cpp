// LU factors, QR factors and triangular systems of the fake cuBLAS, at once and on the host. The
// call that HEDDLE_FAKE_CUBLAS_FAILS names fails; calls are appended to HEDDLE_FAKE_CUSOLVER_LOG.

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/runtime/fake_libraries/dense.h"
#include "tests/runtime/fake_libraries/stream_order.h"

namespace {

struct Handle {
  void* stream = nullptr;
};

constexpr int success = 0, execution_failed = 13;

int begin(const std::string& call, void* handle) {
  const auto variable = [](const char* name) {
    const char* const text = std::getenv(name);
    return std::string(text != nullptr ? text : "");
  };
  std::ofstream(variable("HEDDLE_FAKE_CUSOLVER_LOG"), std::ios::app) << call << "\n";
  if (variable("HEDDLE_FAKE_CUBLAS_FAILS") == call) return execution_failed;
  finish_before(static_cast<Handle*>(handle)->stream);
  return success;
}

template <class T>
dense::Matrix<T> matrix_of(const void* elements, std::int64_t leading) {
  return {static_cast<T*>(const_cast<void*>(elements)), leading};
}

template <class T>
int getrf(const char* name, void* handle, int n, void** matrices, int leading, int* pivots,
          int* infos, int batch) {
  if (const int status = begin(name, handle); status != success) return status;
  for (int i = 0; i < batch; ++i)
    infos[i] = dense::lu(n, n, matrix_of<T>(matrices[i], leading), pivots + i * n);
  return success;
}

template <class T>
int getrs(const char* name, void* handle, int operation, int n, int columns, const void* const* lu,
          int leading, const int* pivots, void** b, int b_leading, int* info, int batch) {
  if (const int status = begin(name, handle); status != success) return status;
  *info = 0;
  for (int i = 0; i < batch; ++i) {
    dense::lu_solve(operation, n, columns, matrix_of<T>(lu[i], leading), pivots + i * n,
                    matrix_of<T>(b[i], b_leading));
  }
  return success;
}

template <class T>
int geqrf(const char* name, void* handle, int m, int n, void** matrices, int leading, void** tau,
          int* info, int batch) {
  if (const int status = begin(name, handle); status != success) return status;
  *info = 0;
  for (int i = 0; i < batch; ++i)
    dense::qr(m, n, matrix_of<T>(matrices[i], leading), static_cast<T*>(tau[i]));
  return success;
}

constexpr int right = 1, lower = 0, unit = 1, invalid_value = 7;

template <class T>
int trsm_batched(const char* name, void* handle, int side, int triangle, int operation,
                 int diagonal, int m, int n, const void* factor, const void* const* matrices,
                 int leading, void** b, int b_leading, int batch) {
  if (const int status = begin(name, handle); status != success) return status;
  if (side != right || *static_cast<const T*>(factor) != T(1)) return invalid_value;
  for (int i = 0; i < batch; ++i) {
    dense::solve_right(triangle == lower, operation, diagonal == unit, m, n,
                       matrix_of<T>(matrices[i], leading), matrix_of<T>(b[i], b_leading));
  }
  return success;
}

template <class T>
int trsm(const char* name, void* handle, int side, int triangle, int operation, int diagonal,
         std::int64_t m, std::int64_t n, const void* factor, const void* matrix,
         std::int64_t leading, void* b, std::int64_t b_leading) {
  if (const int status = begin(name, handle); status != success) return status;
  if (side != right || *static_cast<const T*>(factor) != T(1)) return invalid_value;
  dense::solve_right(triangle == lower, operation, diagonal == unit, m, n,
                     matrix_of<T>(matrix, leading), matrix_of<T>(b, b_leading));
  return success;
}

}  // namespace

extern "C" {

// clang-format off
#define HEDDLE_FAKE_CUBLAS_ROUTINES(letter, T)                                                     \
  int cublas##letter##getrfBatched(void* handle, int n, void** matrices, int leading, int* pivots, \
                                   int* infos, int batch) {                                        \
    return getrf<T>(#letter "getrfBatched", handle, n, matrices, leading, pivots, infos, batch);   \
  }                                                                                                \
  int cublas##letter##getrsBatched(void* handle, int operation, int n, int columns,                \
                                   const void* const* lu, int leading, const int* pivots,          \
                                   void** b, int b_leading, int* info, int batch) {                \
    return getrs<T>(#letter "getrsBatched", handle, operation, n, columns, lu, leading, pivots, b, \
                    b_leading, info, batch);                                                       \
  }                                                                                                \
  int cublas##letter##geqrfBatched(void* handle, int m, int n, void** matrices, int leading,       \
                                   void** tau, int* info, int batch) {                             \
    return geqrf<T>(#letter "geqrfBatched", handle, m, n, matrices, leading, tau, info, batch);    \
  }                                                                                                \
  int cublas##letter##trsmBatched(void* handle, int side, int triangle, int operation,             \
                                  int diagonal, int m, int n, const void* factor,                  \
                                  const void* const* matrices, int leading, void** b,              \
                                  int b_leading, int batch) {                                      \
    return trsm_batched<T>(#letter "trsmBatched", handle, side, triangle, operation, diagonal, m,  \
                           n, factor, matrices, leading, b, b_leading, batch);                     \
  }                                                                                                \
  int cublas##letter##trsm_v2_64(void* handle, int side, int triangle, int operation,              \
                                 int diagonal, std::int64_t m, std::int64_t n,                     \
                                 const void* factor, const void* matrix, std::int64_t leading,     \
                                 void* b, std::int64_t b_leading) {                                \
    return trsm<T>(#letter "trsm", handle, side, triangle, operation, diagonal, m, n, factor,      \
                   matrix, leading, b, b_leading);                                                 \
  }
HEDDLE_FAKE_CUBLAS_ROUTINES(S, float)
HEDDLE_FAKE_CUBLAS_ROUTINES(D, double)
HEDDLE_FAKE_CUBLAS_ROUTINES(C, std::complex<float>)
HEDDLE_FAKE_CUBLAS_ROUTINES(Z, std::complex<double>)
#undef HEDDLE_FAKE_CUBLAS_ROUTINES
// clang-format on

}  // extern "C"
