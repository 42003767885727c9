#include <thread>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "heddle/heddle.h"

#include "ir/types/target.h"
#include "runtime/device/device.h"
#include "tests/cli/command.h"
#include "tests/runtime/helpers.h"

using namespace heddle;
using namespace heddle::test;

namespace {

/// What an application does: a jitted function in two modes, lazy work, symbols, a capture.
void work() {
  set_device("cpu");
  const Array x = arange<float>(60).reshape({6, 10}), weights = sin(arange<float>(10));
  const auto step = [&](const Array& of) { return matmul(exp(of * 0.01f), weights); };
  CHECK(jit(step)(x).shape() == Shape{6});
  CHECK(jit(step, {.strict = true})(x).shape() == Shape{6});
  const auto rows = jit([](const Array& of) { return of - max(of, 1, true); },
                        {.name = "centre", .dynamic = {{"n", 10}}});
  CHECK(rows(x)(0, 9).item<float>() == 0);
  CHECK(rows(x(slice(0, 3)))(2, 9).item<float>() == 0);
  CHECK(sum(sqrt(x)).item<float>() > 0);
  CHECK(sort(x, 0)(0, 0).item<float>() == 0);
}

TEST_CASE("child: an application" * doctest::skip()) { work(); }

TEST_CASE("child: an application of two threads" * doctest::skip()) {
  std::thread other(work);
  work();
  other.join();
}

/// Meets extents in the order that SIZES gives.
TEST_CASE("child: an application of many extents" * doctest::skip()) {
  set_device("cpu");
  const auto total = jit([](const Array& x) { return sum(x * 2.0f); }, {.name = "total"});
  const std::string sizes = std::getenv("SIZES");
  for (const char digit : sizes) {
    const std::int64_t n = digit - '0';
    const std::vector<float> ones(static_cast<std::size_t>(n), 1.0f);
    CHECK(total(array(ones)).item<float>() == static_cast<float>(2 * n));
  }
}

TEST_CASE("child: records by call" * doctest::skip()) {
  const Folder folder;
  CHECK_THROWS_AS(record(folder.path("no/such/folder.hdr")), FileError);
  const std::string text = folder.write("notes.txt", "something else");
  CHECK_THROWS_AS(record(text), FileError);
  CHECK(folder.read("notes.txt") == "something else");
  record(folder.path("a.hdr"));
  CHECK(sum(ones<float>({3})).item<float>() == 3);
  record("");
  CHECK(prod(ones<float>({3})).item<float>() == 1);
  CHECK(folder.read("a.hdr").find("sum") != std::string::npos);
  CHECK(folder.read("a.hdr").find("prod") == std::string::npos);
}

std::string own_target() { return ir::to_string(runtime::target_of(runtime::Device{})); }

nlohmann::json warm(const Folder& folder, std::vector<std::string> more) {
  std::vector<std::string> words = {"warm", folder.path("app.hdr"), "--json", "--arch"};
  words.insert(words.end(), more.begin(), more.end());
  const CommandResult result = heddle_command(folder, words);
  REQUIRE_MESSAGE(result.status == 0, result.error);
  return nlohmann::json::parse(result.out);
}

TEST_CASE("what an application records, warmed, runs it where nothing may be compiled") {
  const Folder folder;
  const std::string record = "HEDDLE_RECORD=" + folder.path("app.hdr");
  // Several processes, of several threads, write one file.
  for (const char* app : {"child: an application of two threads", "child: an application"})
    CHECK(run_child(app, {record, "HEDDLE_CACHE_DIR=" + folder.path("theirs")}).status == 0);

  const auto plan = warm(folder, {own_target(), "--dry-run"});
  CHECK(plan.at("entries").size() >= 6);
  for (const auto& entry : plan.at("entries")) CHECK(entry.at("kept") == false);
  CHECK(warm(folder, {own_target()}).at("compiled") > 0);
  CHECK(warm(folder, {own_target()}).at("compiled") == 0);
  for (const auto& entry : warm(folder, {own_target(), "--dry-run"}).at("entries"))
    CHECK(entry.at("kept") == true);

  const std::vector<std::string> own = {"HEDDLE_CACHE_DIR=" + folder.path("empty"),
                                        "HEDDLE_CACHE_READONLY=" + folder.path("cache"),
                                        "HEDDLE_NO_COMPILE=1"};
  const runtime::ProcessResult warmed = run_child("child: an application", own);
  CHECK_MESSAGE(warmed.status == 0, warmed.output);
  CHECK(run_child("child: an application", {own[0], own[2]}).status != 0);
}

TEST_CASE("extents may come in another order than when they were recorded, and others with them") {
  const Folder folder;
  const char* const app = "child: an application of many extents";
  CHECK(run_child(app, {"SIZES=4567", "HEDDLE_RECORD=" + folder.path("app.hdr"),
                        "HEDDLE_CACHE_DIR=" + folder.path("theirs")})
            .status == 0);
  warm(folder, {own_target()});
  const std::vector<std::string> own = {"HEDDLE_CACHE_DIR=" + folder.path("empty"),
                                        "HEDDLE_CACHE_READONLY=" + folder.path("cache"),
                                        "HEDDLE_NO_COMPILE=1"};
  for (const char* sizes : {"SIZES=7654", "SIZES=5749", "SIZES=4567"}) {
    const runtime::ProcessResult result = run_child(app, {sizes, own[0], own[1], own[2]});
    CHECK_MESSAGE(result.status == 0, result.output);
  }
  CHECK(run_child(app, {"SIZES=9", own[0], own[1], own[2]}).status != 0);
}

TEST_CASE("a recording made on the CPU warms a GPU's cache") {
  const Folder folder;
  CHECK(run_child("child: an application", {"HEDDLE_RECORD=" + folder.path("app.hdr"),
                                            "HEDDLE_CACHE_DIR=" + folder.path("theirs")})
            .status == 0);
  const CommandResult result =
      heddle_command(folder, {"warm", folder.path("app.hdr"), "--arch", "sm_90:h200"});
  if (result.error.find("NVRTC") != std::string::npos &&
      std::getenv("HEDDLE_REQUIRE_NVRTC") == nullptr) {
    MESSAGE("not run: there is no NVRTC");
    return;
  }
  CHECK_MESSAGE(result.status == 0, result.error);
  CHECK(warm(folder, {"sm_90:h200"}).at("compiled") == 0);
}

TEST_CASE("recording by call; a file that cannot be written is an error") {
  CHECK(run_child("child: records by call", {"HEDDLE_CACHE=0"}).status == 0);
  const runtime::ProcessResult result =
      run_child("child: an application", {"HEDDLE_RECORD=/nonexistent/app.hdr", "HEDDLE_CACHE=0"});
  CHECK(result.status == 0);
  CHECK(result.output.find("nothing is recorded") != std::string::npos);
}

TEST_CASE("bad recordings are errors that name the line; what is cut off is left out") {
  const Folder folder;
  const std::string head = "heddle recording 1\n";
  const std::string good = "program strict donated=0\n" + std::string(scaled) + "end\n";
  const auto message = [&](const std::string& text, std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"warm", folder.write("a.hdr", text), "--arch", "x86-64-v3"};
    words.insert(words.end(), more.begin(), more.end());
    const CommandResult result = heddle_command(folder, words);
    return fmt::format("{} {}", result.status, result.error);
  };
  CHECK(message(head + good) == "0 ");
  CHECK(message(head + good + head + good) == "0 ");
  CHECK(message(head + good + good.substr(0, good.size() - 6)).find("is truncated") !=
        std::string::npos);
  const auto fails = [&](const std::string& text, const std::string& part) {
    const std::string said = message(text);
    CHECK(said.starts_with("1 "));
    CHECK_MESSAGE(said.find(part) != std::string::npos, said);
  };
  fails(head + "program fast\n" + scaled + "end\n", "a.hdr:2: 'fast' is not a mode");
  fails(head + "program donated=7\n" + scaled + "end\n", "a.hdr:2: '7' is not a number below");
  fails(head + "func\nend\n", "a.hdr:2: a program must begin");
  fails(head + good + "program\nfunc @x(\nend\n", "a.hdr");
  const std::string given = message(head + good, {"--strict"});
  CHECK(given.find("contains the modes of its programs") != std::string::npos);
}

}  // namespace
