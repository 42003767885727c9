// Failing compiles and modules that do not load: what the error says, and that its reproducer fails
// in the same way. With compilers and a driver that are programs of their own.

#include "runtime/compile/reproducer.h"

#include <csignal>
#include <filesystem>
#include <string>
#include <sys/resource.h>
#include <vector>

#include <doctest/doctest.h>

#include "heddle/error.h"

#include "runtime/compile/compile.h"
#include "runtime/compile/compile_error.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/execute/executable.h"
#include "tests/runtime/helpers.h"

using namespace heddle;
using namespace heddle::test;
namespace fs = std::filesystem;

namespace {

constexpr const char* program = R"(func @halves(%0: f32[64]) -> f32[64] {
  %1 = constant 0.5 : f32[]
  %2 = multiply %0, %1 : f32[64]
  %3 = tanh %2 : f32[64]
  return %3
})";

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The message that making the program for the device, or for a target, ends in.
template <class Failure>
std::string failure_of(const char* target) {
  const ir::Graph graph = ir::parse(program, "halves.hd");
  try {
    if (target != nullptr) {
      runtime::warm(graph, {.strict = true}, ir::parse_target(target));
    } else {
      runtime::Executable::get(graph, {.strict = true}, {runtime::DeviceKind::cuda, 0});
    }
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "(it was made)";
}

/// What the error says to run, run.
runtime::ProcessResult reproduce(const std::string& message) {
  const std::string lead = "To reproduce it: sh '";
  const std::size_t begin = message.find(lead) + lead.size(), end = message.find('\'', begin);
  REQUIRE_MESSAGE(contains(message, lead), message);
  return runtime::run_process({"sh", message.substr(begin, end - begin)});
}

void check_files(const fs::path& folder, const std::string& message) {
  CHECK(read_text(folder / "program.hd") ==
        ir::print(ir::parse(program, "halves.hd"), {.locations = true}));
  const std::string recording = read_text(folder / "program.hdr");
  const auto recorded = runtime::parse_recording(recording, "program.hdr");
  REQUIRE(recorded.size() == 1);
  CHECK(recorded[0].options.strict);
  CHECK(recorded[0].graph.hash() == ir::parse(program).hash());
  CHECK(contains(message, read_text(folder / "error.txt").substr(0, 200)));
}

std::vector<std::string> fake_cuda(const std::string& cache) {
  return {"-uHEDDLE_DEVICE", "-uHEDDLE_DUMP_DIR", "HEDDLE_CACHE_DIR=" + cache,
          std::string("HEDDLE_NVRTC=") + HEDDLE_FAKE_NVRTC,
          std::string("HEDDLE_CUDA_DRIVER=") + HEDDLE_FAKE_DRIVER};
}

}  // namespace

TEST_CASE("a text that the host's compiler refuses comes with a reproducer that it refuses") {
  const runtime::TemporaryFolder folder;
  const fs::path compiler = fs::path(folder.path()) / "compiler";
  write_text(compiler,
             "#!/bin/sh\n[ \"$1\" = --version ] && { echo 'fake++ 1.0'; exit 0; }\n"
             "for word; do case \"$word\" in *.cpp) file=$word;; esac; done\n"
             "echo \"${file##*/}:2: error: no such weather\" >&2; exit 3\n");
  fs::permissions(compiler, fs::perms::owner_all);
  const auto child = run_child("child: the host's compiler refuses",
                               {"-uHEDDLE_DUMP_DIR", "HEDDLE_CXX=" + compiler.string(),
                                "HEDDLE_CACHE_DIR=" + folder.path() + "/cache"});
  CHECK_MESSAGE(child.status == 0, child.output);
  const fs::path reproducers = fs::path(folder.path()) / "cache" / "reproducers";
  REQUIRE(fs::exists(reproducers));
  for (const auto& entry : fs::directory_iterator(reproducers)) {
    CHECK(entry.path().filename().string().starts_with("hd_multiply_tanh_f32_"));
    check_files(entry.path(), read_text(entry.path() / "error.txt"));
  }
}

TEST_CASE("child: the host's compiler refuses" * doctest::skip()) {
  const std::string message = failure_of<CompileError>("x86-64-v3");
  for (const char* part : {"hd_multiply_tanh_f32_", "(1.0)", "no such weather", "exit status 3",
                           "-ffp-contract=off", "    1 | ", "halves.hd:3 multiply",
                           "halves.hd:4 tanh", "heddle warm program.hdr --cache again --arch "}) {
    CHECK_MESSAGE(contains(message, part), message);
  }
  const runtime::ProcessResult again = reproduce(message);
  CHECK(again.status == 3);
  CHECK_MESSAGE(contains(again.output, ":2: error: no such weather"), again.output);
}

