#include <algorithm>
#include <cstddef>

#include "runtime/host/libraries/lapack.h"
#include "runtime/host/libraries/lapack_session.h"

namespace heddle::runtime::lapack {

namespace {

double cube(std::int64_t n) {
  const auto order = static_cast<double>(n);
  return order * order * order;
}

/// 1 in every element type: complex elements read both numbers.
const void* one_of(DType dtype) {
  static constexpr double wide[2] = {1, 0};
  static constexpr float narrow[2] = {1, 0};
  return real_dtype(dtype) == DType::f64 ? static_cast<const void*>(wide) : narrow;
}

/// Swaps rows i and pivots[i] of each column, in order, or in reverse.
template <std::size_t size>
void swap_rows(std::byte* b, const std::int32_t* pivots, int n, int columns, bool reverse) {
  for (int c = 0; c < columns; ++c, b += static_cast<std::size_t>(n) * size) {
    for (int step = 0; step < n; ++step) {
      const int i = reverse ? n - 1 - step : step, pivot = pivots[i] - 1;
      if (pivot != i) std::swap_ranges(b + i * size, b + (i + 1) * size, b + pivot * size);
    }
  }
}

/// Solves with the factors of a matrix. OpenBLAS's getrs starts threads for small matrices, too,
/// if there are several right-hand sides; trsm does not.
void solve_small(const Routines& routines, DType dtype, char transpose, int n, int columns,
                 const std::byte* lu, const std::int32_t* pivots, std::byte* b) {
  const auto swap = [&](bool reverse) {
    switch (size_of(dtype)) {
      case 4:
        return swap_rows<4>(b, pivots, n, columns, reverse);
      case 8:
        return swap_rows<8>(b, pivots, n, columns, reverse);
      default:
        return swap_rows<16>(b, pivots, n, columns, reverse);
    }
  };
  const auto substitute = [&](char triangle, char diagonal) {
    const char side = 'L';
    routines.trsm(&side, &triangle, &transpose, &diagonal, &n, &columns, one_of(dtype), lu, &n, b,
                  &n, 1, 1, 1, 1);
  };
  if (transpose == 'N') {
    swap(false);
    substitute('L', 'U');
    substitute('U', 'N');
  } else {
    substitute('U', 'N');
    substitute('L', 'U');
    swap(true);
  }
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
      if (n < large && columns > 1) {
        solve_small(session.routines(), dtype, transpose, order, sides, matrix, pivots + i * n,
                    matrix_at(b, i, b_bytes));
        continue;
      }
      int info = 0;
      session.routines().getrs(&transpose, &order, &sides, matrix, &order, pivots + i * n,
                               matrix_at(b, i, b_bytes), &order, &info, 1);
    }
  });
}

}  // namespace heddle::runtime::lapack
