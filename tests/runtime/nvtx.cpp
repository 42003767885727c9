#include <cstdlib>
#include <dlfcn.h>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "heddle/error.h"

#include "ir/base/span.h"
#include "runtime/device/memory.h"
#include "runtime/execute/executable.h"
#include "tests/runtime/helpers.h"

using namespace heddle;
using namespace heddle::test;

namespace {

constexpr const char* program = R"(func @halves(%0: f32[64]) -> f32[64] {
  %1 = constant 0.5 : f32[]
  %2 = multiply %0, %1 : f32[64]
  return %2
})";

void run_program() {
  const ir::Graph graph = ir::parse(program);
  const auto executable = runtime::Executable::get(graph, {}, runtime::Device{});
  runtime::Stream stream = runtime::Stream::current(runtime::Device{});
  const runtime::DeviceArray x{{DType::f32, {64}}, runtime::allocate(256, stream), 0};
  std::vector<runtime::DeviceArray> outputs;
  for (int i = 0; i < 2; ++i)
    executable->run(std::vector<runtime::ArgumentView>{{&x}}, stream, outputs, &graph);
}

}  // namespace

TEST_CASE("a tool behind NVTX is told of ranges with names, in their order") {
  const auto result =
      run_child("child: ranges",
                {std::string("NVTX_INJECTION64_PATH=") + HEDDLE_FAKE_NVTX, "HEDDLE_CACHE=0"});
  CHECK_MESSAGE(result.status == 0, result.output);
}

TEST_CASE("child: ranges" * doctest::skip()) {
  run_program();
  void* const tool = dlopen(HEDDLE_FAKE_NVTX, RTLD_NOW | RTLD_NOLOAD);
  REQUIRE(tool != nullptr);
  const auto ranges = reinterpret_cast<const char* (*)()>(dlsym(tool, "heddle_fake_nvtx_ranges"));
  const auto depth = reinterpret_cast<int (*)()>(dlsym(tool, "heddle_fake_nvtx_depth"));
  CHECK(depth() == 0);
  std::vector<std::string> lines;
  std::istringstream text(ranges());
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  // Two passes bear no name of a kernel; those that do name its plan first, and its hash later.
  std::vector<std::string> without_passes;
  for (const std::string& line : lines) {
    if (line.starts_with("heddle: pass ")) continue;
    without_passes.push_back(line.substr(0, line.find("_f32")));
  }
  CHECK(lines.size() > without_passes.size() + 2);
  CHECK(without_passes ==
        std::vector<std::string>{"heddle: codegen hd_multiply", "heddle: compile hd_multiply",
                                 "heddle: load hd_multiply", "heddle: launch halves",
                                 "heddle: launch halves"});
}

TEST_CASE("a tool that does not load is warned of, and costs nothing else") {
  const auto result = run_child("child: no tool", {"NVTX_INJECTION64_PATH=/no/such/tool.so"});
  CHECK_MESSAGE(result.status == 0, result.output);
  CHECK(result.output.find("NVTX_INJECTION64_PATH=/no/such/tool.so is not an NVTX tool") !=
        std::string::npos);
}

TEST_CASE("child: no tool" * doctest::skip()) {
  run_program();
  CHECK_FALSE(ir::watched());
}
