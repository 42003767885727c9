#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "heddle/error.h"

#include "runtime/base/fault.h"
#include "runtime/compile/bad_image.h"
#include "runtime/device/device.h"
#include "runtime/host/compiler.h"
#include "runtime/host/module.h"
#include "tests/runtime/helpers.h"

using namespace heddle;
namespace host = runtime::host;

namespace {

std::string scale_kernel(const std::string& name, const std::string& factor) {
  return "extern \"C\" void " + name +
         "(void* const* buffers, const long* scalars, long begin, long end) {\n"
         "  const float* a = (const float*)buffers[0];\n"
         "  float* b = (float*)buffers[1];\n"
         "  for (long i = begin; i < end; ++i) b[i] = a[i] * " +
         factor + " + (float)scalars[0];\n}\n";
}

const ir::Target& target() { return runtime::host_target(); }

std::vector<float> run(runtime::HostFunction kernel, std::vector<float> a, std::int64_t scalar) {
  std::vector<float> b(a.size());
  void* const buffers[] = {a.data(), b.data()};
  kernel(buffers, &scalar, 0, static_cast<std::int64_t>(a.size()));
  return b;
}

}  // namespace

TEST_CASE("a batch of units becomes one object whose kernels run") {
  REQUIRE_MESSAGE(host::find_compiler() != nullptr, host::unavailable_reason());
  const std::vector<host::Unit> units = {{"hd_two", scale_kernel("hd_two", "2.0f")},
                                         {"hd three/../x", scale_kernel("hd_three", "3.0f")}};
  const runtime::HostModule module(host::compile(units, target(), {}));
  CHECK(run(module.function("hd_two"), {1, 2, 3}, 10) == std::vector<float>{12, 14, 16});
  CHECK(run(module.function("hd_three"), {1, 2, 3}, 0) == std::vector<float>{3, 6, 9});
  CHECK_THROWS_AS(module.function("hd_four"), DeviceError);
}

TEST_CASE("modules loaded one after the other and side by side keep their own code") {
  std::vector<std::unique_ptr<runtime::HostModule>> kept;
  for (int i = 1; i <= 6; ++i) {
    const std::vector<host::Unit> units = {
        {"hd_scale", scale_kernel("hd_scale", std::to_string(i) + ".0f")}};
    auto module = std::make_unique<runtime::HostModule>(host::compile(units, target(), {}));
    CHECK(run(module->function("hd_scale"), {1}, 0)[0] == static_cast<float>(i));
    if (i % 2 == 0) kept.push_back(std::move(module));
  }
  for (std::size_t i = 0; i < kept.size(); ++i) {
    CHECK(run(kept[i]->function("hd_scale"), {1}, 0)[0] == static_cast<float>(2 * i + 2));
  }
}

TEST_CASE("the same units give the same bytes") {
  const std::vector<host::Unit> units = {{"hd_two", scale_kernel("hd_two", "2.0f")}};
  CHECK(host::compile(units, target(), {}) == host::compile(units, target(), {}));
}

TEST_CASE("a loop over expf is vectorised by libmvec, which is found when the object loads") {
  if (target().architecture.substr(0, 6) != "x86-64") return;
  const std::vector<host::Unit> units = {
      {"hd_exp",
       "extern \"C\" float expf(float) __attribute__((simd(\"notinbranch\"), const));\n"
       "extern \"C\" void hd_exp(void* const* buffers, const long*, long begin, long end) {\n"
       "  const float* a = (const float*)buffers[0];\n"
       "  float* b = (float*)buffers[1];\n"
       "  for (long i = begin; i < end; ++i) b[i] = expf(a[i]);\n}\n"}};
  const std::string object = host::compile(units, target(), {});
  CHECK(object.find("_ZGV") != std::string::npos);
  const runtime::HostModule module(object);
  std::vector<float> a(1000);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i) * 0.05f - 25.0f;
  const std::vector<float> b = run(module.function("hd_exp"), a, 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK(b[i] == doctest::Approx(std::exp(a[i])).epsilon(1e-6));
  }
}

