#pragma once

#include <cstddef>
#include <string>

#include "runtime/base/dynamic_library.h"

// LAPACK's routines, as OpenBLAS exports them. Arguments are passed by address, matrices are
// column-major, extents are 32-bit. The lengths of text arguments follow at the end, by value.

namespace heddle::runtime::lapack {

/// The routines of one element type. Those whose arguments differ for real and complex elements
/// have a pointer for each; the other one is null.
struct Routines {
  // Cholesky.
  void (*potrf)(const char* triangle, const int* n, void* a, const int* lda, int* info,
                std::size_t) = nullptr;
  // LU and triangular solves.
  void (*getrf)(const int* m, const int* n, void* a, const int* lda, int* pivots,
                int* info) = nullptr;
  void (*getrs)(const char* transpose, const int* n, const int* columns, const void* lu,
                const int* ldlu, const int* pivots, void* b, const int* ldb, int* info,
                std::size_t) = nullptr;
  void (*trsm)(const char* side, const char* triangle, const char* transpose, const char* diagonal,
               const int* m, const int* n, const void* factor, const void* a, const int* lda,
               void* b, const int* ldb, std::size_t, std::size_t, std::size_t,
               std::size_t) = nullptr;
  // QR.
  void (*geqrf)(const int* m, const int* n, void* a, const int* lda, void* tau, void* work,
                const int* work_size, int* info) = nullptr;
  /// orgqr, or ungqr for complex elements.
  void (*orgqr)(const int* m, const int* n, const int* k, void* a, const int* lda, const void* tau,
                void* work, const int* work_size, int* info) = nullptr;
  // Singular values.
  void (*gesdd_real)(const char* job, const int* m, const int* n, void* a, const int* lda, void* s,
                     void* u, const int* ldu, void* vt, const int* ldvt, void* work,
                     const int* work_size, int* integer_work, int* info, std::size_t) = nullptr;
  void (*gesdd_complex)(const char* job, const int* m, const int* n, void* a, const int* lda,
                        void* s, void* u, const int* ldu, void* vt, const int* ldvt, void* work,
                        const int* work_size, void* real_work, int* integer_work, int* info,
                        std::size_t) = nullptr;
  // Eigenvalues.
  void (*syevd)(const char* job, const char* triangle, const int* n, void* a, const int* lda,
                void* w, void* work, const int* work_size, int* integer_work,
                const int* integer_work_size, int* info, std::size_t, std::size_t) = nullptr;
  void (*heevd)(const char* job, const char* triangle, const int* n, void* a, const int* lda,
                void* w, void* work, const int* work_size, void* real_work,
                const int* real_work_size, int* integer_work, const int* integer_work_size,
                int* info, std::size_t, std::size_t) = nullptr;
  void (*geev_real)(const char* left_job, const char* right_job, const int* n, void* a,
                    const int* lda, void* w_real, void* w_imaginary, void* left, const int* ldleft,
                    void* right, const int* ldright, void* work, const int* work_size, int* info,
                    std::size_t, std::size_t) = nullptr;
  void (*geev_complex)(const char* left_job, const char* right_job, const int* n, void* a,
                       const int* lda, void* w, void* left, const int* ldleft, void* right,
                       const int* ldright, void* work, const int* work_size, void* real_work,
                       int* info, std::size_t, std::size_t) = nullptr;
};

struct Api {
  Routines f32, f64, c64, c128;
};

/// Fills the table and appends the names of missing functions.
void bind(Api& api, const DynamicLibrary& library, std::string& missing);

}  // namespace heddle::runtime::lapack
