// What is evicted from a cache, and when.

#include <algorithm>
#include <sys/wait.h>
#include <thread>

#include "runtime/cache/size_file.h"
#include "tests/runtime/cache_entries.h"

using namespace heddle;
using namespace heddle::runtime::cache;
using namespace heddle::test;
namespace fs = std::filesystem;

TEST_CASE("the least recently used entries are evicted first; foreign files stay") {
  const Place place;
  StoreOptions options = in(place.cache);
  Store store(options);
  for (int i = 0; i < 10; ++i) {
    save(store, i, 10000);
    set_age(store.path_of(key_of(i)), 100000 - 1000 * i);
  }
  CHECK(holds(store, 0));
  const std::string folder = fs::path(store.path_of(key_of(0))).parent_path().string();
  test::write_text(folder + "/notes.txt", std::string(100000, 'x'));
  test::write_text(folder + "/.tmp-1-0-old", "left by a writer that was killed");
  set_age(folder + "/.tmp-1-0-old", 10000);
  test::write_text(folder + "/.tmp-1-0-new", "a writer at work");
  fs::create_directory(folder + "/folder.entry");

  CHECK(store.list().size() == 10);
  const std::uint64_t gone = store.shrink(50000);
  CHECK(gone == 7);
  CHECK(store.statistics().evicted == gone);
  CHECK(holds(store, 0));
  for (int i = 1; i <= 7; ++i) CHECK_FALSE(holds(store, i));
  for (int i = 8; i < 10; ++i) CHECK(holds(store, i));
  CHECK(fs::exists(folder + "/notes.txt"));
  CHECK(fs::exists(folder + "/.tmp-1-0-new"));
  CHECK_FALSE(fs::exists(folder + "/.tmp-1-0-old"));
  CHECK(store.shrink(50000) == 0);
}

TEST_CASE("a read updates an entry's time only if that is old") {
  const Place place;
  Store store(in(place.cache));
  save(store, 1);
  const std::string path = store.path_of(key_of(1));
  set_age(path, 60);
  const auto recent = fs::last_write_time(path);
  CHECK(holds(store, 1));
  CHECK(fs::last_write_time(path) == recent);
  set_age(path, 7200);
  CHECK(holds(store, 1));
  CHECK(fs::last_write_time(path) > recent);
}

namespace {

/// Bytes of all files of entries, those that are being written included.
std::uint64_t bytes_in(const std::string& directory) {
  std::uint64_t bytes = 0;
  for (const FoundFile& file : find_files(directory)) bytes += file.bytes;
  return bytes;
}

}  // namespace

TEST_CASE("after each write the cache is within its limit and has the new entry") {
  for (const std::chrono::seconds interval :
       {std::chrono::seconds(0), std::chrono::seconds(3600)}) {
    const Place place;
    StoreOptions options = in(place.cache);
    options.size_limit = 50000;
    options.sweep_interval = interval;
    Store store(options);
    std::uint64_t most = 0;
    for (int i = 0; i < 50; ++i) {
      save(store, i, 5000);
      CHECK(holds(store, i));
      most = std::max(most, bytes_in(place.cache));
    }
    CHECK(most <= options.size_limit);
    CHECK(most > options.size_limit / 2);
    CHECK(store.statistics().evicted >= 40);
    // One that is larger than all may be is not written.
    save(store, 50, 60000);
    CHECK_FALSE(holds(store, 50));
    CHECK(holds(store, 49));
  }
}

TEST_CASE("the cache stays within its limit while several processes write") {
  const Place place;
  constexpr int writers = 4;
  std::vector<pid_t> children;
  for (int writer = 0; writer < writers; ++writer) {
    const pid_t child = fork();
    if (child == 0) {
      StoreOptions options = in(place.cache);
      options.size_limit = 100000;
      Store store(options);
      for (int i = 0; i < 100; ++i) save(store, 1000 * writer + i, 3000);
      _exit(0);
    }
    children.push_back(child);
  }
  std::uint64_t most = 0;
  for (const pid_t child : children) {
    for (int status = 0; waitpid(child, &status, WNOHANG) == 0; std::this_thread::yield()) {
      const SizeFile lock(place.cache);  // counts between two writes
      most = std::max(most, bytes_in(place.cache));
    }
  }
  CHECK(most <= 100000);
  CHECK(bytes_in(place.cache) <= 100000);
  CHECK(bytes_in(place.cache) > 50000);
}

TEST_CASE("entries are counted again if the stored sum is old, missing, damaged or in the future") {
  const Place place;
  StoreOptions options = in(place.cache);
  options.size_limit = 50000;
  Store store(options);
  save(store, 0, 1000);
  const std::string size = place.cache + "/size", folder = place.cache + "/v1/zz";
  const std::string good = test::read_text(size);
  REQUIRE(good.size() == 16);
  std::string ahead = good, old = good;
  ahead[13] = 0x7f;                         // the year 4000000000
  old.replace(8, 8, std::string(8, '\0'));  // 1970
  for (const std::string& sum : {ahead, old, std::string(), good.substr(0, 7)}) {
    fs::create_directories(folder);
    test::write_text(folder + "/foreign.entry", std::string(60000, 'x'));
    set_age(folder + "/foreign.entry", 100);
    test::write_text(size, sum);
    save(store, 1, 1000);
    CHECK_FALSE(fs::exists(folder + "/foreign.entry"));
    CHECK(holds(store, 1));
    CHECK(bytes_in(place.cache) <= options.size_limit);
  }
  fs::remove(size);
  save(store, 2, 1000);
  CHECK(fs::exists(size));
}

TEST_CASE("entries with times in the future are evicted first, unless a read corrects the time") {
  const Place place;
  Store store(in(place.cache));
  for (int i = 0; i < 10; ++i) {
    save(store, i, 10000);
    set_age(store.path_of(key_of(i)), i < 5 ? -100'000'000 : 1000);
  }
  CHECK(holds(store, 0));  // its time is now
  const auto now = fs::file_time_type::clock::now();
  CHECK(fs::last_write_time(store.path_of(key_of(0))) <= now);
  CHECK(store.shrink(80000) == 4);
  for (int i = 1; i < 5; ++i) CHECK_FALSE(holds(store, i));
  for (int i = 5; i < 10; ++i) CHECK(holds(store, i));
  // Nor does one of a writer that was killed.
  const std::string left = fs::path(store.path_of(key_of(0))).parent_path() / ".tmp-1-0-ahead";
  test::write_text(left, "x");
  set_age(left, -100'000'000);
  store.shrink(1 << 30);
  CHECK_FALSE(fs::exists(left));
}

TEST_CASE("entries are evicted while other threads read them") {
  const Place place;
  Store writer(in(place.cache)), reader(in(place.cache));
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      while (!done) {
        for (int i = 0; i < 20; ++i) {
          const auto entry = reader.load(key_of(i));
          if (entry && !entry->payload.starts_with(payload_of(i))) ++wrong;
        }
      }
    });
  }
  for (int round = 0; round < 30; ++round) {
    for (int i = 0; i < 20; ++i) save(writer, i, 5000);
    writer.shrink(20000);
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(reader.statistics().bad_entries == 0);
}
