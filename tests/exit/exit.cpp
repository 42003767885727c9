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

/// Runs it with a cache of its own, so that it compiles while it ends.
Outcome run(const std::string& device, const std::string& word) {
  const std::string command =
      device +
      " HEDDLE_CACHE_DIR=$(mktemp -d) && export HEDDLE_CACHE_DIR && '" PROGRAM_THAT_WORKS_AT_EXIT
      "' " +
      word + " 2>&1; status=$?; rm -rf \"$HEDDLE_CACHE_DIR\"; exit $status";
  Outcome outcome;
  FILE* const pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 256> part{};
  while (std::fgets(part.data(), part.size(), pipe) != nullptr) outcome.output += part.data();
  const int status = pclose(pipe);
  if (WIFEXITED(status)) outcome.status = WEXITSTATUS(status);
  return outcome;
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
