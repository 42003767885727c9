#pragma once

#include <atomic>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

/// Spans measure the library's own work. They are reported to watchers: a profile, the kernel
/// history, NVTX. Without a watcher, a span costs one relaxed load.
namespace heddle::ir {

enum class Phase : std::uint8_t {
  trace,     ///< a function runs on tracers
  pass,      ///< a pass over a graph, or a part of planning
  codegen,   ///< a kernel is printed
  compile,   ///< a module is looked up, or compiled
  load,      ///< machine code is loaded
  allocate,  ///< memory from a pool, or a pool's memory from the device
  launch,    ///< a call of a program on the host
  kernel,    ///< one kernel launch, fill or library call within a launch
  range      ///< a part of the user's program, which names it
};
inline constexpr int phase_count = 9;
std::string_view name_of(Phase phase);

/// Additional data of a span, defined by the stage that records it.
struct SpanDetail {
  virtual ~SpanDetail() = default;
};

struct SpanData {
  using Clock = std::chrono::steady_clock;
  Phase phase = Phase::trace;
  std::string name;
  std::string source;       ///< compile: "memory", "disk" or "compiled"
  std::uint64_t bytes = 0;  ///< allocate: of memory; compile, load: of machine code
  Clock::time_point start, end;
  Clock::duration inner{};   ///< time in nested spans
  std::uint32_t thread = 0;  ///< thread_number()
  std::shared_ptr<const SpanDetail> detail;
};

/// Receives the spans of every thread that begin while it is registered, on the span's thread. Its
/// exceptions are ignored, so that no call fails because it is watched.
class SpanWatcher {
 public:
  virtual ~SpanWatcher() = default;
  virtual void begin(const SpanData&) {}
  virtual void end(const SpanData& span) = 0;
  /// Whether it receives spans of Phase::kernel. If any watcher does, calls launch kernels one by
  /// one.
  virtual bool wants_kernels() const noexcept { return true; }
};

/// Registers a watcher. After remove_watcher(), it still receives the end of each span whose
/// beginning it received.
void add_watcher(std::shared_ptr<SpanWatcher> watcher);
void remove_watcher(const SpanWatcher* watcher);

namespace detail {
inline constexpr std::uint32_t any_spans = 1, kernel_spans = 2;
extern std::atomic<std::uint32_t> watched;
}  // namespace detail

/// Whether there is a watcher.
inline bool watched() { return detail::watched.load(std::memory_order_relaxed) != 0; }
/// Whether a watcher wants spans of single kernels.
inline bool kernels_watched() {
  return (detail::watched.load(std::memory_order_relaxed) & detail::kernel_spans) != 0;
}

/// A number for this thread: threads are numbered from 0 in the order of their first call.
std::uint32_t thread_number();

/// A span from its construction to the end of the scope, on this thread.
class Span {
 public:
  Span(Phase phase, std::string_view name) {
    if (watched()) [[unlikely]]
      begin(phase, name);
  }
  /// `name` is called only if there is a watcher.
  template <std::invocable Name>
  Span(Phase phase, const Name& name) {
    if (watched()) [[unlikely]]
      begin(phase, name());
  }
  ~Span() {
    if (data_ != nullptr) [[unlikely]]
      end();
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

  /// The span's data, to add details to; null if there is no watcher.
  SpanData* data() const { return data_; }

 private:
  void begin(Phase phase, std::string_view name) noexcept;
  void end() noexcept;
  SpanData* data_ = nullptr;
};

}  // namespace heddle::ir
