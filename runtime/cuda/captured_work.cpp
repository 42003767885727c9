#include "runtime/cuda/captured_work.h"

#include <optional>

#include "runtime/cuda/devices.h"
#include "runtime/cuda/stream_capture.h"
#include "runtime/device/stream.h"

namespace heddle::runtime::cuda {

namespace {

class UserGraph final : public CapturedWork {
 public:
  UserGraph(GraphHandle graph, const Stream& stream) : graph_(graph), stream_(stream) {
    executable_.emplace(graph);
  }
  ~UserGraph() override {
    executable_.reset();
    if (!unusable()) driver().graph_destroy.attempt(graph_);
  }
  UserGraph(const UserGraph&) = delete;
  UserGraph& operator=(const UserGraph&) = delete;

  /// The captured arrays are of the captured stream, so a launch on another one is ordered with it.
  void launch(const Stream& stream) const override {
    const ContextScope context(stream_.device().ordinal);
    const bool elsewhere = !(stream == stream_) && !stream.capturing() && !stream_.capturing();
    if (elsewhere) stream.wait(Event(stream_));
    driver().graph_launch(executable_->handle(), stream.handle());
    if (elsewhere) stream_.wait(Event(stream));
  }
  void upload(const Stream& stream) const override {
    const ContextScope context(stream_.device().ordinal);
    driver().graph_upload(executable_->handle(), stream.handle());
  }

 private:
  GraphHandle graph_;  ///< keeps what the captured work uses
  Stream stream_;      ///< from which it was captured
  std::optional<ExecutableGraph> executable_;
};

}  // namespace

std::unique_ptr<CapturedWork> end_capture(const Stream& stream) {
  GraphHandle graph = nullptr;
  driver().stream_end_capture(stream.handle(), &graph);
  try {
    return std::make_unique<UserGraph>(graph, stream);
  } catch (...) {
    driver().graph_destroy.attempt(graph);
    throw;
  }
}

}  // namespace heddle::runtime::cuda
