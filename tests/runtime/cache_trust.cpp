// Whose entries and files are taken, and what a key signs.

#include <sys/wait.h>

#include "heddle/error.h"

#include "runtime/cache/bundle.h"
#include "runtime/cache/signature.h"
#include "runtime/cache/trust.h"
#include "tests/runtime/cache_entries.h"

using namespace heddle;
using namespace heddle::runtime::cache;
using namespace heddle::test;
namespace fs = std::filesystem;

namespace {

constexpr unsigned another_user = 65534;

Signer signer_of(const std::string& key) { return Signer(key); }

/// Runs `body` in a child, as another user where this one is root; true where all its checks hold.
template <class Body>
bool as_another_user(const Body& body) {
  const pid_t child = fork();
  if (child == 0) {
    const bool left = setgid(another_user) == 0 && setuid(another_user) == 0;
    _exit(left && body() ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool is_root() {
  if (geteuid() == 0) return true;
  MESSAGE("this test changes owners of files, for which it has to be root");
  return false;
}

void open_to_all(const std::string& folder) { REQUIRE(chmod(folder.c_str(), 0755) == 0); }

std::string message_of(const std::string& path, Foreign foreign = Foreign::refused) {
  try {
    read_shipped(path, foreign);
    return {};
  } catch (const TrustError& error) {
    return error.what();
  }
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a signature is HMAC-SHA256 of what follows") {
  // Test case 2 of RFC 4231.
  const Signer signer("Jefe");
  const std::string text = "what do ya want for nothing?";
  const std::string file = signer.sign(text);
  CHECK(file.size() == signature_bytes + text.size());
  CHECK(file.starts_with(
      "HEDDLES\n\x5b\xdc\xc1\x46\xbf\x60\x75\x4e\x6a\x04\x24\x26\x08\x95\x75\xc7"));
  CHECK(signer.open(file) == text);
  CHECK(opened(nullptr, file) == text);
  CHECK(opened(nullptr, text) == text);
  CHECK(sealed(nullptr, text) == text);
  CHECK(sealed(&signer, text) == file);
}

TEST_CASE("a file with any one bit flipped, cut off anywhere, or of another key is not signed") {
  const Signer signer("one key"), other("another key");
  const std::string file = signer.sign("content");
  for (std::size_t i = 0; i < file.size() * 8; ++i) {
    std::string flipped = file;
    flipped[i / 8] = static_cast<char>(flipped[i / 8] ^ (1 << (i % 8)));
    CHECK_FALSE(signer.open(flipped));
  }
  for (std::size_t length = 0; length < file.size(); ++length)
    CHECK_FALSE(signer.open(file.substr(0, length)));
  CHECK_FALSE(signer.open(file + "x"));
  CHECK_FALSE(signer.open("content"));
  CHECK_FALSE(other.open(file));
  CHECK(signer.open(signer.sign("")) == "");
}

TEST_CASE("a key is hexadecimal digits, or a file of them") {
  const runtime::TemporaryFolder folder;
  const std::string digits = "00112233445566778899aAbBcCdDeEfF", path = folder.path() + "/key";
  const std::string bytes("\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff", 16);
  CHECK(key_from(digits) == bytes);
  for (const std::string& wrong : {std::string(), std::string("secret"), digits.substr(1),
                                   digits.substr(2), digits + "0", digits + "0g", digits + " 0"})
    CHECK_THROWS_WITH_AS(key_from(wrong), doctest::Contains("openssl rand -hex 32"), TrustError);
  CHECK_THROWS_WITH_AS(key_from(path), doctest::Contains("No such file"), TrustError);
  test::write_text(path, digits + "\n");
  REQUIRE(chmod(path.c_str(), 0640) == 0);
  CHECK(key_from(path) == bytes);
  REQUIRE(chmod(path.c_str(), 0644) == 0);
  CHECK_THROWS_WITH_AS(key_from(path), doctest::Contains("mode 0644"), TrustError);
  REQUIRE(chmod(path.c_str(), 0602) == 0);
  CHECK_THROWS_WITH_AS(key_from(path), doctest::Contains("every user can write to it"), TrustError);
  REQUIRE(chmod(path.c_str(), 0600) == 0);
  test::write_text(path, "secret\n");
  CHECK_THROWS_WITH_AS(key_from(path), doctest::Contains("does not contain a key"), TrustError);
  CHECK_THROWS_WITH_AS(key_from(folder.path()), doctest::Contains("not a regular file"),
                       TrustError);
  fs::remove(path);
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  CHECK_THROWS_WITH_AS(key_from(path), doctest::Contains("not a regular file"), TrustError);
}

TEST_CASE("a key without libcrypto is an error, and nothing is written unsigned") {
  runtime::Library<runtime::CryptoApi> missing(runtime::crypto_definition(
      {.title = "OpenSSL's libcrypto", .names = {"libnone.so.9"}, .system_only = true}));
  CHECK_THROWS_WITH_AS(Signer("key", missing), doctest::Contains("libnone.so.9"), TrustError);
  for (const char* value :
       {"HEDDLE_CACHE_KEY=", "HEDDLE_CACHE_KEY=secret", "HEDDLE_CACHE_KEY=/nowhere/key"})
    CHECK(test::run_child("child: a key of no use", {value}).status == 0);
}

TEST_CASE("child: a key of no use" * doctest::skip()) {
  const runtime::TemporaryFolder folder;
  for (int i = 0; i < 2; ++i) {
    CHECK_THROWS_AS(Store::global(), TrustError);
    CHECK_THROWS_AS(write_shipped(folder.path() + "/file", "HEDDLEB\n"), TrustError);
    CHECK_THROWS_AS(read_shipped("/nowhere/file"), TrustError);
  }
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("with a key entries are signed, and no other is taken") {
  const Place place;
  const Signer signer = signer_of("one key"), other = signer_of("another key");
  StoreOptions plain = in(place.cache), keyed = plain, strange = plain;
  keyed.signer = &signer;
  strange.signer = &other;
  Store without(plain);
  save(without, 1);
  const std::string path = without.path_of(key_of(1)), unsigned_bytes = test::read_text(path);
  {
    const test::CapturedLog log;
    Store store(keyed);
    CHECK_FALSE(holds(store, 1));
    CHECK(fs::exists(path));
    CHECK(store.statistics().ignored == 1);
    CHECK(has(log.text(), path + " of the kernel cache is ignored: it is not signed"));
    CHECK(has(store.explain_miss(key_of(1)), "it is not signed with HEDDLE_CACHE_KEY"));
    CHECK(store.list()[0].ignored == "it is not signed with HEDDLE_CACHE_KEY");
    CHECK_FALSE(store.list()[0].intact);
    save(store, 1);
    CHECK(holds(store, 1));
    CHECK(store.list()[0].intact);
    CHECK(test::read_text(path).starts_with("HEDDLES\n"));
  }
  // Who has no key takes what is signed as he takes what is not.
  CHECK(holds(without, 1));
  const test::CapturedLog log;
  Store store(strange);
  CHECK_FALSE(holds(store, 1));
  // A signature that is cut off, or changed with the entry's own checksum right, is none.
  Store again(keyed);
  std::string changed = test::read_text(path);
  Entry entry = *decode(changed.substr(signature_bytes));
  entry.payload += "!";
  changed = changed.substr(0, signature_bytes) + encode(entry);
  for (const std::string& bytes : {changed, changed.substr(0, 20), unsigned_bytes}) {
    test::write_text(path, bytes);
    CHECK_FALSE(again.load(key_of(1)));
    CHECK(fs::exists(path));
  }
  CHECK(again.statistics().bad_entries == 0);
}

TEST_CASE("entries and folders that others may write are ignored, with owner and mode") {
  const Place place, own;
  {
    Store store(in(place.cache));
    save(store, 1);
  }
  Store writer(in(place.cache));
  const std::string path = writer.path_of(key_of(1));
  const auto explained = [&] {
    const test::CapturedLog log;
    StoreOptions options = in(own.cache);
    options.read_only_directory = place.cache;
    Store store(options);
    const bool hit = holds(store, 1);
    const std::string text = store.explain_miss(key_of(1));
    CHECK(hit == log.text().empty());
    if (!hit) CHECK(has(log.text(), "is ignored: "));
    options.trust = true;
    CHECK(holds(*std::make_unique<Store>(options), 1));
    return hit ? std::string() : text;
  };
  CHECK(explained().empty());
  REQUIRE(chmod(path.c_str(), 0646) == 0);
  CHECK(has(explained(), "every user can write to it: owner "));
  CHECK(has(explained(), "mode 0646"));
  REQUIRE(chmod(path.c_str(), 0644) == 0);
  CHECK(explained().empty());
  REQUIRE(chmod(place.cache.c_str(), 0777) == 0);
  CHECK(has(explained(), place.cache + " is ignored: every user can write to it"));
  REQUIRE(chmod(place.cache.c_str(), 0755) == 0);
  if (!is_root()) return;
  REQUIRE(chown(path.c_str(), 0, 100) == 0);
  REQUIRE(chmod(path.c_str(), 0664) == 0);
  CHECK(has(explained(), "(100) can write to it"));
  REQUIRE(chown(path.c_str(), another_user, 0) == 0);
  REQUIRE(chmod(path.c_str(), 0644) == 0);
  CHECK(has(explained(), "it belongs to another user: owner "));
  CHECK(has(explained(), "(65534), mode 0644"));
}

TEST_CASE("a file that ships is refused where others may have written it") {
  const runtime::TemporaryFolder folder;
  const std::string inside = folder.path() + "/inside", path = inside + "/app.bundle";
  fs::create_directory(inside);
  const mode_t before = umask(0777);
  write_shipped(path, "HEDDLEB\n");
  umask(before);
  struct stat status{};
  REQUIRE(stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0644);
  CHECK(read_shipped(path) == "HEDDLEB\n");
  CHECK(message_of(path).empty());
  REQUIRE(chmod(path.c_str(), 0666) == 0);
  for (const char* part : {"app.bundle is not loaded", "every user can write to it: owner ",
                           "mode 0666", "chmod go-w", "Trust::anyone", "trust=True", "--trust"})
    CHECK_MESSAGE(has(message_of(path), part), part);
  CHECK(message_of(path, Foreign::taken).empty());
  REQUIRE(chmod(path.c_str(), 0644) == 0);
  REQUIRE(chmod(inside.c_str(), 0777) == 0);
  CHECK(has(message_of(path), "written it: its folder " + inside + ": every user can write to it"));
  // As /tmp: nobody replaces another's file there.
  REQUIRE(chmod(inside.c_str(), 01777) == 0);
  CHECK(message_of(path).empty());
  REQUIRE(chmod(inside.c_str(), 0755) == 0);
  const std::string link = folder.path() + "/link";
  fs::create_symlink(path, link);
  CHECK(message_of(link).empty());
  if (!is_root()) return;
  REQUIRE(chown(path.c_str(), another_user, another_user) == 0);
  CHECK(has(message_of(path), "it belongs to another user: owner "));
  CHECK(test::run_child("child: trusts all", {"HEDDLE_CACHE_TRUST=1", "HEDDLE_TEST_DIR=" + path})
            .status == 0);
  REQUIRE(chown(path.c_str(), 0, 0) == 0);
  REQUIRE(chown(inside.c_str(), another_user, another_user) == 0);
  CHECK(has(message_of(path), "written it: its folder "));
}

TEST_CASE("child: trusts all" * doctest::skip()) {
  CHECK(read_shipped(std::getenv("HEDDLE_TEST_DIR")) == "HEDDLEB\n");
}

TEST_CASE("with a key a file that ships is signed, and no other is taken, whoever owns it") {
  const runtime::TemporaryFolder folder;
  const std::string path = folder.path() + "/app.bundle", plain = folder.path() + "/plain.bundle";
  write_shipped(plain, "HEDDLEB\n");
  const std::string key = "HEDDLE_CACHE_KEY=" + std::string(64, 'a'), at = "HEDDLE_TEST_DIR=";
  const auto result = test::run_child("child: signs", {key, at + folder.path()});
  CHECK_MESSAGE(result.status == 0, result.output);
  CHECK(test::read_text(path).starts_with("HEDDLES\n"));
  REQUIRE(chmod(path.c_str(), 0644) == 0);
  CHECK(read_shipped(path) == "HEDDLEB\n");  // without the key, as any other
}

TEST_CASE("child: signs" * doctest::skip()) {
  const std::string folder = std::getenv("HEDDLE_TEST_DIR"), path = folder + "/app.bundle";
  write_shipped(path, "HEDDLEB\n");
  CHECK(read_shipped(path) == "HEDDLEB\n");
  REQUIRE(chmod(path.c_str(), 0666) == 0);
  CHECK(read_shipped(path) == "HEDDLEB\n");
  for (const Foreign foreign : {Foreign::refused, Foreign::taken})
    CHECK(has(message_of(folder + "/plain.bundle", foreign),
              "and it is not signed with HEDDLE_CACHE_KEY"));
}

TEST_CASE("what is no regular file, or too large for memory, is not read") {
  const runtime::TemporaryFolder folder;
  const std::string path = folder.path() + "/file";
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  CHECK_THROWS_WITH_AS(read_shipped(path), doctest::Contains("not a regular file"), FileError);
  CHECK_THROWS_WITH_AS(read_shipped("/dev/zero"), doctest::Contains("not a regular file"),
                       FileError);
  CHECK_THROWS_WITH_AS(read_shipped(folder.path()), doctest::Contains("not a regular file"),
                       FileError);
  fs::remove(path);
  test::write_text(path, "HEDDLEB\n");
  fs::resize_file(path, std::uint64_t{4} << 40);
  CHECK_THROWS_WITH_AS(read_shipped(path), doctest::Contains("bytes of memory are free"),
                       FileError);
  // An entry of such a size is damaged, and gone at once.
  const Place place;
  Store store(in(place.cache));
  save(store, 1);
  fs::resize_file(store.path_of(key_of(1)), std::uint64_t{4} << 40);
  CHECK(store.list().size() == 1);
  CHECK_FALSE(store.list()[0].intact);
  CHECK_FALSE(store.explain_miss(key_of(1)).empty());
  const test::CapturedLog log;
  CHECK_FALSE(store.load(key_of(1)));
  CHECK_FALSE(fs::exists(store.path_of(key_of(1))));
}

TEST_CASE("a cache for others is readable by them, whatever the umask, and its reasons are told") {
  if (!is_root()) return;
  const Place place;
  open_to_all(place.folder.path());
  const mode_t before = umask(0077);
  {
    Store store(in(place.cache));
    save(store, 1);
    store.set_file_mode(0644);
    CHECK(holds(store, 1));
    save(store, 2);
  }
  umask(before);
  const auto reads = [&] {
    StoreOptions options = in("");
    options.read_only_directory = place.cache;
    Store store(options);
    return holds(store, 1) && holds(store, 2);
  };
  REQUIRE(chmod((place.folder.path() + "/a").c_str(), 0755) == 0);
  CHECK(as_another_user(reads));
  const std::string path = Store(in(place.cache)).path_of(key_of(1));
  const auto tells = [&](std::string_view part) {
    const test::CapturedLog log;
    StoreOptions options = in("");
    options.read_only_directory = place.cache;
    Store store(options);
    return !holds(store, 1) && has(store.explain_miss(key_of(1)), part) && has(log.text(), part);
  };
  REQUIRE(chmod(path.c_str(), 0600) == 0);
  CHECK(as_another_user([&] { return tells("Permission denied (" + path + ": owner "); }));
  CHECK(as_another_user([&] { return tells("(0), mode 0600)"); }));
  REQUIRE(chmod(place.cache.c_str(), 0700) == 0);
  CHECK(as_another_user([&] { return tells("(" + place.cache + ": owner "); }));
}

TEST_CASE("the cache's folder is for this user alone, whatever the umask") {
  for (const mode_t mask : {mode_t{0}, mode_t{022}, mode_t{0777}}) {
    const Place place;
    const mode_t before = umask(mask);
    Store store(in(place.cache));
    save(store, 1);
    umask(before);
    CHECK(holds(store, 1));
    const std::string path = store.path_of(key_of(1));
    for (fs::path folder = fs::path(path).parent_path(); folder != place.folder.path();
         folder = folder.parent_path()) {
      struct stat status{};
      REQUIRE(stat(folder.c_str(), &status) == 0);
      CHECK((status.st_mode & 07777) == 0700);
    }
  }
}
