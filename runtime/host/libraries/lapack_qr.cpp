#include <algorithm>
#include <vector>

#include "runtime/host/libraries/lapack.h"
#include "runtime/host/libraries/lapack_session.h"
#include "runtime/host/libraries/matrix_scale.h"

namespace heddle::runtime::lapack {

namespace {

/// The size of a workspace that a routine wrote as the first element of one.
int workspace_size(DType dtype, const void* element) {
  switch (real_dtype(dtype)) {
    case DType::f32:
      return static_cast<int>(*static_cast<const float*>(element));
    default:
      return static_cast<int>(*static_cast<const double*>(element));
  }
}

/// Calls routine(workspace, its size): once to ask for the size, then for each part of the stack.
template <class Routine>
void with_workspace(DType dtype, std::int64_t batch, std::int64_t extent, double work,
                    const Routine& routine) {
  alignas(16) std::byte answer[16] = {};
  const int ask = -1;
  routine(answer, ask, 0);
  const int size = std::max(workspace_size(dtype, answer), 1);
  for_parts(batch, extent, work, [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::byte> workspace(static_cast<std::size_t>(size) * size_of(dtype));
    for (std::int64_t i = begin; i < end; ++i) routine(workspace.data(), size, i);
  });
}

}  // namespace

void geqrf(DType dtype, std::int64_t m, std::int64_t n, std::int64_t batch, void* matrices,
           void* taus) {
  const int rows = checked_extent(m), columns = checked_extent(n);
  const Session session(dtype);
  const std::int64_t k = std::min(m, n);
  const auto bytes = static_cast<std::size_t>(m * n) * size_of(dtype);
  const auto tau_bytes = static_cast<std::size_t>(k) * size_of(dtype);
  const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  with_workspace(dtype, batch, k, work, [&](void* workspace, int size, std::int64_t i) {
    int info = 0;
    void* const matrix = matrix_at(matrices, i, bytes);
    const auto factorise = [&] {
      session.routines().geqrf(&rows, &columns, matrix, &rows, matrix_at(taus, i, tau_bytes),
                               workspace, &size, &info);
    };
    if (size < 0) return factorise();  // only asks
    const MatrixScale scale(dtype, matrix, m, n);
    factorise();
    scale.restore_upper(matrix);
  });
}

void householder_product(DType dtype, std::int64_t m, std::int64_t columns, std::int64_t reflectors,
                         std::int64_t batch, void* matrices, const void* taus) {
  const int rows = checked_extent(m), wanted = checked_extent(columns);
  const int given = checked_extent(reflectors);
  const Session session(dtype);
  const auto bytes = static_cast<std::size_t>(m * columns) * size_of(dtype);
  const auto tau_bytes = static_cast<std::size_t>(reflectors) * size_of(dtype);
  const double work =
      2 * static_cast<double>(m) * static_cast<double>(columns) * static_cast<double>(reflectors);
  with_workspace(dtype, batch, columns, work, [&](void* workspace, int size, std::int64_t i) {
    int info = 0;
    session.routines().orgqr(&rows, &wanted, &given, matrix_at(matrices, i, bytes), &rows,
                             matrix_at(taus, i, tau_bytes), workspace, &size, &info);
  });
}

}  // namespace heddle::runtime::lapack
