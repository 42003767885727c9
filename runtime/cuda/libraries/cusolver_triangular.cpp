#include <algorithm>

#include "runtime/cuda/libraries/cublas_library.h"
#include "runtime/cuda/libraries/cusolver_library.h"

namespace heddle::runtime::cusolver {

namespace {

cublas::Operation operation_of(TriangularSystem::Transpose transpose) {
  if (transpose == TriangularSystem::Transpose::none) return cublas::Operation::none;
  return transpose == TriangularSystem::Transpose::transpose
             ? cublas::Operation::transpose
             : cublas::Operation::conjugate_transpose;
}

}  // namespace

void solve_triangular(const TriangularSystem& system, const void* a, void* b,
                      const Allocate& allocate, const Stream& stream) {
  const cublas::Session session(stream);
  const cublas::Routines& routines = cublas::routines(system.dtype);
  // cuBLAS is column-major and sees transposes: x^T op(a)^T = b^T, where a^T has the other
  // triangle.
  const cublas::Side side = cublas::Side::right;
  const cublas::Fill triangle = system.lower ? cublas::Fill::upper : cublas::Fill::lower;
  const cublas::Operation operation = operation_of(system.transpose);
  const cublas::Diagonal diagonal =
      system.unit ? cublas::Diagonal::unit : cublas::Diagonal::non_unit;
  // A complex factor reads both numbers; a real one the first.
  const double wide_one[] = {1, 0};
  const float narrow_one[] = {1, 0};
  const void* const one =
      real_dtype(system.dtype) == DType::f64 ? static_cast<const void*>(wide_one) : narrow_one;
  const std::int64_t n = system.n, columns = system.columns;
  const auto a_bytes = static_cast<std::size_t>(n * n) * size_of(system.dtype);
  const auto b_bytes = static_cast<std::size_t>(n * columns) * size_of(system.dtype);
  auto* const matrices = const_cast<void*>(a);  // cuBLAS reads them
  if (in_one_call(std::max(n, columns), system.batch, stream)) {
    const BufferRef as = addresses_of(matrices, system.batch, a_bytes, allocate, stream);
    const BufferRef bs = addresses_of(b, system.batch, b_bytes, allocate, stream);
    cublas::check(routines.trsm(session.handle(), side, triangle, operation, diagonal,
                                static_cast<int>(columns), static_cast<int>(n), one,
                                static_cast<void**>(as->pointer()), static_cast<int>(n),
                                static_cast<void**>(bs->pointer()), static_cast<int>(columns),
                                static_cast<int>(system.batch)),
                  "cublas<t>trsmBatched");
    return;
  }
  for (std::int64_t i = 0; i < system.batch; ++i) {
    cublas::check(
        routines.trsm_single(session.handle(), side, triangle, operation, diagonal, columns, n, one,
                             matrix_at(matrices, i, a_bytes), n, matrix_at(b, i, b_bytes), columns),
        "cublas<t>trsm");
  }
}

}  // namespace heddle::runtime::cusolver
