// What is evicted from a cache, and when.

#include "tests/runtime/cache_entries.h"

using namespace heddle;
using namespace heddle::runtime::cache;
using namespace heddle::test;
namespace fs = std::filesystem;

TEST_CASE("what was used longest ago goes first, and foreign files stay") {
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

TEST_CASE("use is noted lazily") {
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

TEST_CASE("writing keeps the directory under its size, sweeping when it is time") {
  const Place place;
  StoreOptions options = in(place.cache);
  options.size_limit = 50000;
  options.sweep_interval = std::chrono::seconds(0);
  Store store(options);
  for (int i = 0; i < 50; ++i) save(store, i, 5000);
  std::uint64_t bytes = 0;
  for (const ListedEntry& entry : store.list()) bytes += entry.bytes;
  CHECK(bytes <= options.size_limit);
  CHECK(bytes > 0);
  CHECK(store.statistics().evicted >= 40);

  options.sweep_interval = std::chrono::seconds(3600);
  Store patient(options);
  for (int i = 100; i < 150; ++i) save(patient, i, 5000);
  CHECK(patient.statistics().evicted == 0);
  set_age(place.cache + "/sweep", 7200);
  Store later(options);
  save(later, 200, 5000);
  CHECK(later.statistics().evicted > 0);
}

TEST_CASE("a stamp that lies ahead of the clock does not stop sweeps") {
  const Place place;
  StoreOptions options = in(place.cache);
  options.size_limit = 50000;
  for (const auto& [interval, ahead] : {std::pair{0, 1}, {0, 7200}, {3600, 7200}}) {
    CAPTURE(interval);
    options.sweep_interval = std::chrono::seconds(3600);
    Store patient(options);
    for (int i = 0; i < 20; ++i) save(patient, i, 5000);
    CHECK(patient.statistics().evicted == 0);
    test::write_text(place.cache + "/sweep", "");
    set_age(place.cache + "/sweep", -ahead);
    options.sweep_interval = std::chrono::seconds(interval);
    Store later(options);
    save(later, 100, 5000);
    CHECK(later.statistics().evicted > 0);
  }
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
