#include "runtime/nvrtc.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "heddle/error.h"

#include "runtime/fault.h"
#include "tests/runtime/helpers.h"

using namespace heddle;
using heddle::test::have_nvrtc;
namespace nvrtc = runtime::nvrtc;

namespace {

constexpr const char* good = R"(
__device__ __forceinline__ float twice(float x) { return x + x; }
extern "C" __global__ void __launch_bounds__(128) hd_twice(const float* a, float* b, long long n) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  if (i < n) b[i] = twice(a[i]) * 3.0f + 1.0f;
}
)";

}  // namespace

TEST_CASE("a kernel compiles to machine code of the architecture, the same bytes each time") {
  if (!have_nvrtc()) return;
  const nvrtc::Binary first = nvrtc::compile(good, "hd_twice", "sm_90", {});
  CHECK(first.kind == nvrtc::BinaryKind::cubin);
  CHECK(first.bytes.substr(0, 4) == "\177ELF");
  CHECK(first.architecture == "sm_90");
  CHECK(nvrtc::compile(good, "hd_twice", "sm_90", {}).bytes == first.bytes);
  CHECK(nvrtc::compile(good, "hd_twice", "sm_80", {}).bytes != first.bytes);
}

TEST_CASE("contraction is an option, and options stand in a fixed order") {
  CHECK(nvrtc::option_list({}) ==
        std::vector<std::string>{"--std=c++17", "-default-device", "--fmad=true"});
  CHECK(nvrtc::option_list({.contract = false, .line_info = true, .extra = {"-w"}}) ==
        std::vector<std::string>{"--std=c++17", "-default-device", "--fmad=false", "-lineinfo",
                                 "-w"});
  CHECK(nvrtc::option_list({.approximate = true}) ==
        std::vector<std::string>{"--std=c++17", "-default-device", "--fmad=true",
                                 "--prec-div=false", "--prec-sqrt=false",
                                 "--define-macro=HD_APPROXIMATE"});
  if (!have_nvrtc()) return;
  const nvrtc::Options strict{.contract = false};
  CHECK(nvrtc::compile(good, "hd_twice", "sm_90", strict).bytes !=
        nvrtc::compile(good, "hd_twice", "sm_90", {}).bytes);
}

TEST_CASE("a compile error carries the log, the options and the numbered source") {
  if (!have_nvrtc()) return;
  try {
    nvrtc::compile("extern \"C\" __global__ void hd_bad() {\n  undeclared = 1;\n}\n", "hd_bad",
                   "sm_90", {});
    FAIL("it compiled");
  } catch (const CompileError& failure) {
    const std::string text = failure.what();
    for (const char* part : {"hd_bad", "undeclared", "    2 |   undeclared = 1;", "--std=c++17",
                             "--gpu-architecture=sm_90"}) {
      CHECK_MESSAGE(text.find(part) != std::string::npos, text);
    }
  }
}

TEST_CASE("the version names a build, and sm_90 is among what is supported") {
  if (!have_nvrtc()) return;
  CHECK(nvrtc::version().find(" build ") != std::string::npos);
  const auto& known = nvrtc::supported_architectures();
  CHECK(std::is_sorted(known.begin(), known.end()));
  CHECK(std::find(known.begin(), known.end(), 90) != known.end());
}

TEST_CASE("an architecture that is too new gets PTX for the newest that is known") {
  const std::vector<int> known = {75, 80, 90};
  const auto own = nvrtc::choose_architecture("sm_90", known, "12.0");
  CHECK(own.kind == nvrtc::BinaryKind::cubin);
  CHECK(own.option_value == "sm_90");
  const auto newer = nvrtc::choose_architecture("sm_120", known, "12.0");
  CHECK(newer.kind == nvrtc::BinaryKind::ptx);
  CHECK(newer.option_value == "compute_90");
  CHECK(nvrtc::choose_architecture("sm_89", known, "12.0").option_value == "compute_80");
  try {
    nvrtc::choose_architecture("sm_61", known, "12.0");
    FAIL("an architecture was chosen");
  } catch (const DeviceError& failure) {
    const std::string text = failure.what();
    for (const char* part : {"sm_61", "12.0", "75, 80, 90", "HEDDLE_NVRTC"}) {
      CHECK_MESSAGE(text.find(part) != std::string::npos, text);
    }
  }
  CHECK_THROWS_AS(nvrtc::choose_architecture("turing", known, "12.0"), DeviceError);
  if (!have_nvrtc()) return;
  const test::CapturedLog log;
  const nvrtc::Binary binary = nvrtc::compile(good, "hd_twice", "sm_999", {});
  CHECK(binary.kind == nvrtc::BinaryKind::ptx);
  CHECK(binary.bytes.find(".entry hd_twice") != std::string::npos);
  CHECK(log.text().find("sm_999") != std::string::npos);
}

TEST_CASE("threads compile in parallel") {
  if (!have_nvrtc()) return;
  const std::string expected = nvrtc::compile(good, "hd_twice", "sm_90", {}).bytes;
  std::vector<std::string> bytes(4);
  std::vector<std::thread> threads;
  for (std::string& each : bytes) {
    threads.emplace_back([&] { each = nvrtc::compile(good, "hd_twice", "sm_90", {}).bytes; });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& each : bytes) CHECK(each == expected);
}

TEST_CASE("an injected failure is a CompileError, and the next compile works") {
  if (!have_nvrtc()) return;
  const runtime::fault::Watch watch(runtime::fault::Kind::compile, 0);
  CHECK_THROWS_AS(nvrtc::compile(good, "hd_twice", "sm_90", {}), CompileError);
  CHECK(nvrtc::compile(good, "hd_twice", "sm_90", {}).kind == nvrtc::BinaryKind::cubin);
}

TEST_CASE("the library loads in the background, and an exit meanwhile is clean") {
  CHECK(test::run_child("child: prefetch and exit", {}).status == 0);
}

TEST_CASE("child: prefetch and exit" * doctest::skip()) {
  nvrtc::prefetch();
  nvrtc::prefetch();
}

TEST_CASE("line info names the source where it is kept") {
  if (!have_nvrtc()) return;
  const nvrtc::Options options{.line_info = true, .source_folder = "/kept/sources"};
  const std::string bytes = nvrtc::compile(good, "hd_twice", "sm_90", options).bytes;
  CHECK(bytes.find("/kept/sources") != std::string::npos);
  CHECK(bytes.find("hd_twice.cu") != std::string::npos);
  CHECK(nvrtc::compile(good, "hd_twice", "sm_90", {}).bytes.find("hd_twice.cu") ==
        std::string::npos);
}
