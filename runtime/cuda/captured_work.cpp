#include "runtime/cuda/captured_work.h"

#include <optional>

#include "runtime/cuda/devices.h"
#include "runtime/cuda/stream_capture.h"

namespace heddle::runtime::cuda {

namespace {

class UserGraph final : public CapturedWork {
 public:
  UserGraph(GraphHandle graph, Device device) : graph_(graph), device_(device) {
    const ContextScope context(device.ordinal);
    executable_.emplace(graph);
  }
  ~UserGraph() override {
    executable_.reset();
    if (!unusable()) driver().graph_destroy.attempt(graph_);
  }
  UserGraph(const UserGraph&) = delete;
  UserGraph& operator=(const UserGraph&) = delete;

  void launch(const Stream& stream) const override {
    const ContextScope context(device_.ordinal);
    driver().graph_launch(executable_->handle(), stream.handle());
  }
  void upload(const Stream& stream) const override {
    const ContextScope context(device_.ordinal);
    driver().graph_upload(executable_->handle(), stream.handle());
  }

 private:
  GraphHandle graph_;  ///< keeps what the captured work uses
  Device device_;
  std::optional<ExecutableGraph> executable_;
};

}  // namespace

std::unique_ptr<CapturedWork> end_capture(const Stream& stream) {
  GraphHandle graph = nullptr;
  driver().stream_end_capture(stream.handle(), &graph);
  try {
    return std::make_unique<UserGraph>(graph, stream.device());
  } catch (...) {
    driver().graph_destroy.attempt(graph);
    throw;
  }
}

}  // namespace heddle::runtime::cuda
