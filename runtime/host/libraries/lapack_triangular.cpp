#include "runtime/host/libraries/division.h"
#include "runtime/host/libraries/lapack.h"
#include "runtime/host/libraries/lapack_session.h"

namespace heddle::runtime::lapack {

namespace {

char code_of(TriangularSystem::Transpose transpose) {
  if (transpose == TriangularSystem::Transpose::none) return 'N';
  return transpose == TriangularSystem::Transpose::transpose ? 'T' : 'C';
}

/// 1 in every element type: complex elements read both numbers.
struct One {
  explicit One(DType dtype) : wide(real_dtype(dtype) == DType::f64) {}
  const void* address() const { return wide ? static_cast<const void*>(doubles) : floats; }
  bool wide;
  double doubles[2] = {1, 0};
  float floats[2] = {1, 0};
};

}  // namespace

void solve_triangular(const TriangularSystem& system, const void* a, void* b) {
  const int n = checked_extent(system.n), columns = checked_extent(system.columns);
  const Session session(system.dtype);
  const std::size_t size = size_of(system.dtype);
  const auto a_bytes = static_cast<std::size_t>(system.n * system.n) * size;
  const auto b_bytes = static_cast<std::size_t>(system.n * system.columns) * size;
  // BLAS is column-major and sees transposes: x^T op(a)^T = b^T, where a^T has the other triangle.
  const char side = 'R', triangle = system.lower ? 'U' : 'L';
  const char transpose = code_of(system.transpose), diagonal = system.unit ? 'U' : 'N';
  const One one(system.dtype);
  const bool transposed = system.transpose != TriangularSystem::Transpose::none;
  const Substitution divided{
      .dtype = system.dtype,
      .n = system.n,
      .columns = system.columns,
      .transposed = !transposed,
      .conjugated = system.transpose == TriangularSystem::Transpose::conjugate,
      .forward = system.lower != transposed,
      .unit = false,
      .row_step = system.columns,
      .column_step = 1};
  const double work = static_cast<double>(system.n) * static_cast<double>(system.n) *
                      static_cast<double>(system.columns);
  for_parts(system.batch, system.n, work, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      if (!system.unit && must_divide(system.dtype, matrix_at(a, i, a_bytes), system.n, system.n)) {
        substitute(divided, matrix_at(a, i, a_bytes), matrix_at(b, i, b_bytes));
        continue;
      }
      session.routines().trsm(&side, &triangle, &transpose, &diagonal, &columns, &n, one.address(),
                              matrix_at(a, i, a_bytes), &n, matrix_at(b, i, b_bytes), &columns, 1,
                              1, 1, 1);
    }
  });
}

}  // namespace heddle::runtime::lapack
