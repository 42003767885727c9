#include "runtime/report/step_times.h"

#include <algorithm>
#include <utility>

#include "runtime/launch/kernel_run.h"

namespace heddle::runtime {

namespace {

/// Records kernels launched by the thread that created the watcher.
class StepWatcher final : public ir::SpanWatcher {
 public:
  void end(const ir::SpanData& span) override {
    if (span.phase == ir::Phase::kernel && span.thread == thread_) spans_.push_back(span);
  }
  std::vector<ir::SpanData> take() { return std::exchange(spans_, {}); }

 private:
  std::uint32_t thread_ = ir::thread_number();
  std::vector<ir::SpanData> spans_;
};

/// Registers the watcher for a scope.
class Watching {
 public:
  Watching() { ir::add_watcher(watcher_); }
  ~Watching() { ir::remove_watcher(watcher_.get()); }
  Watching(const Watching&) = delete;
  Watching& operator=(const Watching&) = delete;
  StepWatcher& watcher() const { return *watcher_; }

 private:
  std::shared_ptr<StepWatcher> watcher_ = std::make_shared<StepWatcher>();
};

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace

std::vector<StepTime> time_steps(const Executable& executable,
                                 std::span<const ArgumentView> arguments, Stream& stream, int runs,
                                 const CallerLocations& lines) {
  std::vector<StepTime> steps;
  std::vector<std::vector<double>> times;
  const Watching watching;
  for (int i = 0; i <= runs; ++i) {
    std::vector<DeviceArray> outputs;
    executable.run(arguments, stream, outputs, lines);
    const std::vector<ir::SpanData> spans = watching.watcher().take();
    if (i == 0) {
      for (const ir::SpanData& span : spans)
        steps.push_back({kernel_run_of(span)->step, span.name, 0});
      times.resize(spans.size());
      continue;
    }
    for (std::size_t k = 0; k < std::min(spans.size(), times.size()); ++k) {
      if (const auto time = device_time(spans[k], true)) times[k].push_back(time->microseconds);
    }
  }
  for (std::size_t k = 0; k < steps.size(); ++k) steps[k].microseconds = median(times[k]);
  return steps;
}

}  // namespace heddle::runtime
