#include <array>
#include <cstdio>
#include <string>
#include <sys/wait.h>

#include <doctest/doctest.h>

namespace {

struct Outcome {
  int status = -1;
  std::string output;
};

Outcome run_command(const std::string& command) {
  Outcome outcome;
  FILE* const pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 256> part{};
  while (std::fgets(part.data(), part.size(), pipe) != nullptr) outcome.output += part.data();
  const int status = pclose(pipe);
  if (WIFEXITED(status)) outcome.status = WEXITSTATUS(status);
  return outcome;
}

/// Runs it with a cache of its own, so that it compiles while it ends.
Outcome run(const std::string& device, const std::string& word) {
  return run_command(
      device +
      " HEDDLE_CACHE_DIR=$(mktemp -d) && export HEDDLE_CACHE_DIR && '" PROGRAM_THAT_WORKS_AT_EXIT
      "' " +
      word + " 2>&1; status=$?; rm -rf \"$HEDDLE_CACHE_DIR\"; exit $status");
}

}  // namespace

TEST_CASE("arrays work in destructors of statics, made before or after the library's first use") {
  for (const std::string word : {"before", "after"}) {
    CAPTURE(word);
    const Outcome outcome = run("export HEDDLE_DEVICE=cpu;", word);
    CHECK(outcome.status == 0);
    CHECK(outcome.output == "600\n903 14 [1. 2. 3.]\n");
  }
}

// A GPU's driver and NVRTC end when they like, and may be gone before the program's own statics.
TEST_CASE("on any device they work there, or throw") {
  for (const std::string word : {"before", "after"}) {
    CAPTURE(word);
    const Outcome outcome = run("", word);
    CAPTURE(outcome.output);
    CHECK(outcome.status == 0);
    CHECK((outcome.output == "600\n903 14 [1. 2. 3.]\n" || outcome.output == "600\nrefused\n"));
  }
}

TEST_CASE("std::exit ends a process whose threads evaluate, with its status and without a word") {
  for (const std::string word : {"thread", "main", "compiling"}) {
    for (const int milliseconds : {0, 3, 10, 30, 100, 300}) {
      CAPTURE(word);
      CAPTURE(milliseconds);
      const Outcome outcome =
          run_command("HEDDLE_DEVICE=cpu timeout 60 '" PROGRAM_THAT_EXITS_AT_WORK "' " + word +
                      " " + std::to_string(milliseconds) + " '" LIBRARY_SLOW_TO_END "' 2>&1");
      CHECK(outcome.status == 7);
      CHECK(outcome.output.empty());
    }
  }
}

TEST_CASE("a library with Heddle in it is closed, opened again, and forked") {
  for (const std::string threads : {"1", "4"}) {
    CAPTURE(threads);
    const Outcome outcome =
        run_command("HEDDLE_DEVICE=cpu HEDDLE_NUM_THREADS=" + threads +
                    " timeout 60 '" PROGRAM_OF_A_PLUGIN "' '" PLUGIN_OF_HEDDLE "' 2>&1");
    CHECK(outcome.status == 0);
    CHECK(outcome.output == "1404\n1404\n1404\n1404\n");
  }
}
