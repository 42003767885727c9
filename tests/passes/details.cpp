// What plans decide of single values and passes, which printers only spell, and explain shows.

#include <algorithm>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "passes/report/explain.h"
#include "tests/passes/plans.h"

using namespace heddle;
using namespace heddle::test;
using passes::HostPass;
using passes::KernelPlan;

namespace {

constexpr const char* softmax = R"(
  func @f(%0: f32[1024,1000]) -> f32[1024,1000] {
    %1 = max %0 axes=[1] keepdims : f32[1024,1]
    %2 = subtract %0, %1 : f32[1024,1000]
    %3 = exp %2 : f32[1024,1000]
    %4 = sum %3 axes=[1] keepdims : f32[1024,1]
    %5 = divide %3, %4 : f32[1024,1000]
    return %5
  })";

constexpr const char* halves = R"(
  func @f(%0: f16[1000]) -> (f16[1000], f16[1000]) {
    %1 = multiply %0, %0 : f16[1000]
    %2 = negative %0 : f16[1000]
    return %1, %2
  })";

constexpr const char* sums = R"(
  func @f(%0: f32[64,5000]) -> (f32[64], f32[64], f32[64]) {
    %1 = sum %0 axes=[1] : f32[64]
    %2 = max %0 axes=[1] : f32[64]
    %3 = exp %0 : f32[64,5000]
    %4 = sum %3 axes=[1] : f32[64]
    return %1, %2, %4
  })";

constexpr const char* columns = R"(
  func @f(%0: f64[5000,64]) -> f64[64] {
    %1 = sum %0 axes=[0] : f64[64]
    return %1
  })";

// x with 2 numbers before and 3 after each row, times 3.
std::string padded(const char* number) {
  return fmt::format(R"(
    func @f(%0: f32[64,100]) -> f32[64,105] {{
      %1 = constant {} : f32[]
      %2 = broadcast_to %1 : f32[64,2]
      %3 = broadcast_to %1 : f32[64,3]
      %4 = concatenate %2, %0, %3 axes=[1] : f32[64,105]
      %5 = constant 3.0 : f32[]
      %6 = multiply %4, %5 : f32[64,105]
      return %6
    }})",
                     number);
}

// Maxima of y[:, 2 * i:2 * i + 3], as sliding_window_view makes them. y is an op of x.
std::string windows(const char* op) {
  return fmt::format(R"(
    func @f(%0: f32[64,100]) -> f32[64,49] {{
      %1 = {} %0 : f32[64,100]
      %2 = reshape %1 : f32[64,1,100]
      %3 = broadcast_to %2 : f32[64,99,100]
      %4 = reshape %3 : f32[64,9900]
      %5 = slice %4 starts=[0,0] steps=[1,1] : f32[64,9898]
      %6 = reshape %5 : f32[64,98,101]
      %7 = slice %6 starts=[0,0,0] steps=[1,2,1] : f32[64,49,3]
      %8 = max %7 axes=[2] : f32[64,49]
      return %8
    }})",
                     op);
}

std::string maxima_of_rows(int length) {
  return fmt::format(R"(
    func @f(%0: f32[1000,{}]) -> f32[1000] {{
      %1 = max %0 axes=[1] : f32[1000]
      return %1
    }})",
                     length);
}

const passes::Instruction& first(const KernelPlan& plan, bool passes::Instruction::* flag) {
  const auto found = std::ranges::find(plan.body, true, flag);
  REQUIRE(found != plan.body.end());
  return *found;
}

}  // namespace

TEST_CASE("a GPU's softmax holds its elements and divides by an inverse") {
  const passes::PlannedProgram planned = plan(softmax, cuda_target);
  REQUIRE(planned.kernels.size() == 1);
  const KernelPlan& kernel = planned.kernels[0];
  CHECK(first(kernel, &passes::Instruction::held).kind == passes::Instruction::Kind::load);
  CHECK(first(kernel, &passes::Instruction::divisor).kind == passes::Instruction::Kind::reduced);
  CHECK(kernel.host_passes.empty());
  CHECK(contains(passes::explain(planned), "holds p0, keeps v3, inverts v"));
}

