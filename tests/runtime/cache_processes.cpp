#include <barrier>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iterator>
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

void check_filled(const std::string& cache) {
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

/// Beginning with another entry than others do.
void fill(Store& store, int first) {
  for (int i = 0; i < key_count; ++i) {
    const int number = (i + first) % key_count;
    if (const auto entry = store.load(key_of(number))) {
      CHECK(entry->payload == payload_of(number));
      continue;
    }
    store.save(key_of(number), PayloadKind::cubin, "{}", payload_of(number));
  }
}

constexpr int rounds = 50, participants = 16;

std::string of_round(const std::string& folder, const char* what, int round) {
  return folder + "/" + what + std::to_string(round);
}

}  // namespace

TEST_CASE("sixteen processes fill fifty empty directories, each at once") {
  const runtime::TemporaryFolder folder;
  std::vector<pid_t> processes;
  for (int i = 0; i < participants; ++i) {
    processes.push_back(
        start(test::child_command("child: fill the caches", {"HEDDLE_TEST_DIR=" + folder.path()})));
  }
  for (int round = 0; round < rounds; ++round) {
    const std::string ready = of_round(folder.path(), "ready", round);
    fs::create_directory(ready);
    const auto entries = [&] {
      return std::distance(fs::directory_iterator(ready), fs::directory_iterator());
    };
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (entries() < participants) {
      REQUIRE(std::chrono::steady_clock::now() < deadline);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    test::write_text(of_round(folder.path(), "gate", round), "open");
  }
  for (const pid_t process : processes) CHECK(wait_for(process) == 0);
  for (int round = 0; round < rounds; ++round)
    check_filled(of_round(folder.path(), "cache", round));
}

TEST_CASE("child: fill the caches" * doctest::skip()) {
  const std::string folder = directory_of_child();
  for (int round = 0; round < rounds; ++round) {
    const auto wait_until = [](const std::string& path) {
      while (!fs::exists(path)) std::this_thread::sleep_for(std::chrono::microseconds(100));
    };
    const std::string ready = of_round(folder, "ready", round);
    wait_until(ready);
    test::write_text(ready + "/" + std::to_string(getpid()), "");
    wait_until(of_round(folder, "gate", round));
    const test::CapturedLog log;
    Store store(shared_options(of_round(folder, "cache", round)));
    fill(store, getpid());
    CHECK(store.statistics().bad_entries == 0);
    CHECK_MESSAGE(log.lines() == 0, log.text());
  }
}

TEST_CASE("sixteen threads fill fifty empty directories, each at once") {
  const runtime::TemporaryFolder folder;
  for (int round = 0; round < rounds; ++round) {
    const std::string cache = of_round(folder.path(), "cache", round);
    const test::CapturedLog log;
    Store store(shared_options(cache));
    std::barrier gate(participants);
    std::vector<std::thread> threads;
    for (int i = 0; i < participants; ++i) {
      threads.emplace_back([&, i] {
        gate.arrive_and_wait();
        fill(store, i);
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(store.statistics().bad_entries == 0);
    CHECK_MESSAGE(log.lines() == 0, log.text());
    check_filled(cache);
  }
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
