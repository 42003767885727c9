#include "runtime/launch/capture.h"

#include <memory>
#include <mutex>
#include <optional>

#include "ir/base/fork_gate.h"
#include "runtime/device/backend.h"

namespace heddle::runtime {

namespace {

using Buffers = std::vector<BufferRef>;
using Modules = std::vector<std::shared_ptr<const void>>;

/// What destroyed graphs have kept. The driver reports the destruction on a thread that must not
/// call the driver, so buffers return to their pools, and modules are unloaded, later.
struct Abandoned {
  ir::Mutex mutex;
  Buffers buffers;
  Modules modules;
};

Abandoned& abandoned() {
  static auto* const instance = new Abandoned;
  return *instance;
}

class Kept final : public GraphResource {
 public:
  Kept(Buffers buffers, std::shared_ptr<const void> module)
      : buffers_(std::move(buffers)), module_(std::move(module)) {}
  void on_graph_destroyed() override {
    const std::lock_guard lock(abandoned().mutex);
    for (BufferRef& buffer : buffers_) abandoned().buffers.push_back(std::move(buffer));
    if (module_) abandoned().modules.push_back(std::move(module_));
  }

 private:
  Buffers buffers_;
  std::shared_ptr<const void> module_;
};

void release_when_memory_is_short() {
  [[maybe_unused]] static const int once =
      add_reclaimer([](Device, std::size_t) { release_destroyed_graphs(); });
}

}  // namespace

void release_destroyed_graphs() {
  Buffers buffers;
  {
    const std::lock_guard lock(abandoned().mutex);
    buffers.swap(abandoned().buffers);
  }
}  // releases the buffers without the lock

void start_after(const Stream& stream, const Stream& other) {
  if (stream == other || !capabilities_of(other.device()).asynchronous) return;
  std::optional<RelaxedCaptureScope> relaxed;
  if (stream.capturing()) relaxed.emplace(other.device());
  stream.wait_for(other);
}

CaptureScope::CaptureScope(const Stream& stream) : stream_(stream), active_(stream.capturing()) {
  if (active_) mode_ = backend_of(stream.device()).relax_capturing();
}

CaptureScope::~CaptureScope() {
  if (active_) backend_of(stream_.device()).restore_capturing(mode_);
}

RelaxedCaptureScope::RelaxedCaptureScope(Device device)
    : backend_(backend_of(device)), mode_(backend_.relax_capturing()) {}

RelaxedCaptureScope::~RelaxedCaptureScope() { backend_.restore_capturing(mode_); }

void CaptureScope::keep(Buffers buffers, std::shared_ptr<const void> module) const {
  release_destroyed_graphs();
  release_when_memory_is_short();
  backend_of(stream_.device())
      .retain_by_captured_graph(stream_.handle(),
                                std::make_unique<Kept>(std::move(buffers), std::move(module)));
}

void unload_abandoned_modules() {
  Modules modules;
  {
    const std::lock_guard lock(abandoned().mutex);
    modules.swap(abandoned().modules);
  }
}  // unloads the modules without the lock

}  // namespace heddle::runtime
