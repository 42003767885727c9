#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "heddle/error.h"

#include "runtime/cuda/libraries/cusolver_library.h"
#include "runtime/cuda/libraries/cusolver_spectral.h"

namespace heddle::runtime::cusolver {

namespace {

struct Jacobi {
  GesvdjSize size;
  Gesvdj decompose;
  GesvdjBatchedSize stacked_size;
  GesvdjBatched decompose_stack;
  char letter;
};

Jacobi jacobi_of(DType dtype) {
  const SvdApi& routines = api().svd;
#define HEDDLE_JACOBI(letter)                                                           \
  {routines.cusolverDn##letter##gesvdj_bufferSize, routines.cusolverDn##letter##gesvdj, \
   routines.cusolverDn##letter##gesvdjBatched_bufferSize,                               \
   routines.cusolverDn##letter##gesvdjBatched, #letter[0]}
  switch (dtype) {
    case DType::f32:
      return HEDDLE_JACOBI(S);
    case DType::f64:
      return HEDDLE_JACOBI(D);
    case DType::c64:
      return HEDDLE_JACOBI(C);
    default:
      return HEDDLE_JACOBI(Z);
  }
#undef HEDDLE_JACOBI
}

/// Options of gesvdj: it iterates until the dtype's precision is reached.
class Options {
 public:
  explicit Options(DType dtype) {
    check(api().svd.cusolverDnCreateGesvdjInfo(&made_), "cusolverDnCreateGesvdjInfo");
    const double epsilon = std::ldexp(1.0, real_dtype(dtype) == DType::f32 ? -23 : -52);
    const Status status = api().svd.cusolverDnXgesvdjSetTolerance(made_, epsilon);
    if (status != Status::success) api().svd.cusolverDnDestroyGesvdjInfo(made_);
    check(status, "cusolverDnXgesvdjSetTolerance");
  }
  ~Options() { api().svd.cusolverDnDestroyGesvdjInfo(made_); }
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;
  JacobiOptions get() const { return made_; }

 private:
  JacobiOptions made_ = nullptr;
};

/// Memory for square vectors: Jacobi's methods write to it even if they are asked for values only.
class Vectors {
 public:
  Vectors(DType dtype, std::int64_t m, std::int64_t n, std::int64_t batch,
          const SvdResults& results, const Allocate& allocate)
      : u_(results.u), vh_(results.vh) {
    if (u_ != nullptr) return;
    const std::size_t matrices = static_cast<std::size_t>(batch) * size_of(dtype);
    scratch_u_ = allocate(matrices * static_cast<std::size_t>(m * m));
    scratch_vh_ = allocate(matrices * static_cast<std::size_t>(n * n));
    u_ = scratch_u_->pointer();
    vh_ = scratch_vh_->pointer();
  }
  void* u() const { return u_; }
  void* vh() const { return vh_; }

 private:
  BufferRef scratch_u_, scratch_vh_;
  void *u_, *vh_;
};

void* part(void* memory, std::int64_t index, std::int64_t elements, DType dtype) {
  if (memory == nullptr) return nullptr;
  return matrix_at(memory, index, static_cast<std::size_t>(elements) * size_of(dtype));
}

}  // namespace

void svd(DType dtype, bool full, std::int64_t m, std::int64_t n, std::int64_t batch, void* matrices,
         const SvdResults& results, const Allocate& allocate, const Stream& stream) {
  if (m > n) throw InternalError(fmt::format("cuSOLVER's gesvd takes no {} by {} matrix", m, n));
  const Session session(stream);
  const SvdApi& routines = api().svd;
  // cuSOLVER sees the transpose, n by m: its left vectors are our vh, its right ones our u.
  const signed char job_vh = results.vh == nullptr ? 'N' : full ? 'A' : 'S';
  const signed char job_u = results.u == nullptr ? 'N' : full ? 'A' : 'S';
  const DataType type = data_type(dtype), real = data_type(real_dtype(dtype));
  std::size_t device_bytes = 0, host_bytes = 0;
  check(routines.cusolverDnXgesvd_bufferSize(
            session.handle(), session.parameters(), job_vh, job_u, n, m, type, matrices, n, real,
            results.s, type, results.vh, n, type, results.u, m, type, &device_bytes, &host_bytes),
        "cusolverDnXgesvd_bufferSize");
  const BufferRef workspace = allocate(device_bytes);
  std::vector<std::byte> host_workspace(host_bytes);
  for (std::int64_t i = 0; i < batch; ++i) {
    check(routines.cusolverDnXgesvd(
              session.handle(), session.parameters(), job_vh, job_u, n, m, type,
              part(matrices, i, m * n, dtype), n, real, part(results.s, i, m, real_dtype(dtype)),
              type, part(results.vh, i, (full ? n : m) * n, dtype), n, type,
              part(results.u, i, m * m, dtype), m, type, workspace->pointer(), device_bytes,
              host_workspace.data(), host_bytes, results.statuses + i),
          "cusolverDnXgesvd");
  }
}

void svd_jacobi(DType dtype, bool full, std::int64_t m, std::int64_t n, std::int64_t batch,
                void* matrices, const SvdResults& results, const Allocate& allocate,
                const Stream& stream) {
  const Session session(stream);
  const Jacobi jacobi = jacobi_of(dtype);
  const Options options(dtype);
  const EigenMode mode = results.u == nullptr ? EigenMode::values : EigenMode::vectors;
  const Vectors vectors(dtype, m, n, batch, results, allocate);
  const int economy = full ? 0 : 1;
  // cuSOLVER sees the transpose, n by m, whose v, in C order, is the conjugate transpose of our u.
  const int rows = checked_extent(n), columns = checked_extent(m);
  int size = 0;
  check(jacobi.size(session.handle(), mode, economy, rows, columns, matrices, rows, results.s,
                    vectors.vh(), rows, vectors.u(), columns, &size, options.get()),
        fmt::format("cusolverDn{}gesvdj_bufferSize", jacobi.letter).c_str());
  const BufferRef workspace = allocate(static_cast<std::size_t>(size) * size_of(dtype));
  const std::int64_t k = std::min(m, n);
  for (std::int64_t i = 0; i < batch; ++i) {
    check(jacobi.decompose(session.handle(), mode, economy, rows, columns,
                           part(matrices, i, m * n, dtype), rows,
                           part(results.s, i, k, real_dtype(dtype)),
                           part(vectors.vh(), i, (full ? n : k) * n, dtype), rows,
                           part(vectors.u(), i, (full ? m : k) * m, dtype), columns,
                           workspace->pointer(), size, results.statuses + i, options.get()),
          fmt::format("cusolverDn{}gesvdj", jacobi.letter).c_str());
  }
}

void svd_stack(DType dtype, std::int64_t m, std::int64_t n, std::int64_t batch, void* matrices,
               const SvdResults& results, const Allocate& allocate, const Stream& stream) {
  const Session session(stream);
  const Jacobi jacobi = jacobi_of(dtype);
  const Options options(dtype);
  const EigenMode mode = results.u == nullptr ? EigenMode::values : EigenMode::vectors;
  const int rows = checked_extent(n), columns = checked_extent(m);  // of the transpose, as above
  const int count = checked_extent(batch);
  const Vectors vectors(dtype, m, n, batch, results, allocate);
  int size = 0;
  check(jacobi.stacked_size(session.handle(), mode, rows, columns, matrices, rows, results.s,
                            vectors.vh(), rows, vectors.u(), columns, &size, options.get(), count),
        fmt::format("cusolverDn{}gesvdjBatched_bufferSize", jacobi.letter).c_str());
  const BufferRef workspace = allocate(static_cast<std::size_t>(size) * size_of(dtype));
  check(jacobi.decompose_stack(session.handle(), mode, rows, columns, matrices, rows, results.s,
                               vectors.vh(), rows, vectors.u(), columns, workspace->pointer(), size,
                               results.statuses, options.get(), count),
        fmt::format("cusolverDn{}gesvdjBatched", jacobi.letter).c_str());
}

}  // namespace heddle::runtime::cusolver
