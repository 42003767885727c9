#include "runtime/cuda/libraries/cusolver.h"

#include <limits>
#include <vector>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/base/environment.h"
#include "runtime/base/library.h"
#include "runtime/cuda/devices.h"

namespace heddle::runtime::cusolver {

namespace {

using Handle = struct HandleOpaque*;
using Parameters = struct ParametersOpaque*;
enum class Status : int { success = 0 };
enum class Fill : int { lower = 0, upper = 1 };
enum class DataType : int { f32 = 0, f64 = 1, c64 = 4, c128 = 5 };

/// Batched factorisation: `matrices` points to device memory with the matrices' addresses. The
/// other triangle is overwritten.
using PotrfBatched = Status (*)(Handle handle, Fill triangle, int n, void** matrices, int leading,
                                int* infos, int batch);

struct Api {
  Status (*cusolverDnCreate)(Handle* handle) = nullptr;
  Status (*cusolverDnDestroy)(Handle handle) = nullptr;
  Status (*cusolverDnSetStream)(Handle handle, cuda::StreamHandle stream) = nullptr;
  Status (*cusolverDnCreateParams)(Parameters* parameters) = nullptr;
  Status (*cusolverDnXpotrf_bufferSize)(Handle handle, Parameters parameters, Fill triangle,
                                        std::int64_t n, DataType type, const void* matrix,
                                        std::int64_t leading, DataType compute,
                                        std::size_t* device_bytes,
                                        std::size_t* host_bytes) = nullptr;
  Status (*cusolverDnXpotrf)(Handle handle, Parameters parameters, Fill triangle, std::int64_t n,
                             DataType type, void* matrix, std::int64_t leading, DataType compute,
                             void* device_workspace, std::size_t device_bytes, void* host_workspace,
                             std::size_t host_bytes, int* info) = nullptr;
  PotrfBatched cusolverDnSpotrfBatched = nullptr, cusolverDnDpotrfBatched = nullptr,
               cusolverDnCpotrfBatched = nullptr, cusolverDnZpotrfBatched = nullptr;
};

std::string bind(Api& api, const DynamicLibrary& library, std::string& missing) {
#define HEDDLE_CUSOLVER(name) library.bind(api.name, #name, missing)
  HEDDLE_CUSOLVER(cusolverDnCreate);
  HEDDLE_CUSOLVER(cusolverDnDestroy);
  HEDDLE_CUSOLVER(cusolverDnSetStream);
  HEDDLE_CUSOLVER(cusolverDnCreateParams);
  HEDDLE_CUSOLVER(cusolverDnXpotrf_bufferSize);
  HEDDLE_CUSOLVER(cusolverDnXpotrf);
  HEDDLE_CUSOLVER(cusolverDnSpotrfBatched);
  HEDDLE_CUSOLVER(cusolverDnDpotrfBatched);
  HEDDLE_CUSOLVER(cusolverDnCpotrfBatched);
  HEDDLE_CUSOLVER(cusolverDnZpotrfBatched);
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

const Api& api() { return library().api(); }

void check(Status status, const char* call) {
  if (status == Status::success) return;
  throw DeviceError(fmt::format("{} failed: cuSOLVER's status {}.{}", call,
                                static_cast<int>(status), cuda::describe_loss()));
}

/// The handle and parameters of one thread's calls.
struct Solver {
  Handle handle = nullptr;
  Parameters parameters = nullptr;
  friend bool operator==(const Solver&, const Solver&) = default;
};

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
      throw InternalError(fmt::format("cuSOLVER does not factorise {}", name_of(dtype)));
  }
}

struct Batched {
  PotrfBatched factorise;
  const char* name;
};

Batched potrf_batched(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return {api().cusolverDnSpotrfBatched, "cusolverDnSpotrfBatched"};
    case DType::f64:
      return {api().cusolverDnDpotrfBatched, "cusolverDnDpotrfBatched"};
    case DType::c64:
      return {api().cusolverDnCpotrfBatched, "cusolverDnCpotrfBatched"};
    default:
      return {api().cusolverDnZpotrfBatched, "cusolverDnZpotrfBatched"};
  }
}

/// Batches of matrices up to this extent are factorised by one call: each is too small to fill a
/// GPU.
constexpr std::int64_t small = 512;

}  // namespace

const std::string& unavailable_reason() { return library().unavailable_reason(); }

void cholesky(DType dtype, bool upper, std::int64_t n, std::int64_t batch, void* matrices,
              std::int32_t* infos, const Allocate& allocate, const Stream& stream) {
  const int ordinal = stream.device().ordinal;
  const cuda::ContextScope context(ordinal);
  const HandlePool<Solver>::Lease solver(solvers(), ordinal, create);
  check(api().cusolverDnSetStream(solver.get().handle, stream.handle()), "cusolverDnSetStream");
  // cuSOLVER is column-major: our lower triangle is the upper one of the transpose, and L^T its
  // factor.
  const Fill triangle = upper ? Fill::lower : Fill::upper;
  const DataType type = data_type(dtype);
  const auto bytes = static_cast<std::size_t>(n * n) * size_of(dtype);
  const auto matrix = [&](std::int64_t i) {
    return static_cast<std::byte*>(matrices) + static_cast<std::size_t>(i) * bytes;
  };
  // A captured graph would copy the pointers from host memory that no longer exists at launch.
  const bool together = n <= small && batch <= std::numeric_limits<int>::max();
  if (batch > 1 && together && !stream.capturing()) {
    std::vector<void*> pointers;
    for (std::int64_t i = 0; i < batch; ++i) pointers.push_back(matrix(i));
    const std::size_t size = pointers.size() * sizeof(void*);
    const BufferRef on_device = allocate(size);
    copy(on_device->pointer(), stream.device(), pointers.data(), Device{}, size, stream);
    const Batched potrf = potrf_batched(dtype);
    check(potrf.factorise(solver.get().handle, triangle, static_cast<int>(n),
                          static_cast<void**>(on_device->pointer()), static_cast<int>(n), infos,
                          static_cast<int>(batch)),
          potrf.name);
    return;
  }
  std::size_t device_bytes = 0, host_bytes = 0;
  check(api().cusolverDnXpotrf_bufferSize(solver.get().handle, solver.get().parameters, triangle, n,
                                          type, matrices, n, type, &device_bytes, &host_bytes),
        "cusolverDnXpotrf_bufferSize");
  const BufferRef workspace = allocate(device_bytes);
  std::vector<std::byte> host_workspace(host_bytes);
  for (std::int64_t i = 0; i < batch; ++i) {
    check(api().cusolverDnXpotrf(solver.get().handle, solver.get().parameters, triangle, n, type,
                                 matrix(i), n, type, workspace->pointer(), device_bytes,
                                 host_workspace.data(), host_bytes, infos + i),
          "cusolverDnXpotrf");
  }
}

}  // namespace heddle::runtime::cusolver
