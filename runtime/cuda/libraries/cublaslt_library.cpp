#include "runtime/cuda/libraries/cublaslt_library.h"

#include <map>
#include <mutex>
#include <string>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/base/environment.h"
#include "ir/base/fork_gate.h"
#include "runtime/base/library.h"
#include "runtime/base/log.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/libraries/cublaslt.h"

namespace heddle::runtime::cublaslt {

namespace {

std::string bind(Api& api, const DynamicLibrary& library, std::string& missing) {
#define HEDDLE_CUBLASLT(name) library.bind(api.name, #name, missing)
  HEDDLE_CUBLASLT(cublasLtCreate);
  HEDDLE_CUBLASLT(cublasLtGetVersion);
  HEDDLE_CUBLASLT(cublasLtGetStatusString);
  HEDDLE_CUBLASLT(cublasLtMatmulDescCreate);
  HEDDLE_CUBLASLT(cublasLtMatmulDescDestroy);
  HEDDLE_CUBLASLT(cublasLtMatmulDescSetAttribute);
  HEDDLE_CUBLASLT(cublasLtMatrixLayoutCreate);
  HEDDLE_CUBLASLT(cublasLtMatrixLayoutDestroy);
  HEDDLE_CUBLASLT(cublasLtMatrixLayoutSetAttribute);
  HEDDLE_CUBLASLT(cublasLtMatmulPreferenceCreate);
  HEDDLE_CUBLASLT(cublasLtMatmulPreferenceDestroy);
  HEDDLE_CUBLASLT(cublasLtMatmulPreferenceSetAttribute);
  HEDDLE_CUBLASLT(cublasLtMatmulAlgoGetHeuristic);
  HEDDLE_CUBLASLT(cublasLtMatmulAlgoCheck);
  HEDDLE_CUBLASLT(cublasLtMatmul);
#undef HEDDLE_CUBLASLT
  return version_by_property(library, "cublasLtGetProperty");
}

Library<Api>& library() {
  static auto& library = *new Library<Api>(
      {.request = {.title = "cuBLASLt",
                   .names = {"libcublasLt.so.13", "libcublasLt.so.12"},
                   .packages = {"cublas"},
                   .variable = ir::Variable::cublaslt},
       .mend = "Install cuBLAS 12 or newer (pip install nvidia-cublas), or set HEDDLE_CUBLASLT to "
               "its file or HEDDLE_CUDA_PATH to the toolkit.",
       .without = "cuBLASLt is not available",
       .unusable = cuda::unavailable_reason,
       .bind = bind});
  return library;
}

}  // namespace

const std::string& unavailable_reason() { return library().unavailable_reason(); }

const Api& api() { return library().api(); }

void check(Status status, const char* call) {
  if (status == Status::success) return;
  throw DeviceError(fmt::format("{} failed: {} ({}).{}", call,
                                api().cublasLtGetStatusString(status), static_cast<int>(status),
                                cuda::describe_loss()));
}

bool refuses(Status status) {
  return status == Status::not_supported || status == Status::invalid_value ||
         status == Status::arch_mismatch;
}

Handle handle_of(int ordinal) {
  static constinit ir::Mutex mutex;
  static auto* const handles = new std::map<int, Handle>;
  const std::lock_guard lock(mutex);
  Handle& handle = (*handles)[ordinal];
  if (handle != nullptr) return handle;
  const Status status = api().cublasLtCreate(&handle);
  if (status == Status::success) return handle;
  log().info("cublasLtCreate failed: {}", api().cublasLtGetStatusString(status));
  return handle = nullptr;
}

}  // namespace heddle::runtime::cublaslt
