#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <doctest/doctest.h>
#include <fmt/format.h>
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
  std::vector<std::string> approximate = run;
  approximate.emplace_back("--approximate");
  const CommandResult missing = heddle_command(folder, approximate, forbidden);
  CHECK(missing.status == 1);
  for (const char* part : {"program softmax", "the nearest program (of 1)",
                           "approximate (expected '1', found '0')", "the nearest module (of 1)"}) {
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

namespace {

/// A compiler that takes a minute.
std::string slow_compiler(const Folder& folder) {
  const std::string path = folder.write("slow-c++",
                                        "#!/bin/sh\n"
                                        "[ \"$1\" = --version ] && exec c++ --version\n"
                                        "sleep 61 & echo $! >'" +
                                            folder.path("sleeper") +
                                            "'\n"
                                            "wait\n");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

bool runs(const std::string& process) {
  std::ifstream file("/proc/" + process + "/stat");
  const std::string facts{std::istreambuf_iterator<char>(file), {}};
  return !facts.empty() && facts.find(") Z ") == std::string::npos;
}

}  // namespace

TEST_CASE("Ctrl-C ends a warm, its compilers and their files, and a later warm compiles") {
  const Folder folder;
  const std::string program = folder.write("scaled.hd", scaled);
  std::filesystem::create_directory(folder.path("temporary"));
  const auto start = std::chrono::steady_clock::now();
  // Without --foreground timeout sends the signal twice; a second Ctrl-C ends at once.
  const int status = std::system(
      fmt::format("cd '{0}' && HEDDLE_CACHE_DIR={0}/cache TMPDIR={0}/temporary HEDDLE_CXX={1} "
                  "timeout --foreground --preserve-status --signal=INT --kill-after=30 3 {2} warm "
                  "{3} --arch x86-64-v3 "
                  ">stdout 2>stderr",
                  folder.path(), slow_compiler(folder), HEDDLE_COMMAND, program)
          .c_str());
  CHECK(WEXITSTATUS(status) == 130);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(15));
  CHECK(folder.read("stderr").empty());
  std::string sleeper = folder.read("sleeper");
  REQUIRE(!sleeper.empty());
  sleeper.pop_back();
  // It is killed, and about to end.
  for (int i = 0; i < 500 && runs(sleeper); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(!runs(sleeper));
  CHECK(std::filesystem::is_empty(folder.path("temporary")));
  CHECK(compiled_by(heddle_command(folder, {"warm", program, "--arch", "x86-64-v3", "--json"})) >
        0);
}
