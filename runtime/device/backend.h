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

/// What a device is. A backend is all devices of one kind; its folder, runtime/cuda/ or
/// runtime/host/, is the only place that knows how they work. Other code never asks which backend
/// it has. It asks for a capability, or calls the backend.
namespace heddle::runtime {

class Blas;
class CallHandler;
class KernelCompiler;
class KernelLauncher;
class Stream;
struct Finding;
struct ProgramImage;

/// What the devices of a backend can do.
struct Capabilities {
  bool asynchronous = false;   ///< work may still run when the call that enqueues it has returned
  bool host_memory = false;    ///< the host reads and writes arrays where they lie
  bool timed_events = false;   ///< events say when the device passed them
  bool thread_blocks = false;  ///< a launch is blocks of threads; else it is a range of indices
};

/// What a graph holds.
class GraphHolding {
 public:
  virtual ~GraphHolding() = default;
  /// Comes before the end of the object, on a thread that may not call the backend.
  virtual void graph_is_gone() = 0;
};

/// One object for each kind of device, which lives for ever. Thread-safe. Calls throw DeviceError.
class Backend {
 public:
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  /// "cpu" or "cuda".
  std::string_view name() const { return name_; }
  /// "a GPU" or "the CPU", for texts.
  std::string_view device_noun() const { return device_noun_; }
  /// Whether a device is written with its number: "cuda:1".
  bool is_numbered() const { return is_numbered_; }

  /// Whether its programs are compiled for such targets.
  bool serves(const ir::Target& target) const { return target.kind == target_kind_; }

  /// A target by name, for texts that are shown where there is no such device.
  virtual std::string_view usual_target() const = 0;

  // Devices.

  virtual int device_count() const = 0;
  /// Why there are no devices; empty where there are some. Never throws.
  virtual const std::string& unavailable_reason() const = 0;
  /// Why a device of that number is not there.
  virtual std::string describe_missing(int ordinal) const = 0;
  /// What there is of drivers, devices, compilers and libraries. Looks for all of them.
  virtual std::vector<Finding> examine() const = 0;
  /// Both are detected once and live for ever.
  virtual const ir::Target& target(int ordinal) const = 0;
  virtual const DeviceFacts& facts(int ordinal) const = 0;
  /// True once no call may be made any more, not even to give memory back: the process has begun to
  /// exit, or was forked from one that uses the backend.
  virtual bool unusable() const noexcept = 0;
  /// Waits for all work on the device.
  virtual void synchronize(int ordinal) const = 0;

  /// Makes the device the calling thread's own. True where leave() has to undo it.
  virtual bool enter(int ordinal) const = 0;
  virtual void leave() const noexcept = 0;

  /// What makes the code of its kernels.
  virtual const KernelCompiler& compiler() const = 0;
  /// Loads a program's modules. Throws LoadFailure, DeviceError.
  virtual std::unique_ptr<KernelLauncher> load(const ProgramImage& image, int ordinal) const = 0;
  /// What runs the library calls of this name; null where nothing does.
  virtual const CallHandler* call_handler(std::string_view name) const = 0;
  /// What multiplies its matrices.
  virtual const Blas& blas() const = 0;

  // Memory. A device's own is reserved in large segments by its pool.

  /// Null when there is not that much.
  virtual void* reserve(int ordinal, std::size_t bytes) const = 0;
  virtual void release(int ordinal, void* pointer) const noexcept = 0;
  /// What could be reserved now; SIZE_MAX where nothing says so.
  virtual std::size_t free_bytes(int ordinal) const = 0;
  /// The same in words for OutOfMemory's text, after a comma; empty where nothing is to be said.
  virtual std::string describe_free(int ordinal) const = 0;
  /// The device whose memory a pointer is to, which may be the host's; nullopt for memory that the
  /// backend does not know.
  virtual std::optional<Device> owner_of(const void* pointer) const = 0;
  /// Enqueues a copy of which one side at least is this backend's memory that the host cannot
  /// reach.
  virtual void copy(void* to, Device to_device, const void* from, Device from_device,
                    std::size_t bytes, const Stream& stream) const = 0;
  virtual void fill(void* to, unsigned char value, std::size_t bytes,
                    const Stream& stream) const = 0;

  // Streams and events, of asynchronous devices. Creating and recording is done on a device that
  // has been entered.

  virtual StreamHandle create_stream() const = 0;
  virtual void synchronize(StreamHandle stream, int ordinal) const = 0;
  /// True when nothing is pending.
  virtual bool is_idle(StreamHandle stream, int ordinal) const = 0;
  /// True while somebody captures a graph from the stream.
  virtual bool is_capturing(StreamHandle stream) const = 0;
  virtual void wait(StreamHandle stream, EventHandle event) const = 0;
  virtual EventHandle create_event(bool timed) const = 0;
  virtual void record(EventHandle event, StreamHandle stream) const = 0;
  virtual void destroy(EventHandle event) const noexcept = 0;
  virtual bool is_done(EventHandle event, int ordinal) const = 0;
  virtual void synchronize(EventHandle event, int ordinal) const = 0;
  virtual double milliseconds_between(EventHandle start, EventHandle end) const = 0;

  // Graphs that users capture from streams.

  /// Allows the calling thread what its driver forbids while somebody captures a graph, until
  /// restore_capturing is given the answer.
  virtual int relax_capturing() const = 0;
  virtual void restore_capturing(int before) const noexcept = 0;
  /// Lets the graph that is captured from the stream hold something for as long as it, or what is
  /// made of it, is there; for ever where the driver cannot say when that ends.
  virtual void hold_by_captured_graph(StreamHandle stream,
                                      std::unique_ptr<GraphHolding> held) const = 0;

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

/// The kinds of devices, those that programs run on by default first.
extern const std::array<DeviceKind, backend_count> preferred_kinds;

const Backend& backend_of(DeviceKind kind);
inline const Backend& backend_of(Device device) { return backend_of(device.kind); }
/// The one that serves the target.
const Backend& backend_of(const ir::Target& target);

namespace detail {
extern const std::array<const Capabilities*, backend_count> capabilities;
}
inline const Capabilities& capabilities_of(Device device) {
  return *detail::capabilities[static_cast<std::size_t>(device.kind)];
}

/// Makes a device the calling thread's own for a scope, for calls of libraries that ask which it
/// is.
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
