#include <cstring>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "heddle/heddle.h"

#include "ir/types/target.h"
#include "runtime/cache/store.h"
#include "runtime/device/device.h"
#include "tests/cli/command.h"
#include "tests/runtime/helpers.h"

using namespace heddle;
using namespace heddle::test;

namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

std::string own_target() { return ir::to_string(runtime::target_of(runtime::Device{})); }

/// The folder's cache holds softmax for this machine's processor: a program and its module.
void fill(const Folder& folder) {
  const std::string program = folder.write("softmax.hd", softmax);
  REQUIRE(heddle_command(folder, {"warm", program, "--arch", own_target()}).status == 0);
}

CommandResult cache(const Folder& folder, Words words, const Words& variables = {}) {
  words.insert(words.begin(), "cache");
  return heddle_command(folder, words, variables);
}

Json json(const Folder& folder, Words words) {
  words.emplace_back("--json");
  const CommandResult result = cache(folder, words);
  CHECK_MESSAGE(result.error.empty(), result.error);
  return Json::parse(result.out);
}

CommandResult run_softmax(const Folder& folder, const Words& variables) {
  return heddle_command(
      folder,
      {"run", folder.path("softmax.hd"), "--random", "1", "--size", "n=4", "--device", "cpu"},
      variables);
}

TEST_CASE("what is in a cache, and what an entry is for") {
  const Folder folder;
  CHECK(json(folder, {"ls"}).empty());
  fill(folder);
  const Json entries = json(folder, {"ls"});
  REQUIRE(entries.size() == 2);
  const auto program = std::find_if(entries.begin(), entries.end(),
                                    [](const Json& entry) { return entry["kind"] == "program"; });
  REQUIRE(program != entries.end());
  const std::string hash = (*program)["hash"];
  const Json shown = json(folder, {"show", hash.substr(0, 8)});
  CHECK(shown["key"]["target"] == own_target());
  CHECK(shown["key"]["graph"].get<std::string>().find("exp") != std::string::npos);
  CHECK(shown["built"]["compiler"].get<std::string>().find("-O3") != std::string::npos);
  CHECK(cache(folder, {"show", hash}).out.find("func @main") != std::string::npos);
  CHECK(cache(folder, {"show", "z"}).status == 1);
  const Json stats = json(folder, {"stats"});
  CHECK(stats["entries"] == 2);
  CHECK(stats["kinds"]["program"]["entries"] == 1);
  CHECK(stats["kinds"]["object"]["bytes"] > 0);
}

TEST_CASE("verify finds what is damaged, and what another compiler built") {
  const Folder folder;
  fill(folder);
  CHECK(cache(folder, {"verify"}).status == 0);
  // The program stays, which is a hit whatever compiler is at hand.
  std::string hash;
  for (const auto& entry : json(folder, {"ls"})) {
    if (entry["kind"] == "object") hash = entry["hash"];
  }
  const std::string path = folder.path("cache/v1/" + hash.substr(0, 2) + "/" + hash + ".entry");
  const std::string bytes = read_text(path);
  std::string flipped = bytes;
  flipped[flipped.size() / 2] ^= 1;
  write_text(path, flipped);
  CommandResult found = cache(folder, {"verify"});
  CHECK(found.status == 1);
  CHECK(found.out.find(path + ": damaged") != std::string::npos);
  // A good entry in another's place is none either.
  const std::string other = folder.path("cache/v1/00/00000000000000000000000000000000.entry");
  std::filesystem::create_directories(folder.path("cache/v1/00"));
  write_text(other, bytes);
  CHECK(json(folder, {"verify"})["damaged"] == 2);
  CHECK(cache(folder, {"verify", "--delete"}).status == 0);
  CHECK_FALSE(std::filesystem::exists(path));
  CHECK_FALSE(std::filesystem::exists(other));
  CHECK(json(folder, {"verify"})["damaged"] == 0);

  const std::string compiler = folder.write(
      "cxx", "#!/bin/sh\n[ \"$1\" = --version ] && echo 'g++ (Other) 99.9' || exec c++ \"$@\"\n");
  std::filesystem::permissions(compiler, std::filesystem::perms::owner_all);
  found = cache(folder, {"verify"}, {"HEDDLE_CXX=" + compiler});
  CHECK(found.status == 0);
  CHECK(found.out.find("built by gcc") != std::string::npos);
  // It is a hit all the same, unless it is to be renewed.
  CHECK(run_softmax(folder, {"HEDDLE_CXX=" + compiler, "HEDDLE_NO_COMPILE=1"}).status == 0);
  CHECK(run_softmax(folder, {"HEDDLE_CXX=" + compiler, "HEDDLE_REBUILD=1"}).status == 0);
  found = cache(folder, {"verify"}, {"HEDDLE_CXX=" + compiler});
  CHECK(found.out.find("program") == std::string::npos);
}

