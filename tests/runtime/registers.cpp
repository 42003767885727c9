// Plans ask for no more registers than there are: what compilers make of their kernels.
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "codegen/common/printers.h"
#include "runtime/cuda/cubin.h"
#include "runtime/cuda/nvrtc.h"
#include "tests/passes/plans.h"
#include "tests/runtime/helpers.h"

using namespace heddle;
using namespace heddle::test;
using namespace heddle::runtime;

namespace {

std::string softmax(const char* dtype, int rows, int columns, int axis) {
  return fmt::format(R"(func @softmax(%0: {0}[{1},{2}]) -> {0}[{1},{2}] {{
  %1 = max %0 axes=[{4}] keepdims : {0}[{3}]
  %2 = subtract %0, %1 : {0}[{1},{2}]
  %3 = exp %2 : {0}[{1},{2}]
  %4 = sum %3 axes=[{4}] keepdims : {0}[{3}]
  %5 = divide %3, %4 : {0}[{1},{2}]
  return %5
}})",
                     dtype, rows, columns,
                     axis == 1 ? fmt::format("{},1", rows) : fmt::format("1,{}", columns), axis);
}

std::string standardized(const char* dtype, int rows, int columns) {
  return fmt::format(R"(func @standardized(%0: {0}[{1},{2}]) -> {0}[{1},{2}] {{
  %1 = constant {1}.0 : f32[]
  %2 = cast %0 : f32[{1},{2}]
  %3 = sum %2 axes=[0] keepdims : f32[1,{2}]
  %4 = divide %3, %1 : f32[1,{2}]
  %5 = subtract %2, %4 : f32[{1},{2}]
  %6 = multiply %5, %5 : f32[{1},{2}]
  %7 = sum %6 axes=[0] keepdims : f32[1,{2}]
  %8 = divide %7, %1 : f32[1,{2}]
  %9 = sqrt %8 : f32[1,{2}]
  %10 = divide %5, %9 : f32[{1},{2}]
  %11 = cast %10 : {0}[{1},{2}]
  return %11
}})",
                     dtype, rows, columns);
}

std::string sorted(const char* op, const char* dtype, const char* result) {
  return fmt::format(R"(func @sorted(%0: {1}[1,16777216]) -> {2}[1,16777216] {{
  %1 = call {0} %0 {{axis = 1}} : {2}[1,16777216]
  return %1
}})",
                     op, dtype, result);
}

/// No kernel of the program keeps more than so many bytes a thread in memory.
void check_local_bytes(const std::string& program, int most) {
  CAPTURE(program);
  for (const passes::KernelPlan& planned : plan(program, "sm_90:h200").kernels) {
    const codegen::KernelSource source = codegen::print_cuda(planned);
    CAPTURE(source.name);
    const nvrtc::Binary binary = nvrtc::compile(source.text(), source.name, "sm_90", {});
    CHECK(read_cubin(binary.bytes, source.name).local_bytes <= most);
  }
}

}  // namespace

TEST_CASE("kernels that hold rows and columns hold them in registers") {
  if (!have_nvrtc()) return;
  constexpr int few = 64;
  for (const char* dtype : {"f16", "f32"}) {
    for (const int row : {1000, 1024, 4096, 8192, 16384, 20480, 65536, 262144})
      check_local_bytes(softmax(dtype, 8192, row, 1), few);
    check_local_bytes(softmax(dtype, 8192, 8192, 0), few);
    check_local_bytes(standardized(dtype, 8192, 8192), few);
    check_local_bytes(standardized(dtype, 1024, 1024), few);
  }
}

TEST_CASE("kernels that sort hold their tiles in registers") {
  if (!have_nvrtc()) return;
  for (const char* dtype : {"bool", "f16", "i32", "f32", "i64", "f64"}) {
    check_local_bytes(sorted("sort", dtype, dtype), 0);
    check_local_bytes(sorted("argsort", dtype, "i64"), 0);
  }
}
