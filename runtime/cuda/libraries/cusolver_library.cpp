#include "runtime/cuda/libraries/cusolver_library.h"

#include <limits>
#include <vector>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/base/environment.h"

namespace heddle::runtime::cusolver {

namespace {

std::string bind(Api& api, const DynamicLibrary& library, std::string& missing) {
#define HEDDLE_CUSOLVER(group, name) library.bind(group.name, #name, missing)
  HEDDLE_CUSOLVER(api, cusolverDnCreate);
  HEDDLE_CUSOLVER(api, cusolverDnDestroy);
  HEDDLE_CUSOLVER(api, cusolverDnSetStream);
  HEDDLE_CUSOLVER(api, cusolverDnCreateParams);
  HEDDLE_CUSOLVER(api.cholesky, cusolverDnXpotrf_bufferSize);
  HEDDLE_CUSOLVER(api.cholesky, cusolverDnXpotrf);
  HEDDLE_CUSOLVER(api.cholesky, cusolverDnSpotrfBatched);
  HEDDLE_CUSOLVER(api.cholesky, cusolverDnDpotrfBatched);
  HEDDLE_CUSOLVER(api.cholesky, cusolverDnCpotrfBatched);
  HEDDLE_CUSOLVER(api.cholesky, cusolverDnZpotrfBatched);
  HEDDLE_CUSOLVER(api.lu, cusolverDnXgetrf_bufferSize);
  HEDDLE_CUSOLVER(api.lu, cusolverDnXgetrf);
  HEDDLE_CUSOLVER(api.lu, cusolverDnXgetrs);
  HEDDLE_CUSOLVER(api.qr, cusolverDnXgeqrf_bufferSize);
  HEDDLE_CUSOLVER(api.qr, cusolverDnXgeqrf);
  HEDDLE_CUSOLVER(api.qr, cusolverDnSorgqr_bufferSize);
  HEDDLE_CUSOLVER(api.qr, cusolverDnDorgqr_bufferSize);
  HEDDLE_CUSOLVER(api.qr, cusolverDnCungqr_bufferSize);
  HEDDLE_CUSOLVER(api.qr, cusolverDnZungqr_bufferSize);
  HEDDLE_CUSOLVER(api.qr, cusolverDnSorgqr);
  HEDDLE_CUSOLVER(api.qr, cusolverDnDorgqr);
  HEDDLE_CUSOLVER(api.qr, cusolverDnCungqr);
  HEDDLE_CUSOLVER(api.qr, cusolverDnZungqr);
  HEDDLE_CUSOLVER(api.svd, cusolverDnXgesvd_bufferSize);
  HEDDLE_CUSOLVER(api.svd, cusolverDnXgesvd);
  HEDDLE_CUSOLVER(api.svd, cusolverDnCreateGesvdjInfo);
  HEDDLE_CUSOLVER(api.svd, cusolverDnDestroyGesvdjInfo);
  HEDDLE_CUSOLVER(api.svd, cusolverDnXgesvdjSetTolerance);
  HEDDLE_CUSOLVER(api.svd, cusolverDnSgesvdjBatched_bufferSize);
  HEDDLE_CUSOLVER(api.svd, cusolverDnDgesvdjBatched_bufferSize);
  HEDDLE_CUSOLVER(api.svd, cusolverDnCgesvdjBatched_bufferSize);
  HEDDLE_CUSOLVER(api.svd, cusolverDnZgesvdjBatched_bufferSize);
  HEDDLE_CUSOLVER(api.svd, cusolverDnSgesvdjBatched);
  HEDDLE_CUSOLVER(api.svd, cusolverDnDgesvdjBatched);
  HEDDLE_CUSOLVER(api.svd, cusolverDnCgesvdjBatched);
  HEDDLE_CUSOLVER(api.svd, cusolverDnZgesvdjBatched);
  HEDDLE_CUSOLVER(api.svd, cusolverDnSgesvdj_bufferSize);
  HEDDLE_CUSOLVER(api.svd, cusolverDnDgesvdj_bufferSize);
  HEDDLE_CUSOLVER(api.svd, cusolverDnCgesvdj_bufferSize);
  HEDDLE_CUSOLVER(api.svd, cusolverDnZgesvdj_bufferSize);
  HEDDLE_CUSOLVER(api.svd, cusolverDnSgesvdj);
  HEDDLE_CUSOLVER(api.svd, cusolverDnDgesvdj);
  HEDDLE_CUSOLVER(api.svd, cusolverDnCgesvdj);
  HEDDLE_CUSOLVER(api.svd, cusolverDnZgesvdj);
  HEDDLE_CUSOLVER(api.eigen, cusolverDnCreateSyevjInfo);
  HEDDLE_CUSOLVER(api.eigen, cusolverDnDestroySyevjInfo);
  HEDDLE_CUSOLVER(api.eigen, cusolverDnSsyevjBatched_bufferSize);
  HEDDLE_CUSOLVER(api.eigen, cusolverDnDsyevjBatched_bufferSize);
  HEDDLE_CUSOLVER(api.eigen, cusolverDnCheevjBatched_bufferSize);
  HEDDLE_CUSOLVER(api.eigen, cusolverDnZheevjBatched_bufferSize);
  HEDDLE_CUSOLVER(api.eigen, cusolverDnSsyevjBatched);
  HEDDLE_CUSOLVER(api.eigen, cusolverDnDsyevjBatched);
  HEDDLE_CUSOLVER(api.eigen, cusolverDnCheevjBatched);
  HEDDLE_CUSOLVER(api.eigen, cusolverDnZheevjBatched);
  HEDDLE_CUSOLVER(api.eigen, cusolverDnXsyevd_bufferSize);
  HEDDLE_CUSOLVER(api.eigen, cusolverDnXsyevd);
#undef HEDDLE_CUSOLVER
  std::string newer;  // functions that older versions lack
#define HEDDLE_CUSOLVER(group, name) library.bind(group.name, #name, newer)
  HEDDLE_CUSOLVER(api.eigen, cusolverDnXsyevBatched_bufferSize);
  HEDDLE_CUSOLVER(api.eigen, cusolverDnXsyevBatched);
  HEDDLE_CUSOLVER(api.eigen, cusolverDnXgeev_bufferSize);
  HEDDLE_CUSOLVER(api.eigen, cusolverDnXgeev);
#undef HEDDLE_CUSOLVER
  return version_by_property(library, "cusolverGetProperty");
}

Library<Api>& library() {
  static auto& library = *new Library<Api>(
      {.request = {.title = "cuSOLVER",
                   .names = {"libcusolver.so.12", "libcusolver.so.11"},
                   .packages = {"cusolver"},
                   .variable = ir::Variable::cusolver},
       .mend = "Install cuSOLVER 11 or newer (pip install nvidia-cusolver), or set HEDDLE_CUSOLVER "
               "to its file or HEDDLE_CUDA_PATH to the toolkit.",
       .without = "matrices cannot be factorised on the GPU",
       .unusable = cuda::unavailable_reason,
       .bind = bind});
  return library;
}

HandlePool<Solver>& solvers() {
  static auto& pool = *new HandlePool<Solver>;
  return pool;
}

Solver create() {
  Solver made;
  check(api().cusolverDnCreate(&made.handle), "cusolverDnCreate");
  const Status status = api().cusolverDnCreateParams(&made.parameters);
  if (status != Status::success) api().cusolverDnDestroy(made.handle);
  check(status, "cusolverDnCreateParams");
  return made;
}

/// Matrices up to this extent are too small to fill a GPU.
constexpr std::int64_t small = 512;

}  // namespace

const std::string& unavailable_reason() { return library().unavailable_reason(); }

const Api& api() { return library().api(); }

void check(Status status, const char* call) {
  if (status == Status::success) return;
  throw DeviceError(fmt::format("{} failed: cuSOLVER's status {}.{}", call,
                                static_cast<int>(status), cuda::describe_loss()));
}

DataType data_type(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return DataType::f32;
    case DType::f64:
      return DataType::f64;
    case DType::c64:
      return DataType::c64;
    case DType::c128:
      return DataType::c128;
    default:
      throw InternalError(fmt::format("cuSOLVER does not compute in {}", name_of(dtype)));
  }
}

Session::Session(const Stream& stream)
    : context_(stream.device().ordinal), lease_(solvers(), stream.device().ordinal, create) {
  check(api().cusolverDnSetStream(handle(), stream.handle()), "cusolverDnSetStream");
}

BufferRef addresses_of(void* matrices, std::int64_t batch, std::size_t bytes,
                       const Allocate& allocate, const Stream& stream) {
  std::vector<void*> addresses;
  for (std::int64_t i = 0; i < batch; ++i) addresses.push_back(matrix_at(matrices, i, bytes));
  const std::size_t size = addresses.size() * sizeof(void*);
  BufferRef on_device = allocate(size);
  copy(on_device->pointer(), stream.device(), addresses.data(), Device{}, size, stream);
  return on_device;
}

int checked_extent(std::int64_t extent) {
  if (extent > std::numeric_limits<int>::max())
    throw DeviceError(fmt::format("cuSOLVER takes extents of up to 2^31 - 1 here, not {}", extent));
  return static_cast<int>(extent);
}

bool in_one_call(std::int64_t extent, std::int64_t batch, const Stream& stream) {
  return batch > 1 && extent <= small && batch <= std::numeric_limits<int>::max() &&
         !stream.capturing();
}

}  // namespace heddle::runtime::cusolver
