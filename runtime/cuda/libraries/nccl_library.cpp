#include "runtime/cuda/libraries/nccl_library.h"

#include <fmt/format.h>

#include "ir/base/environment.h"
#include "runtime/base/library.h"

namespace heddle::runtime::nccl {

namespace {

std::string version_text(const Api& api) {
  int code = 0;
  if (api.ncclGetVersion == nullptr || api.ncclGetVersion(&code) != Status::success) return {};
  return fmt::format("{}.{}.{}", code / 10'000, code / 100 % 100, code % 100);
}

std::string bind(Api& api, const DynamicLibrary& library, std::string& missing) {
#define HEDDLE_NCCL(name) library.bind(api.name, #name, missing)
  HEDDLE_NCCL(ncclGetVersion);
  HEDDLE_NCCL(ncclGetUniqueId);
  HEDDLE_NCCL(ncclCommInitRankConfig);
  HEDDLE_NCCL(ncclCommDestroy);
  HEDDLE_NCCL(ncclCommAbort);
  HEDDLE_NCCL(ncclCommGetAsyncError);
  HEDDLE_NCCL(ncclGetErrorString);
  HEDDLE_NCCL(ncclGetLastError);
  HEDDLE_NCCL(ncclAllReduce);
  HEDDLE_NCCL(ncclReduce);
  HEDDLE_NCCL(ncclBroadcast);
  HEDDLE_NCCL(ncclReduceScatter);
  HEDDLE_NCCL(ncclAllGather);
  HEDDLE_NCCL(ncclSend);
  HEDDLE_NCCL(ncclRecv);
  HEDDLE_NCCL(ncclGroupStart);
  HEDDLE_NCCL(ncclGroupEnd);
#undef HEDDLE_NCCL
  return version_text(api);
}

Library<Api>& library() {
  static auto& library = *new Library<Api>(
      {.request = {.title = "NCCL",
                   .names = {"libnccl.so.2"},
                   .packages = {"nccl"},
                   .variable = ir::Variable::nccl},
       .mend = "Install NCCL 2.18 or newer (pip install nvidia-nccl-cu13), or set HEDDLE_NCCL to "
               "its file.",
       .without = "GPUs cannot exchange arrays",
       .unusable = cuda::unavailable_reason,
       .bind = bind});
  return library;
}

}  // namespace

const Api& api() { return library().api(); }

const std::string& unavailable_reason() { return library().unavailable_reason(); }

int version() {
  int code = 0;
  check(api().ncclGetVersion(&code), "ncclGetVersion", nullptr);
  return code;
}

UniqueId unique_id() {
  UniqueId id{};
  check(api().ncclGetUniqueId(&id), "ncclGetUniqueId", nullptr);
  return id;
}

std::string describe(Status status, Comm* comm) {
  const char* const detail = api().ncclGetLastError(comm);
  const std::string text = detail == nullptr ? "" : detail;
  return fmt::format("{} (NCCL's status {}){}{}", api().ncclGetErrorString(status),
                     static_cast<int>(status), text.empty() ? "" : ": ", text);
}

void check(Status status, const std::string& what, Comm* comm) {
  if (status == Status::success || status == Status::in_progress) return;
  throw CommunicationError(
      fmt::format("{} failed: {}.{} NCCL_DEBUG=WARN in the environment makes NCCL say more.", what,
                  describe(status, comm), cuda::describe_loss()));
}

}  // namespace heddle::runtime::nccl
