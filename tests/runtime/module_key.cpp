#include <locale>
#include <set>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/graph/graph.h"
#include "runtime/compile/compile.h"
#include "runtime/compile/make_modules.h"
#include "tests/runtime/helpers.h"

using namespace heddle;
using namespace heddle::runtime;
using codegen::KernelSource;

namespace {

constexpr const char* host = "x86-64-v3";
constexpr const char* gpu = "sm_90:h200";

KernelSource kernel(const std::string& name, const std::string& body = "{}") {
  return {name, {"core"}, fmt::format("extern \"C\" void {}() {}\n", name, body)};
}

std::string key_of(const std::vector<KernelSource>& kernels, const char* target,
                   const CompileOptions& options = {}) {
  return module_key(kernels, options, ir::parse_target(target)).text;
}

TEST_CASE("every field that a module depends on changes its key") {
  REQUIRE(test::have_nvrtc());
  const KernelSource one = kernel("one"), two = kernel("two");
  const KernelSource other_text = kernel("one", "{ int x = 0; (void)x; }");
  const KernelSource more_sections{one.name, {"core", "maximum"}, one.body};
  const std::vector<std::string> keys = {
      key_of({one}, host),
      key_of({two}, host),
      key_of({one, two}, host),
      key_of({two, one}, host),
      key_of({other_text}, host),
      key_of({more_sections}, host),
      key_of({one}, host, {.approximate = true}),
      key_of({one}, host, {.host_level = 1}),
      key_of({one}, "x86-64-v4"),
      key_of({one}, gpu),
      key_of({two}, gpu),
      key_of({other_text}, gpu),
      key_of({more_sections}, gpu),
      key_of({one}, gpu, {.strict = true}),
      key_of({one}, gpu, {.approximate = true}),
      key_of({one}, "sm_80"),
  };
  CHECK(std::set<std::string>(keys.begin(), keys.end()).size() == keys.size());
}

TEST_CASE("what the compiler does not see does not change a module's key") {
  REQUIRE(test::have_nvrtc());
  const std::vector<KernelSource> kernels = {kernel("one"), kernel("two")};
  // Passes and donation have decided the text already; a GPU's own facts have decided the plan.
  for (const char* target : {host, gpu}) {
    const std::string key = key_of(kernels, target);
    CHECK(key_of(kernels, target, {.donated = {true}, .aligned = {false}}) == key);
    CHECK(key_of(kernels, target, {.disabled = {"fuse"}}) == key);
  }
  CHECK(key_of(kernels, gpu, {.host_level = 1}) == key_of(kernels, gpu));
  CHECK(key_of(kernels, gpu) == key_of(kernels, "sm_90"));
}

struct Commas : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

/// The keys of a program and of its modules: numbers of four digits, and a constant with a
/// fraction.
std::string keys_of_program() {
  const ir::Graph graph = ir::parse(
      "func @main(%0: f32[12345,6789]) -> f32[12345] {\n %1 = constant 1234.5 : f32[]\n"
      " %2 = multiply %0, %1 : f32[12345,6789]\n %3 = sum %2 axes=[1] : f32[12345]\n"
      " return %3\n}\n");
  std::string text;
  for (const char* name : {host, gpu}) {
    const ir::Target target = ir::parse_target(name);
    text += program_key(graph, {}, target).text;
    text += module_key(print_program(graph, {}, target).kernels, {}, target).text;
  }
  return text;
}

TEST_CASE("child: prints keys" * doctest::skip()) {
  if (std::getenv("TEST_COMMAS") != nullptr)
    std::locale::global(std::locale(std::locale(), new Commas));
  if (std::getenv("TEST_UMASK") != nullptr) umask(0777);
  if (std::getenv("TEST_FOLDER") != nullptr) REQUIRE(chdir("/") == 0);
  fmt::print("KEYS {}\n", keys_of_program());
}

TEST_CASE("keys are the same in every process") {
  REQUIRE(test::have_nvrtc());
  const std::string wanted = keys_of_program();
  const TemporaryFolder folder;
  // Processes of other numbers, hosts' names, users, folders, locales and devices.
  const std::vector<std::vector<std::string>> surroundings = {
      {},
      {"TEST_COMMAS=1"},
      {"TEST_UMASK=1"},
      {"TEST_FOLDER=1"},
      {"LC_ALL=de_DE.UTF-8", "LANG=tr_TR.UTF-8", "TZ=Asia/Tokyo"},
      {"HOME=" + folder.path(), "TMPDIR=" + folder.path(), "USER=someone", "HOSTNAME=elsewhere"},
      {"HEDDLE_CACHE_DIR=" + folder.path(), "HEDDLE_NUM_THREADS=1"},
      {"HEDDLE_CUDA_DRIVER=" HEDDLE_FAKE_DRIVER, "HEDDLE_DEVICE=cuda:0"},
  };
  for (const std::vector<std::string>& variables : surroundings) {
    CAPTURE(fmt::format("{}", fmt::join(variables, " ")));
    const ProcessResult result = test::run_child("child: prints keys", variables);
    REQUIRE_MESSAGE(result.status == 0, result.output);
    CHECK(result.output.find("KEYS " + wanted) != std::string::npos);
  }
}

}  // namespace
