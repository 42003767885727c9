#include "runtime/device/backend.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/base/fork_gate.h"
#include "runtime/base/host_memory.h"
#include "runtime/base/thread_pool.h"
#include "runtime/compile/raw_source.h"
#include "runtime/device/stream.h"
#include "runtime/host/calls.h"
#include "runtime/host/cpu.h"
#include "runtime/host/examination.h"
#include "runtime/host/kernel_compiler.h"
#include "runtime/host/launcher.h"
#include "runtime/host/libraries/blas.h"
#include "runtime/launch/raw_module.h"

namespace heddle::runtime {

namespace {

[[noreturn]] void refuse(const char* what) {
  throw InternalError(fmt::format("the CPU has no {}", what));
}

constexpr std::size_t cache_line = 64;

/// The host's processor. It executes work synchronously, so nothing needs to be waited for.
class HostBackend final : public Backend {
 public:
  constexpr HostBackend() : Backend("cpu", "the CPU", false, ir::TargetKind::host) {}

  std::string_view usual_target() const override { return "x86-64-v3"; }
  int device_count() const override { return 1; }
  const std::string& unavailable_reason() const override {
    static const std::string& none = *new std::string;
    return none;
  }
  std::string describe_missing(int) const override { return "there is one CPU"; }
  std::vector<Finding> examine() const override { return host::examine(); }
  const ir::Target& target(int ordinal) const override;
  const DeviceFacts& facts(int ordinal) const override;
  DeviceDetails details(int) const override { return {host_cpu_name(), {}, {}, {}}; }
  DeviceMemory memory(int) const override {
    const std::size_t total = host_memory_bytes();
    return {std::min(host_free_bytes(), total), total};  // swap is free, too
  }
  std::optional<int> at_bus_id(const std::string&) const override { return std::nullopt; }
  bool can_access(int, int) const override { return true; }
  bool enable_access(int, int) const override { return true; }
  void disable_access(int, int) const override {}
  bool unusable() const noexcept override { return false; }
  void synchronize(int) const override {}
  bool enter(int) const override { return false; }
  void leave() const noexcept override {}
  const KernelCompiler& compiler() const override { return host::kernel_compiler(); }
  std::unique_ptr<KernelLauncher> load(const ProgramImage& image, int) const override {
    return host::load(image);
  }
  std::unique_ptr<RawModule> load_raw(const RawSource& source, int ordinal) const override;
  const CallHandler* call_handler(std::string_view name) const override {
    return host::call_handler(name);
  }
  const Blas& blas() const override { return host::blas(); }

  void* reserve(int ordinal, std::size_t bytes) const override;
  void release(int, void* pointer) const noexcept override { std::free(pointer); }
  std::size_t free_bytes(int) const override { return host_free_bytes(); }
  std::string describe_free(int) const override { return {}; }
  std::optional<Device> owner_of(const void*) const override { return std::nullopt; }
  void copy(void*, Device, const void*, Device, std::size_t, const Stream&) const override {
    refuse("memory that the host cannot reach");
  }
  void fill(void* to, unsigned char value, std::size_t bytes, const Stream&) const override {
    std::memset(to, value, bytes);
  }

  void* reserve_pinned(int, std::size_t bytes) const override {
    void* pointer = nullptr;
    return posix_memalign(&pointer, cache_line, bytes) == 0 ? pointer : nullptr;
  }
  void release_pinned(int, void* pointer) const noexcept override { std::free(pointer); }

  void* reserve_managed(int ordinal, std::size_t bytes) const override {
    return reserve(ordinal, bytes);
  }
  void release_managed(int ordinal, void* pointer, std::size_t) const noexcept override {
    release(ordinal, pointer);
  }
  void prefetch(const void*, std::size_t, Device, const Stream&) const override {}
  void advise(int, const void*, std::size_t, int, Device) const override {}
  void* reserve_ordered(int ordinal, std::size_t bytes) const override {
    return reserve(ordinal, bytes);
  }
  void release_ordered(int ordinal, void* pointer) const noexcept override {
    release(ordinal, pointer);
  }
  OrderedPool ordered_pool(int) const override {
    throw DeviceError(
        "the CPU's driver has no pool of its own, so it has no size; MemoryPool has one on every "
        "device");
  }
  void trim_ordered(int, std::size_t) const override {}

  StreamHandle create_stream(const StreamKind&) const override { refuse("streams of its own"); }
  void synchronize(StreamHandle, int) const override {}
  bool is_idle(StreamHandle, int) const override { return true; }
  bool is_capturing(StreamHandle) const override { return false; }
  void wait(StreamHandle, EventHandle) const override {}
  EventHandle create_event(const EventKind&) const override { refuse("events of its own"); }
  void record(EventHandle, StreamHandle) const override {}
  void destroy(EventHandle) const noexcept override {}
  bool is_done(EventHandle, int) const override { return true; }
  void synchronize(EventHandle, int) const override {}
  double milliseconds_between(EventHandle, EventHandle) const override {
    refuse("events of its own");
  }

  void call_on_host(StreamHandle, void (*function)(void*), void* data) const override {
    function(data);
  }
  void set_profiling(bool) const override {}

  void begin_capture(StreamHandle, CaptureMode) const override { refuse("graphs"); }
  std::unique_ptr<CapturedWork> end_capture(const Stream&) const override { refuse("graphs"); }
  int relax_capturing() const override { return 0; }
  void restore_capturing(int) const noexcept override {}
  void retain_by_captured_graph(StreamHandle, std::unique_ptr<GraphResource>) const override {
    refuse("graphs");
  }
};

const ir::Target& HostBackend::target(int) const {
  static constinit ir::LazyStatic<ir::Target> target;
  return target.get(chosen_host_target);
}

const DeviceFacts& HostBackend::facts(int) const {
  static constinit ir::LazyStatic<DeviceFacts> facts;
  return facts.get([] {
    DeviceFacts made;
    made.name = host_cpu_name();
    made.total_bytes = host_memory_bytes();
    made.multiprocessors = thread_count();
    return made;
  });
}

/// Segments are multiples of 2 MiB and aligned to that, so that the kernel can back them with huge
/// pages.
constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t worth_asking = std::size_t{64} << 20;

/// Checks the available memory first: the system overcommits, and kills a process that uses more
/// than there is.
std::unique_ptr<RawModule> HostBackend::load_raw(const RawSource& source, int) const {
  throw DeviceError(fmt::format(
      "{}: CUDA kernels run on GPUs only, and the device is the CPU. ElementwiseKernel, "
      "ReductionKernel and jit run on both.",
      source.name));
}

void* HostBackend::reserve(int, std::size_t bytes) const {
  if (bytes >= worth_asking && bytes > host_free_bytes()) return nullptr;
  void* pointer = nullptr;
  if (posix_memalign(&pointer, huge_page, bytes) != 0) return nullptr;
  if (bytes > huge_page) madvise(pointer, bytes, MADV_HUGEPAGE);
  return pointer;
}

constinit const HostBackend backend;

}  // namespace

constinit const Capabilities host_capabilities{
    .asynchronous = false, .host_memory = true, .timed_events = false, .thread_blocks = false};

const Backend& host_backend() { return backend; }

}  // namespace heddle::runtime