TEST_CASE("a text that NVRTC refuses comes with a reproducer that it refuses") {
  const runtime::TemporaryFolder folder;
  std::vector<std::string> variables = fake_cuda(folder.path());
  variables.emplace_back("HEDDLE_FAKE_NVRTC_REFUSE=__launch_bounds__");
  const auto child = run_child("child: NVRTC refuses", variables);
  CHECK_MESSAGE(child.status == 0, child.output);
  // It goes where dumps go, when these are asked for.
  fs::create_directories(fs::path(folder.path()) / "dumps");
  variables[1] = "HEDDLE_DUMP_DIR=" + folder.path() + "/dumps";
  std::swap(variables[1], variables[2]);
  const auto dumped = run_child("child: NVRTC refuses", variables);
  CHECK_MESSAGE(dumped.status == 0, dumped.output);
  CHECK_FALSE(fs::is_empty(fs::path(folder.path()) / "dumps"));
}

TEST_CASE("child: NVRTC refuses" * doctest::skip()) {
  const std::string message = failure_of<CompileError>(nullptr);
  for (const char* part : {"hd_multiply_tanh_f32_", "NVRTC 99.0", "error: it has __launch_bounds__",
                           "--fmad=false", "--gpu-architecture=sm_90", "halves.hd:4 tanh"}) {
    CHECK_MESSAGE(contains(message, part), message);
  }
  const runtime::ProcessResult again = reproduce(message);
  CHECK(again.status == 1);
  CHECK_MESSAGE(contains(again.output, "error: it has __launch_bounds__"), again.output);
  const std::size_t line = message.find("line ");
  CHECK(contains(again.output, message.substr(line, message.find(':', line) - line)));
}

TEST_CASE("the real NVRTC refuses a reproducer's text in the same words") {
  if (!runtime::nvrtc::available()) return;
  const runtime::TemporaryFolder folder;
  try {
    runtime::nvrtc::compile("extern \"C\" __global__ void hd_bad() {\n  undeclared = 1;\n}\n",
                            "hd_bad", "sm_90", {});
    FAIL("it compiled");
  } catch (const runtime::CompileFailure& failure) {
    for (const auto& [name, text] : failure.reproduction.files)
      write_text(fs::path(folder.path()) / name, text);
    const auto again = runtime::run_process(
        {"sh", "-c",
         "cd " + runtime::shell_word(folder.path()) + "\n" + failure.reproduction.script});
    CHECK(again.status == 1);
    CHECK_MESSAGE(contains(again.output, "hd_bad.cu(2): error: identifier \"undeclared\""),
                  again.output);
    CHECK(contains(failure.what(), "(2): error: identifier \"undeclared\""));
  }
}

TEST_CASE("a module that the driver refuses comes with its source and a reproducer") {
  const runtime::TemporaryFolder folder;
  std::vector<std::string> variables = fake_cuda(folder.path());
  variables.emplace_back("HEDDLE_FAKE_NVRTC_CODE=no code of any kind");
  const auto child = run_child("child: the driver refuses", variables);
  CHECK_MESSAGE(child.status == 0, child.output);
}

TEST_CASE("child: the driver refuses" * doctest::skip()) {
  const std::string message = failure_of<DeviceError>(nullptr);
  for (const char* part : {"cuModuleLoadDataEx failed", "cuda:0", "hd_multiply_tanh_f32_", "99.0",
                           "halves.hd:4 tanh", "    1 | ", "__global__"}) {
    CHECK_MESSAGE(contains(message, part), message);
  }
  const runtime::ProcessResult again = reproduce(message);
  CHECK(again.status == 1);
  CHECK_MESSAGE(contains(again.output, "CUDA_ERROR_OF_FAKE"), again.output);
}

TEST_CASE("where no reproducer can be written, the error says so, and all else") {
  std::vector<std::string> variables = fake_cuda("/proc/no/cache");
  variables.emplace_back("HEDDLE_FAKE_NVRTC_REFUSE=__launch_bounds__");
  const auto child = run_child("child: nothing can be written", variables);
  CHECK_MESSAGE(child.status == 0, child.output);
}

TEST_CASE("child: nothing can be written" * doctest::skip()) {
  // A process that may write no byte to any file, whatever folder it is in.
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit none{0, 0};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &none) == 0);
  const std::string message = failure_of<CompileError>(nullptr);
  for (const char* part : {"There is no reproducer, because its files cannot be written: ",
                           "/proc/no/cache/reproducers", "error: it has __launch_bounds__",
                           "    1 | ", "halves.hd:3 multiply"}) {
    CHECK_MESSAGE(contains(message, part), message);
  }
}

TEST_CASE("words reach a program through sh as they are") {
  for (const std::string word : {"plain", "two words", "it's", "$HOME `x` \"y\" \\", ""}) {
    const auto result =
        runtime::run_process({"sh", "-c", "printf %s " + runtime::shell_word(word)});
    CHECK(result.output == word);
  }
}
