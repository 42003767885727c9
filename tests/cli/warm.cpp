#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tests/cli/command.h"

using namespace heddle::test;

namespace {

int compiled_by(const CommandResult& result) {
  REQUIRE_MESSAGE(result.status == 0, result.error);
  return nlohmann::json::parse(result.out).at("compiled");
}

/// The row that this machine's processor plans for.
std::string cpu_target(const Folder& folder) {
  const auto report = nlohmann::json::parse(heddle_command(folder, {"doctor", "--json"}).out);
  for (const auto& finding : report.at("findings")) {
    if (finding.at("name") == "CPU") return finding.at("facts").at("target");
  }
  FAIL("doctor says nothing of the CPU");
  return {};
}

}  // namespace

TEST_CASE("a second warm compiles nothing") {
  const Folder folder;
  const std::string a = folder.write("softmax.hd", softmax), b = folder.write("scaled.hd", scaled);
  const std::vector<std::string> words{
      "warm",   a,        b,  "--arch", "sm_90,sm_80,x86-64-v3", "--cache", folder.path("warmed"),
      "--json", "--jobs", "2"};
  const CommandResult first = heddle_command(folder, words);
  // Of an architecture's rows, later ones find what the first one's kernels have compiled to.
  const int compiled = compiled_by(first);
  CHECK(compiled == 6);
  const auto report = nlohmann::json::parse(first.out);
  CHECK(report.at("cache") == folder.path("warmed"));
  CHECK(report.at("entries").size() == 8);
  CHECK(compiled_by(heddle_command(folder, words)) == 0);
}

TEST_CASE("what was warmed runs where nothing may be compiled") {
  const Folder folder;
  const std::string program = folder.write("softmax.hd", softmax);
  const std::vector<std::string> run{"run",    program, "--random", "1",
                                     "--size", "n=4",   "--device", "cpu"};
  const std::vector<std::string> forbidden{"HEDDLE_NO_COMPILE=1"};
  const CommandResult cold = heddle_command(folder, run, forbidden);
  CHECK(cold.status == 1);
  CHECK(cold.error.find("HEDDLE_NO_COMPILE") != std::string::npos);
  CHECK(cold.error.find("there is no program to compare with") != std::string::npos);

  const std::string target = cpu_target(folder);
  CHECK(compiled_by(heddle_command(folder, {"warm", program, "--arch", target, "--json"})) == 1);
  const CommandResult warmed = heddle_command(folder, run, forbidden);
  CHECK_MESSAGE(warmed.status == 0, warmed.error);
  // No compiler is asked for either.
  const CommandResult bare = heddle_command(folder, run, {"PATH=/nonexistent"});
  CHECK(bare.status == 0);
  CHECK(bare.error.empty());
  CHECK(bare.out == warmed.out);
  // Another mode is another program.
  std::vector<std::string> strict = run;
  strict.emplace_back("--strict");
  const CommandResult missing = heddle_command(folder, strict, forbidden);
  CHECK(missing.status == 1);
  for (const char* part : {"program softmax", "the nearest program of 1",
                           "strict ('1' is wanted, it has '0')", "the nearest module of 1"}) {
    CHECK_MESSAGE(missing.error.find(part) != std::string::npos, missing.error);
  }
  // So are other extents, though not those that are symbols.
  std::string text = softmax;
  for (std::size_t at = 0; (at = text.find(",64]", at)) != std::string::npos;)
    text.replace(at, 4, ",32]");
  std::vector<std::string> wide = run;
  wide[1] = folder.write("wide.hd", text);
  const CommandResult other = heddle_command(folder, wide, forbidden);
  CHECK(other.status == 1);
  CHECK_MESSAGE(other.error.find("graph (line 1: ") != std::string::npos, other.error);
}

TEST_CASE("a cache that keeps nothing is an error") {
  const Folder folder;
  const std::string program = folder.write("softmax.hd", softmax);
  const std::string file = folder.write("file", "");
  const CommandResult blocked =
      heddle_command(folder, {"warm", program, "--arch", "x86-64-v3", "--cache", file + "/below"});
  CHECK(blocked.status == 1);
  CHECK(blocked.error.find("does not keep it") != std::string::npos);
  const CommandResult off =
      heddle_command(folder, {"warm", program, "--arch", "sm_90"}, {"HEDDLE_CACHE=0"});
  CHECK(off.status == 1);
  CHECK(off.error.find("there is no cache to fill") != std::string::npos);
}
