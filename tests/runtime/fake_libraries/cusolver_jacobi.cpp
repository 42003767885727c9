// The fake cuSOLVER's Jacobi methods, of which some take stacks of matrices, by the interpreter's
// algorithms, columns first, at once and on the host.

#include <algorithm>
#include <cstdint>
#include <string>

#include "tests/runtime/fake_libraries/fake_spectra.h"

using namespace fake_cusolver;

namespace {

/// What a call computes: the factors of m by n matrices.
struct Problem {
  std::string name;
  int type, mode;
  bool square;  ///< both factors
  int m, n, lda, ldu, ldv;
  bool is_right() const {
    const bool leads = lda >= m && ldu >= m && ldv >= n;
    return (mode == 0 || mode == with_vectors) && m >= 1 && n >= 1 && leads;
  }
};

int singular_size(const Problem& problem, int* size, int batch) {
  if (const int status = asked(problem.name + "_bufferSize"); status != success) return status;
  if (!problem.is_right() || batch < 1) return invalid_value;
  return *size = 10 * batch, success;
}

/// The real library writes to u and v also if it is asked for values only.
int singular(const Problem& problem, void* handle, void* a, void* s, void* u, void* v, void* work,
             int size, int* infos, const void* options, int batch) {
  if (const int status = asked(problem.name); status != success) return status;
  const auto& [name, type, mode, square, m, n, lda, ldu, ldv] = problem;
  if (!problem.is_right() || options == nullptr || !is_on_device(a) || !is_on_device(s) ||
      !is_on_device(infos) || !is_on_device(u) || !is_on_device(v))
    return invalid_value;
  if (size < 10 * batch || !is_on_device(work)) return invalid_workspace;
  finish(handle);
  const std::int64_t k = std::min(m, n);
  const std::int64_t of_u = ldu * (square ? m : k), of_v = ldv * (square ? n : k);
  for (int i = 0; i < batch; ++i) {
    void* const matrix = item(a, type, std::int64_t{i} * lda * n);
    const auto made =
        heddle::ir::interpreter::singular_decomposition(read(matrix, type, m, n, lda), square);
    for (std::size_t j = 0; j < made.values.size(); ++j)
      put(item(s, real_type(type), i * k), real_type(type), j, made.values[j]);
    spoil(item(u, type, i * of_u), type, of_u);
    spoil(item(v, type, i * of_v), type, of_v);
    if (mode == with_vectors) {
      write(made.u, item(u, type, i * of_u), type, ldu);
      write(conjugate_transpose(made.vh), item(v, type, i * of_v), type, ldv);
    }
    spoil(matrix, type, std::int64_t{lda} * n);
    infos[i] = 0;
  }
  return success;
}

int hermitian_size(const std::string& name, int mode, int n, int lda, int* size,
                   const void* options, int batch) {
  if (const int status = asked(name + "_bufferSize"); status != success) return status;
  if (mode < 0 || mode > with_vectors || n < 1 || n > 32 || lda < n || batch < 1 ||
      options == nullptr)
    return invalid_value;
  return *size = 7 * batch, success;
}

int hermitian(const std::string& name, int type, void* handle, int mode, int triangle, int n,
              void* a, int lda, void* w, void* work, int size, int* infos, const void* options,
              int batch) {
  if (const int status = asked(name); status != success) return status;
  if (options == nullptr || !is_on_device(a) || !is_on_device(w) || !is_on_device(infos))
    return invalid_value;
  if (size < 7 * batch || !is_on_device(work)) return invalid_workspace;
  finish(handle);
  for (int i = 0; i < batch; ++i) {
    solve_hermitian(mode, triangle, n, type, item(a, type, std::int64_t{i} * lda * n), lda,
                    item(w, real_type(type), std::int64_t{i} * n));
    infos[i] = 0;
  }
  return success;
}

}  // namespace

