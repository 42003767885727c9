#include "runtime/host/libraries/lapack.h"
#include "runtime/host/libraries/lapack_session.h"

namespace heddle::runtime::lapack {

namespace {

/// Two of OpenBLAS's threads take 1.2 to 1.9 times as long as one below this extent.
constexpr std::int64_t threads_pay_for_cholesky = 256;

}  // namespace

void cholesky(DType dtype, bool upper, std::int64_t n, std::int64_t batch, void* matrices,
              std::int32_t* infos) {
  const int extent = checked_extent(n);
  const Session session(dtype);
  const auto bytes = static_cast<std::size_t>(n * n) * size_of(dtype);
  const auto order = static_cast<double>(n);
  const double work = order * order * order / 3;
  for_parts_alone(batch, n, threads_pay_for_cholesky, work,
                  [&](std::int64_t begin, std::int64_t end) {
                    // LAPACK is column-major: our lower triangle is the upper one of the transpose,
                    // and L^T its factor.
                    const char triangle = upper ? 'L' : 'U';
                    for (std::int64_t i = begin; i < end; ++i) {
                      session.routines().potrf(&triangle, &extent, matrix_at(matrices, i, bytes),
                                               &extent, infos + i, 1);
                    }
                  });
}

}  // namespace heddle::runtime::lapack
