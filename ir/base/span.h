#pragma once

#include <atomic>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

/// Spans of the library's own work, told to whoever watches: a profile, the kernel history, a tool
/// behind NVTX. While nobody does, a span costs one relaxed load.
namespace heddle::ir {

enum class Phase : std::uint8_t {
  trace,     ///< a function runs on tracers
  pass,      ///< a pass over a graph, or a part of planning
  codegen,   ///< a kernel is printed
  compile,   ///< a module is looked for, or compiled
  load,      ///< machine code is loaded
  allocate,  ///< memory from a pool, or a pool's from the device
  launch,    ///< a call of a program on the host
  kernel     ///< one launch, fill or library call of it
};
inline constexpr int phase_count = 8;
std::string_view name_of(Phase phase);

/// What a stage adds to its spans for those who know it.
struct SpanDetail {
  virtual ~SpanDetail() = default;
};

struct SpanData {
  using Clock = std::chrono::steady_clock;
  Phase phase = Phase::trace;
  std::string name;
  std::string source;       ///< compile: "memory", "disk" or "compiled"
  std::uint64_t bytes = 0;  ///< allocate: of memory; compile and load: of machine code
  Clock::time_point start, end;
  Clock::duration inner{};   ///< in spans within this one
  std::uint32_t thread = 0;  ///< thread_number()
  std::shared_ptr<const SpanDetail> detail;
};

/// Told of the spans of every thread that begin while it watches, on that thread. What it throws is
/// lost: nobody's call fails because it is watched.
class SpanWatcher {
 public:
  virtual ~SpanWatcher() = default;
  virtual void begin(const SpanData&) {}
  virtual void end(const SpanData& span) = 0;
  /// Whether it wants spans of Phase::kernel, for which calls launch kernels one by one.
  virtual bool wants_kernels() const noexcept { return true; }
};

/// From now on the watcher is told; after it was removed, of the end of spans that it knows.
void add_watcher(std::shared_ptr<SpanWatcher> watcher);
void remove_watcher(const SpanWatcher* watcher);

namespace detail {
inline constexpr std::uint32_t any_spans = 1, kernel_spans = 2;
extern std::atomic<std::uint32_t> watched;
}  // namespace detail

/// Somebody watches.
inline bool watched() { return detail::watched.load(std::memory_order_relaxed) != 0; }
/// Somebody wants to know of each kernel.
inline bool kernels_watched() {
  return (detail::watched.load(std::memory_order_relaxed) & detail::kernel_spans) != 0;
}

/// Counts threads from 0, by when they first asked.
std::uint32_t thread_number();

/// From here to the end of the scope, on this thread.
class Span {
 public:
  Span(Phase phase, std::string_view name) {
    if (watched()) [[unlikely]]
      begin(phase, name);
  }
  /// `name` is only asked while somebody watches.
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

  /// What to say more about; null while nobody watches.
  SpanData* data() const { return data_; }

 private:
  void begin(Phase phase, std::string_view name) noexcept;
  void end() noexcept;
  SpanData* data_ = nullptr;
};

}  // namespace heddle::ir
