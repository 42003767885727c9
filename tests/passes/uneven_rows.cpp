#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/passes/plans.h"

using namespace heddle;
using namespace heddle::test;

namespace {

passes::KernelPlan only_kernel(const std::string& text) {
  passes::PlannedProgram planned = plan(text, cuda_target);
  REQUIRE(planned.kernels.size() == 1);
  return std::move(planned.kernels[0]);
}

}  // namespace

TEST_CASE("rows of narrow elements are stored in whole vectors") {
  for (const auto& [dtype, width] : {std::pair{"i16", 8}, {"u8", 16}}) {
    CAPTURE(dtype);
    const passes::KernelPlan kernel = only_kernel(
        fmt::format(R"(func @update(%0: {0}[5001,5003], %1: {0}[5001,1]) -> {0}[5001,5003] {{
  %2 = subtract %0, %1 : {0}[5001,5003]
  return %2
}})",
                    dtype));
    CHECK(kernel.row_loops == 1);
    CHECK(kernel.vector == width);
  }
}

TEST_CASE("rows of pixels contain their channels") {
  const passes::KernelPlan kernel =
      only_kernel(R"(func @crop(%0: u8[1024,256,255,3]) -> u8[1024,240,239,3] {
  %1 = slice %0 starts=[0,8,246,0] steps=[1,1,-1,1] : u8[1024,240,239,3]
  return %1
})");
  CHECK(kernel.row_loops == 2);
  CHECK(kernel.vector >= 4);
}

TEST_CASE("a thread computes all parts of a stack from what it loads once") {
  const passes::KernelPlan kernel =
      only_kernel(R"(func @stack(%0: u16[4001,5003], %1: f32[1,5003]) -> f32[2,4001,5003] {
  %2 = cast %0 : f32[4001,5003]
  %3 = multiply %2, %1 : f32[4001,5003]
  %4 = reshape %3 : f32[1,4001,5003]
  %5 = reshape %2 : f32[1,4001,5003]
  %6 = concatenate %4, %5 axes=[0] : f32[2,4001,5003]
  return %6
})");
  CHECK(kernel.held == 2);
  CHECK(kernel.held_loop == 0);
}

TEST_CASE("truth values are computed in words, unless an operand is of another dtype") {
  const auto text = [](std::string_view dtype) {
    return fmt::format(R"(func @clause(%0: bool[1048576], %1: {0}[1048576]) -> bool[1048576] {{
  %2 = logical_not %1 : bool[1048576]
  %3 = bitwise_or %0, %2 : bool[1048576]
  return %3
}})",
                       dtype);
  };
  CHECK(only_kernel(text("bool")).packs_truths);
  CHECK_FALSE(only_kernel(text("u8")).packs_truths);
}

TEST_CASE("tiles are as long as a short side, and large where elements move one by one") {
  const auto tile = [](int rows, int columns) {
    return only_kernel(
        fmt::format(R"(func @sum(%0: f32[{1},{0}], %1: f32[{0},{1}]) -> f32[{0},{1}] {{
  %2 = transpose %0 axes=[1,0] : f32[{0},{1}]
  %3 = add %2, %1 : f32[{0},{1}]
  return %3
}})",
                    rows, columns));
  };
  const passes::KernelPlan square = tile(4096, 4096), flat = tile(2097152, 32),
                           odd = tile(6001, 6003);
  CHECK(square.tile_across == 64);
  CHECK(square.tile_last == 64);
  CHECK(flat.tile_last == 32);
  CHECK(flat.tile_across == 128);
  CHECK(odd.vector == 1);
  CHECK(odd.tile_last == 64);
}

TEST_CASE(
    "a thread sums whole rows that are computed from nothing, and shares what they have in "
    "common") {
  const passes::KernelPlan kernel = only_kernel(R"(func @bonds(%0: f64[2097152,1]) -> f64[2097152] {
  %1 = iota axes=[0] : i64[60]
  %2 = constant 1 : i64[]
  %3 = add %1, %2 : i64[60]
  %4 = cast %3 : f64[60]
  %5 = constant 0.5 : f64[]
  %6 = multiply %4, %5 : f64[60]
  %7 = reshape %6 : f64[1,60]
  %8 = multiply %0, %7 : f64[2097152,60]
  %9 = exp %8 : f64[2097152,60]
  %10 = sum %9 axes=[1] : f64[2097152]
  return %10
})");
  CHECK(kernel.threads_per_row == 1);
  CHECK(kernel.reductions.size() > 1);
}

TEST_CASE("a function of complex numbers is computed once, not for each row that uses it") {
  const passes::PlannedProgram planned =
      plan(R"(func @mix(%0: c64[128,131072], %1: f32[131072]) -> c64[128,131072] {
  %2 = cast %1 : c64[131072]
  %3 = exp %2 : c64[131072]
  %4 = multiply %0, %3 : c64[128,131072]
  return %4
})",
           cuda_target);
  CHECK(planned.kernels.size() == 2);
}
