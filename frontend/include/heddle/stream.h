#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "heddle/settings.h"

// Streams: queues of work on a GPU. Each thread has one of its own, so most programs need none of
// this. Operations are recorded and evaluated later, so every function here that marks, orders or
// waits for work first evaluates what the calling thread has recorded. Values are ordered by
// Heddle: work that reads an array waits for the stream that computes it.
//
// The CPU has one stream, which has done its work when a call returns.
//
// Inside a trace all of these throw TraceError. Failures of the driver are DeviceError.

namespace heddle {

namespace frontend {
struct StreamAccess;
}
namespace runtime {
class CapturedWork;
class Stream;
}  // namespace runtime

class Stream;

struct EventOptions {
  bool timed = true;
  bool blocking = false;      ///< a thread that waits for it sleeps instead of polling
  bool interprocess = false;  ///< other processes may open it; not with `timed`
};

/// A point in a stream's work. Copies refer to the same event.
class Event {
 public:
  /// An event of a device that is not recorded yet, which counts as done.
  explicit Event(const EventOptions& options = {}, const std::string& of = heddle::device());

  /// Marks the end of what is enqueued on the stream now. Recording again moves the mark.
  void record(const Stream& stream);
  void record();  ///< on the calling thread's current stream
  bool done() const;
  /// Waits for the marked work.
  void synchronize() const;
  /// Milliseconds between two marks on one device. DeviceError unless both events are timed,
  /// recorded and done.
  double milliseconds_since(const Event& start) const;

  /// 64 bytes, with which another process of the machine opens the event. DeviceError unless it was
  /// made with EventOptions::interprocess, and on the CPU. Keep the event as long as that process
  /// uses it.
  std::string ipc_handle() const;
  /// The event of another process, for which work of this one waits. DeviceError if that process
  /// has ended, or is this one; ValueError for bytes that are no handle.
  static Event from_ipc_handle(const std::string& handle, const std::string& of = heddle::device());

  std::string device() const;
  /// The driver's handle; null on the CPU.
  void* handle() const;

 private:
  friend class Stream;
  struct State;
  explicit Event(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

/// Work that was captured from a stream, to be launched again and again as it is. Its arrays keep
/// their memory as long as it exists: each launch reads and writes the same memory.
///
/// A write to an array gives the array other memory, so a launch does not see it. To feed a graph,
/// copy from PinnedMemory during the capture: each launch reads that memory again.
class CapturedGraph {
 public:
  /// Enqueues the work on a stream.
  void launch(const Stream& stream) const;
  void launch() const;  ///< on the calling thread's current stream
  /// Prepares the first launch.
  void upload(const Stream& stream) const;

 private:
  friend class Stream;
  explicit CapturedGraph(std::shared_ptr<runtime::CapturedWork> work) : work_(std::move(work)) {}
  std::shared_ptr<runtime::CapturedWork> work_;
};

struct StreamOptions {
  /// Whether its work is ordered with work on CUDA's legacy default stream, which other libraries
  /// use.
  bool waits_for_default = false;
  int priority = 0;  ///< smaller is more urgent
};

/// What a capture forbids meanwhile: calls of all threads that may break it, those of the capturing
/// thread, or none.
enum class CapturePolicy : std::uint8_t { global, thread, relaxed };

/// A queue of work on a device. Copies refer to the same queue.
class Stream {
 public:
  /// A new stream.
  explicit Stream(const StreamOptions& options = {}, const std::string& of = heddle::device());
  /// The stream of the calling thread on which work runs unless another one is set.
  static Stream own(const std::string& of = heddle::device());
  /// The stream on which the calling thread's work runs now.
  static Stream current(const std::string& of = heddle::device());
  /// A stream that other code has made. That code destroys it only after the arrays computed on it.
  /// Null is CUDA's legacy default stream. ValueError for CUDA's per-thread default stream, which
  /// is another one in each thread.
  static Stream external(void* handle, const std::string& of = heddle::device());

  std::string device() const;
  /// The driver's handle; null on the CPU.
  void* handle() const;

  /// Waits for the stream's work. Throws the errors of that work.
  void synchronize() const;
  /// Whether the stream has nothing to do.
  bool done() const;
  /// Work enqueued from now on starts after the event.
  void wait(const Event& event) const;
  /// The calling thread's work runs on it from now on.
  void use() const;

  /// Calls the function on another thread when the work enqueued so far is done; later work waits
  /// for it. The function must not use Heddle or CUDA, nor throw. Nor must its destruction, which
  /// happens on that thread too. It is not called if the device fails before. On the CPU it is
  /// called here.
  void launch_host_function(std::function<void()> function) const;

  /// The stream's work is captured from now on instead of run. Arrays computed meanwhile have their
  /// elements after a launch. DeviceError on the CPU.
  void begin_capture(CapturePolicy policy = CapturePolicy::relaxed) const;
  /// Ends the capture, also if it throws.
  CapturedGraph end_capture() const;
  bool capturing() const;

  friend bool operator==(const Stream& a, const Stream& b);

 private:
  friend class CapturedGraph;
  friend class Event;
  friend class StreamScope;
  friend struct frontend::StreamAccess;
  explicit Stream(std::shared_ptr<const runtime::Stream> stream) : stream_(std::move(stream)) {}
  std::shared_ptr<const runtime::Stream> stream_;
};

/// Runs the calling thread's work on a stream for a scope. Scopes nest.
class StreamScope {
 public:
  explicit StreamScope(const Stream& stream);
  /// Evaluates what was recorded in the scope, on its stream. If that fails, the work stays
  /// recorded, and the error is thrown when its values are read.
  ~StreamScope();
  StreamScope(const StreamScope&) = delete;
  StreamScope& operator=(const StreamScope&) = delete;

 private:
  Stream before_;
};

}  // namespace heddle
