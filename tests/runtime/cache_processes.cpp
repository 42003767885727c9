#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <doctest/doctest.h>

#include "runtime/cache/files.h"
#include "runtime/cache/store.h"
#include "tests/runtime/helpers.h"

using namespace heddle;
using namespace heddle::runtime::cache;
namespace fs = std::filesystem;

namespace {

constexpr int key_count = 8;

Key key_of(int number) { return KeyBuilder().add("shared", number).finish(); }

/// Long enough that a kill may fall into the middle of writing it.
std::string payload_of(int number) { return std::string(200000, static_cast<char>('a' + number)); }

StoreOptions shared_options(const std::string& directory) {
  StoreOptions out;
  out.directory = directory;
  return out;
}

pid_t start(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& each : command) arguments.push_back(const_cast<char*>(each.c_str()));
  arguments.push_back(nullptr);
  pid_t process = 0;
  REQUIRE(posix_spawnp(&process, arguments[0], nullptr, nullptr, arguments.data(), environ) == 0);
  return process;
}

int wait_for(pid_t process) {
  int status = -1;
  REQUIRE(waitpid(process, &status, 0) == process);
  return status;
}

std::string directory_of_child() { return std::getenv("HEDDLE_TEST_DIR"); }

}  // namespace

TEST_CASE("sixteen processes fill one empty directory with eight entries at once") {
  for (int round = 0; round < 5; ++round) {
    const runtime::TemporaryFolder folder;
    const std::string cache = folder.path() + "/cache";
    const std::string gate = folder.path() + "/gate";
    std::vector<pid_t> processes;
    for (int i = 0; i < 16; ++i) {
      processes.push_back(start(test::child_command(
          "child: fill the cache", {"HEDDLE_TEST_DIR=" + cache, "HEDDLE_TEST_GATE=" + gate})));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    test::write_text(gate, "open");
    for (const pid_t process : processes) CHECK(wait_for(process) == 0);

    const auto files = find_files(cache);
    CHECK(files.size() == key_count);
    for (const FoundFile& file : files) CHECK_FALSE(file.temporary);
    Store store(shared_options(cache));
    for (int i = 0; i < key_count; ++i) {
      const auto entry = store.load(key_of(i));
      REQUIRE(entry);
      CHECK(entry->payload == payload_of(i));
    }
  }
}

TEST_CASE("child: fill the cache" * doctest::skip()) {
  while (!fs::exists(std::getenv("HEDDLE_TEST_GATE"))) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const test::CapturedLog log;
  Store store(shared_options(directory_of_child()));
  for (int i = 0; i < key_count; ++i) {
    const int number = (i + getpid()) % key_count;
    if (const auto entry = store.load(key_of(number))) {
      CHECK(entry->payload == payload_of(number));
      continue;
    }
    store.save(key_of(number), PayloadKind::cubin, "{}", payload_of(number));
  }
  CHECK(store.statistics().bad_entries == 0);
  CHECK(log.lines() == 0);
}

TEST_CASE("writers that are killed leave nothing that is taken for an entry") {
  const runtime::TemporaryFolder folder;
  const std::string cache = folder.path() + "/cache";
  for (int round = 0; round < 12; ++round) {
    const pid_t writer =
        start(test::child_command("child: write for ever", {"HEDDLE_TEST_DIR=" + cache}));
    std::this_thread::sleep_for(std::chrono::milliseconds(30 + 7 * round));
    kill(writer, SIGKILL);
    const int status = wait_for(writer);
    CHECK(WIFSIGNALED(status));
    Store store(shared_options(cache));
    for (int i = 0; i < key_count; ++i) {
      const auto entry = store.load(key_of(i));
      if (entry) CHECK(entry->payload == payload_of(i));
    }
    CHECK(store.statistics().bad_entries == 0);
  }
  Store store(shared_options(cache));
  for (int i = 0; i < key_count; ++i) {
    store.save(key_of(i), PayloadKind::cubin, "{}", payload_of(i));
    CHECK(store.load(key_of(i)));
  }
}

TEST_CASE("child: write for ever" * doctest::skip()) {
  Store store(shared_options(directory_of_child()));
  for (int i = 0;; ++i) {
    store.save(key_of(i % key_count), PayloadKind::cubin, "{}", payload_of(i % key_count));
  }
}

TEST_CASE("processes evict and read one directory at once") {
  const runtime::TemporaryFolder folder;
  const std::string cache = folder.path() + "/cache";
  std::vector<pid_t> processes;
  for (int i = 0; i < 6; ++i) {
    processes.push_back(
        start(test::child_command("child: write and evict", {"HEDDLE_TEST_DIR=" + cache})));
  }
  for (const pid_t process : processes) CHECK(wait_for(process) == 0);
  std::uint64_t bytes = 0;
  for (const FoundFile& file : find_files(cache)) bytes += file.bytes;
  // Six that write between each other's sweeps may each be one entry over.
  CHECK(bytes <= 900000 + 6 * 210000);
}

TEST_CASE("child: write and evict" * doctest::skip()) {
  StoreOptions options = shared_options(directory_of_child());
  options.size_limit = 900000;
  options.sweep_interval = std::chrono::seconds(0);
  const test::CapturedLog log;
  Store store(options);
  for (int i = 0; i < 60; ++i) {
    const int number = (i + getpid()) % key_count;
    const auto entry = store.load(key_of(number));
    if (entry) {
      CHECK(entry->payload == payload_of(number));
    } else {
      store.save(key_of(number), PayloadKind::cubin, "{}", payload_of(number));
    }
  }
  CHECK(store.statistics().bad_entries == 0);
  CHECK_MESSAGE(log.lines() == 0, log.text());
}
