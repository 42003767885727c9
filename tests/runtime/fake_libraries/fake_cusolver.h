#pragma once

// What the files of the fake cuSOLVER share.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <string>

namespace fake_cusolver {

constexpr int success = 0, invalid_value = 3, internal_error = 7, invalid_workspace = 31;
constexpr int f32 = 0, f64 = 1, c64 = 4, c128 = 5;

struct Handle {
  void* stream = nullptr;
};
struct Parameters {
  std::uint64_t made_here = 0x48444353;
};

inline std::string variable(const char* name) {
  const char* const text = std::getenv(name);
  return text != nullptr ? text : "";
}

/// Appends the call to the file that HEDDLE_FAKE_CUSOLVER_LOG names. The call that
/// HEDDLE_FAKE_CUSOLVER_FAILS names fails.
inline int asked(const std::string& call) {
  std::ofstream(variable("HEDDLE_FAKE_CUSOLVER_LOG"), std::ios::app) << call << "\n";
  return variable("HEDDLE_FAKE_CUSOLVER_FAILS") == call ? internal_error : success;
}

inline bool is_on_device(const void* pointer) {
  static void* const driver = dlopen(std::getenv("HEDDLE_CUDA_DRIVER"), RTLD_NOW | RTLD_NOLOAD);
  static const auto attributes_of =
      reinterpret_cast<int (*)(unsigned, const int*, void**, std::uint64_t)>(
          dlsym(driver, "cuPointerGetAttributes"));
  const int memory_type = 2;
  unsigned type = 0;
  void* values[] = {&type};
  attributes_of(1, &memory_type, values, reinterpret_cast<std::uint64_t>(pointer));
  return type == 2;
}

inline bool is_known(void* parameters) {
  return static_cast<Parameters*>(parameters)->made_here == Parameters().made_here;
}

inline std::size_t wanted_on_device(std::int64_t n) {
  return 256 + 16 * static_cast<std::size_t>(n);
}
inline std::size_t wanted_on_host(std::int64_t n) { return 40 + static_cast<std::size_t>(n); }

}  // namespace fake_cusolver
