#include "runtime/base/host_memory.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <unistd.h>

#include <doctest/doctest.h>

#include "tests/runtime/helpers.h"

using namespace heddle;
using std::filesystem::path;

namespace {

/// A folder that looks like the root of a system.
class Root {
 public:
  Root() { std::filesystem::create_directories(path_); }
  ~Root() { std::filesystem::remove_all(path_); }
  Root(const Root&) = delete;
  Root& operator=(const Root&) = delete;

  void write(const path& file, const std::string& text) const {
    std::filesystem::create_directories((path_ / file).parent_path());
    test::write_text(path_ / file, text);
  }
  std::size_t free_bytes() const { return runtime::host_free_bytes(path_); }

 private:
  path path_ = std::filesystem::temp_directory_path() / ("heddle_root_" + std::to_string(getpid()));
};

const char* const information =
    "MemTotal:       16000000 kB\nMemFree:         1000000 kB\nMemAvailable:    4000 kB\n"
    "SwapFree:           1000 kB\n";

}  // namespace

TEST_CASE("free memory of the host is what the system has available") {
  const Root root;
  CHECK(root.free_bytes() == SIZE_MAX);
  root.write("proc/meminfo", information);
  CHECK(root.free_bytes() == 5000 * 1024);
}

TEST_CASE("free memory of the host is no more than its control group leaves") {
  const Root root;
  root.write("proc/meminfo", information);
  root.write("sys/fs/cgroup/memory.max", "max\n");
  root.write("sys/fs/cgroup/memory.current", "1000000\n");
  CHECK(root.free_bytes() == 5000 * 1024);
  root.write("sys/fs/cgroup/memory.max", "3000000\n");
  CHECK(root.free_bytes() == 2000000);
  root.write("sys/fs/cgroup/memory.stat", "anon 700000\ninactive_file 300000\nactive_file 0\n");
  CHECK(root.free_bytes() == 2300000);
  root.write("sys/fs/cgroup/memory.current", "4000000\n");
  CHECK(root.free_bytes() == 0);
  root.write("sys/fs/cgroup/memory.max", "max\n");
  root.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "2500000\n");
  root.write("sys/fs/cgroup/memory/memory.usage_in_bytes", "500000\n");
  CHECK(root.free_bytes() == 2000000);
}

TEST_CASE("this machine has some memory free") {
  CHECK(runtime::host_free_bytes() > std::size_t{1} << 20);
}
