#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/base/dynamic_library.h"
#include "runtime/device/handles.h"
#include "runtime/device/process_sharing.h"

/// The CUDA Driver API, opened when first needed. The declarations are Heddle's own and follow the
/// binary interface of cuda.h, so that building Heddle needs no CUDA toolkit.
namespace heddle::runtime::cuda {

enum class Result : int {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  not_initialized = 3,
  deinitialized = 4,
  stub_library = 34,
  no_device = 100,
  invalid_device = 101,
  invalid_image = 200,
  invalid_context = 201,
  map_failed = 205,
  no_binary_for_gpu = 209,
  ecc_uncorrectable = 214,
  peer_access_unsupported = 217,
  invalid_ptx = 218,
  nvlink_uncorrectable = 220,
  unsupported_ptx_version = 222,
  contained = 226,
  invalid_source = 300,
  invalid_handle = 400,
  not_found = 500,
  not_ready = 600,
  illegal_address = 700,
  launch_out_of_resources = 701,
  launch_timeout = 702,
  peer_access_already_enabled = 704,
  peer_access_not_enabled = 705,
  context_is_destroyed = 709,
  assertion = 710,
  too_many_peers = 711,
  hardware_stack_error = 714,
  illegal_instruction = 715,
  misaligned_address = 716,
  invalid_address_space = 717,
  invalid_pc = 718,
  launch_failed = 719,
  not_supported = 801,
  stream_capture_unsupported = 900,
  stream_capture_invalidated = 901
};

using DeviceHandle = int;
using DevicePointer = std::uint64_t;
using ContextHandle = struct ContextOpaque*;
using runtime::EventHandle;
using runtime::StreamHandle;
using ModuleHandle = struct ModuleOpaque*;
using FunctionHandle = struct FunctionOpaque*;
using GraphHandle = struct GraphOpaque*;
using GraphNodeHandle = struct GraphNodeOpaque*;
using GraphExecHandle = struct GraphExecOpaque*;
using UserObjectHandle = struct UserObjectOpaque*;
using MemoryPoolHandle = struct MemoryPoolOpaque*;

enum class DeviceAttribute : int {
  max_threads_per_block = 1,
  warp_size = 10,
  max_registers_per_block = 12,
  clock_rate = 13,
  multiprocessor_count = 16,
  integrated = 18,
  memory_clock_rate = 36,
  global_memory_bus_width = 37,
  l2_cache_size = 38,
  max_threads_per_multiprocessor = 39,
  compute_capability_major = 75,
  compute_capability_minor = 76,
  max_shared_memory_per_multiprocessor = 81,
  max_shared_memory_per_block_optin = 97,
  cluster_launch = 120
};

enum class FunctionAttribute : int {
  max_threads_per_block = 0,
  shared_size_bytes = 1,
  const_size_bytes = 2,
  local_size_bytes = 3,
  registers = 4,
  ptx_version = 5,
  binary_version = 6,
  cache_mode_ca = 7,
  max_dynamic_shared_size_bytes = 8,
  preferred_shared_memory_carveout = 9,
  non_portable_cluster_size_allowed = 14
};

enum class PointerAttribute : int { context = 1, memory_type = 2, device_ordinal = 9 };
/// Values of PointerAttribute::memory_type.
enum class MemoryType : unsigned { host = 1, device = 2, array = 3, unified = 4 };
enum class JitOption : int { error_log_buffer = 5, error_log_buffer_size_bytes = 6 };
using runtime::CaptureMode;
enum class MemoryPoolAttribute : int { reserved_current = 5, used_current = 7 };
/// Where managed memory is, or is wanted: CUmemLocation, of CUDA 12.2 and later.
struct MemoryLocation {
  int type = 1;  ///< CU_MEM_LOCATION_TYPE_DEVICE; 2: CU_MEM_LOCATION_TYPE_HOST
  int ordinal = 0;
};
/// CUipcMemHandle and CUipcEventHandle.
struct IpcBytes {
  IpcHandle bytes{};
};
enum class CaptureStatus : int { none = 0, active = 1, invalidated = 2 };
enum class GraphNodeType : int { kernel = 0, memcpy = 1, memset = 2 };

inline constexpr unsigned stream_non_blocking = 1;
inline constexpr unsigned event_blocking_sync = 1;
inline constexpr unsigned event_disable_timing = 2;
inline constexpr unsigned event_interprocess = 4;
inline constexpr unsigned host_alloc_portable = 1;
inline constexpr unsigned mem_attach_global = 1;
inline constexpr unsigned ipc_lazy_enable_peer_access = 1;
inline constexpr unsigned user_object_no_destructor_sync = 1;
inline constexpr unsigned graph_user_object_move = 1;

enum class LaunchAttributeId : int { ignore = 0, cooperative = 2, cluster_dimension = 4 };
union LaunchAttributeValue {
  char bytes[64];
  int cooperative;
  unsigned cluster_dimension[3];
  void* align;
};
struct LaunchAttribute {
  LaunchAttributeId id = LaunchAttributeId::ignore;
  char padding[4] = {};
  LaunchAttributeValue value = {};
};
static_assert(sizeof(LaunchAttribute) == 72);

struct LaunchConfig {
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned shared_bytes = 0;
  StreamHandle stream = nullptr;
  LaunchAttribute* attributes = nullptr;
  unsigned attribute_count = 0;
};
static_assert(sizeof(LaunchConfig) == 56);

struct KernelNodeParams {
  FunctionHandle function = nullptr;
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned shared_bytes = 0;
  void** parameters = nullptr;
  void** extra = nullptr;
  void* kernel = nullptr;
  ContextHandle context = nullptr;
};
static_assert(sizeof(KernelNodeParams) == 72);

struct MemsetNodeParams {
  DevicePointer destination = 0;
  std::size_t pitch = 0;
  unsigned value = 0;
  unsigned element_bytes = 1;
  std::size_t width = 0;
  std::size_t height = 1;
};
static_assert(sizeof(MemsetNodeParams) == 40);

enum class ConditionalKind : int { if_ = 0, while_ = 1 };

/// CUgraphNodeParams for a conditional node.
struct ConditionalNodeParams {
  int type = 13;  // CU_GRAPH_NODE_TYPE_CONDITIONAL
  int reserved[3] = {};
  std::uint64_t condition = 0;
  ConditionalKind kind = ConditionalKind::if_;
  unsigned size = 1;              ///< number of bodies
  GraphHandle* bodies = nullptr;  ///< set by the driver
  ContextHandle context = nullptr;
  std::uint64_t more[26] = {};
};
static_assert(sizeof(ConditionalNodeParams) == 256);

/// CUDA_MEMCPY2D for a copy within device memory: `rows` rows of `row_bytes` bytes, whose starts
/// are a pitch apart.
struct Copy2d {
  std::size_t from_x = 0, from_y = 0;
  int from_kind = 2;  ///< CU_MEMORYTYPE_DEVICE
  const void* from_host = nullptr;
  DevicePointer from = 0;
  void* from_array = nullptr;
  std::size_t from_pitch = 0;
  std::size_t to_x = 0, to_y = 0;
  int to_kind = 2;
  void* to_host = nullptr;
  DevicePointer to = 0;
  void* to_array = nullptr;
  std::size_t to_pitch = 0;
  std::size_t row_bytes = 0, rows = 0;
};

/// Whether the error makes the context unusable: every further call returns the same error.
bool is_sticky(Result result);

/// Throws OutOfMemory for out_of_memory and DeviceError for any other failure, with the call's name
/// and the driver's message. For an error that is_sticky(), the message also names the call that
/// met it first. `ordinal` is the GPU of the call; by default the GPU of the current context.
void check(Result result, const char* call, int ordinal = -1);
/// " cuda:0 is lost since cuStreamSynchronize failed: ...", for errors of libraries that call the
/// driver themselves. Empty if no call has met a sticky error on the GPU. By default the GPU of the
/// current context.
std::string describe_loss(int ordinal = -1);

/// A function of the table. Calling it checks the result; `attempt` returns the result instead.
template <class Signature>
class Function;
template <class... Parameters>
class Function<Result(Parameters...)> {
 public:
  void operator()(Parameters... parameters) const {
    if (const Result result = pointer_(parameters...); result != Result::success) [[unlikely]] {
      check(result, name_);
    }
  }
  Result attempt(Parameters... parameters) const { return pointer_(parameters...); }
  /// False if this driver lacks the function, which is optional.
  explicit operator bool() const { return pointer_ != nullptr; }
  void bind(void* symbol, const char* name) {
    pointer_ = reinterpret_cast<Result (*)(Parameters...)>(symbol);
    name_ = name;
  }

 private:
  Result (*pointer_)(Parameters...) = nullptr;
  const char* name_ = nullptr;
};

struct Driver {
#define HEDDLE_CUDA(name, symbol, need, parameters) Function<Result parameters> name;
#include "runtime/cuda/driver.def"
#undef HEDDLE_CUDA
};

/// True if the driver is installed, initialises and has a device. Checked once; thread-safe; never
/// throws.
bool available();
/// Why available() is false: a sentence or, for a missing library, every location tried. Empty if
/// it is true.
const std::string& unavailable_reason();
/// The function table. Throws DeviceError with unavailable_reason() if there is no CUDA.
const Driver& driver();
/// The newest CUDA version that the driver supports: 12040 for CUDA 12.4; 0 if there is no driver.
int driver_version();
/// True once the driver must not be called any more, not even to release resources: the process has
/// begun to exit, or was forked from one that had initialised the driver.
bool unusable();

}  // namespace heddle::runtime::cuda
