#include "runtime/autotune.h"

#include <atomic>
#include <cstdlib>
#include <string_view>

namespace heddle::runtime {

namespace {

std::atomic<bool>& state() {
  static std::atomic<bool> on{[] {
    const char* text = std::getenv("HEDDLE_AUTOTUNE");
    return text != nullptr && std::string_view(text) == "1";
  }()};
  return on;
}

}  // namespace

bool autotuning() { return state().load(std::memory_order_relaxed); }

bool set_autotuning(bool enabled) { return state().exchange(enabled, std::memory_order_relaxed); }

}  // namespace heddle::runtime