TEST_CASE("contraction is an option") {
  const std::vector<host::Unit> units = {
      {"hd_fma",
       "extern \"C\" void hd_fma(void* const* buffers, const long*, long begin, long end) {\n"
       "  const float* a = (const float*)buffers[0];\n"
       "  float* b = (float*)buffers[1];\n"
       "  for (long i = begin; i < end; ++i) {\n"
       "    const float square = a[i] * a[i];\n"
       "    b[i] = square - 1.0f;\n  }\n}\n"}};
  const float x = 1.0f + 0x1p-12f;
  const runtime::HostModule strict(host::compile(units, target(), {.contract = false}));
  CHECK(run(strict.function("hd_fma"), {x}, 0)[0] == 0x1p-11f);
  if (target().vector_bytes < 32) return;
  const runtime::HostModule contracted(host::compile(units, target(), {.contract = true}));
  CHECK(run(contracted.function("hd_fma"), {x}, 0)[0] == std::fma(x, x, -1.0f));
}

TEST_CASE("a compile error carries the log and the numbered source of the unit at fault") {
  const std::vector<host::Unit> units = {{"hd_good", scale_kernel("hd_good", "2.0f")},
                                         {"hd_bad", "int f() {\n  return undeclared;\n}\n"}};
  try {
    host::compile(units, target(), {});
    FAIL("it compiled");
  } catch (const CompileError& failure) {
    const std::string text = failure.what();
    for (const char* part : {"hd_bad", "undeclared", "    2 |   return undeclared;", "-O3"}) {
      CHECK_MESSAGE(text.find(part) != std::string::npos, text);
    }
    CHECK(text.find("hd_good(void") == std::string::npos);
    CHECK(text.find("/heddle-") == std::string::npos);
  }
}

TEST_CASE("compiles leave no file behind, failed ones neither") {
  const runtime::TemporaryFolder folder;
  CHECK(test::run_child("child: compile well and badly", {"TMPDIR=" + folder.path()}).status == 0);
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("child: compile well and badly" * doctest::skip()) {
  const std::vector<host::Unit> good = {{"hd_good", scale_kernel("hd_good", "2.0f")}};
  CHECK_NOTHROW(host::compile(good, target(), {}));
  const std::vector<host::Unit> bad = {{"hd_bad", "int f() { return undeclared; }"}};
  CHECK_THROWS_AS(host::compile(bad, target(), {}), CompileError);
  const runtime::fault::Watch watch(runtime::fault::Kind::compile, 0);
  CHECK_THROWS_AS(host::compile(good, target(), {}), CompileError);
}

/// A compiler that counts in a file how many of it run, and takes a while.
std::string counting_compiler(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "counting-c++";
  test::write_text(path,
                   "#!/bin/sh\n"
                   "[ \"$1\" = --version ] && exec c++ --version\n"
                   "echo + >>" +
                       (folder / "runs").string() +
                       "\n"
                       "sleep 0.3\n"
                       "c++ \"$@\"\n"
                       "echo - >>" +
                       (folder / "runs").string() + "\n");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path.string();
}

/// How many ran at once at most, and how many in all.
std::pair<int, int> count_runs(const std::filesystem::path& folder) {
  int now = 0, most = 0, all = 0;
  for (const char c : test::read_text(folder / "runs")) {
    now += c == '+' ? 1 : c == '-' ? -1 : 0;
    most = std::max(most, now);
    all += c == '+' ? 1 : 0;
  }
  return {most, all};
}

TEST_CASE("compilers run at once, as many as HEDDLE_COMPILE_JOBS says for all threads together") {
  for (const char* child : {"child: batches of one thread", "child: batches of four threads"}) {
    const runtime::TemporaryFolder folder;
    const auto result = test::run_child(
        child, {"HEDDLE_COMPILE_JOBS=3", "HEDDLE_CXX=" + counting_compiler(folder.path())});
    CHECK_MESSAGE(result.status == 0, result.output);
    CHECK(count_runs(folder.path()) == std::pair{3, 8});
  }
}

/// Compiles so many batches of two units, and looks at what they become.
void compile_some(int count) {
  std::vector<std::vector<host::Unit>> batches;
  for (int i = 0; i < count; ++i) {
    const std::string factor = std::to_string(i + 2) + ".0f";
    batches.push_back({{"hd_scale", scale_kernel("hd_scale", factor)},
                       {"hd_other", scale_kernel("hd_other", "1.0f")}});
  }
  std::vector<std::string> objects(batches.size());
  host::compile_batches(batches, target(), {}, [&](std::size_t index, std::string bytes) {
    CHECK(objects[index].empty());
    objects[index] = std::move(bytes);
  });
  for (int i = 0; i < count; ++i) {
    const runtime::HostModule module(objects[static_cast<std::size_t>(i)]);
    CHECK(run(module.function("hd_scale"), {1}, 0)[0] == static_cast<float>(i + 2));
  }
}

TEST_CASE("child: batches of one thread" * doctest::skip()) { compile_some(8); }

TEST_CASE("child: batches of four threads" * doctest::skip()) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([] { compile_some(2); });
  for (std::thread& thread : threads) thread.join();
}