extern "C" {

int cusolverDnCreateGesvdjInfo(void** options) {
  if (const int status = asked("CreateGesvdjInfo"); status != success) return status;
  return *options = new int(0), success;
}
int cusolverDnXgesvdjSetTolerance(void* options, double tolerance) {
  if (const int status = asked("SetTolerance"); status != success) return status;
  return options == nullptr || !(tolerance > 0 && tolerance < 1e-6) ? invalid_value : success;
}
int cusolverDnDestroyGesvdjInfo(void* options) {
  return delete static_cast<int*>(options), asked("DestroyGesvdjInfo");
}

int cusolverDnCreateSyevjInfo(void** options) {
  if (const int status = asked("CreateSyevjInfo"); status != success) return status;
  return *options = new int(0), success;
}
int cusolverDnDestroySyevjInfo(void* options) {
  return delete static_cast<int*>(options), asked("DestroySyevjInfo");
}

#define HEDDLE_FAKE_JACOBI(letter, hermitian_name, type)                                           \
  int cusolverDn##letter##gesvdjBatched_bufferSize(                                                \
      void*, int mode, int m, int n, const void*, int lda, const void*, const void*, int ldu,      \
      const void*, int ldv, int* size, void*, int batch) {                                         \
    if (m > 32 || n > 32) return invalid_value;                                                    \
    return singular_size({#letter "gesvdjBatched", type, mode, true, m, n, lda, ldu, ldv}, size,   \
                         batch);                                                                   \
  }                                                                                                \
  int cusolverDn##letter##gesvdjBatched(void* handle, int mode, int m, int n, void* a, int lda,    \
                                        void* s, void* u, int ldu, void* v, int ldv, void* work,   \
                                        int size, int* infos, void* options, int batch) {          \
    return singular({#letter "gesvdjBatched", type, mode, true, m, n, lda, ldu, ldv}, handle, a,   \
                    s, u, v, work, size, infos, options, batch);                                   \
  }                                                                                                \
  int cusolverDn##letter##gesvdj_bufferSize(void*, int mode, int economy, int m, int n,            \
                                            const void*, int lda, const void*, const void*,        \
                                            int ldu, const void*, int ldv, int* size, void*) {     \
    return singular_size({#letter "gesvdj", type, mode, economy == 0, m, n, lda, ldu, ldv}, size,  \
                         1);                                                                       \
  }                                                                                                \
  int cusolverDn##letter##gesvdj(void* handle, int mode, int economy, int m, int n, void* a,       \
                                 int lda, void* s, void* u, int ldu, void* v, int ldv, void* work, \
                                 int size, int* info, void* options) {                             \
    return singular({#letter "gesvdj", type, mode, economy == 0, m, n, lda, ldu, ldv}, handle, a,  \
                    s, u, v, work, size, info, options, 1);                                        \
  }                                                                                                \
  int cusolverDn##hermitian_name##Batched_bufferSize(void*, int mode, int, int n, const void*,     \
                                                     int lda, const void*, int* size,              \
                                                     void* options, int batch) {                   \
    return hermitian_size(#hermitian_name "Batched", mode, n, lda, size, options, batch);          \
  }                                                                                                \
  int cusolverDn##hermitian_name##Batched(void* handle, int mode, int triangle, int n, void* a,    \
                                          int lda, void* w, void* work, int size, int* infos,      \
                                          void* options, int batch) {                              \
    return hermitian(#hermitian_name "Batched", type, handle, mode, triangle, n, a, lda, w, work,  \
                     size, infos, options, batch);                                                 \
  }
HEDDLE_FAKE_JACOBI(S, Ssyevj, f32)
HEDDLE_FAKE_JACOBI(D, Dsyevj, f64)
HEDDLE_FAKE_JACOBI(C, Cheevj, c64)
HEDDLE_FAKE_JACOBI(Z, Zheevj, c128)
#undef HEDDLE_FAKE_JACOBI

}  // extern "C"
