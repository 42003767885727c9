#include "runtime/cuda/cubin.h"

#include <regex>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "heddle/error.h"

#include "codegen/common/printers.h"
#include "runtime/cuda/nvrtc.h"
#include "tests/passes/plans.h"
#include "tests/passes/programs.h"
#include "tests/runtime/helpers.h"

using namespace heddle;
using namespace heddle::test;
using namespace heddle::runtime;

namespace {

constexpr const char* spilling = R"(
extern "C" __global__ void __launch_bounds__(1024, 2)
spilling(const float* a, float* b, int n) {
  __shared__ float s[777];
  float v[48];
#pragma unroll
  for (int i = 0; i < 48; ++i) v[i] = a[threadIdx.x * 48 + i];
  s[threadIdx.x % 777] = v[3];
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 3; ++k)
#pragma unroll
    for (int i = 0; i < 48; ++i) v[i] = v[i] * v[(i * 7 + 1) % 48] + s[(threadIdx.x + i) % 777];
  float q = 0;
  for (int i = 0; i < n; ++i) q += v[(i * 13) % 40];
#pragma unroll
  for (int i = 0; i < 48; ++i) b[threadIdx.x * 48 + i] = v[i] + q;
}
extern "C" __global__ void plain(float* b) { b[threadIdx.x] = 1; }
)";

/// The number before `what` in what ptxas says of a kernel; 0 where it does not mention it.
int said(const std::string& log, const std::string& kernel, const std::string& what) {
  const std::size_t begin = log.find("Compiling entry function '" + kernel + "'");
  REQUIRE(begin != std::string::npos);
  const std::string part = log.substr(begin, log.find("Compile time", begin) - begin);
  std::smatch match;
  return std::regex_search(part, match, std::regex("(\\d+) " + what)) ? std::stoi(match[1]) : 0;
}

nvrtc::Binary compiled(const std::string& source, const std::string& name,
                       const std::string& architecture) {
  nvrtc::Options options;
  options.extra = {"--ptxas-options=-v"};
  return nvrtc::compile(source, name, architecture, options);
}

void check_against_ptxas(const std::string& source, const std::string& kernel,
                         const std::string& architecture) {
  CAPTURE(kernel);
  CAPTURE(architecture);
  const nvrtc::Binary binary = compiled(source, kernel, architecture);
  const passes::KernelResources found = read_cubin(binary.bytes, kernel);
  if (binary.log.empty()) {
    MESSAGE("this NVRTC keeps to itself what ptxas says");
  } else {
    CHECK(found.registers == said(binary.log, kernel, "registers"));
    CHECK(found.shared_bytes == said(binary.log, kernel, "bytes smem"));
    CHECK(found.local_bytes == said(binary.log, kernel, "bytes stack frame"));
  }
  CHECK(found.registers > 0);
  CHECK(found.code_bytes > 0);
  CHECK(found.constant_bytes > 0);
}

}  // namespace

TEST_CASE("registers, shared and local memory are those that ptxas says") {
  if (!have_nvrtc()) return;
  for (const char* architecture : {"sm_80", "sm_90", "sm_120"}) {
    const nvrtc::Binary binary = compiled(spilling, "spilling", architecture);
    const passes::KernelResources found = read_cubin(binary.bytes, "spilling");
    CHECK(found.shared_bytes == 777 * 4);
    CHECK(found.local_bytes > 0);
    check_against_ptxas(spilling, "spilling", architecture);
    check_against_ptxas(spilling, "plain", architecture);
    for (const char* program : {softmax, transposed}) {
      const passes::PlannedProgram planned = plan(program, architecture);
      const codegen::KernelSource source = codegen::print_cuda(planned.kernels[0]);
      check_against_ptxas(source.text(), source.name, architecture);
    }
  }
}

TEST_CASE("bytes that are no cubin are a ParseError, wherever they end") {
  if (!have_nvrtc()) return;
  const std::string whole = compiled(spilling, "spilling", "sm_90").bytes;
  CHECK_THROWS_AS(read_cubin(whole, "absent"), ParseError);
  CHECK_THROWS_AS(read_cubin("", "spilling"), ParseError);
  CHECK_THROWS_AS(read_cubin(std::string(5000, 'x'), "spilling"), ParseError);
  for (std::size_t size = 1; size < whole.size(); size += 97) {
    try {
      read_cubin(std::string_view(whole).substr(0, size), "spilling");
    } catch (const ParseError&) {
    }
  }
  // Whatever a byte of the tables says, reading stays inside.
  for (std::size_t at = 0; at < whole.size(); at += 31) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(~damaged[at]);
    try {
      read_cubin(damaged, "spilling");
    } catch (const ParseError&) {
    }
  }
}
