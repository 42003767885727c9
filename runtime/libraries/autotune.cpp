#include "runtime/libraries/autotune.h"

#include <atomic>
#include <cstdlib>
#include <string_view>

#include "ir/base/environment.h"

namespace heddle::runtime {

namespace {

std::atomic<bool>& state() {
  static std::atomic<bool> on{ir::flag(ir::Variable::autotune, false)};
  return on;
}

}  // namespace

bool autotuning() { return state().load(std::memory_order_relaxed); }

bool set_autotuning(bool enabled) { return state().exchange(enabled, std::memory_order_relaxed); }

}  // namespace heddle::runtime
