#include "runtime/profile/profile.h"

#include <algorithm>
#include <utility>

#include "runtime/device/backend.h"
#include "runtime/launch/kernel_run.h"

namespace heddle::runtime {

namespace {

using Clock = ir::SpanData::Clock;

/// Enough for minutes of launches; takes some hundreds of MiB.
constexpr std::size_t most_spans = std::size_t{1} << 20;
/// Number of launches with pending events before passed ones are collected.
constexpr std::size_t many_unsettled = 256;

double microseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

const KernelRun& run_in(const ir::SpanDetail& detail) {
  return static_cast<const KernelRun&>(detail);
}

}  // namespace

void SpanLog::end(const ir::SpanData& span) {
  if (only_kernels_ && span.phase != ir::Phase::kernel) return;
  const std::lock_guard lock(mutex_);
  const KernelRun* const run = kernel_run_of(span);
  if (run != nullptr && run->pending()) unsettled_.push_back(span.detail);
  spans_.push_back(span);
  if (spans_.size() > most_) {
    spans_.pop_front();
    ++dropped_;
  }
  if (unsettled_.size() > many_unsettled) settle_some();
}

void SpanLog::settle_some() {
  while (!unsettled_.empty()) {
    const KernelRun& run = run_in(*unsettled_.front());
    static_cast<void>(run.device_time(false));
    if (run.pending()) return;
    unsettled_.pop_front();
  }
}

std::vector<ir::SpanData> SpanLog::spans() const {
  std::vector<ir::SpanData> spans;
  {
    const std::lock_guard lock(mutex_);
    spans.assign(spans_.begin(), spans_.end());
  }
  for (const ir::SpanData& span : spans) static_cast<void>(device_time(span, true));
  return spans;
}

std::uint64_t SpanLog::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

void SpanLog::clear() {
  const std::lock_guard lock(mutex_);
  spans_.clear();
  unsettled_.clear();
  dropped_ = 0;
}

std::optional<KernelLaunch> launch_of(const ir::SpanData& span, Clock::time_point origin) {
  const KernelRun* const run = kernel_run_of(span);
  if (run == nullptr) return std::nullopt;
  KernelLaunch launch;
  launch.kernel = span.name;
  launch.program = run->program;
  launch.step = run->step;
  launch.operands = run->operands;
  for (const ir::Location& line : run->lines) launch.lines.push_back(line.to_string());
  launch.device = to_string(run->device);
  launch.stream = run->stream;
  launch.blocks = run->blocks;
  std::ranges::copy(run->threads, launch.threads);
  if (!capabilities_of(run->device).thread_blocks) launch.threads[0] = launch.threads[1] = 0;
  launch.cluster = run->cluster;
  launch.shared_bytes = run->shared_bytes;
  launch.bytes = run->bytes;
  launch.captured = run->captured;
  launch.start = microseconds(span.start - origin);
  if (const auto time = device_time(span, true)) {
    launch.start = microseconds(time->start - origin);
    launch.microseconds = time->microseconds;
  }
  return launch;
}

Profiler::Profiler() : log_(std::make_shared<SpanLog>(most_spans, false)) { ir::add_watcher(log_); }

Profiler::~Profiler() { stop(); }

void Profiler::stop() {
  ir::remove_watcher(log_.get());
  const std::lock_guard lock(mutex_);
  if (!stopped_) stopped_ = Clock::now();
}

double Profiler::wall() const {
  const std::lock_guard lock(mutex_);
  return microseconds(stopped_.value_or(Clock::now()) - start_);
}

std::vector<ProfileEvent> Profiler::events() const {
  std::vector<ProfileEvent> events;
  for (const ir::SpanData& span : log_->spans()) {
    ProfileEvent event;
    event.phase = name_of(span.phase);
    event.name = span.name;
    event.source = span.source;
    event.bytes = span.bytes;
    event.start = microseconds(span.start - start_);
    event.microseconds = microseconds(span.end - span.start);
    event.own_microseconds = event.microseconds - microseconds(span.inner);
    event.thread = span.thread;
    event.launch = launch_of(span, start_);
    events.push_back(std::move(event));
  }
  std::ranges::stable_sort(events, {}, &ProfileEvent::start);
  return events;
}

std::vector<ProfileRow> Profiler::rows() const { return rows_by_phase(events()); }
std::vector<ProfileRow> Profiler::rows(ir::Phase phase) const {
  return rows_by_name(events(), name_of(phase));
}
std::string Profiler::table() const {
  std::string text = table_of(events(), wall());
  if (const std::uint64_t dropped = log_->dropped(); dropped > 0)
    text += "the first " + std::to_string(dropped) + " events were dropped for later ones\n";
  return text;
}
std::string Profiler::chrome_trace() const { return chrome_trace_of(events()); }

}  // namespace heddle::runtime
