#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/types/target.h"
#include "runtime/device/device.h"
#include "runtime/device/handles.h"

/// The device abstraction. A backend stands for all devices of one kind. Only its folder,
/// runtime/cuda/ or runtime/host/, contains code for that kind. Other code never tests which
/// backend it has; it tests a capability or calls the backend.
namespace heddle::runtime {

class Blas;
class CallHandler;
class GraphConditions;
class KernelCompiler;
class KernelLauncher;
class ProcessSharing;
class RawModule;
class Stream;
struct Finding;
struct ProgramImage;
struct RawSource;

/// Capabilities of a backend's devices.
struct Capabilities {
  bool asynchronous = false;   ///< a call may return before the work that it enqueues has run
  bool host_memory = false;    ///< the host can read and write arrays directly
  bool timed_events = false;   ///< events record when the device passed them
  bool thread_blocks = false;  ///< a launch is a grid of thread blocks; otherwise it is a range of
                               ///< indices
};

/// Bytes of a driver's own pool of memory.
struct OrderedPool {
  std::size_t used = 0, reserved = 0;
};

/// An object that a captured graph keeps alive.
class GraphResource {
 public:
  virtual ~GraphResource() = default;
  /// Called before destruction, on a thread that must not call the backend.
  virtual void on_graph_destroyed() = 0;
};

/// A graph that a user has captured from a stream. Destroyed while it runs, it runs to its end.
class CapturedWork {
 public:
  virtual ~CapturedWork() = default;
  /// Enqueues the work once more.
  virtual void launch(const Stream& stream) const = 0;
  /// Makes the graph resident on the device, which the first launch does otherwise.
  virtual void upload(const Stream& stream) const = 0;
};

/// One object for each kind of device; it is never destroyed. Thread-safe. Calls throw DeviceError.
class Backend {
 public:
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  /// "cpu" or "cuda".
  std::string_view name() const { return name_; }
  /// "a GPU" or "the CPU", for texts.
  std::string_view device_noun() const { return device_noun_; }
  /// Whether device names include the ordinal: "cuda:1".
  bool is_numbered() const { return is_numbered_; }

  /// Whether programs for the target run on this backend.
  bool serves(const ir::Target& target) const { return target.kind == target_kind_; }

  /// Name of a typical target, for texts shown on a machine without such a device.
  virtual std::string_view usual_target() const = 0;

  // Devices.

  virtual int device_count() const = 0;
  /// 12040 for a driver of CUDA 12.4; 0 if there is no driver.
  virtual int driver_version() const { return 0; }
  /// Why there are no devices; empty if there are some. Never throws.
  virtual const std::string& unavailable_reason() const = 0;
  /// Why there is no device with that ordinal.
  virtual std::string describe_missing(int ordinal) const = 0;
  /// Reports drivers, devices, compilers and libraries. Searches for all of them.
  virtual std::vector<Finding> examine() const = 0;
  /// Both are detected once and never destroyed.
  virtual const ir::Target& target(int ordinal) const = 0;
  virtual const DeviceFacts& facts(int ordinal) const = 0;
  /// What the driver says of a device. Asks it anew at each call.
  virtual DeviceDetails details(int ordinal) const = 0;
  virtual DeviceMemory memory(int ordinal) const = 0;
  /// The device at a PCI bus id; nullopt if there is none.
  virtual std::optional<int> at_bus_id(const std::string& id) const = 0;
  /// Whether kernels of one device can read the memory of the other.
  virtual bool can_access(int ordinal, int peer) const = 0;
  /// Lets kernels and copies of one device use the memory of the other. Returns false if they
  /// cannot. disable_access() undoes it.
  virtual bool enable_access(int ordinal, int peer) const = 0;
  virtual void disable_access(int ordinal, int peer) const = 0;
  /// True once no call may be made any more, not even to release memory: the process has begun to
  /// exit, or was forked from a process that uses the backend.
  virtual bool unusable() const noexcept = 0;
  /// Waits for all work on the device.
  virtual void synchronize(int ordinal) const = 0;

