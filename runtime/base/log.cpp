#include "runtime/base/log.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <utility>

#include <spdlog/common.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/sink.h>

#include "ir/base/environment.h"
#include "ir/base/fork_gate.h"

namespace heddle::runtime {

namespace {

/// Writes to standard error, with a lock that is always free in a forked child.
class StandardError final : public spdlog::sinks::sink {
 public:
  void log(const spdlog::details::log_msg& message) override {
    const std::lock_guard lock(mutex_);
    spdlog::memory_buf_t text;
    formatter_->format(message, text);
    std::fwrite(text.data(), 1, text.size(), stderr);
  }
  void flush() override { std::fflush(stderr); }
  void set_pattern(const std::string& pattern) override {
    set_formatter(std::make_unique<spdlog::pattern_formatter>(pattern));
  }
  void set_formatter(std::unique_ptr<spdlog::formatter> formatter) override {
    const std::lock_guard lock(mutex_);
    formatter_ = std::move(formatter);
  }

 private:
  ir::Mutex mutex_;
  std::unique_ptr<spdlog::formatter> formatter_ = std::make_unique<spdlog::pattern_formatter>();
};

}  // namespace

spdlog::logger& log() {
  static constinit ir::LazyStatic<spdlog::logger> logger;
  return logger.get([] {
    spdlog::logger made("heddle", std::make_shared<StandardError>());
    const std::string level = ir::environment(ir::Variable::log);
    made.set_level(!level.empty() ? spdlog::level::from_str(level) : spdlog::level::warn);
    made.set_pattern("heddle: %l: %v");
    return made;
  });
}

}  // namespace heddle::runtime
