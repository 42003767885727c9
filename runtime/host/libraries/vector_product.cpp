#include "runtime/host/libraries/vector_product.h"

#include <algorithm>
#include <cstdint>

#include "runtime/base/thread_pool.h"
#include "runtime/host/instruction_levels.h"

namespace heddle::runtime::host {

namespace {

/// Fewer columns leave vector registers empty.
constexpr std::int64_t fewest_columns = 8;
/// Sums of so many columns stay in the first-level cache.
constexpr std::int64_t block_columns = 2048;
/// Elements of the matrix for which another thread pays.
constexpr std::int64_t piece_elements = std::int64_t{1} << 18;
/// Larger matrices come from memory, where BLAS is as fast.
constexpr std::int64_t most_elements = std::int64_t{1} << 20;

template <class T>
struct Rows {
  const T* vector;
  std::int64_t step;
  const T* matrix;
  std::int64_t leading;
  std::int64_t depth;
};

/// out[j] = sum over k of vector[k] * matrix[k][j], in steps of eight rows.
template <class T>
HEDDLE_FOR_EVERY_LEVEL void sum_rows(const Rows<T>& rows, std::int64_t columns,
                                     T* __restrict__ out) {
  std::fill_n(out, columns, T(0));
  const std::int64_t next = rows.leading;
  std::int64_t k = 0;
  for (; k + 8 <= rows.depth; k += 8) {
    const T* const row = rows.matrix + k * next;
    T x[8];
    for (int i = 0; i < 8; ++i) x[i] = rows.vector[(k + i) * rows.step];
    for (std::int64_t j = 0; j < columns; ++j) {
      const T* const at = row + j;
      out[j] += ((x[0] * at[0] + x[1] * at[next]) + (x[2] * at[2 * next] + x[3] * at[3 * next])) +
                ((x[4] * at[4 * next] + x[5] * at[5 * next]) +
                 (x[6] * at[6 * next] + x[7] * at[7 * next]));
    }
  }
  for (; k < rows.depth; ++k) {
    const T x = rows.vector[k * rows.step];
    const T* const row = rows.matrix + k * next;
    for (std::int64_t j = 0; j < columns; ++j) out[j] += x * row[j];
  }
}

template <class T>
void multiply(const Rows<T>& rows, std::int64_t columns, T* out) {
  const std::int64_t pieces = std::max<std::int64_t>(rows.depth * columns / piece_elements, 1);
  const std::int64_t width = std::max<std::int64_t>((columns + pieces - 1) / pieces, 64);
  parallel_for(0, columns, width, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end; at += block_columns) {
      Rows<T> block = rows;
      block.matrix += at;
      sum_rows(block, std::min(block_columns, end - at), out + at);
    }
  });
}

template <class T>
void multiply_all(const Gemm& p, bool matrix_is_a, const void* a, const void* b, void* out) {
  const std::int64_t columns = matrix_is_a ? p.rows : p.columns;
  const std::int64_t step =
      matrix_is_a ? (p.b_transposed ? 1 : p.b_leading) : (p.a_transposed ? p.a_leading : 1);
  for (std::int64_t i = 0; i < p.batch; ++i) {
    const T* const left = static_cast<const T*>(a) + i * p.a_batch_stride;
    const T* const right = static_cast<const T*>(b) + i * p.b_batch_stride;
    const Rows<T> rows{matrix_is_a ? right : left, step, matrix_is_a ? left : right,
                       matrix_is_a ? p.a_leading : p.b_leading, p.depth};
    multiply(rows, columns, static_cast<T*>(out) + i * p.out_batch_stride);
  }
}

bool vector_is_a(const Gemm& p) {
  return p.rows == 1 && !p.b_transposed && p.columns >= fewest_columns;
}

bool vector_is_b(const Gemm& p) {
  return p.columns == 1 && p.a_transposed && p.rows >= fewest_columns;
}

}  // namespace

bool is_vector_by_rows(const Gemm& p) {
  if (p.dtype != DType::f32 && p.dtype != DType::f64) return false;
  if (!vector_is_a(p) && !vector_is_b(p)) return false;
  return p.depth <= most_elements / (vector_is_a(p) ? p.columns : p.rows);
}

bool multiply_vector_by_rows(const Gemm& p, const void* a, const void* b, void* out) {
  if (!is_vector_by_rows(p)) return false;
  if (p.dtype == DType::f32) {
    multiply_all<float>(p, !vector_is_a(p), a, b, out);
  } else {
    multiply_all<double>(p, !vector_is_a(p), a, b, out);
  }
  return true;
}

}  // namespace heddle::runtime::host