TEST_CASE("a batch that does not compile ends the others, with its own error") {
  const std::vector<std::vector<host::Unit>> batches = {
      {{"hd_two", scale_kernel("hd_two", "2.0f")}},
      {{"hd_bad", "int f() {\n  return undeclared;\n}\n"}},
      {{"hd_three", scale_kernel("hd_three", "3.0f")}}};
  try {
    host::compile_batches(batches, target(), {}, [](std::size_t, const std::string&) {});
    FAIL("it compiled");
  } catch (const CompileError& failure) {
    CHECK(std::string(failure.what()).find("hd_bad does not compile") != std::string::npos);
  }
}

TEST_CASE("an unresolved function is found when the module is loaded") {
  const std::vector<host::Unit> units = {{"hd_missing",
                                          "extern \"C\" void heddle_nowhere();\n"
                                          "extern \"C\" void hd_missing(void* const*, const long*, "
                                          "long, long) { heddle_nowhere(); }\n"}};
  const std::string object = host::compile(units, target(), {});
  try {
    const runtime::HostModule module(object);
    FAIL("it loaded");
  } catch (const DeviceError& failure) {
    CHECK(std::string(failure.what()).find("heddle_nowhere") != std::string::npos);
  }
  CHECK_THROWS_AS(runtime::HostModule("these are no bytes of an object"), DeviceError);
  CHECK_THROWS_AS(runtime::HostModule(""), DeviceError);
}

TEST_CASE("injected failures of compiling and loading pass") {
  const std::vector<host::Unit> units = {{"hd_two", scale_kernel("hd_two", "2.0f")}};
  {
    const runtime::fault::Watch watch(runtime::fault::Kind::compile, 0);
    CHECK_THROWS_AS(host::compile(units, target(), {}), CompileError);
  }
  {
    const runtime::fault::Watch watch(runtime::fault::Kind::file, 0);
    CHECK_THROWS_AS(host::compile(units, target(), {}), DeviceError);
  }
  const std::string object = host::compile(units, target(), {});
  {
    const runtime::fault::Watch watch(runtime::fault::Kind::load, 0);
    CHECK_THROWS_AS(runtime::HostModule{object}, DeviceError);
  }
  CHECK_NOTHROW(runtime::HostModule{object});
}

TEST_CASE("the identity names the compiler's version and options, and no path") {
  const std::string identity = host::identity(target(), {});
  CHECK(identity.find("-march=" + target().architecture) != std::string::npos);
  CHECK(identity.find('/') == std::string::npos);
  CHECK(identity != host::identity(target(), {.contract = false}));
}

TEST_CASE("no compiler, and no folder for its files, are errors that say what to do") {
  CHECK(test::run_child("child: no compiler", {"HEDDLE_CXX=/nowhere/cc"}).status == 0);
  CHECK(test::run_child("child: none of the usual", {"PATH=/nowhere", "HEDDLE_CXX="}).status == 0);
}

TEST_CASE("a TMPDIR that cannot be written gives way to /tmp, with one warning") {
  for (const char* folder : {"TMPDIR=/nowhere", "TMPDIR=/proc", "TMPDIR=/dev/null"})
    CHECK(test::run_child("child: another folder", {folder}).status == 0);
}

