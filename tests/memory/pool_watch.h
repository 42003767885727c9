#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

#include <doctest/doctest.h>

#include <heddle/heddle.h>

#include "runtime/cuda/nvrtc.h"
#include "runtime/device/memory.h"
#include "tests/runtime/helpers.h"

namespace hd = heddle;

namespace heddle::test {

constexpr std::size_t mib = std::size_t{1} << 20;

inline runtime::MemoryPool& pool() { return runtime::pool_of(runtime::current_device()); }

/// What the pool holds beyond what it held at the start.
class PoolWatch {
 public:
  PoolWatch() {
    pool().trim(true);
    pool().reset_peak();
  }
  std::size_t peak() const { return pool().statistics().peak_in_use - before_; }
  std::size_t in_use() const { return pool().statistics().in_use - before_; }

 private:
  std::size_t before_ = pool().statistics().in_use;
};

/// The most that the pool may reserve beyond what it holds now, for a scope.
class LimitScope {
 public:
  explicit LimitScope(std::size_t bytes) {
    pool().trim(true);
    pool().set_limit(pool().statistics().reserved + bytes);
  }
  ~LimitScope() { pool().set_limit(before_); }
  LimitScope(const LimitScope&) = delete;
  LimitScope& operator=(const LimitScope&) = delete;

 private:
  std::size_t before_ = pool().limit();
};

/// False on the fake driver, whose kernels of compiled programs do nothing.
inline bool computes() { return std::getenv("HEDDLE_CUDA_DRIVER") == nullptr; }

/// Runs a test case in a process whose GPU is the fake driver's, of 256 MiB. False, with a word on
/// the screen, on a machine without NVRTC; HEDDLE_REQUIRE_NVRTC=1 makes that a failure.
inline bool passes_on_fake_gpu(const std::string& test_case) {
  if (!runtime::nvrtc::available()) {
    const char* required = std::getenv("HEDDLE_REQUIRE_NVRTC");
    REQUIRE_MESSAGE((required == nullptr || std::string(required) != "1"),
                    runtime::nvrtc::unavailable_reason());
    MESSAGE("NVRTC is not here: " << runtime::nvrtc::unavailable_reason());
    return true;
  }
  const auto result = run_child(
      test_case, {"-uHEDDLE_DEVICE", std::string("HEDDLE_CUDA_DRIVER=") + HEDDLE_FAKE_DRIVER});
  CHECK_MESSAGE(result.status == 0, result.output);
  return result.status == 0;
}

}  // namespace heddle::test
