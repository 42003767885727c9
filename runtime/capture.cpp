#include "runtime/capture.h"

#include <memory>
#include <mutex>

#include "heddle/error.h"

#include "ir/fork_gate.h"

namespace heddle::runtime {

namespace {

using Buffers = std::vector<BufferRef>;

/// Of graphs that are gone. The driver says so on a thread on which it may not be called, so that
/// the buffers go back to their pools at the next capture.
struct Abandoned {
  ir::Mutex mutex;
  Buffers buffers;
};

Abandoned& abandoned() {
  static auto* const instance = new Abandoned;
  return *instance;
}

void abandon(void* kept) {
  auto* const buffers = static_cast<Buffers*>(kept);
  {
    const std::lock_guard lock(abandoned().mutex);
    for (BufferRef& buffer : *buffers) abandoned().buffers.push_back(std::move(buffer));
  }
  delete buffers;
}

void release_abandoned() {
  Buffers buffers;
  const std::lock_guard lock(abandoned().mutex);
  buffers.swap(abandoned().buffers);
}

}  // namespace

CaptureScope::CaptureScope(const Stream& stream) : stream_(stream), active_(stream.capturing()) {
  if (active_) cuda::driver().thread_exchange_stream_capture_mode(&mode_);
}

CaptureScope::~CaptureScope() {
  if (active_) cuda::driver().thread_exchange_stream_capture_mode.attempt(&mode_);
}

RelaxedCaptureScope::RelaxedCaptureScope() {
  cuda::driver().thread_exchange_stream_capture_mode(&mode_);
}

RelaxedCaptureScope::~RelaxedCaptureScope() {
  cuda::driver().thread_exchange_stream_capture_mode.attempt(&mode_);
}

void CaptureScope::keep(Buffers buffers) const {
  release_abandoned();
  auto kept = std::make_unique<Buffers>(std::move(buffers));
  const cuda::Driver& driver = cuda::driver();
  if (!driver.stream_get_capture_info || !driver.graph_retain_user_object) {
    static_cast<void>(kept.release());  // nobody can say when the graph is gone
    return;
  }
  cuda::CaptureStatus status = cuda::CaptureStatus::none;
  cuda::GraphHandle graph = nullptr;
  driver.stream_get_capture_info(stream_.handle(), &status, nullptr, &graph, nullptr, nullptr);
  cuda::UserObjectHandle object = nullptr;
  driver.user_object_create(&object, kept.get(), abandon, 1, cuda::user_object_no_destructor_sync);
  static_cast<void>(kept.release());  // the object's from here on
  try {
    driver.graph_retain_user_object(graph, object, 1, cuda::graph_user_object_move);
  } catch (const Error&) {
    driver.user_object_release.attempt(object, 1);
    throw;
  }
}

}  // namespace heddle::runtime
