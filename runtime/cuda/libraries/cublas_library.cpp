#include "runtime/cuda/libraries/cublas_library.h"

#include <string>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/base/environment.h"
#include "runtime/cuda/libraries/cublas.h"

namespace heddle::runtime::cublas {

namespace {

/// Keeps partial sums of half precision products in f32 when the product is split along its depth.
constexpr int math_default_without_reduced_reduction = 16;

void bind_routines(Routines& out, char letter, const DynamicLibrary& library,
                   std::string& missing) {
  const auto name = [&](const char* routine) {
    return fmt::format("cublas{}{}Batched", letter, routine);
  };
  library.bind(out.getrf, name("getrf").c_str(), missing);
  library.bind(out.getrs, name("getrs").c_str(), missing);
  library.bind(out.geqrf, name("geqrf").c_str(), missing);
  library.bind(out.trsm, name("trsm").c_str(), missing);
  library.bind(out.trsm_single, fmt::format("cublas{}trsm_v2_64", letter).c_str(), missing);
}

std::string bind(Api& api, const DynamicLibrary& library, std::string& missing) {
#define HEDDLE_CUBLAS(name) library.bind(api.name, #name, missing)
  HEDDLE_CUBLAS(cublasCreate_v2);
  HEDDLE_CUBLAS(cublasSetStream_v2);
  HEDDLE_CUBLAS(cublasSetWorkspace_v2);
  HEDDLE_CUBLAS(cublasSetMathMode);
  HEDDLE_CUBLAS(cublasGetStatusString);
  HEDDLE_CUBLAS(cublasGemmStridedBatchedEx_64);
#undef HEDDLE_CUBLAS
  bind_routines(api.f32, 'S', library, missing);
  bind_routines(api.f64, 'D', library, missing);
  bind_routines(api.c64, 'C', library, missing);
  bind_routines(api.c128, 'Z', library, missing);
  return version_by_property(library, "cublasGetProperty");
}

Library<Api>& library() {
  static auto& library = *new Library<Api>(
      {.request = {.title = "cuBLAS",
                   .names = {"libcublas.so.13", "libcublas.so.12"},
                   .packages = {"cublas"},
                   .variable = ir::Variable::cublas},
       .mend =
           "Install cuBLAS 12 or newer (pip install nvidia-cublas), or set HEDDLE_CUBLAS to its "
           "file or HEDDLE_CUDA_PATH to the toolkit.",
       .without = "matrices cannot be multiplied on the GPU",
       .unusable = cuda::unavailable_reason,
       .bind = bind});
  return library;
}

HandlePool<Handle>& handles() {
  static auto& pool = *new HandlePool<Handle>;
  return pool;
}

Handle create() {
  Handle handle = nullptr;
  check(api().cublasCreate_v2(&handle), "cublasCreate");
  check(api().cublasSetMathMode(handle, math_default_without_reduced_reduction),
        "cublasSetMathMode");
  return handle;
}

}  // namespace

const std::string& unavailable_reason() { return library().unavailable_reason(); }

const Api& api() { return library().api(); }

const Routines& routines(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return api().f32;
    case DType::f64:
      return api().f64;
    case DType::c64:
      return api().c64;
    case DType::c128:
      return api().c128;
    default:
      throw InternalError(fmt::format("cuBLAS has no such routines for {}", name_of(dtype)));
  }
}

void check(Status status, const char* call) {
  if (status == Status::success) return;
  throw DeviceError(fmt::format("{} failed: {} ({}).{}", call, api().cublasGetStatusString(status),
                                static_cast<int>(status), cuda::describe_loss()));
}

Session::Session(const Stream& stream)
    : context_(stream.device().ordinal), lease_(handles(), stream.device().ordinal, create) {
  // This also sets the library's own workspace.
  check(api().cublasSetStream_v2(handle(), stream.handle()), "cublasSetStream");
}

}  // namespace heddle::runtime::cublas