  /// Makes the device current for the calling thread. Returns true if leave() must undo it.
  virtual bool enter(int ordinal) const = 0;
  virtual void leave() const noexcept = 0;

  /// The compiler for its kernels.
  virtual const KernelCompiler& compiler() const = 0;
  /// Loads a program's modules. Throws LoadFailure, DeviceError.
  virtual std::unique_ptr<KernelLauncher> load(const ProgramImage& image, int ordinal) const = 0;
  /// Compiles and loads a user's kernels. Throws CompileError; DeviceError, also if the backend
  /// does not run such kernels; FileError.
  virtual std::unique_ptr<RawModule> load_raw(const RawSource& source, int ordinal) const = 0;
  /// The handler for library calls of this name; null if there is none.
  virtual const CallHandler* call_handler(std::string_view name) const = 0;
  /// The matrix multiplication of this backend.
  virtual const Blas& blas() const = 0;

  // Memory. Each device's pool reserves device memory in large segments.

  /// Null if there is not enough memory.
  virtual void* reserve(int ordinal, std::size_t bytes) const = 0;
  virtual void release(int ordinal, void* pointer) const noexcept = 0;
  /// Bytes that could be reserved now; SIZE_MAX if unknown.
  virtual std::size_t free_bytes(int ordinal) const = 0;
  /// free_bytes() in words, after a comma, for the text of OutOfMemory; empty if there is nothing
  /// to say.
  virtual std::string describe_free(int ordinal) const = 0;
  /// The device that owns the memory at a pointer, possibly the CPU; nullopt if the backend does
  /// not know the pointer.
  virtual std::optional<Device> owner_of(const void* pointer) const = 0;
  /// Enqueues a copy. The source or the target must be memory of this backend that the host cannot
  /// access.
  virtual void copy(void* to, Device to_device, const void* from, Device from_device,
                    std::size_t bytes, const Stream& stream) const = 0;
  virtual void fill(void* to, unsigned char value, std::size_t bytes,
                    const Stream& stream) const = 0;
  /// Memory of the host that a device reads and writes without the host. Null if there is not
  /// enough.
  virtual void* reserve_pinned(int ordinal, std::size_t bytes) const = 0;
  /// Waits for work that uses the memory.
  virtual void release_pinned(int ordinal, void* pointer) const noexcept = 0;

  /// Memory that moves between the host and the device when one of them touches it; never more
  /// than the device has free. Ordinary memory on the CPU. Null if there is not enough.
  virtual void* reserve_managed(int ordinal, std::size_t bytes) const = 0;
  virtual void release_managed(int ordinal, void* pointer, std::size_t bytes) const noexcept = 0;
  /// Enqueues moving managed memory to a device, or to the host.
  virtual void prefetch(const void* pointer, std::size_t bytes, Device to,
                        const Stream& stream) const = 0;
  /// Tells the driver how managed memory is used. `advice` is a number of CUmem_advise.
  virtual void advise(int ordinal, const void* pointer, std::size_t bytes, int advice,
                      Device on) const = 0;
  /// Memory of the driver's own pool. Ordinary memory on the CPU. Null if there is not enough.
  virtual void* reserve_ordered(int ordinal, std::size_t bytes) const = 0;
  virtual void release_ordered(int ordinal, void* pointer) const noexcept = 0;
  /// Bytes of the driver's own pool. Throws DeviceError if the device has none.
  virtual OrderedPool ordered_pool(int ordinal) const = 0;
  /// Returns free memory of the driver's pool to the device, but for `keep` bytes.
  virtual void trim_ordered(int ordinal, std::size_t keep) const = 0;

  // Streams and events, for asynchronous devices. The device must have been entered for creating
  // and recording.

