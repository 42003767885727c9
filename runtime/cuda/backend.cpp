#include "runtime/device/backend.h"

#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "heddle/error.h"

#include "runtime/base/log.h"
#include "runtime/cuda/calls.h"
#include "runtime/cuda/captured_work.h"
#include "runtime/cuda/conditional_nodes.h"
#include "runtime/cuda/device_details.h"
#include "runtime/cuda/devices.h"
#include "runtime/cuda/examination.h"
#include "runtime/cuda/kernel_compiler.h"
#include "runtime/cuda/launcher.h"
#include "runtime/cuda/libraries/blas.h"
#include "runtime/cuda/memory_kinds.h"
#include "runtime/cuda/peers.h"
#include "runtime/cuda/process_sharing.h"
#include "runtime/cuda/raw_module.h"
#include "runtime/device/captured_source.h"
#include "runtime/device/stream.h"

namespace heddle::runtime {

namespace {

cuda::DevicePointer address(const void* pointer) {
  return reinterpret_cast<cuda::DevicePointer>(pointer);
}

/// CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
constexpr auto stream_capture_implicit = static_cast<cuda::Result>(906);

class CudaBackend final : public Backend {
 public:
  constexpr CudaBackend() : Backend("cuda", "a GPU", true, ir::TargetKind::cuda) {}

  std::string_view usual_target() const override { return "sm_90"; }
  int device_count() const override { return cuda::device_count(); }
  int driver_version() const override { return cuda::driver_version(); }
  const std::string& unavailable_reason() const override { return cuda::unavailable_reason(); }
  std::string describe_missing(int ordinal) const override;
  std::vector<Finding> examine() const override { return cuda::examine(); }
  const ir::Target& target(int ordinal) const override { return cuda::target_of(ordinal); }
  const DeviceFacts& facts(int ordinal) const override { return cuda::facts_of(ordinal); }
  DeviceDetails details(int ordinal) const override { return cuda::details_of(ordinal); }
  DeviceMemory memory(int ordinal) const override { return cuda::memory_of(ordinal); }
  std::optional<int> at_bus_id(const std::string& id) const override { return cuda::at_bus_id(id); }
  bool can_access(int ordinal, int peer) const override { return cuda::can_access(ordinal, peer); }
  bool enable_access(int ordinal, int peer) const override {
    return cuda::enable_access(ordinal, peer);
  }
  void disable_access(int ordinal, int peer) const override { cuda::disable_access(ordinal, peer); }
  bool unusable() const noexcept override { return cuda::unusable(); }
  void synchronize(int ordinal) const override;
  bool enter(int ordinal) const override { return cuda::enter_context(ordinal); }
  void leave() const noexcept override { cuda::leave_context(); }
  const KernelCompiler& compiler() const override { return cuda::kernel_compiler(); }
  std::unique_ptr<KernelLauncher> load(const ProgramImage& image, int ordinal) const override {
    return std::make_unique<cuda::CudaLauncher>(image, ordinal);
  }
  std::unique_ptr<RawModule> load_raw(const RawSource& source, int ordinal) const override {
    return std::make_unique<cuda::CudaRawModule>(source, ordinal);
  }
  const CallHandler* call_handler(std::string_view name) const override {
    return cuda::call_handler(name);
  }
  const Blas& blas() const override { return cuda::blas(); }

  void* reserve(int ordinal, std::size_t bytes) const override;
  void release(int ordinal, void* pointer) const noexcept override;
  std::size_t free_bytes(int ordinal) const override;
  std::string describe_free(int ordinal) const override;
  std::optional<Device> owner_of(const void* pointer) const override;
  void copy(void* to, Device to_device, const void* from, Device from_device, std::size_t bytes,
            const Stream& stream) const override;
  void fill(void* to, unsigned char value, std::size_t bytes, const Stream& stream) const override;
  void* reserve_pinned(int ordinal, std::size_t bytes) const override;
  void release_pinned(int ordinal, void* pointer) const noexcept override;

