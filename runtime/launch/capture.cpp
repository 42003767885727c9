#include "runtime/launch/capture.h"

#include <memory>
#include <mutex>

#include "ir/base/fork_gate.h"
#include "runtime/device/backend.h"

namespace heddle::runtime {

namespace {

using Buffers = std::vector<BufferRef>;

/// Buffers of destroyed graphs. The driver reports the destruction on a thread that must not call
/// the driver, so the buffers return to their pools at the next capture.
struct Abandoned {
  ir::Mutex mutex;
  Buffers buffers;
};

Abandoned& abandoned() {
  static auto* const instance = new Abandoned;
  return *instance;
}

class CapturedBuffers final : public GraphResource {
 public:
  explicit CapturedBuffers(Buffers buffers) : buffers_(std::move(buffers)) {}
  void on_graph_destroyed() override {
    const std::lock_guard lock(abandoned().mutex);
    for (BufferRef& buffer : buffers_) abandoned().buffers.push_back(std::move(buffer));
  }

 private:
  Buffers buffers_;
};

void release_abandoned() {
  Buffers buffers;
  const std::lock_guard lock(abandoned().mutex);
  buffers.swap(abandoned().buffers);
}

}  // namespace

CaptureScope::CaptureScope(const Stream& stream) : stream_(stream), active_(stream.capturing()) {
  if (active_) mode_ = backend_of(stream.device()).relax_capturing();
}

CaptureScope::~CaptureScope() {
  if (active_) backend_of(stream_.device()).restore_capturing(mode_);
}

RelaxedCaptureScope::RelaxedCaptureScope(Device device)
    : backend_(backend_of(device)), mode_(backend_.relax_capturing()) {}

RelaxedCaptureScope::~RelaxedCaptureScope() { backend_.restore_capturing(mode_); }

void CaptureScope::keep(Buffers buffers) const {
  release_abandoned();
  backend_of(stream_.device())
      .retain_by_captured_graph(stream_.handle(),
                                std::make_unique<CapturedBuffers>(std::move(buffers)));
}

}  // namespace heddle::runtime