TEST_CASE("a GPU keeps what takes long to compute and is needed again") {
  const KernelPlan kernel = plan(softmax, cuda_target).kernels.at(0);
  const auto kept = [](const passes::Instruction& one) {
    return one.held && one.kind != passes::Instruction::Kind::load;
  };
  REQUIRE(std::ranges::count_if(kernel.body, kept) == 1);
  CHECK(std::ranges::find_if(kernel.body, kept)->op == ir::Op::exp);
  CHECK(contains(to_string(kernel), ", keeps v"));
  // Differences from a mean are computed again.
  const KernelPlan centred = plan(R"(
  func @f(%0: f32[1024,1000]) -> (f32[1024,1000], f32[1024]) {
    %1 = sum %0 axes=[1] keepdims : f32[1024,1]
    %2 = subtract %0, %1 : f32[1024,1000]
    %3 = max %2 axes=[1] : f32[1024]
    return %2, %3
  })",
                                  cuda_target)
                                 .kernels.at(0);
  CHECK(std::ranges::count_if(centred.body, kept) == 0);
}

TEST_CASE("a GPU's walk has more loads under way where they are narrow") {
  const passes::PlannedProgram planned = plan(columns, cuda_target);
  CHECK(planned.kernels[0].pass_unroll == 4);
  const passes::PlannedProgram rows = plan(sums, cuda_target);
  CHECK(rows.kernels[0].pass_unroll >= 4);
  CHECK(contains(to_string(rows.kernels[0]), ", unroll="));
}

TEST_CASE("a CPU converts the float16 that arithmetic asks for in strips") {
  const KernelPlan kernel = plan(halves, host_target).kernels.at(0);
  REQUIRE(kernel.host_passes.size() == 1);
  const HostPass& pass = kernel.host_passes[0];
  REQUIRE(pass.strip_loads.size() == 1);
  REQUIRE(pass.strip_stores.size() == 1);
  CHECK(kernel.body[pass.strip_loads[0]].operand != kernel.stores[pass.strip_stores[0]].operand);
  CHECK(pass.stores.size() == 2);
  CHECK(contains(to_string(kernel), ", strips p"));
}

TEST_CASE("reductions of a stage share a CPU's pass, with states side by side") {
  const KernelPlan kernel = plan(sums, host_target).kernels.at(0);
  REQUIRE(kernel.host_passes.size() == 1);
  const HostPass& pass = kernel.host_passes[0];
  CHECK(pass.reductions.size() == 3);
  CHECK(pass.states == 64);
  CHECK(pass.state_bytes == 4);
  CHECK(pass.in_blocks);
  CHECK(contains(to_string(kernel), " states=64"));
  const KernelPlan down = plan(columns, host_target).kernels.at(0);
  REQUIRE(down.host_passes.size() == 1);
  CHECK(down.host_passes[0].rows_at_once == 4);
  CHECK(contains(passes::explain(plan(columns, host_target)), ", pass t0 rows=4"));
}

TEST_CASE("padding takes one guard, and zeros no choice") {
  for (const char* target : {cuda_target, host_target}) {
    CAPTURE(target);
    const auto counts = [&](const char* number) {
      const KernelPlan kernel = plan(padded(number), target).kernels.at(0);
      const auto guards = std::ranges::count(kernel.body, passes::Instruction::Kind::within,
                                             &passes::Instruction::kind);
      const auto choices = std::ranges::count_if(kernel.body, [](const passes::Instruction& one) {
        return one.kind == passes::Instruction::Kind::apply && one.op == ir::Op::select;
      });
      return std::pair(guards, choices);
    };
    CHECK((counts("0.0") == std::pair<std::ptrdiff_t, std::ptrdiff_t>(1, 0)));
    CHECK((counts("-0.0") == std::pair<std::ptrdiff_t, std::ptrdiff_t>(1, 1)));
    CHECK((counts("7.0") == std::pair<std::ptrdiff_t, std::ptrdiff_t>(1, 1)));
  }
}

TEST_CASE("a CPU reduces windows that overlap without a loop, and rows with one") {
  using passes::Mapping;
  const std::string of_array = windows("reshape"), of_values = windows("square");
  CHECK((plan(of_array, host_target).kernels.at(0).mapping == Mapping::elements));
  CHECK((plan(of_array, cuda_target).kernels.at(0).mapping == Mapping::rows));
  CHECK((plan(of_values, host_target).kernels.at(0).mapping == Mapping::rows));
  for (const int length : {3, 9, 31}) {
    CAPTURE(length);
    const KernelPlan kernel = plan(maxima_of_rows(length), host_target).kernels.at(0);
    CHECK((kernel.mapping == Mapping::rows));
    CHECK(kernel.host_passes.at(0).states == 1);
  }
  CHECK(plan(maxima_of_rows(32), host_target).kernels.at(0).host_passes.at(0).states == 32);
}
