#include "heddle/stream.h"

#include <atomic>
#include <utility>

#include "heddle/error.h"

#include "frontend/evaluate/checks.h"
#include "frontend/streams/ipc_handle.h"
#include "frontend/streams/recorded.h"
#include "runtime/base/log.h"
#include "runtime/device/backend.h"
#include "runtime/device/stream.h"
#include "runtime/libraries/communicator.h"

namespace heddle {

namespace {

using frontend::evaluate_recorded;

runtime::Device named(const std::string& name) {
  const runtime::Device device = runtime::parse_device(name);
  runtime::require_device(device);
  return device;
}

std::shared_ptr<const runtime::Stream> shared(runtime::Stream stream) {
  return std::make_shared<const runtime::Stream>(std::move(stream));
}

/// Handles that stand for CUDA's default streams.
constexpr std::uintptr_t legacy_default = 1, per_thread_default = 2;

runtime::CaptureMode mode_of(CapturePolicy policy) {
  switch (policy) {
    case CapturePolicy::global:
      return runtime::CaptureMode::global;
    case CapturePolicy::thread:
      return runtime::CaptureMode::thread;
    default:
      return runtime::CaptureMode::relaxed;
  }
}

/// Ends a capture and drops the graph.
void abandon_capture(const runtime::Stream& stream) noexcept {
  try {
    stream.end_capture();
  } catch (const Error& failure) {
    runtime::log().debug("the end of a capture that has failed: {}", failure.what());
  }
}

}  // namespace

struct Event::State {
  State(runtime::Device device, const EventOptions& options)
      : event(device, runtime::EventKind{options.timed, options.blocking, options.interprocess}),
        timed(options.timed),
        interprocess(options.interprocess) {}
  State(runtime::Device device, const runtime::IpcHandle& handle)
      : event(device, handle), timed(false), interprocess(true) {}
  runtime::Event event;
  const bool timed, interprocess;
  std::atomic<bool> recorded{false};
};

Event::Event(const EventOptions& options, const std::string& of) {
  if (options.interprocess && options.timed)
    throw ValueError("Event: an event for other processes cannot be timed");
  state_ = std::make_shared<State>(named(of), options);
}

void Event::record(const Stream& stream) {
  evaluate_recorded("Event::record");
  state_->event.record(*stream.stream_);
  state_->recorded = true;
}

void Event::record() { record(Stream::current(device())); }

bool Event::done() const { return state_->event.done(); }

void Event::synchronize() const {
  runtime::settle_communication();
  state_->event.synchronize();
  frontend::raise_failures();
}

double Event::milliseconds_since(const Event& start) const {
  if (!state_->recorded || !start.state_->recorded)
    throw DeviceError("the time between two events needs both to be recorded");
  if (!state_->timed || !start.state_->timed)
    throw DeviceError("the time between two events needs both to be timed");
  const runtime::Event &from = start.state_->event, &to = state_->event;
  if (!(to.device() == from.device()))
    throw DeviceError("there is no time between events of " + start.device() + " and " + device());
  return to.milliseconds_since(from);
}

std::string Event::ipc_handle() const {
  const runtime::ProcessSharing& sharing =
      runtime::process_sharing_of(state_->event.device(), "events");
  if (!state_->interprocess)
    throw DeviceError("Event: an event for other processes must be made with interprocess=true");
  const runtime::ContextScope context(state_->event.device());
  const runtime::IpcHandle handle = sharing.event_handle(state_->event.handle());
  return {handle.begin(), handle.end()};
}

Event Event::from_ipc_handle(const std::string& handle, const std::string& of) {
  const runtime::Device device = named(of);
  return Event(std::make_shared<State>(device, frontend::ipc_handle_of("Event", handle)));
}

std::string Event::device() const { return to_string(state_->event.device()); }

void* Event::handle() const { return state_->event.handle(); }

void CapturedGraph::launch(const Stream& stream) const {
  evaluate_recorded("CapturedGraph::launch");
  work_->launch(*stream.stream_);
}

void CapturedGraph::launch() const { launch(Stream::current()); }

void CapturedGraph::upload(const Stream& stream) const { work_->upload(*stream.stream_); }

Stream::Stream(const StreamOptions& options, const std::string& of)
    : stream_(shared(
          runtime::Stream::create(named(of), {options.waits_for_default, options.priority}))) {}

Stream Stream::own(const std::string& of) {
  return Stream(shared(runtime::Stream::own(named(of))));
}

Stream Stream::current(const std::string& of) {
  return Stream(shared(runtime::Stream::current(named(of))));
}

Stream Stream::external(void* handle, const std::string& of) {
  const runtime::Device device = named(of);
  const auto number = reinterpret_cast<std::uintptr_t>(handle);
  if (number == per_thread_default) {
    throw ValueError(
        "CUDA's per-thread default stream is another one in each thread, so it cannot be a "
        "Stream; use Stream::own()");
  }
  const auto known = reinterpret_cast<runtime::StreamHandle>(number == 0 ? legacy_default : number);
  return Stream(shared(runtime::Stream::borrow(device, known)));
}

std::string Stream::device() const { return to_string(stream_->device()); }

void* Stream::handle() const { return stream_->handle(); }

void Stream::synchronize() const {
  evaluate_recorded("Stream::synchronize");
  runtime::settle_communication();
  stream_->synchronize();
  frontend::raise_failures();
}

bool Stream::done() const {
  evaluate_recorded("Stream::done");
  return stream_->idle();
}

void Stream::wait(const Event& event) const {
  evaluate_recorded("Stream::wait");
  stream_->wait(event.state_->event);
}

void Stream::use() const {
  if (runtime::Stream::current(stream_->device()) == *stream_) return;
  evaluate_recorded("Stream::use");
  runtime::Stream::set_current(*stream_);
}

void Stream::launch_host_function(std::function<void()> function) const {
  evaluate_recorded("Stream::launch_host_function");
  stream_->call_on_host(std::move(function));
}

void Stream::begin_capture(CapturePolicy policy) const {
  evaluate_recorded("Stream::begin_capture");
  stream_->begin_capture(mode_of(policy));
}

CapturedGraph Stream::end_capture() const {
  try {
    evaluate_recorded("Stream::end_capture");
  } catch (...) {
    abandon_capture(*stream_);
    throw;
  }
  return CapturedGraph(stream_->end_capture());
}

bool Stream::capturing() const { return stream_->capturing(); }

bool operator==(const Stream& a, const Stream& b) { return *a.stream_ == *b.stream_; }

StreamScope::StreamScope(const Stream& stream) : before_(Stream::current(stream.device())) {
  stream.use();
}

StreamScope::~StreamScope() {
  if (before_ == Stream::current(before_.device())) return;
  frontend::try_evaluate_recorded();
  runtime::Stream::set_current(*before_.stream_);
}

}  // namespace heddle