  void* reserve_managed(int ordinal, std::size_t bytes) const override {
    return cuda::reserve_managed(ordinal, bytes);
  }
  void release_managed(int ordinal, void* pointer, std::size_t bytes) const noexcept override {
    cuda::release_managed(ordinal, pointer, bytes);
  }
  void prefetch(const void* pointer, std::size_t bytes, Device to,
                const Stream& stream) const override {
    cuda::prefetch(pointer, bytes, to, stream);
  }
  void advise(int ordinal, const void* pointer, std::size_t bytes, int advice,
              Device on) const override {
    cuda::advise(ordinal, pointer, bytes, advice, on);
  }
  void* reserve_ordered(int ordinal, std::size_t bytes) const override {
    return cuda::reserve_ordered(ordinal, bytes);
  }
  void release_ordered(int ordinal, void* pointer) const noexcept override {
    cuda::release_ordered(ordinal, pointer);
  }
  OrderedPool ordered_pool(int ordinal) const override { return cuda::ordered_pool(ordinal); }
  void trim_ordered(int ordinal, std::size_t keep) const override {
    cuda::trim_ordered(ordinal, keep);
  }

  StreamHandle create_stream(const StreamKind& kind) const override;
  void synchronize(StreamHandle stream, int ordinal) const override;
  bool is_idle(StreamHandle stream, int ordinal) const override;
  bool is_capturing(StreamHandle stream) const override;
  void wait(StreamHandle stream, EventHandle event) const override;
  EventHandle create_event(const EventKind& kind) const override;
  void record(EventHandle event, StreamHandle stream) const override;
  void destroy(EventHandle event) const noexcept override;
  bool is_done(EventHandle event, int ordinal) const override;
  void synchronize(EventHandle event, int ordinal) const override;
  double milliseconds_between(EventHandle start, EventHandle end) const override;
  void call_on_host(StreamHandle stream, void (*function)(void*), void* data) const override {
    cuda::driver().launch_host_func(stream, function, data);
  }
  void set_profiling(bool on) const override;

