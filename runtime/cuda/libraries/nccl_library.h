#pragma once

#include <climits>
#include <cstddef>
#include <string>

#include "runtime/cuda/driver.h"
#include "runtime/cuda/libraries/nccl.h"

namespace heddle::runtime::nccl {

enum class Status : int { success = 0, in_progress = 7 };
enum class Type : int { i8, u8, i32, u32, i64, u64, f16, f32, f64, bf16 };
struct Comm;

/// ncclConfig_t as of NCCL 2.18, which newer ones accept.
struct Config {
  std::size_t bytes = sizeof(Config);
  unsigned magic = 0xcafebeef;
  unsigned version = 21800;
  int blocking = INT_MIN;
  int cluster_size = INT_MIN;
  int least_blocks = INT_MIN, most_blocks = INT_MIN;
  const char* network = nullptr;
  int split_share = INT_MIN;
  int traffic_class = INT_MIN;  ///< since 2.25; padding before
};

struct Api {
  Status (*ncclGetVersion)(int* version) = nullptr;
  Status (*ncclGetUniqueId)(UniqueId* id) = nullptr;
  Status (*ncclCommInitRankConfig)(Comm** comm, int size, UniqueId id, int rank,
                                   Config* config) = nullptr;
  Status (*ncclCommDestroy)(Comm* comm) = nullptr;
  Status (*ncclCommAbort)(Comm* comm) = nullptr;
  Status (*ncclCommGetAsyncError)(Comm* comm, Status* error) = nullptr;
  const char* (*ncclGetErrorString)(Status status) = nullptr;
  const char* (*ncclGetLastError)(Comm* comm) = nullptr;
  Status (*ncclAllReduce)(const void* from, void* to, std::size_t count, Type type,
                          ReduceOperation operation, Comm* comm,
                          cuda::StreamHandle stream) = nullptr;
  Status (*ncclReduce)(const void* from, void* to, std::size_t count, Type type,
                       ReduceOperation operation, int root, Comm* comm,
                       cuda::StreamHandle stream) = nullptr;
  Status (*ncclBroadcast)(const void* from, void* to, std::size_t count, Type type, int root,
                          Comm* comm, cuda::StreamHandle stream) = nullptr;
  Status (*ncclReduceScatter)(const void* from, void* to, std::size_t count, Type type,
                              ReduceOperation operation, Comm* comm,
                              cuda::StreamHandle stream) = nullptr;
  Status (*ncclAllGather)(const void* from, void* to, std::size_t count, Type type, Comm* comm,
                          cuda::StreamHandle stream) = nullptr;
  Status (*ncclSend)(const void* from, std::size_t count, Type type, int peer, Comm* comm,
                     cuda::StreamHandle stream) = nullptr;
  Status (*ncclRecv)(void* to, std::size_t count, Type type, int peer, Comm* comm,
                     cuda::StreamHandle stream) = nullptr;
  Status (*ncclGroupStart)() = nullptr;
  Status (*ncclGroupEnd)() = nullptr;
};

/// Throws DeviceError if there is no NCCL.
const Api& api();

/// "unhandled system error (NCCL's status 2): ..." with what NCCL says of the communicator, which
/// may be null.
std::string describe(Status status, Comm* comm);
/// Throws CommunicationError for a status other than success and in_progress. `what` names the
/// call.
void check(Status status, const std::string& what, Comm* comm);

}  // namespace heddle::runtime::nccl
