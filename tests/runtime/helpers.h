#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include <doctest/doctest.h>
#include <spdlog/sinks/ostream_sink.h>

#include "runtime/base/log.h"
#include "runtime/base/process.h"
#include "runtime/base/temporary_folder.h"
#include "runtime/cuda/nvrtc.h"

namespace heddle::test {

/// False, with a word on the screen, on a machine without NVRTC; HEDDLE_REQUIRE_NVRTC=1 makes that
/// a failure.
inline bool have_nvrtc() {
  if (runtime::nvrtc::available()) return true;
  const char* required = std::getenv("HEDDLE_REQUIRE_NVRTC");
  if (required != nullptr && std::string_view(required) == "1") {
    FAIL(runtime::nvrtc::unavailable_reason());
  }
  MESSAGE("NVRTC is not here: " << runtime::nvrtc::unavailable_reason());
  return false;
}

/// Everything that is logged while it lives.
class CapturedLog {
 public:
  CapturedLog() : sink_(std::make_shared<spdlog::sinks::ostream_sink_mt>(stream_)) {
    std::swap(runtime::log().sinks(), sinks_);
    runtime::log().sinks() = {sink_};
  }
  ~CapturedLog() { std::swap(runtime::log().sinks(), sinks_); }
  CapturedLog(const CapturedLog&) = delete;
  CapturedLog& operator=(const CapturedLog&) = delete;

  std::string text() const { return stream_.str(); }
  long lines() const {
    const std::string all = text();
    return std::count(all.begin(), all.end(), '\n');
  }

 private:
  std::ostringstream stream_;
  std::shared_ptr<spdlog::sinks::sink> sink_;
  std::vector<std::shared_ptr<spdlog::sinks::sink>> sinks_;
};

/// The command that runs one test case of this executable in a process of its own, with variables
/// set ("NAME=value") or unset ("-uNAME"). The test case is marked skip() so that it runs only so.
inline std::vector<std::string> child_command(const std::string& test_case,
                                              std::vector<std::string> variables) {
  std::vector<std::string> out = {"env"};
  out.insert(out.end(), variables.begin(), variables.end());
  out.push_back(std::filesystem::read_symlink("/proc/self/exe").string());
  out.insert(out.end(), {"--no-skip", "--test-case=" + test_case, "--no-version", "--minimal"});
  return out;
}

inline runtime::ProcessResult run_child(const std::string& test_case,
                                        std::vector<std::string> variables) {
  return runtime::run_process(child_command(test_case, std::move(variables)));
}

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
}

/// A generator that gives the same numbers everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  std::uint64_t below(std::uint64_t n) { return next() % n; }

 private:
  std::uint64_t state_;
};

}  // namespace heddle::test
