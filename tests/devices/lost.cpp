// After an error that ends a device's context every call says so, and the cache keeps its entries.

#include <filesystem>

#include "runtime/base/log.h"
#include "runtime/base/temporary_folder.h"
#include "runtime/device/stream.h"
#include "tests/devices/fake_gpus.h"

using namespace heddle;
using namespace heddle::test;
namespace fs = std::filesystem;

namespace {

constexpr int illegal_address = 700, invalid_image = 200;

Array three(int ordinal) {
  return on(cuda(ordinal), [] { return array({1.0f, 2.0f, 3.0f}); });
}

Array small(const Array& x) { return tanh(x) * 3.0f; }
Array other(const Array& x) { return exp(x) - 3.0f; }

std::size_t entries(const fs::path& folder) {
  std::size_t count = 0;
  for (const auto& each : fs::recursive_directory_iterator(folder)) count += each.is_regular_file();
  return count;
}

/// Of a process that has found both programs of this file in the cache.
fs::path cache_folder() { return std::getenv("HEDDLE_CACHE_DIR"); }

}  // namespace

TEST_CASE("a lost device is named with the call that met it, and the cache deletes nothing") {
  const runtime::TemporaryFolder folder;
  const std::vector<std::string> cache = {"HEDDLE_CACHE_DIR=" + folder.path() + "/cache"};
  const auto warm = run_on_fake_gpus("child: fill the cache", cache);
  REQUIRE_MESSAGE(warm.status == 0, warm.output);
  for (const char* test_case : {"child: lost while waiting", "child: lost while loading"}) {
    const auto result = run_on_fake_gpus(test_case, cache);
    CHECK_MESSAGE(result.status == 0, result.output);
    CHECK_MESSAGE(!contains(result.output, "damaged"), result.output);
  }
  const auto damaged = run_on_fake_gpus("child: an invalid image", cache);
  CHECK_MESSAGE(damaged.status == 0, damaged.output);
  CHECK_MESSAGE(contains(damaged.output, "damaged"), damaged.output);
}

TEST_CASE("child: fill the cache" * doctest::skip()) {
  small(three(0)).eval();
  other(three(0)).eval();
}

TEST_CASE("child: lost while waiting" * doctest::skip()) {
  const std::size_t before = entries(cache_folder());
  const Array x = three(0), y = three(1);
  small(x).eval();
  control().fail("cuStreamSynchronize", illegal_address, 0);
  const std::string first = refusal<DeviceError>([&] { x.to_vector<float>(); });
  check_parts(first,
              {"cuda:0 has failed: cuStreamSynchronize failed", "CUDA_ERROR_ILLEGAL_ADDRESS"});
  const std::string since = "cuda:0 has failed: cuStreamSynchronize failed";
  // A launch, a program that is to be loaded, an upload, a read and a wait.
  check_parts(refusal<DeviceError>([&] { small(x).eval(); }), {since, "; now "});
  check_parts(refusal<DeviceError>([&] { other(x).eval(); }), {since, "; now "});
  check_parts(refusal<DeviceError>([&] { three(0); }), {since});
  check_parts(refusal<DeviceError>([&] { x.to_vector<float>(); }), {since});
  check_parts(refusal<DeviceError>([&] { runtime::synchronize(cuda(0)); }), {since});
  CHECK(entries(cache_folder()) == before);
  // The other GPU works.
  small(y).eval();
  other(y).eval();
  CHECK(y.to_vector<float>() == std::vector<float>{1, 2, 3});
}

TEST_CASE("child: lost while loading" * doctest::skip()) {
  const std::size_t before = entries(cache_folder());
  const Array x = three(0);
  control().fail("cuModuleLoadDataEx", illegal_address, 0);
  check_parts(refusal<DeviceError>([&] { small(x).eval(); }),
              {"cuda:0 has failed: cuModuleLoadDataEx failed", "CUDA_ERROR_ILLEGAL_ADDRESS"});
  check_parts(refusal<DeviceError>([&] { other(x).eval(); }),
              {"cuda:0 has failed: cuModuleLoadDataEx failed"});
  CHECK(entries(cache_folder()) == before);
}

TEST_CASE("child: an invalid image" * doctest::skip()) {
  const Array x = three(0);
  control().fail("cuModuleLoadDataEx", invalid_image, 0);
  small(x).eval();
  CHECK(control().failed());
}