TEST_CASE("prune and clear") {
  const Folder folder;
  fill(folder);
  CHECK(cache(folder, {"prune"}).status == 1);
  CHECK(cache(folder, {"prune", "--size", "lots"}).status == 1);
  CHECK(cache(folder, {"prune", "--unused", "1"}).out == "0 entries removed\n");
  const std::string hash = json(folder, {"ls"})[0]["hash"];
  const std::filesystem::path path =
      folder.path("cache/v1/" + hash.substr(0, 2) + "/" + hash + ".entry");
  std::filesystem::last_write_time(path,
                                   std::filesystem::last_write_time(path) - std::chrono::hours(50));
  CHECK(cache(folder, {"prune", "--unused", "2"}).out == "1 entries removed\n");
  CHECK_FALSE(std::filesystem::exists(path));
  CHECK(cache(folder, {"prune", "--size", "1K"}).out == "1 entries removed\n");
  fill(folder);
  CHECK(cache(folder, {"clear"}).out == "2 entries removed\n");
  CHECK(json(folder, {"ls"}).empty());
}

TEST_CASE("child: runs from a bundle" * doctest::skip()) {
  set_device("cpu");
  load_bundle(std::getenv("HEDDLE_TEST_BUNDLE"));
  CHECK(sum(sqrt(arange<float>(17) + 0.125f)).item<float>() > 0);
}

TEST_CASE("raw kernels are exported, because no program contains them") {
  const Folder folder, elsewhere;
  const auto store_of = [](const Folder& of) {
    runtime::cache::StoreOptions options;
    options.directory = of.path("cache");
    return runtime::cache::Store(options);
  };
  const auto key = [](const char* kind) {
    return runtime::cache::KeyBuilder().add("kind", kind).add("source", "text").finish();
  };
  for (const char* kind : {"module", "raw module"}) {
    store_of(folder).save(key(kind), runtime::cache::PayloadKind::cubin, R"({"kernels":["f"]})",
                          "code");
  }
  const std::string bundle = folder.path("app.bundle");
  CHECK(cache(folder, {"export", bundle}).status == 0);
  CHECK(cache(elsewhere, {"import", bundle}).status == 0);
  CHECK(store_of(elsewhere).load(key("raw module")).value().payload == "code");
  CHECK_FALSE(store_of(elsewhere).load(key("module")).has_value());
}

TEST_CASE("an exported file is a bundle that runs, and imports elsewhere") {
  const Folder folder, elsewhere;
  const std::string bundle = folder.path("app.bundle"), variable = "HEDDLE_TEST_BUNDLE=" + bundle;
  CHECK(cache(folder, {"export", bundle}).status == 1);  // nothing to export
  CHECK_FALSE(std::filesystem::exists(bundle));
  const auto child = [&](Words more) {
    more.push_back(variable);
    more.emplace_back("HEDDLE_COMPILE_AFTER=0");
    return run_child("child: runs from a bundle", more).status;
  };
  write_text(bundle, "HEDDLEB\n");
  REQUIRE(child({"HEDDLE_CACHE_DIR=" + folder.path("cache")}) == 0);
  CHECK(cache(folder, {"export", bundle}).status == 0);
  const Words bare = {"HEDDLE_CACHE=0", "HEDDLE_NO_COMPILE=1"};
  CHECK(child(bare) == 0);

  CHECK(cache(elsewhere, {"import", bundle}).status == 0);
  CHECK(json(elsewhere, {"stats"})["kinds"]["program"]["entries"] == 1);
  const std::string good = read_text(bundle);
  write_text(bundle, good.substr(0, good.size() - 3));
  CHECK(cache(elsewhere, {"import", bundle}).error.find("truncated") != std::string::npos);
  write_text(bundle, "something else");
  CHECK(cache(elsewhere, {"import", bundle}).error.find("is not a bundle") != std::string::npos);
  // Damage inside is found when the entry is used: a miss.
  std::string flipped = good;
  for (std::size_t at = 8; at < flipped.size();) {
    std::uint64_t length = 0;
    std::memcpy(&length, flipped.data() + at, sizeof length);
    at += sizeof length + length;
    flipped[at - 1] ^= 1;
  }
  write_text(bundle, flipped);
  CHECK(child(bare) != 0);
  CHECK(child({"HEDDLE_CACHE_DIR=" + folder.path("anew")}) == 0);
}

}  // namespace
