#pragma once

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "heddle/heddle.h"

#include "runtime/base/process.h"
#include "runtime/device/device.h"
#include "tests/runtime/fake_driver/control.h"

namespace heddle::test {

/// Runs a test case of this executable in a process of its own, with variables set or "-uNAME".
inline runtime::ProcessResult run_child(const std::string& test_case,
                                        const std::vector<std::string>& variables) {
  std::vector<std::string> command = {"env"};
  command.insert(command.end(), variables.begin(), variables.end());
  command.push_back(std::filesystem::read_symlink("/proc/self/exe").string());
  command.insert(command.end(), {"--no-skip", "--test-case=" + test_case, "--no-version"});
  return runtime::run_process(command);
}

/// The same on a machine of two GPUs whose compiled kernels do nothing.
inline runtime::ProcessResult run_on_fake_gpus(const std::string& test_case,
                                               const std::vector<std::string>& more = {}) {
  std::vector<std::string> variables = {"-uHEDDLE_DEVICE",
                                        std::string("HEDDLE_CUDA_DRIVER=") + HEDDLE_FAKE_DRIVER,
                                        std::string("HEDDLE_NVRTC=") + HEDDLE_FAKE_NVRTC};
  variables.insert(variables.end(), more.begin(), more.end());
  return run_child(test_case, variables);
}

inline bool is_fake() { return std::getenv("HEDDLE_CUDA_DRIVER") != nullptr; }

inline const FakeControl& control() {
  static const FakeControl* const instance = [] {
    void* const library = dlopen(HEDDLE_FAKE_DRIVER, RTLD_NOW | RTLD_NOLOAD);
    REQUIRE(library != nullptr);
    return reinterpret_cast<const FakeControl* (*)()>(dlsym(library, "heddle_fake_control"))();
  }();
  return *instance;
}

inline runtime::Device cuda(int ordinal) { return {runtime::DeviceKind::cuda, ordinal}; }

/// What `make` returns, made and computed on a device.
template <class Make>
Array on(runtime::Device device, const Make& make) {
  const runtime::DeviceScope scope(device);
  Array array = make();
  array.eval();
  return array;
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// What an E says that `call` throws.
template <class E, class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("another error: ") + error.what();
  }
  return "no error";
}

inline void check_parts(const std::string& text, std::initializer_list<std::string> parts) {
  for (const std::string& part : parts) CHECK_MESSAGE(contains(text, part), part, " in ", text);
}

}  // namespace heddle::test
