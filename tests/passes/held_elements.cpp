// How many elements a GPU's thread takes of a kernel that does not reduce.

#include <doctest/doctest.h>

#include "tests/passes/plans.h"

using namespace heddle;
using namespace heddle::test;
using passes::KernelPlan;

namespace {

KernelPlan only_kernel(std::string_view text) {
  const passes::PlannedProgram planned = plan(text, cuda_target);
  REQUIRE(planned.kernels.size() == 1);
  return planned.kernels[0];
}

int loads(const KernelPlan& plan) {
  int count = 0;
  for (const passes::Instruction& one : plan.body)
    count += one.kind == passes::Instruction::Kind::load ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("a roll back and forth reads what was there before") {
  const KernelPlan kernel = only_kernel(R"(
  func @f(%0: f32[4096,6001]) -> f32[4096,6001] {
    %1 = slice %0 starts=[0,1] steps=[1,1] : f32[4096,6000]
    %2 = slice %0 starts=[0,0] steps=[1,1] : f32[4096,1]
    %3 = concatenate %1, %2 axes=[1] : f32[4096,6001]
    %4 = subtract %3, %0 : f32[4096,6001]
    %5 = slice %4 starts=[0,6000] steps=[1,1] : f32[4096,1]
    %6 = slice %4 starts=[0,0] steps=[1,1] : f32[4096,6000]
    %7 = concatenate %5, %6 axes=[1] : f32[4096,6001]
    %8 = add %7, %4 : f32[4096,6001]
    return %8
  })");
  CHECK(loads(kernel) == 3);
}

TEST_CASE("a thread takes iterations of the loop whose loads repeat, around its end too") {
  const KernelPlan kernel = only_kernel(R"(
  func @f(%0: f32[4096,6001]) -> f32[4096,6001] {
    %1 = slice %0 starts=[1,0] steps=[1,1] : f32[4095,6001]
    %2 = slice %0 starts=[0,0] steps=[1,1] : f32[1,6001]
    %3 = concatenate %1, %2 axes=[0] : f32[4096,6001]
    %4 = subtract %3, %0 : f32[4096,6001]
    return %4
  })");
  CHECK(kernel.vector == 1);
  CHECK(kernel.held > 1);
  CHECK(kernel.held_loop == 0);
}

TEST_CASE("single elements share the position that they are computed from") {
  const KernelPlan kernel = only_kernel(R"(
  func @f(%0: f32[128,96,3249], %1: f32[96,1]) -> f32[128,96,3249] {
    %2 = subtract %0, %1 : f32[128,96,3249]
    return %2
  })");
  CHECK(kernel.vector == 1);
  CHECK(kernel.unroll == 1);
  CHECK(kernel.held == 4);
  CHECK(kernel.held_loop == 0);  // along which %1 is the same
  // Rows of a few elements: neighbouring threads would not load neighbouring elements.
  const KernelPlan narrow = only_kernel(R"(
  func @f(%0: f32[1000000,3], %1: f32[3]) -> f32[1000000,3] {
    %2 = subtract %0, %1 : f32[1000000,3]
    return %2
  })");
  CHECK(narrow.held == 0);
}

TEST_CASE("a thread computes all pieces of a stack that read the same arrays") {
  const KernelPlan kernel = only_kernel(R"(
  func @f(%0: f32[4097,4097], %1: f32[4096,4096]) -> f32[2,4096,4096] {
    %2 = slice %0 starts=[0,0] steps=[1,1] : f32[4096,4096]
    %3 = slice %0 starts=[1,1] steps=[1,1] : f32[4096,4096]
    %4 = subtract %2, %1 : f32[4096,4096]
    %5 = multiply %3, %1 : f32[4096,4096]
    %6 = reshape %4 : f32[1,4096,4096]
    %7 = reshape %5 : f32[1,4096,4096]
    %8 = concatenate %6, %7 axes=[0] : f32[2,4096,4096]
    return %8
  })");
  CHECK(kernel.held == 2);
  CHECK(kernel.held_loop == 0);
}

TEST_CASE("rows of gathered elements are not mixed in a thread") {
  const KernelPlan kernel = only_kernel(R"(
  func @f(%0: f32[4096,5001], %1: i64[4096,4999]) -> f32[4096,4999] {
    %2 = slice %0 starts=[0,0] steps=[1,1] : f32[4096,4999]
    %3 = gather %0, %1 axes=[1] : f32[4096,4999]
    %4 = add %2, %3 : f32[4096,4999]
    return %4
  })");
  CHECK(kernel.held == 0);
}

TEST_CASE("loads that are mostly not aligned are of single elements") {
  const KernelPlan rows = only_kernel(R"(
  func @f(%0: f32[4097,4097]) -> f32[4096,4096] {
    %1 = slice %0 starts=[0,0] steps=[1,1] : f32[4096,4096]
    %2 = slice %0 starts=[1,1] steps=[1,1] : f32[4096,4096]
    %3 = multiply %1, %2 : f32[4096,4096]
    return %3
  })");
  CHECK(rows.vector == 1);
  const KernelPlan mixed = only_kernel(R"(
  func @f(%0: f32[4097,4097], %1: f32[4096,4096]) -> f32[4096,4096] {
    %2 = slice %0 starts=[0,0] steps=[1,1] : f32[4096,4096]
    %3 = add %1, %2 : f32[4096,4096]
    return %3
  })");
  CHECK(mixed.vector == 4);
}