  void begin_capture(StreamHandle stream, CaptureMode mode) const override {
    cuda::driver().stream_begin_capture(stream, mode);
  }
  std::unique_ptr<CapturedWork> end_capture(const Stream& stream) const override {
    return cuda::end_capture(stream);
  }
  int relax_capturing() const override;
  void restore_capturing(int before) const noexcept override;
  void retain_by_captured_graph(StreamHandle stream,
                                std::unique_ptr<GraphResource> held) const override;
  const GraphConditions* graph_conditions() const override { return cuda::graph_conditions(); }
  const ProcessSharing* process_sharing() const override { return &cuda::process_sharing(); }
};

std::string CudaBackend::describe_missing(int) const {
  const int count = cuda::device_count();
  if (count == 0) return cuda::unavailable_reason();
  return fmt::format("this process sees {} GPU{} (see CUDA_VISIBLE_DEVICES) and the CPU", count,
                     count == 1 ? "" : "s");
}

void CudaBackend::synchronize(int ordinal) const {
  const cuda::ContextScope context(ordinal);
  cuda::driver().ctx_synchronize();
}

void* CudaBackend::reserve(int ordinal, std::size_t bytes) const {
  const cuda::ContextScope context(ordinal);
  cuda::DevicePointer pointer = 0;
  const cuda::Result result = cuda::driver().mem_alloc.attempt(&pointer, bytes);
  if (result == cuda::Result::out_of_memory) return nullptr;
  cuda::check(result, "cuMemAlloc_v2");
  return reinterpret_cast<void*>(pointer);
}

void CudaBackend::release(int ordinal, void* pointer) const noexcept {
  if (cuda::unusable()) return;
  try {
    const cuda::ContextScope context(ordinal);
    cuda::driver().mem_free(address(pointer));
  } catch (const Error& failure) {
    // The loss of a device is reported to the calls that use it, so it is not logged here.
    if (cuda::describe_loss(ordinal).empty()) log().error("{}", failure.what());
  }
}

std::size_t CudaBackend::free_bytes(int ordinal) const {
  std::size_t free = 0, total = 0;
  const cuda::ContextScope context(ordinal);
  const cuda::Result result = cuda::driver().mem_get_info.attempt(&free, &total);
  return result == cuda::Result::success ? free : SIZE_MAX;
}

std::string CudaBackend::describe_free(int ordinal) const {
  std::size_t free = 0, total = 0;
  const cuda::ContextScope context(ordinal);
  if (cuda::driver().mem_get_info.attempt(&free, &total) != cuda::Result::success) return {};
  return fmt::format(", {} of the GPU's {} bytes free", free, total);
}

std::optional<Device> CudaBackend::owner_of(const void* pointer) const {
  if (!cuda::available()) return std::nullopt;
  unsigned type = 0;  // unchanged for memory that the driver does not know
  int ordinal = 0;
  std::array attributes = {cuda::PointerAttribute::memory_type,
                           cuda::PointerAttribute::device_ordinal};
  std::array<void*, 2> values = {&type, &ordinal};
  cuda::driver().pointer_get_attributes(static_cast<unsigned>(attributes.size()), attributes.data(),
                                        values.data(), address(pointer));
  if (type == 0) return std::nullopt;
  if (type == static_cast<unsigned>(cuda::MemoryType::host)) return Device{};
  return Device{DeviceKind::cuda, ordinal};
}

void CudaBackend::copy(void* to, Device to_device, const void* from, Device from_device,
                       std::size_t bytes, const Stream& stream) const {
  const cuda::Driver& driver = cuda::driver();
  if (stream.device().kind != DeviceKind::cuda) {
    throw InternalError("a copy from or to a GPU needs a stream of that GPU, not the CPU's");
  }
  const cuda::ContextScope context(stream.device().ordinal);
  if (from_device.kind != DeviceKind::cuda) {
    const bool captured = stream.capturing();
    if (captured) from = kept_by_captured_graph(from, bytes, stream);
    driver.memcpy_htod_async(address(to), from, bytes, stream.handle());
    // A copy from pageable memory stages the memory before it returns. Memory known to the driver,
    // pinned or managed, is read by the device later, so the copy is waited for.
    if (!captured && owner_of(from)) stream.synchronize();
  } else if (to_device.kind != DeviceKind::cuda) {
    driver.memcpy_dtoh_async(to, address(from), bytes, stream.handle());
  } else if (to_device == from_device) {
    driver.memcpy_dtod_async(address(to), address(from), bytes, stream.handle());
  } else {
    // Without access the driver copies through the host. During a capture nothing is enabled.
    if (!stream.capturing()) {
      cuda::enable_access(to_device.ordinal, from_device.ordinal);
      cuda::enable_access(from_device.ordinal, to_device.ordinal);
    }
    driver.memcpy_peer_async(address(to), cuda::primary_context(to_device.ordinal), address(from),
                             cuda::primary_context(from_device.ordinal), bytes, stream.handle());
  }
}

void CudaBackend::fill(void* to, unsigned char value, std::size_t bytes,
                       const Stream& stream) const {
  const cuda::ContextScope context(stream.device().ordinal);
  cuda::driver().memset_d8_async(address(to), value, bytes, stream.handle());
}

void* CudaBackend::reserve_pinned(int ordinal, std::size_t bytes) const {
  const cuda::ContextScope context(ordinal);
  void* pointer = nullptr;
  const cuda::Result result =
      cuda::driver().mem_host_alloc.attempt(&pointer, bytes, cuda::host_alloc_portable);
  if (result == cuda::Result::out_of_memory) return nullptr;
  cuda::check(result, "cuMemHostAlloc");
  return pointer;
}

void CudaBackend::release_pinned(int ordinal, void* pointer) const noexcept {
  if (cuda::unusable()) return;
  try {
    const cuda::ContextScope context(ordinal);
    cuda::driver().mem_free_host(pointer);
  } catch (const Error& failure) {
    if (cuda::describe_loss(ordinal).empty()) log().error("{}", failure.what());
  }
}

StreamHandle CudaBackend::create_stream(const StreamKind& kind) const {
  StreamHandle stream = nullptr;
  cuda::driver().stream_create(&stream, kind.waits_for_default ? 0 : cuda::stream_non_blocking,
                               kind.priority);
  return stream;
}

void CudaBackend::synchronize(StreamHandle stream, int ordinal) const {
  cuda::check(cuda::driver().stream_synchronize.attempt(stream), "cuStreamSynchronize", ordinal);
}

bool CudaBackend::is_idle(StreamHandle stream, int ordinal) const {
  if (is_capturing(stream)) return false;
  const cuda::Result result = cuda::driver().stream_query.attempt(stream);
  // During a capture on another stream, the driver may refuse the query.
  if (result == cuda::Result::not_ready || result == cuda::Result::stream_capture_unsupported)
    return false;
  cuda::check(result, "cuStreamQuery", ordinal);
  return true;
}

bool CudaBackend::is_capturing(StreamHandle stream) const {
  cuda::CaptureStatus status = cuda::CaptureStatus::none;
  const cuda::Result result = cuda::driver().stream_is_capturing.attempt(stream, &status);
  // The legacy default stream, while a stream that waits for it is captured.
  if (result == stream_capture_implicit) return true;
  cuda::check(result, "cuStreamIsCapturing");
  return status != cuda::CaptureStatus::none;
}

void CudaBackend::wait(StreamHandle stream, EventHandle event) const {
  cuda::driver().stream_wait_event(stream, event, 0);
}

EventHandle CudaBackend::create_event(const EventKind& kind) const {
  EventHandle event = nullptr;
  const unsigned flags = (kind.timed ? 0 : cuda::event_disable_timing) |
                         (kind.blocking ? cuda::event_blocking_sync : 0) |
                         (kind.interprocess ? cuda::event_interprocess : 0);
  cuda::driver().event_create(&event, flags);
  return event;
}

void CudaBackend::record(EventHandle event, StreamHandle stream) const {
  cuda::driver().event_record(event, stream);
}

void CudaBackend::destroy(EventHandle event) const noexcept {
  cuda::driver().event_destroy.attempt(event);
}

bool CudaBackend::is_done(EventHandle event, int ordinal) const {
  const cuda::Result result = cuda::driver().event_query.attempt(event);
  if (result == cuda::Result::not_ready) return false;
  cuda::check(result, "cuEventQuery", ordinal);
  return true;
}

void CudaBackend::synchronize(EventHandle event, int ordinal) const {
  cuda::check(cuda::driver().event_synchronize.attempt(event), "cuEventSynchronize", ordinal);
}

double CudaBackend::milliseconds_between(EventHandle start, EventHandle end) const {
  float time = 0;
  cuda::driver().event_elapsed_time(&time, start, end);
  return static_cast<double>(time);
}

void CudaBackend::set_profiling(bool on) const {
  const auto& call = on ? cuda::driver().profiler_start : cuda::driver().profiler_stop;
  if (call) call();
}

int CudaBackend::relax_capturing() const {
  cuda::CaptureMode mode = cuda::CaptureMode::relaxed;
  cuda::driver().thread_exchange_stream_capture_mode(&mode);
  return static_cast<int>(mode);
}

void CudaBackend::restore_capturing(int before) const noexcept {
  auto mode = static_cast<cuda::CaptureMode>(before);
  cuda::driver().thread_exchange_stream_capture_mode.attempt(&mode);
}

void CudaBackend::retain_by_captured_graph(StreamHandle stream,
                                           std::unique_ptr<GraphResource> held) const {
  const cuda::Driver& driver = cuda::driver();
  if (!driver.stream_get_capture_info || !driver.graph_retain_user_object) {
    static_cast<void>(held.release());  // the driver cannot report the end of the graph
    return;
  }
  const auto release = [](void* object) {
    const std::unique_ptr<GraphResource> own(static_cast<GraphResource*>(object));
    own->on_graph_destroyed();
  };
  cuda::CaptureStatus status = cuda::CaptureStatus::none;
  cuda::GraphHandle graph = nullptr;
  driver.stream_get_capture_info(stream, &status, nullptr, &graph, nullptr, nullptr);
  cuda::UserObjectHandle object = nullptr;
  driver.user_object_create(&object, held.get(), release, 1, cuda::user_object_no_destructor_sync);
  static_cast<void>(held.release());  // now owned by `object`
  try {
    driver.graph_retain_user_object(graph, object, 1, cuda::graph_user_object_move);
  } catch (const Error&) {
    driver.user_object_release.attempt(object, 1);
    throw;
  }
}

constinit const CudaBackend backend;

}  // namespace

constinit const Capabilities cuda_capabilities{
    .asynchronous = true, .host_memory = false, .timed_events = true, .thread_blocks = true};

const Backend& cuda_backend() { return backend; }

}  // namespace heddle::runtime
