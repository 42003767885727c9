#include <algorithm>

#include "runtime/host/libraries/lapack.h"
#include "runtime/host/libraries/lapack_session.h"

namespace heddle::runtime::lapack {

namespace {

double cube(std::int64_t n) {
  const auto order = static_cast<double>(n);
  return order * order * order;
}

}  // namespace

void lu(DType dtype, std::int64_t m, std::int64_t n, std::int64_t batch, void* matrices,
        std::int32_t* pivots, std::int32_t* infos) {
  const int rows = checked_extent(m), columns = checked_extent(n);
  const Session session(dtype);
  const auto bytes = static_cast<std::size_t>(m * n) * size_of(dtype);
  const std::int64_t k = std::min(m, n);
  const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  for_parts(batch, k, work / 2, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      session.routines().getrf(&rows, &columns, matrix_at(matrices, i, bytes), &rows,
                               pivots + i * k, infos + i);
    }
  });
}

void solve(DType dtype, bool transposed, std::int64_t n, std::int64_t columns, std::int64_t batch,
           void* a, std::int32_t* pivots, void* b, std::int32_t* infos) {
  const int order = checked_extent(n), sides = checked_extent(columns);
  const Session session(dtype);
  const auto a_bytes = static_cast<std::size_t>(n * n) * size_of(dtype);
  const auto b_bytes = static_cast<std::size_t>(n * columns) * size_of(dtype);
  // LAPACK sees the transpose of a matrix in C order.
  const char transpose = transposed ? 'N' : 'T';
  const double work = cube(n) / 3 + static_cast<double>(n) * static_cast<double>(n * columns);
  for_parts(batch, n, work, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      std::byte* const matrix = matrix_at(a, i, a_bytes);
      session.routines().getrf(&order, &order, matrix, &order, pivots + i * n, infos + i);
      if (infos[i] != 0 || columns == 0) continue;
      int info = 0;
      session.routines().getrs(&transpose, &order, &sides, matrix, &order, pivots + i * n,
                               matrix_at(b, i, b_bytes), &order, &info, 1);
    }
  });
}

}  // namespace heddle::runtime::lapack
