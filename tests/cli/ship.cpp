// Caches and files that go to another user or machine.

#include <filesystem>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "heddle/heddle.h"

#include "runtime/cache/store.h"
#include "runtime/device/device.h"
#include "tests/cli/command.h"
#include "tests/runtime/helpers.h"

using namespace heddle;
using namespace heddle::test;
namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;

const std::string& architecture() { return runtime::host_target().architecture; }

std::string key_of(char digit) { return "HEDDLE_CACHE_KEY=" + std::string(64, digit); }

/// softmax for a target, in the folder "warmed" of the folder, made with a umask that lets nobody
/// read.
void warm(const Folder& folder, const std::string& target, const Words& variables = {},
          const Words& more = {}) {
  const std::string program = folder.write("softmax.hd", softmax);
  Words words = {"warm", program, "--arch", target, "--cache", folder.path("warmed")};
  words.insert(words.end(), more.begin(), more.end());
  const mode_t before = umask(0077);
  const CommandResult result = heddle_command(folder, words, variables);
  umask(before);
  REQUIRE_MESSAGE(result.status == 0, result.error);
}

/// Runs it where nothing may be compiled, from what was warmed, as the user who is given.
CommandResult run_shipped(const Folder& folder, Words variables, const std::string& user = "") {
  const std::string program = folder.write("softmax.hd", softmax);
  variables.insert(variables.end(), {"HEDDLE_CACHE_READONLY=" + folder.path("warmed"),
                                     "HEDDLE_NO_COMPILE=1", "HEDDLE_DEVICE=cpu"});
  const Words words = {"run", program, "--random", "1", "--size", "n=4"};
  if (user.empty()) return heddle_command(folder, words, variables);
  // A copy, as he may not be let to where the command lies.
  const std::string command = folder.path("heddle");
  if (!fs::exists(command)) fs::copy_file(HEDDLE_COMMAND, command);
  return heddle_command(
      folder, words, variables,
      {"setpriv --reuid=" + user + " --regid=" + user + " --clear-groups", command});
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

unsigned mode_of(const fs::path& path) {
  struct stat status{};
  REQUIRE(stat(path.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

}  // namespace

TEST_CASE("a warmed cache runs as another user, and says what keeps it from that") {
  if (geteuid() != 0) {
    MESSAGE("another user can only be tried as root");
    return;
  }
  const Folder folder;
  REQUIRE(chmod(folder.path().c_str(), 0755) == 0);
  warm(folder, ir::to_string(runtime::host_target()));
  CHECK(mode_of(folder.path("warmed")) == 0755);
  const std::string nobody = "65534";
  const Words no_cache = {"HEDDLE_CACHE_DIR=/proc/none"};
  CommandResult ran = run_shipped(folder, no_cache, nobody);
  CHECK_MESSAGE(ran.status == 0, ran.error);

  // The same, kept for its owner alone.
  fs::remove_all(folder.path("warmed"));
  warm(folder, ir::to_string(runtime::host_target()), {}, {"--mode", "0600"});
  CHECK(mode_of(folder.path("warmed")) == 0700);
  ran = run_shipped(folder, no_cache, nobody);
  CHECK(ran.status == 1);
  for (const std::string& part : Words{"HEDDLE_NO_COMPILE=1", "is ignored: ", "Permission denied",
                                       folder.path("warmed") + ": owner ", "mode 0700"})
    CHECK_MESSAGE(has(ran.error, part), ran.error);

  // What belongs to a third user is no more to be trusted than he is.
  warm(folder, ir::to_string(runtime::host_target()));
  REQUIRE(std::system(("chown -R 12345 '" + folder.path("warmed") + "'").c_str()) == 0);
  ran = run_shipped(folder, no_cache, nobody);
  CHECK(ran.status == 1);
  CHECK_MESSAGE(has(ran.error, "it belongs to another user: owner 12345, mode 0755"), ran.error);
  CHECK(
      run_shipped(folder, {"HEDDLE_CACHE_DIR=/proc/none", "HEDDLE_CACHE_TRUST=1"}, nobody).status ==
      0);
}

TEST_CASE("with a key what was warmed runs whoever owns it, and nothing else does") {
  const Folder folder;
  warm(folder, ir::to_string(runtime::host_target()), {key_of('a')});
  REQUIRE(std::system(("chmod -R a+w '" + folder.path("warmed") + "'").c_str()) == 0);
  CommandResult ran = run_shipped(folder, {key_of('a'), "HEDDLE_CACHE_DIR=/proc/none"});
  CHECK_MESSAGE(ran.status == 0, ran.error);
  ran = run_shipped(folder, {key_of('b'), "HEDDLE_CACHE_DIR=/proc/none"});
  CHECK(ran.status == 1);
  CHECK_MESSAGE(has(ran.error, "it is not signed with HEDDLE_CACHE_KEY"), ran.error);
  for (const char* wrong : {"HEDDLE_CACHE_KEY=", "HEDDLE_CACHE_KEY=secret"}) {
    ran = run_shipped(folder, {wrong});
    CHECK(ran.status == 1);
    CHECK_MESSAGE(has(ran.error, "openssl rand -hex 32"), ran.error);
    CHECK_FALSE(has(ran.error, "secret"));
  }
  CHECK(heddle_command(folder, {"doctor"}, {"HEDDLE_CACHE_KEY=secret"}).status == 0);
}

TEST_CASE("bundles are for all to read, signed with a key, and refused where others may write") {
  const Folder folder;
  const std::string bundle = folder.path("app.bundle");
  warm(folder, ir::to_string(runtime::host_target()));
  const auto cache = [&](Words words, const Words& variables = {}) {
    words.insert(words.begin(), "cache");
    return heddle_command(folder, words, variables);
  };
  const Words exported = {"--cache", folder.path("warmed"), "export", bundle};
  const mode_t before = umask(0077);
  CHECK(cache(exported).status == 0);
  umask(before);
  CHECK(mode_of(bundle) == 0644);
  CHECK(cache({"import", bundle}).status == 0);
  REQUIRE(chmod(bundle.c_str(), 0666) == 0);
  CommandResult refused = cache({"import", bundle});
  CHECK(refused.status == 1);
  CHECK_MESSAGE(has(refused.error, "mode 0666"), refused.error);
  CHECK(cache({"import", "--trust", bundle}).status == 0);
  refused = cache({"import", "--trust", bundle}, {key_of('a')});
  CHECK(refused.status == 1);
  CHECK_MESSAGE(has(refused.error, "and it is not signed with HEDDLE_CACHE_KEY"), refused.error);
  CHECK(cache({"--cache", folder.path("warmed"), "export", bundle, "--mode", "0600"}).status == 0);
  CHECK(mode_of(bundle) == 0600);
  for (const char* wrong : {"0666", "0200", "x", "9", "01777"})
    CHECK(cache({"--cache", folder.path("warmed"), "export", bundle, "--mode", wrong}).status == 2);
  for (const char* verb : {"import", "export"})
    CHECK(has(cache({verb, "--help"}).out, "native code"));
  CHECK(has(heddle_command(folder, {"warm", "--help"}).out, "native code"));
}

TEST_CASE(
    "entries of x86-64-v3 serve a machine of v4 that has none, and HEDDLE_CPU_TARGET chooses") {
  if (architecture() != "x86-64-v4" && architecture() != "x86-64-v3") return;
  const Folder folder;
  const std::string below = architecture() == "x86-64-v4" ? "x86-64-v3" : "x86-64-v2";
  const std::string above = architecture();
  warm(folder, below);
  CommandResult ran = run_shipped(folder, {"HEDDLE_CACHE_DIR=/proc/none"});
  CHECK_MESSAGE(ran.status == 0, ran.error);
  ran = run_shipped(folder, {"HEDDLE_CACHE_DIR=/proc/none", "HEDDLE_CPU_TARGET=" + below});
  CHECK_MESSAGE(ran.status == 0, ran.error);
  ran = run_shipped(folder, {"HEDDLE_CACHE_DIR=/proc/none", "HEDDLE_CPU_TARGET=x86-64"});
  CHECK(ran.status == 1);
  ran = run_shipped(folder, {"HEDDLE_CPU_TARGET=armv8-a"});
  CHECK(ran.status == 1);
  CHECK_MESSAGE(has(ran.error, "this processor supports " + above + ", "), ran.error);
  // An entry of its own comes first, and warming it does not take the other's.
  warm(folder, above);
  ran = run_shipped(folder, {"HEDDLE_CACHE_DIR=/proc/none", "HEDDLE_STATISTICS=1"});
  CHECK_MESSAGE(ran.status == 0, ran.error);
  CHECK_MESSAGE(has(ran.error, "heddle: cache: 1 hits, 0 misses, "), ran.error);
}

TEST_CASE("statistics tell of hits, misses, compiling and loading, at exit and by call") {
  const Folder folder;
  const std::string program = folder.write("softmax.hd", softmax);
  const Words words = {"run", program, "--random", "1", "--size", "n=4", "--device", "cpu"};
  const CommandResult cold = heddle_command(folder, words, {"HEDDLE_STATISTICS=1"});
  CHECK_MESSAGE(has(cold.error, "heddle: cache: 0 hits, 2 misses, "), cold.error);
  CHECK_MESSAGE(has(cold.error, "heddle: compiled: 1 runs, "), cold.error);
  const CommandResult warm = heddle_command(folder, words, {"HEDDLE_STATISTICS=1"});
  CHECK_MESSAGE(has(warm.error, "heddle: cache: 1 hits, 0 misses, "), warm.error);
  CHECK_MESSAGE(has(warm.error, "compiled: 0 runs, 0.0 ms; loaded: 1 modules, "), warm.error);
  CHECK(heddle_command(folder, words).error.empty());
  const CommandResult wrong = heddle_command(folder, words, {"HEDDLE_STATISTICS=yes"});
  CHECK(wrong.status == 1);
  CHECK(has(wrong.error, "HEDDLE_STATISTICS is 'yes'; valid values: 0 or 1"));
}

TEST_CASE("an entry whose checksum is right and whose content is not is damaged by name") {
  const Folder folder;
  warm(folder, ir::to_string(runtime::host_target()));
  const std::string cache = folder.path("warmed");
  const auto verify = [&] { return heddle_command(folder, {"cache", "--cache", cache, "verify"}); };
  CHECK(verify().status == 0);
  runtime::cache::StoreOptions options;
  options.directory = cache;
  runtime::cache::Store store(options);
  for (const auto& listed : store.list()) {
    if (listed.kind != runtime::cache::PayloadKind::program) continue;
    for (const char* payload : {"99999999999\n", "2\n{}", "18446744073709551615\n", "-1\n{}"}) {
      runtime::cache::Entry entry = *runtime::cache::decode(read_text(listed.path));
      entry.payload = payload;
      entry.facts = R"({"compiler":7,"kernels":"\ud800"})";
      write_text(listed.path, runtime::cache::encode(entry));
      const CommandResult found = verify(),
                          ls = heddle_command(folder, {"cache", "--cache", cache, "ls", "--json"});
      CHECK(ls.status == 0);
      CHECK(nlohmann::json::accept(ls.out));
      CHECK(found.status == 1);
      CHECK_MESSAGE(has(found.out, listed.path + ": damaged"), found.out);
      CHECK(has(ls.out, "damaged"));
    }
  }
}
