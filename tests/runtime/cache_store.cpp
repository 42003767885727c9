#include "tests/runtime/cache_entries.h"

using namespace heddle;
using namespace heddle::runtime::cache;
using namespace heddle::test;
namespace fs = std::filesystem;

TEST_CASE("an entry is kept for the next process, in a directory for this user alone") {
  const Place place;
  {
    Store store(in(place.cache));
    CHECK_FALSE(holds(store, 1));
    CHECK_FALSE(fs::exists(place.cache));
    save(store, 1);
    CHECK(holds(store, 1));
    CHECK(store.statistics().misses == 1);
    CHECK(store.statistics().hits == 1);
    CHECK(store.statistics().writes == 1);
    CHECK(store.statistics().bytes_written == store.statistics().bytes_read);
  }
  struct stat status{};
  REQUIRE(stat(place.cache.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);
  Store store(in(place.cache));
  CHECK(holds(store, 1));
  CHECK_FALSE(holds(store, 2));
  REQUIRE(stat(store.path_of(key_of(1)).c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  const std::string hex = key_of(1).hash.hex();
  CHECK(store.path_of(key_of(1)) == place.cache + "/v1/" + hex.substr(0, 2) + "/" + hex + ".entry");
}

TEST_CASE("damaged entries are deleted, built again, and warned of once") {
  const Place place;
  Store writer(in(place.cache));
  save(writer, 1, 1000);
  const std::string path = writer.path_of(key_of(1));
  const std::string good = test::read_text(path);
  std::string flipped = good;
  flipped[good.size() / 2] ^= 4;
  std::string other_version = good;
  other_version[8] ^= 2;

  const test::CapturedLog log;
  Store store(in(place.cache));
  std::uint64_t bad = 0;
  for (const std::string& content :
       {std::string(), good.substr(0, 10), good.substr(0, good.size() - 1), good + "x", flipped,
        other_version, std::string("#!/bin/sh\n"), std::string(5000, '\0')}) {
    test::write_text(path, content);
    CHECK_FALSE(store.load(key_of(1)));
    CHECK_FALSE(fs::exists(path));
    CHECK(store.statistics().bad_entries == ++bad);
    save(store, 1);
    CHECK(holds(store, 1));
  }
  fs::remove(path);
  fs::create_directory(path);
  CHECK_FALSE(store.load(key_of(1)));
  save(store, 1);
  CHECK(holds(store, 1));
  CHECK(log.lines() == 1);
}

TEST_CASE("a folder with something in it in an entry's place stays, and is a miss") {
  const Place place;
  Store store(in(place.cache));
  save(store, 1);
  const std::string path = store.path_of(key_of(1));
  fs::remove(path);
  fs::create_directories(path + "/inside");
  const test::CapturedLog log;
  CHECK_FALSE(holds(store, 1));
  save(store, 1);
  CHECK_FALSE(holds(store, 1));
  CHECK(fs::exists(path + "/inside"));
  save(store, 2);
  CHECK(holds(store, 2));
}

TEST_CASE("an entry of another key under this key's name is a miss and stays") {
  const Place place;
  Store store(in(place.cache));
  save(store, 1);
  save(store, 2);
  fs::copy_file(store.path_of(key_of(2)), store.path_of(key_of(1)),
                fs::copy_options::overwrite_existing);
  CHECK_FALSE(store.load(key_of(1)));
  CHECK(fs::exists(store.path_of(key_of(1))));
  CHECK(store.statistics().bad_entries == 0);
}

TEST_CASE("an entry that was refused when used is discarded") {
  const Place place;
  Store store(in(place.cache));
  save(store, 1);
  const test::CapturedLog log;
  store.discard(key_of(1));
  CHECK_FALSE(holds(store, 1));
  CHECK(store.statistics().bad_entries == 1);
  store.discard(key_of(1));
  CHECK(store.statistics().bad_entries == 1);
}

TEST_CASE("an error of the disk is a miss, deletes nothing, and passes") {
  const Place place;
  Store store(in(place.cache));
  save(store, 1);
  const test::CapturedLog log;
  for (std::int64_t k = 0; k < 2; ++k) {
    const runtime::fault::Watch watch(runtime::fault::Kind::file, k);
    CHECK_FALSE(holds(store, 1));
    CHECK(watch.fired());
  }
  CHECK(holds(store, 1));
  CHECK(store.statistics().bad_entries == 0);
}

TEST_CASE("a write that fails at any call leaves no file behind and is never an error") {
  std::int64_t points = 0;
  {
    const Place place;
    Store store(in(place.cache));
    const runtime::fault::Watch watch(runtime::fault::Kind::file);
    save(store, 1);
    points = watch.count();
  }
  CHECK(points >= 4);
  for (std::int64_t k = 0; k < points; ++k) {
    const Place place;
    const test::CapturedLog log;
    Store store(in(place.cache));
    {
      const runtime::fault::Watch watch(runtime::fault::Kind::file, k);
      save(store, 1);
      CHECK(watch.fired());
    }
    for (const FoundFile& file : find_files(place.cache)) CHECK_FALSE(file.temporary);
    Store next(in(place.cache));
    save(next, 1);
    CHECK(holds(next, 1));
  }
}

TEST_CASE("a directory that cannot be written or made means memory only and one warning") {
  const runtime::TemporaryFolder folder;
  test::write_text(folder.path() + "/file", "");
  for (const std::string& directory :
       {folder.path() + "/file", folder.path() + "/file/cache", std::string("/proc/heddle/cache"),
        std::string("/dev/null/cache")}) {
    INFO(directory);
    const test::CapturedLog log;
    Store store(in(directory));
    for (int i = 0; i < 3; ++i) {
      save(store, i);
      CHECK_FALSE(holds(store, i));
    }
    CHECK(log.lines() == 1);
    CHECK(store.statistics().writes == 0);
  }
}

TEST_CASE("no known directory means one warning") {
  const test::CapturedLog log;
  Store store(in(""));
  for (int i = 0; i < 3; ++i) {
    save(store, i);
    CHECK_FALSE(holds(store, i));
  }
  CHECK(log.lines() == 1);
  CHECK(log.text().find("HEDDLE_CACHE_DIR") != std::string::npos);
}

TEST_CASE("a directory without permissions, seen by a user who is not root") {
  const runtime::TemporaryFolder folder;
  REQUIRE(chmod(folder.path().c_str(), 0755) == 0);
  const std::string cache = folder.path() + "/cache";
  {
    Store store(in(cache));
    save(store, 1);
  }
  REQUIRE(chmod(cache.c_str(), 0500) == 0);
  const auto result = test::run_child("child: cache of another user", {"HEDDLE_TEST_DIR=" + cache});
  CHECK_MESSAGE(result.status == 0, result.output);
}

TEST_CASE("child: cache of another user" * doctest::skip()) {
  const std::string cache = std::getenv("HEDDLE_TEST_DIR");
  // Root may do everything, so that what others meet shows only without its rights.
  if (geteuid() == 0) REQUIRE(seteuid(65534) == 0);
  const test::CapturedLog log;
  Store store(in(cache));
  for (int i = 1; i < 4; ++i) {
    save(store, i);
    CHECK_FALSE(store.load(key_of(5)));
  }
  CHECK(log.lines() == 1);
}

TEST_CASE("a directory that others may write is refused with one warning, unless trusted") {
  const Place place;
  {
    Store store(in(place.cache));
    save(store, 1);
  }
  REQUIRE(chmod(place.cache.c_str(), 0777) == 0);
  {
    const test::CapturedLog log;
    Store store(in(place.cache));
    CHECK_FALSE(holds(store, 1));
    save(store, 2);
    CHECK_FALSE(holds(store, 2));
    CHECK(log.lines() == 1);
    CHECK(log.text().find("HEDDLE_CACHE_TRUST") != std::string::npos);
  }
  StoreOptions options = in(place.cache);
  options.trust = true;
  Store store(options);
  CHECK(holds(store, 1));
}

TEST_CASE("a full disk means memory only and one warning") {
  const runtime::TemporaryFolder folder;
  const std::string mounted = folder.path() + "/small";
  fs::create_directory(mounted);
  if (mount("tmpfs", mounted.c_str(), "tmpfs", 0, "size=64k,mode=0700") != 0) {
    MESSAGE("no file system can be mounted here; injected ENOSPC alone is tested");
    return;
  }
  {
    const test::CapturedLog log;
    Store store(in(mounted + "/cache"));
    save(store, 1);
    CHECK(holds(store, 1));
    for (int i = 2; i < 6; ++i) save(store, i, 100000);
    CHECK(holds(store, 1));
    CHECK_FALSE(holds(store, 2));
    CHECK(log.lines() == 1);
    for (const FoundFile& file : find_files(mounted + "/cache")) CHECK_FALSE(file.temporary);
  }
  CHECK(umount(mounted.c_str()) == 0);
}

TEST_CASE("a read-only directory is searched second and never changed") {
  const Place image, own;
  {
    Store store(in(image.cache));
    save(store, 1);
    save(store, 2);
    test::write_text(store.path_of(key_of(2)), "damage");
  }
  const auto before = fs::last_write_time(Store(in(image.cache)).path_of(key_of(1)));
  StoreOptions options = in(own.cache);
  options.read_only_directory = image.cache;
  options.touch_interval = std::chrono::seconds(0);
  Store store(options);
  CHECK(holds(store, 1));
  CHECK(store.statistics().hits == 1);
  CHECK_FALSE(holds(store, 2));
  save(store, 2);
  CHECK(holds(store, 2));
  CHECK_FALSE(fs::exists(store.path_of(key_of(1))));
  Store image_store(in(image.cache));
  CHECK(test::read_text(image_store.path_of(key_of(2))) == "damage");
  CHECK(fs::last_write_time(image_store.path_of(key_of(1))) == before);
}

TEST_CASE("a miss is explained by the nearest entry") {
  const Place place;
  Store store(in(place.cache));
  const Key wanted = KeyBuilder().add("graph", "g").add("target", "sm_90").finish();
  CHECK(store.explain_miss(wanted) == "there is no entry to compare with");
  store.save(KeyBuilder().add("graph", "h").add("target", "sm_80").finish(), PayloadKind::program,
             "", "");
  store.save(KeyBuilder().add("graph", "g").add("target", "sm_80").finish(), PayloadKind::program,
             "", "");
  const std::string text = store.explain_miss(wanted);
  CHECK(text.find("differs in: target (expected 'sm_90', found 'sm_80')") != std::string::npos);
  CHECK(text.starts_with("the nearest entry (of 2), "));
}

TEST_CASE("the nearest is of the same kind, and of a like program before one of like switches") {
  const Place place;
  const auto key = [](const char* kind, const char* graph, int strict, const char* target) {
    return KeyBuilder()
        .add("kind", kind)
        .add("graph", graph)
        .add("strict", strict)
        .add("target", target)
        .finish();
  };
  const char* const softmax = "func f32[8,64]\n max\n exp\n sum\n";
  const char* const wider = "func f32[16,64]\n max\n exp\n sum\n";
  const char* const other = "func f32[8,64]\n sin\n cos\n tan\n";
  const Key wanted = key("program", softmax, 0, "sm_90");
  StoreOptions options = in(place.cache);
  options.read_only_directory = place.folder.path() + "/shipped";
  Store shipped(in(options.read_only_directory)), store(options);
  store.save(key("module", softmax, 0, "sm_90"), PayloadKind::cubin, "", "");
  CHECK(store.explain_miss(wanted) == "there is no program to compare with");
  store.save(key("program", other, 0, "sm_90"), PayloadKind::program, "", "");
  CHECK(store.explain_miss(wanted).find("differs in: graph (line 2: ") != std::string::npos);
  // What ships with the application is looked at too.
  shipped.save(key("program", softmax, 1, "sm_80"), PayloadKind::program, "", "");
  std::string text = store.explain_miss(wanted);
  CHECK(text.find("the nearest program (of 2), " + options.read_only_directory) == 0);
  CHECK(text.find("differs in: strict (expected '0', found '1'), target (") != std::string::npos);
  // And what is in one file.
  Entry entry;
  entry.key_text = key("program", wider, 0, "sm_90").text;
  store.add_bundle(Bundle(encode_bundle({encode(entry)}), "app.bundle"));
  text = store.explain_miss(wanted);
  CHECK(text.find("the nearest program (of 3), app.bundle, differs in: graph (line 1: expected "
                  "'...8...', found '...16...')") == 0);
}

TEST_CASE("the environment chooses directories, size and switches") {
  CHECK(test::run_child("child: options",
                        {"HEDDLE_CACHE_DIR=/c", "XDG_CACHE_HOME=/x", "HOME=/h",
                         "HEDDLE_CACHE_SIZE=3M", "HEDDLE_CACHE_READONLY=/r", "HEDDLE_CACHE=0",
                         "HEDDLE_CACHE_TRUST=1", "HEDDLE_TEST_EXPECTED=/c"})
            .status == 0);
  for (const auto& [xdg, expected] : std::vector<std::pair<std::string, std::string>>{
           {"XDG_CACHE_HOME=/x", "/x/heddle"}, {"XDG_CACHE_HOME=", "/h/.cache/heddle"}}) {
    CHECK(test::run_child("child: directory",
                          {"HEDDLE_CACHE_DIR=", xdg, "HOME=/h", "HEDDLE_TEST_EXPECTED=" + expected})
              .status == 0);
  }
  CHECK(test::run_child("child: directory", {"-uHEDDLE_CACHE_DIR", "-uXDG_CACHE_HOME", "-uHOME",
                                             "HEDDLE_TEST_EXPECTED="})
            .status == 0);
}

TEST_CASE("child: options" * doctest::skip()) {
  const StoreOptions options = options_from_environment();
  CHECK(options.directory == "/c");
  CHECK(options.read_only_directory == "/r");
  CHECK(options.size_limit == 3u << 20);
  CHECK_FALSE(options.enabled);
  CHECK(options.trust);
  const test::CapturedLog log;
  Store& store = Store::global();
  save(store, 1);
  CHECK_FALSE(holds(store, 1));
  CHECK(log.lines() == 0);
}

TEST_CASE("child: directory" * doctest::skip()) {
  const StoreOptions options = options_from_environment();
  CHECK(options.directory == std::getenv("HEDDLE_TEST_EXPECTED"));
  CHECK(options.enabled);
  CHECK(options.size_limit == 1u << 30);
}
