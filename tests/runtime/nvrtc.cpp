#include "runtime/cuda/nvrtc.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "heddle/error.h"

#include "runtime/base/fault.h"
#include "runtime/compile/bad_image.h"
#include "runtime/compile/compile.h"
#include "runtime/cuda/devices.h"
#include "runtime/cuda/module.h"
#include "runtime/execute/executable.h"
#include "runtime/launch/launcher.h"
#include "tests/runtime/fake_programs.h"
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
  CHECK(first.architecture == "sm_90a");
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
  CHECK(own.option_value == "sm_90a");
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

namespace {

constexpr const char* doubled = R"(func @doubled(%0: f32[64]) -> f32[64] {
  %1 = add %0, %0 : f32[64]
  return %1
})";

/// With an NVRTC that knows these architectures, for a GPU that is sm_90.
runtime::ProcessResult run_with_fakes(const char* child, const std::string& architectures) {
  return test::run_child(
      child, {"-uHEDDLE_DEVICE", "HEDDLE_CACHE=0", "HEDDLE_FAKE_NVRTC_ARCHS=" + architectures,
              std::string("HEDDLE_NVRTC=") + HEDDLE_FAKE_NVRTC,
              std::string("HEDDLE_CUDA_DRIVER=") + HEDDLE_FAKE_DRIVER});
}

constexpr runtime::Device fake_gpu{runtime::DeviceKind::cuda, 0};

}  // namespace

TEST_CASE("a GPU that NVRTC knows gets machine code, and a newer one PTX with a warning") {
  const auto known = run_with_fakes("child: machine code", "75,90");
  CHECK_MESSAGE(known.status == 0, known.output);
  CHECK(known.output.find("PTX") == std::string::npos);
  const auto newer = run_with_fakes("child: PTX", "75,80");
  CHECK_MESSAGE(newer.status == 0, newer.output);
  CHECK_MESSAGE(newer.output.find("NVRTC 99.0") != std::string::npos, newer.output);
  CHECK(newer.output.find("does not support sm_90; kernels are compiled to PTX for compute_80") !=
        std::string::npos);
}

TEST_CASE("child: machine code" * doctest::skip()) {
  const auto image = runtime::compile_program(ir::parse(doubled), {}, runtime::target_of(fake_gpu));
  CHECK(image.modules.at(0).kind == runtime::cache::PayloadKind::cubin);
  CHECK(runtime::load_kernels(image, fake_gpu) != nullptr);
}

TEST_CASE("child: PTX" * doctest::skip()) {
  const auto image = runtime::compile_program(ir::parse(doubled), {}, runtime::target_of(fake_gpu));
  CHECK(image.modules.at(0).kind == runtime::cache::PayloadKind::ptx);
  CHECK(runtime::load_kernels(image, fake_gpu) != nullptr);
}

TEST_CASE("a GPU that is older than all that NVRTC knows is told of in one sentence") {
  const auto result = run_with_fakes("child: no architecture", "100,120");
  CHECK_MESSAGE(result.status == 0, result.output);
}

TEST_CASE("child: no architecture" * doctest::skip()) {
  try {
    runtime::Executable::get(ir::parse(doubled), {}, fake_gpu);
    FAIL("it was compiled");
  } catch (const DeviceError& failure) {
    const std::string text = failure.what();
    for (const char* part : {"NVRTC 99.0", "sm_90", "100, 120", "an older CUDA release's NVRTC"})
      CHECK_MESSAGE(text.find(part) != std::string::npos, text);
    CHECK(text.find('\n') == std::string::npos);
  }
}

TEST_CASE("code that the driver is too old for is refused with what to install") {
  const auto result = run_with_fakes("child: an old driver", "90");
  CHECK_MESSAGE(result.status == 0, result.output);
}

TEST_CASE("child: an old driver" * doctest::skip()) {
  REQUIRE(runtime::cuda::available());
  test::control().fail("cuModuleLoadDataEx", 222, 0);
  try {
    const runtime::CudaModule module(
        "\x7f"
        "ELF",
        0);
    FAIL("it was loaded");
  } catch (const DeviceError& failure) {
    const std::string text = failure.what();
    CHECK_MESSAGE(text.find("The driver supports CUDA 13.0: install a newer driver, or an NVRTC of "
                            "that release or older") != std::string::npos,
                  text);
  }
}