TEST_CASE("HEDDLE_CXX takes words: what starts the compiler, and options that overrule ours") {
  const runtime::TemporaryFolder folder;
  const std::string starter = folder.path() + "/start";
  test::write_text(starter, "#!/bin/sh\necho \"$@\" >>" + folder.path() + "/log\nexec \"$@\"\n");
  std::filesystem::permissions(starter, std::filesystem::perms::owner_all);
  const auto result =
      test::run_child("child: words", {"HEDDLE_CXX=" + starter + "  c++ -O1 -DHEDDLE_WORDS"});
  CHECK_MESSAGE(result.status == 0, result.output);
  const std::string log = test::read_text(folder.path() + "/log");
  CHECK(log.find("c++ --version\n") == 0);
  CHECK(log.find(" -O3 ") < log.find(" -O1 -DHEDDLE_WORDS "));
}

TEST_CASE("child: words" * doctest::skip()) {
  REQUIRE_MESSAGE(host::find_compiler() != nullptr, host::unavailable_reason());
  CHECK(host::identity(target(), {}).find("-O1 -DHEDDLE_WORDS") != std::string::npos);
  const std::vector<host::Unit> units = {
      {"hd_words",
       "#ifndef HEDDLE_WORDS\n#error no words\n#endif\n" + scale_kernel("hd_words", "2.0f")}};
  const runtime::HostModule module(host::compile(units, target(), {}));
  CHECK(run(module.function("hd_words"), {1}, 0)[0] == 2.0f);
}

TEST_CASE("a compiler that makes nothing is named") {
  const auto result = test::run_child("child: makes nothing", {"HEDDLE_CXX=true"});
  CHECK_MESSAGE(result.status == 0, result.output);
}

TEST_CASE("child: makes nothing" * doctest::skip()) {
  const std::vector<host::Unit> units = {{"hd_two", scale_kernel("hd_two", "2.0f")}};
  CHECK_THROWS_WITH_AS(host::compile(units, target(), {}),
                       doctest::Contains("true ended without an error but made no object"),
                       CompileError);
}

TEST_CASE("sources may lie in a folder of any name") {
  const std::string name = "a \"folder\"\\with\nall that";
  const std::vector<host::Unit> units = {{"hd_lines", scale_kernel("hd_lines", "2.0f")}};
  const std::string object =
      host::compile(units, target(), {.line_info = true, .source_folder = "/" + name});
  const runtime::HostModule module(object);
  CHECK(run(module.function("hd_lines"), {1}, 0)[0] == 2.0f);
  const std::vector<host::Unit> wrong = {{"hd_wrong", "#error stop\n"}};
  CHECK_THROWS_WITH_AS(
      host::compile(wrong, target(), {.line_info = true, .source_folder = "/" + name}),
      doctest::Contains("with"), CompileError);
}

TEST_CASE("child: no compiler" * doctest::skip()) {
  CHECK(host::find_compiler() == nullptr);
  CHECK(host::unavailable_reason().find("/nowhere/cc") != std::string::npos);
  CHECK(host::unavailable_reason().find("HEDDLE_CXX") != std::string::npos);
  CHECK_THROWS_AS(host::compile({}, target(), {}), DeviceError);
}

TEST_CASE("child: none of the usual" * doctest::skip()) {
  CHECK(host::find_compiler() == nullptr);
  for (const char* tried : {"c++", "g++", "clang++"})
    CHECK(host::unavailable_reason().find(tried) != std::string::npos);
  CHECK_THROWS_AS(host::compile({}, target(), {}), DeviceError);
}

TEST_CASE("child: another folder" * doctest::skip()) {
  const test::CapturedLog log;
  const runtime::TemporaryFolder first, second;
  CHECK(first.path().starts_with("/tmp/heddle-"));
  CHECK(log.lines() == 1);
  CHECK(log.text().find("no folder can be created in ") != std::string::npos);
  const std::vector<host::Unit> units = {{"hd_two", scale_kernel("hd_two", "2.0f")}};
  CHECK_FALSE(host::compile(units, target(), {}).empty());
}