  virtual StreamHandle create_stream(const StreamKind& kind) const = 0;
  virtual void synchronize(StreamHandle stream, int ordinal) const = 0;
  /// True when nothing is pending.
  virtual bool is_idle(StreamHandle stream, int ordinal) const = 0;
  /// True while a graph is being captured from the stream.
  virtual bool is_capturing(StreamHandle stream) const = 0;
  virtual void wait(StreamHandle stream, EventHandle event) const = 0;
  virtual EventHandle create_event(const EventKind& kind) const = 0;
  virtual void record(EventHandle event, StreamHandle stream) const = 0;
  virtual void destroy(EventHandle event) const noexcept = 0;
  virtual bool is_done(EventHandle event, int ordinal) const = 0;
  virtual void synchronize(EventHandle event, int ordinal) const = 0;
  virtual double milliseconds_between(EventHandle start, EventHandle end) const = 0;
  /// Calls `function(data)` on a thread of the driver when the stream gets there. It must not call
  /// the backend. It is not called if the device has failed.
  virtual void call_on_host(StreamHandle stream, void (*function)(void*), void* data) const = 0;

  /// Starts or stops the recording of a profiler that waits for this, such as `nsys profile
  /// --capture-range=cudaProfilerApi`.
  virtual void set_profiling(bool on) const = 0;

  // Graph capture by users.

  virtual void begin_capture(StreamHandle stream, CaptureMode mode) const = 0;
  /// Ends the capture, also if it throws.
  virtual std::unique_ptr<CapturedWork> end_capture(const Stream& stream) const = 0;

  /// Permits the calling thread to make calls that the driver forbids during a graph capture. Pass
  /// the returned mode to restore_capturing() to end this.
  virtual int relax_capturing() const = 0;
  virtual void restore_capturing(int before) const noexcept = 0;
  /// Keeps `held` alive as long as the graph being captured from the stream, and everything
  /// instantiated from it. Keeps it for ever if the driver cannot report the end of the graph.
  virtual void retain_by_captured_graph(StreamHandle stream,
                                        std::unique_ptr<GraphResource> held) const = 0;
  /// Loops and branches inside captured graphs. Null if there are none.
  virtual const GraphConditions* graph_conditions() const { return nullptr; }
  /// Memory and events that several processes use. Null if there is none.
  virtual const ProcessSharing* process_sharing() const { return nullptr; }

 protected:
  constexpr Backend(std::string_view name, std::string_view device_noun, bool is_numbered,
                    ir::TargetKind target_kind)
      : name_(name),
        device_noun_(device_noun),
        is_numbered_(is_numbered),
        target_kind_(target_kind) {}
  ~Backend() = default;

 private:
  std::string_view name_, device_noun_;
  bool is_numbered_;
  ir::TargetKind target_kind_;
};

// The backends, each defined in its own folder.

const Backend& host_backend();
const Backend& cuda_backend();
extern const Capabilities host_capabilities, cuda_capabilities;

inline constexpr std::size_t backend_count = 2;

/// The kinds of devices in order of preference: programs run on the first available one by default.
extern const std::array<DeviceKind, backend_count> preferred_kinds;

const Backend& backend_of(DeviceKind kind);
inline const Backend& backend_of(Device device) { return backend_of(device.kind); }
/// The backend that serves the target.
const Backend& backend_of(const ir::Target& target);

namespace detail {
extern const std::array<const Capabilities*, backend_count> capabilities;
}
inline const Capabilities& capabilities_of(Device device) {
  return *detail::capabilities[static_cast<std::size_t>(device.kind)];
}

/// Makes a device current for the calling thread, for a scope. For libraries that use the current
/// device.
class ContextScope {
 public:
  explicit ContextScope(Device device)
      : backend_(backend_of(device)), entered_(backend_.enter(device.ordinal)) {}
  ~ContextScope() {
    if (entered_) backend_.leave();
  }
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  const Backend& backend_;
  bool entered_;
};

}  // namespace heddle::runtime
