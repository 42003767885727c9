#include "runtime/log.h"

#include <cstdlib>
#include <memory>

#include <spdlog/common.h>
#include <spdlog/sinks/stdout_sinks.h>

namespace heddle::runtime {

spdlog::logger& log() {
  static auto* const logger = [] {
    auto* made = new spdlog::logger("heddle", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    const char* level = std::getenv("HEDDLE_LOG");
    made->set_level(level != nullptr ? spdlog::level::from_str(level) : spdlog::level::warn);
    made->set_pattern("heddle: %l: %v");
    return made;
  }();
  return *logger;
}

}  // namespace heddle::runtime
