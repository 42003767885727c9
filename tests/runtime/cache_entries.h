#pragma once

// Entries of a cache, made and looked for.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <sys/mount.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "runtime/base/fault.h"
#include "runtime/cache/files.h"
#include "runtime/cache/store.h"
#include "tests/runtime/helpers.h"

namespace heddle::test {

using namespace heddle::runtime::cache;

inline Key key_of(int number) {
  return KeyBuilder().add("number", number).add("kind", "test").finish();
}

inline std::string payload_of(int number) { return "payload " + std::to_string(number); }

inline StoreOptions in(const std::string& directory) {
  StoreOptions out;
  out.directory = directory;
  return out;
}

inline void save(Store& store, int number, std::size_t padding = 0) {
  store.save(key_of(number), PayloadKind::cubin, "{}",
             payload_of(number) + std::string(padding, ' '));
}

inline bool holds(Store& store, int number) {
  const auto entry = store.load(key_of(number));
  return entry && entry->payload.starts_with(payload_of(number));
}

inline void set_age(const std::string& path, std::int64_t seconds) {
  timespec times[2] = {};
  times[0].tv_sec = times[1].tv_sec = std::time(nullptr) - seconds;
  REQUIRE(utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
}

/// A new folder whose cache does not exist yet.
struct Place {
  runtime::TemporaryFolder folder;
  std::string cache = folder.path() + "/a/cache";
};

}  // namespace heddle::test
