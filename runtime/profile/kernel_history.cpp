#include "runtime/profile/kernel_history.h"

#include <memory>
#include <mutex>
#include <string_view>

#include "ir/base/environment.h"
#include "ir/base/fork_gate.h"
#include "ir/base/span.h"
#include "runtime/cuda/nvtx.h"
#include "runtime/profile/exit_statistics.h"
#include "runtime/profile/profile.h"

namespace heddle::runtime {

namespace {

struct History {
  ir::Mutex mutex;
  std::shared_ptr<SpanLog> log;  ///< null if no history is kept
  ir::SpanData::Clock::time_point start;
};

/// Never destroyed.
History& history() {
  static auto* const instance = new History;
  return *instance;
}

void keep_history_as_environment_says() {
  if (const auto count = ir::number(ir::Variable::kernel_history))
    set_kernel_history(static_cast<std::size_t>(*count));
}

}  // namespace

void set_kernel_history(std::size_t count) {
  const std::lock_guard lock(history().mutex);
  if (history().log) ir::remove_watcher(history().log.get());
  history().log = count > 0 ? std::make_shared<SpanLog>(count, true) : nullptr;
  history().start = ir::SpanData::Clock::now();
  if (history().log) ir::add_watcher(history().log);
}

std::vector<KernelLaunch> kernel_history() {
  std::shared_ptr<SpanLog> log;
  ir::SpanData::Clock::time_point start;
  {
    const std::lock_guard lock(history().mutex);
    log = history().log;
    start = history().start;
  }
  std::vector<KernelLaunch> launches;
  if (!log) return launches;
  for (const ir::SpanData& span : log->spans()) {
    if (auto launch = launch_of(span, start)) launches.push_back(std::move(*launch));
  }
  return launches;
}

void start_requested_observers() {
  static std::once_flag once;
  std::call_once(once, [] {
    keep_history_as_environment_says();
    nvtx::attach();
    if (ir::flag(ir::Variable::statistics, false)) print_statistics_at_exit();
  });
}

}  // namespace heddle::runtime
