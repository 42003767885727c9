#include <algorithm>

#include <doctest/doctest.h>

#include "tests/cli/command.h"

using namespace heddle::test;

namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("ir prints the graph back, and after a pass") {
  const Folder folder;
  const std::string program = folder.write("softmax.hd", softmax);
  const CommandResult plain = heddle_command(folder, {"ir", program});
  CHECK(plain.status == 0);
  CHECK(plain.out == softmax);
  CHECK(plain.error.empty());

  const std::string powers = folder.write("powers.hd",
                                          "func @main(%0: f32[4]) -> f32[4] {\n"
                                          "  %1 = constant 2 : f32[]\n"
                                          "  %2 = power %0, %1 : f32[4]\n"
                                          "  return %2\n"
                                          "}\n");
  const CommandResult simplified = heddle_command(folder, {"ir", powers, "--after", "simplify"});
  CHECK(simplified.status == 0);
  CHECK(has(simplified.out, "multiply %0, %0"));
  const CommandResult kept =
      heddle_command(folder, {"ir", powers, "--after", "simplify", "--disable", "simplify"});
  CHECK(has(kept.out, "power"));
}

TEST_CASE("cuda prints what the target's printer makes") {
  const Folder folder;
  const std::string program = folder.write("softmax.hd", softmax);
  const CommandResult cuda = heddle_command(folder, {"cuda", program, "--target", "sm_90:h200"});
  CHECK(cuda.status == 0);
  CHECK(has(cuda.out, "__global__"));
  CHECK(cuda.out == heddle_command(folder, {"cuda", program, "--target", "sm_90:h200"}).out);
  const CommandResult host = heddle_command(folder, {"cuda", program, "--target", "x86-64-v3"});
  CHECK(host.status == 0);
  CHECK_FALSE(has(host.out, "__global__"));
  CHECK(has(host.out, "extern \"C\""));
}

TEST_CASE("explain tells groups, kernels and bytes") {
  const Folder folder;
  const CommandResult plan =
      heddle_command(folder, {"explain", folder.write("softmax.hd", softmax), "--target", "sm_80"});
  CHECK(plan.status == 0);
  CHECK(has(plan.out, "program softmax: 1 groups, 1 kernels"));
  CHECK(has(plan.out, "bytes moved 512*n, fewest possible 512*n"));
}

TEST_CASE("a user's mistake is one line and exit code 1") {
  const Folder folder;
  const std::string program = folder.write("softmax.hd", softmax);
  const std::string broken =
      folder.write("broken.hd", "func @main(%0: f32[4]) -> f32[4] {\n  %1 = frob %0\n");
  const std::string shapes = folder.write("shapes.hd",
                                          "func @main(%0: f32[4], %1: f32[5]) -> f32[4] {\n"
                                          "  %2 = add %0, %1 : f32[4]\n  return %2\n}\n");
  struct Mistake {
    std::vector<std::string> words;
    std::string message;
  };
  const Mistake mistakes[] = {
      {{"ir", folder.path("absent.hd")}, "absent.hd: cannot be opened: No such file"},
      {{"ir", broken}, "broken.hd: 2:8: unknown op 'frob'"},
      {{"ir", shapes}, "add"},
      {{"ir", program, "--after", "nothing"}, "there is no pass 'nothing'"},
      {{"cuda", program, "--target", "sm_42"}, "'sm_42' is not a target"},
      {{"explain", program, "--disable", "matmul"}, "'matmul' cannot be switched off"},
      {{"explain", program, "--donate", "3"}, "the program has 1 parameters"},
      {{"run", program, "--device", "tpu"}, "'tpu' is not a device"},
      {{"run", program}, "input 0 (f32[n,64]) is missing"},
      {{"run", program, "--random", "1"}, "add --size n=EXTENT"},
      {{"run", program, "--random", "1", "--size", "n"}, "write NAME=EXTENT"},
      {{"run", program, folder.path("absent.npy")}, "absent.npy"},
  };
  for (const auto& [words, message] : mistakes) {
    CAPTURE(message);
    const CommandResult result = heddle_command(folder, words);
    CHECK(result.status == 1);
    CHECK(result.out.empty());
    CHECK(result.error.starts_with("heddle: "));
    CHECK(has(result.error, message));
    CHECK(std::count(result.error.begin(), result.error.end(), '\n') == 1);
  }
}

TEST_CASE("a command line that cannot be read is exit code 2; help is 0") {
  const Folder folder;
  for (const std::vector<std::string>& words : {std::vector<std::string>{},
                                                {"weave"},
                                                {"ir"},
                                                {"ir", "a", "--frobnicate"},
                                                {"warm", "a.hd"},
                                                {"run", "a.hd", "--repeat", "-1"}}) {
    const CommandResult result = heddle_command(folder, words);
    CHECK(result.status == 2);
    CHECK(result.error.starts_with("heddle: "));
    CHECK(result.out.empty());
  }
  const CommandResult help = heddle_command(folder, {"--help"});
  CHECK(help.status == 0);
  for (const char* verb : {"ir", "cuda", "explain", "run", "warm", "doctor"})
    CHECK(has(help.out, verb));
  CHECK(heddle_command(folder, {"--version"}).out.starts_with("heddle "));
}
