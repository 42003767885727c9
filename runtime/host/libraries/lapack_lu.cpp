#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>

#include "runtime/host/libraries/division.h"
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

/// Factorises a column-major matrix. A copy of a matrix whose pivots may be subnormal is kept until
/// they are known.
void factorize(const Routines& routines, DType dtype, int rows, int columns, std::byte* matrix,
               std::int32_t* pivots, std::int32_t* info) {
  const std::int64_t count = static_cast<std::int64_t>(rows) * columns;
  const std::size_t bytes = static_cast<std::size_t>(count) * size_of(dtype);
  std::unique_ptr<std::byte[]> copy;
  if (has_tiny_elements(dtype, matrix, count)) {
    copy.reset(new std::byte[bytes]);
    std::memcpy(copy.get(), matrix, bytes);
  }
  routines.getrf(&rows, &columns, matrix, &rows, pivots, info);
  if (!copy || !must_divide(dtype, matrix, rows, std::min(rows, columns))) return;
  std::memcpy(matrix, copy.get(), bytes);
  eliminate(dtype, rows, columns, matrix, pivots, info);
}

/// Solves with the factors of a matrix. OpenBLAS's getrs starts threads for small matrices, too,
/// if there are several right-hand sides; trsm does not. `divides`: by pivots, not by products.
void solve_small(const Routines& routines, DType dtype, char transpose, int n, int columns,
                 const std::byte* lu, const std::int32_t* pivots, std::byte* b, bool divides) {
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
    if (divides) {
      const bool transposed = transpose == 'T';
      return lapack::substitute({.dtype = dtype,
                                 .n = n,
                                 .columns = columns,
                                 .transposed = transposed,
                                 .conjugated = false,
                                 .forward = (triangle == 'L') != transposed,
                                 .unit = diagonal == 'U',
                                 .row_step = 1,
                                 .column_step = n},
                                lu, b);
    }
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
      factorize(session.routines(), dtype, rows, columns, matrix_at(matrices, i, bytes),
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
      factorize(session.routines(), dtype, order, order, matrix, pivots + i * n, infos + i);
      if (infos[i] != 0 || columns == 0) continue;
      const bool divides = must_divide(dtype, matrix, n, n);
      if (divides || (n < large && columns > 1)) {
        solve_small(session.routines(), dtype, transpose, order, sides, matrix, pivots + i * n,
                    matrix_at(b, i, b_bytes), divides);
        continue;
      }
      int info = 0;
      session.routines().getrs(&transpose, &order, &sides, matrix, &order, pivots + i * n,
                               matrix_at(b, i, b_bytes), &order, &info, 1);
    }
  });
}

}  // namespace heddle::runtime::lapack
