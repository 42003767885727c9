#include <string>
#include <vector>

#include "heddle/error.h"

#include "runtime/cuda/libraries/cusolver_library.h"
#include "runtime/cuda/libraries/cusolver_spectral.h"

namespace heddle::runtime::cusolver {

namespace {

/// Hermitian matrices of one size.
struct Hermitian {
  EigenMode mode;
  Fill triangle;
  std::int64_t n;
  DataType type, real;
};

void solve_together(const Session& session, const Hermitian& problem, std::int64_t batch,
                    void* matrices, void* w, std::int32_t* statuses, const Allocate& allocate) {
  const auto& [mode, triangle, n, type, real] = problem;
  const EigenApi& routines = api().eigen;
  std::size_t device_bytes = 0, host_bytes = 0;
  check(routines.cusolverDnXsyevBatched_bufferSize(session.handle(), session.parameters(), mode,
                                                   triangle, n, type, matrices, n, real, w, type,
                                                   &device_bytes, &host_bytes, batch),
        "cusolverDnXsyevBatched_bufferSize");
  const BufferRef workspace = allocate(device_bytes);
  std::vector<std::byte> host_workspace(host_bytes);
  check(routines.cusolverDnXsyevBatched(session.handle(), session.parameters(), mode, triangle, n,
                                        type, matrices, n, real, w, type, workspace->pointer(),
                                        device_bytes, host_workspace.data(), host_bytes, statuses,
                                        batch),
        "cusolverDnXsyevBatched");
}

struct Jacobi {
  SyevjBatchedSize size;
  SyevjBatched solve;
  const char* name;
};

Jacobi jacobi_of(DType dtype) {
  const EigenApi& routines = api().eigen;
#define HEDDLE_JACOBI(name) \
  {routines.cusolverDn##name##_bufferSize, routines.cusolverDn##name, "cusolverDn" #name}
  switch (dtype) {
    case DType::f32:
      return HEDDLE_JACOBI(SsyevjBatched);
    case DType::f64:
      return HEDDLE_JACOBI(DsyevjBatched);
    case DType::c64:
      return HEDDLE_JACOBI(CheevjBatched);
    default:
      return HEDDLE_JACOBI(ZheevjBatched);
  }
#undef HEDDLE_JACOBI
}

/// Options of syevj: it iterates until the dtype's precision is reached, and sorts the values.
class Options {
 public:
  Options() { check(api().eigen.cusolverDnCreateSyevjInfo(&made_), "cusolverDnCreateSyevjInfo"); }
  ~Options() { api().eigen.cusolverDnDestroySyevjInfo(made_); }
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;
  JacobiOptions get() const { return made_; }

 private:
  JacobiOptions made_ = nullptr;
};

/// For matrices up to jacobi_extent.
void solve_by_jacobi(const Session& session, DType dtype, const Hermitian& problem,
                     std::int64_t batch, void* matrices, void* w, std::int32_t* statuses,
                     const Allocate& allocate) {
  const Jacobi jacobi = jacobi_of(dtype);
  const Options options;
  const int n = checked_extent(problem.n), count = checked_extent(batch);
  int size = 0;
  check(jacobi.size(session.handle(), problem.mode, problem.triangle, n, matrices, n, w, &size,
                    options.get(), count),
        (std::string(jacobi.name) + "_bufferSize").c_str());
  const BufferRef workspace = allocate(static_cast<std::size_t>(size) * size_of(dtype));
  check(jacobi.solve(session.handle(), problem.mode, problem.triangle, n, matrices, n, w,
                     workspace->pointer(), size, statuses, options.get(), count),
        jacobi.name);
}

}  // namespace

void eigh(DType dtype, bool upper, bool vectors, std::int64_t n, std::int64_t batch, void* matrices,
          void* w, std::int32_t* statuses, const Allocate& allocate, const Stream& stream) {
  const Session session(stream);
  const EigenApi& routines = api().eigen;
  const DType value = real_dtype(dtype);
  // cuSOLVER sees the transpose: our lower triangle is its upper one.
  const Hermitian problem{vectors ? EigenMode::vectors : EigenMode::values,
                          upper ? Fill::lower : Fill::upper, n, data_type(dtype), data_type(value)};
  const auto& [mode, triangle, extent, type, real] = problem;
  if (n <= jacobi_extent && in_one_call(n, batch, stream))
    return solve_by_jacobi(session, dtype, problem, batch, matrices, w, statuses, allocate);
  if (routines.cusolverDnXsyevBatched != nullptr && in_one_call(n, batch, stream))
    return solve_together(session, problem, batch, matrices, w, statuses, allocate);
  std::size_t device_bytes = 0, host_bytes = 0;
  check(routines.cusolverDnXsyevd_bufferSize(session.handle(), session.parameters(), mode, triangle,
                                             n, type, matrices, n, real, w, type, &device_bytes,
                                             &host_bytes),
        "cusolverDnXsyevd_bufferSize");
  const BufferRef workspace = allocate(device_bytes);
  std::vector<std::byte> host_workspace(host_bytes);
  const std::size_t bytes = static_cast<std::size_t>(n * n) * size_of(dtype);
  const std::size_t value_bytes = static_cast<std::size_t>(n) * size_of(value);
  for (std::int64_t i = 0; i < batch; ++i) {
    check(routines.cusolverDnXsyevd(session.handle(), session.parameters(), mode, triangle, n, type,
                                    matrix_at(matrices, i, bytes), n, real,
                                    matrix_at(w, i, value_bytes), type, workspace->pointer(),
                                    device_bytes, host_workspace.data(), host_bytes, statuses + i),
          "cusolverDnXsyevd");
  }
}

void eig(DType dtype, std::int64_t n, std::int64_t batch, void* matrices, void* w, void* rows,
         std::int32_t* statuses, const Allocate& allocate, const Stream& stream) {
  const Session session(stream);
  const EigenApi& routines = api().eigen;
  if (routines.cusolverDnXgeev == nullptr) {
    throw DeviceError(
        "eigenvalues of general matrices on the GPU need cuSOLVER 11.7.1 or newer, which comes "
        "with CUDA 12.6 (pip install -U nvidia-cusolver)");
  }
  const EigenMode left = EigenMode::values;  // no left eigenvectors
  const EigenMode right = rows == nullptr ? EigenMode::values : EigenMode::vectors;
  const DataType type = data_type(dtype), value = data_type(complex_dtype(dtype));
  std::size_t device_bytes = 0, host_bytes = 0;
  check(routines.cusolverDnXgeev_bufferSize(session.handle(), session.parameters(), left, right, n,
                                            type, matrices, n, value, w, type, nullptr, n, type,
                                            rows, n, type, &device_bytes, &host_bytes),
        "cusolverDnXgeev_bufferSize");
  const BufferRef workspace = allocate(device_bytes);
  std::vector<std::byte> host_workspace(host_bytes);
  const std::size_t bytes = static_cast<std::size_t>(n * n) * size_of(dtype);
  const std::size_t value_bytes = static_cast<std::size_t>(n) * size_of(complex_dtype(dtype));
  for (std::int64_t i = 0; i < batch; ++i) {
    void* const vectors = rows == nullptr ? nullptr : matrix_at(rows, i, bytes);
    check(routines.cusolverDnXgeev(session.handle(), session.parameters(), left, right, n, type,
                                   matrix_at(matrices, i, bytes), n, value,
                                   matrix_at(w, i, value_bytes), type, nullptr, n, type, vectors, n,
                                   type, workspace->pointer(), device_bytes, host_workspace.data(),
                                   host_bytes, statuses + i),
          "cusolverDnXgeev");
  }
  // A part of the work is the host's, in memory that ends with this call.
  stream.synchronize();
}

}  // namespace heddle::runtime::cusolver
