#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "passes/pipeline/traffic.h"
#include "passes/plan/analyze.h"
#include "tests/passes/plans.h"

using namespace heddle;
using namespace heddle::test;

namespace {

/// The program's kernels and calls, and the bytes that they move beyond the fewest possible.
struct Moved {
  std::size_t kernels = 0, calls = 0;
  std::int64_t bytes = 0, fewest = 0;
};

Moved moved(const std::string& text, const char* target) {
  const passes::PlannedProgram planned = plan(text, target);
  Moved result{planned.kernels.size(), 0, 0, passes::traffic(planned).fewest.constant()};
  for (const passes::Step& step : planned.program.steps) {
    result.calls += step.call() != nullptr;
    result.bytes += passes::bytes_moved(planned, step).constant();
  }
  return result;
}

/// The sum over j of an op between rows i and j of x, reduced over their `terms` elements.
std::string of_all_pairs(const char* dtype, int rows, int terms, const char* reduction) {
  return fmt::format(R"(func @pairs(%0: {0}[{1},{2}]) -> {3}[{1}] {{
  %1 = reshape %0 : {0}[1,{1},{2}]
  %2 = reshape %0 : {0}[{1},1,{2}]
  %3 = subtract %1, %2 : {0}[{1},{1},{2}]
  %4 = multiply %3, %3 : {0}[{1},{1},{2}]
  %5 = {4} %4 axes=[2] : {3}[{1},{1}]
  %6 = max %5 axes=[1] : {3}[{1}]
  return %6
}})",
                     dtype, rows, terms, std::string_view(reduction) == "argmin" ? "i64" : dtype,
                     reduction);
}

std::string bodies(const char* dtype, int count, int axes) {
  return fmt::format(R"(func @bodies(%0: {0}[{1},{2}], %1: {0}[{1}]) -> {0}[{1},{2}] {{
  %2 = reshape %0 : {0}[1,{1},{2}]
  %3 = reshape %0 : {0}[{1},1,{2}]
  %4 = subtract %2, %3 : {0}[{1},{1},{2}]
  %5 = multiply %4, %4 : {0}[{1},{1},{2}]
  %6 = sum %5 axes=[2] : {0}[{1},{1}]
  %7 = constant 0.5 : {0}[]
  %8 = add %6, %7 : {0}[{1},{1}]
  %9 = sqrt %8 : {0}[{1},{1}]
  %10 = multiply %8, %9 : {0}[{1},{1}]
  %11 = divide %1, %10 : {0}[{1},{1}]
  %12 = reshape %11 : {0}[{1},{1},1]
  %13 = multiply %4, %12 : {0}[{1},{1},{2}]
  %14 = sum %13 axes=[1] : {0}[{1},{2}]
  return %14
}})",
                     dtype, count, axes);
}

std::string log_sum_exp(const char* dtype, int rows, int length, int axis) {
  const int outer = axis == 1 ? rows : length, inner = axis == 1 ? length : rows;
  const std::string shape = fmt::format("[{},{}]", outer, inner);
  const std::string kept = axis == 1 ? fmt::format("[{},1]", rows) : fmt::format("[1,{}]", rows);
  return fmt::format(R"(func @log_sum_exp(%0: {0}{1}) -> {0}{2} {{
  %1 = max %0 axes=[{3}] keepdims : {0}{2}
  %2 = subtract %0, %1 : {0}{1}
  %3 = exp %2 : {0}{1}
  %4 = sum %3 axes=[{3}] keepdims : {0}{2}
  %5 = log %4 : {0}{2}
  %6 = add %5, %1 : {0}{2}
  return %6
}})",
                     dtype, shape, kept, axis);
}

}  // namespace

TEST_CASE("a reduction of a few elements is arithmetic where that saves a kernel") {
  for (const char* target : {cuda_target, host_target}) {
    for (const char* dtype : {"f16", "f32", "f64", "i32"}) {
      for (const int terms : {2, 3, 8}) {
        for (const char* reduction : {"sum", "min", "argmin"}) {
          CAPTURE(target);
          CAPTURE(dtype);
          CAPTURE(terms);
          CAPTURE(reduction);
          const Moved small = moved(of_all_pairs(dtype, 2000, terms, reduction), target);
          CHECK(small.kernels == 1);
          CHECK(small.bytes <= 2 * small.fewest);
        }
      }
    }
    // Longer rows have a kernel of their own.
    CHECK(moved(of_all_pairs("f32", 2000, 64, "sum"), target).kernels == 2);
  }
}

TEST_CASE("without small_reductions they are kernels of their own") {
  const passes::PlannedProgram planned =
      plan(of_all_pairs("f32", 2000, 3, "sum"), cuda_target, {}, {"small_reductions"});
  CHECK(planned.kernels.size() == 2);
}

TEST_CASE("a small reduction stays a loop where arithmetic would cost more than it saves") {
  // Each of the 64 columns would add up the row of 32 again.
  const char* const text =
      R"(func @scaled(%0: f32[100000,32], %1: f32[100000,64]) -> f32[100000,64] {
  %2 = sum %0 axes=[1] keepdims : f32[100000,1]
  %3 = multiply %1, %2 : f32[100000,64]
  return %3
})";
  CHECK(moved(text, cuda_target).kernels == 2);
}

TEST_CASE("a thread takes a few columns at once to share what is computed for a pair") {
  for (const char* dtype : {"f32", "f64"}) {
    for (const int axes : {2, 3, 4}) {
      CAPTURE(axes);
      const passes::PlannedProgram planned = plan(bodies(dtype, 4096, axes), cuda_target);
      REQUIRE(planned.kernels.size() == 1);
      const passes::KernelPlan& kernel = planned.kernels[0];
      const auto roots = std::ranges::count_if(kernel.body, [](const passes::Instruction& one) {
        return one.kind == passes::Instruction::Kind::apply && one.op == ir::Op::sqrt;
      });
      CHECK(std::ssize(kernel.reductions) == axes * roots);
    }
  }
}

TEST_CASE("a product with a tiny matrix fuses with what is around it") {
  for (const int width : {2, 3, 8}) {
    const std::string text = fmt::format(
        R"(func @turned(%0: f32[100000,{0}], %1: f32[{0},{0}], %2: f32[{0}]) -> f32[100000,{0}] {{
  %3 = subtract %0, %2 : f32[100000,{0}]
  %4 = call matmul %3, %1 : f32[100000,{0}]
  %5 = add %4, %2 : f32[100000,{0}]
  return %5
}})",
        width);
    CAPTURE(width);
    const Moved all = moved(text, cuda_target);
    CHECK(all.calls == 0);
    CHECK(all.kernels == 1);
    CHECK(all.bytes == all.fewest);
  }
}

TEST_CASE("rows that blocks cannot hold are read once for the sum of their exponentials") {
  for (const char* dtype : {"f32", "f64"}) {
    for (const auto& [rows, length] : {std::pair{4, 16777216}, {1024, 50000}, {8192, 32000}}) {
      for (const int axis : {0, 1}) {
        CAPTURE(dtype);
        CAPTURE(length);
        CAPTURE(axis);
        const Moved all = moved(log_sum_exp(dtype, rows, length, axis), cuda_target);
        CHECK(all.kernels <= 2);
        CHECK(all.bytes < all.fewest + all.fewest / 10);
      }
    }
  }
}

TEST_CASE("rows of narrow elements are read in vectors, wherever they begin") {
  for (const char* dtype : {"u8", "i16", "f16"}) {
    for (const int length : {441, 1501, 1502}) {
      CAPTURE(dtype);
      CAPTURE(length);
      const passes::PlannedProgram planned =
          plan(fmt::format(R"(func @rows(%0: {0}[65536,{1}]) -> {0}[65536] {{
  %1 = max %0 axes=[1] : {0}[65536]
  return %1
}})",
                           dtype, length),
               cuda_target);
      REQUIRE(planned.kernels.size() == 1);
      const passes::KernelPlan& kernel = planned.kernels[0];
      const bool in_words = length == 1502 && std::string_view(dtype) != "u8";
      CHECK(kernel.vector == (in_words ? 2 : 8));
      CHECK((kernel.skewed >= 0) == !in_words);
    }
  }
}

TEST_CASE("an index that is cheaper to compute than to load is not stored") {
  const char* const text = R"(func @weighted(%0: u8[65536,1501]) -> i64[65536] {
  %1 = iota axes=[0] : i64[1501]
  %2 = constant 1501 : i64[]
  %3 = subtract %2, %1 : i64[1501]
  %4 = cast %0 : i64[65536,1501]
  %5 = multiply %4, %3 : i64[65536,1501]
  %6 = sum %5 axes=[1] : i64[65536]
  return %6
})";
  CHECK(moved(text, cuda_target).kernels == 1);
}

TEST_CASE("a rolled array is read once, at positions that wrap around") {
  for (const char* target : {cuda_target, host_target}) {
    const passes::PlannedProgram planned = plan(R"(func @rolled(%0: f32[100,64]) -> f32[100,64] {
  %1 = slice %0 starts=[0,63] steps=[1,1] : f32[100,1]
  %2 = slice %0 starts=[0,0] steps=[1,1] : f32[100,63]
  %3 = concatenate %1, %2 axes=[1] : f32[100,64]
  %4 = subtract %0, %3 : f32[100,64]
  return %4
})",
                                                target);
    REQUIRE(planned.kernels.size() == 1);
    int loads = 0, guarded = 0, shifted = 0;
    for (const passes::Instruction& one : planned.kernels[0].body) {
      loads += one.kind == passes::Instruction::Kind::load;
      guarded += one.guarded;
      shifted += one.shifted_from >= 0;
    }
    CHECK(loads == 2);
    CHECK(guarded == 0);
    CHECK(shifted == (std::string_view(target) == cuda_target ? 1 : 0));
  }
}

TEST_CASE("shifted elements are those of the vector before or behind") {
  const passes::PlannedProgram planned = plan(R"(func @taps(%0: f32[1000002]) -> f32[999997] {
  %1 = slice %0 starts=[0] steps=[1] : f32[999997]
  %2 = slice %0 starts=[1] steps=[1] : f32[999997]
  %3 = slice %0 starts=[4] steps=[1] : f32[999997]
  %4 = slice %0 starts=[5] steps=[1] : f32[999997]
  %5 = add %1, %2 : f32[999997]
  %6 = add %3, %4 : f32[999997]
  %7 = add %5, %6 : f32[999997]
  return %7
})",
                                              cuda_target);
  REQUIRE(planned.kernels.size() == 1);
  int shifted = 0, rest = 0;
  for (const passes::Instruction& one : planned.kernels[0].body) {
    shifted += one.shifted_from >= 0;
    rest += one.shifted_rest >= 0;
  }
  CHECK(shifted == 2);
  CHECK(rest == 1);
}

TEST_CASE("columns of a wide array are read by neighbouring threads, and what they share at once") {
  const passes::PlannedProgram planned = plan(R"(
  func @f(%0: f32[768,768,1], %1: f32[1,768,768]) -> f32[768,768] {
    %2 = add %0, %1 : f32[768,768,768]
    %3 = min %2 axes=[1] : f32[768,768]
    return %3
  })",
                                              cuda_target);
  REQUIRE(planned.kernels.size() == 1);
  CHECK(planned.kernels[0].mapping == passes::Mapping::columns);
  CHECK(planned.kernels[0].vector == 4);
  CHECK(planned.kernels[0].reductions.size() == 4);
}

TEST_CASE("squares of a few sums are arithmetic, of values that are computed once") {
  const passes::PlannedProgram planned = plan(R"(
  func @f(%0: f32[1000000,3,3]) -> f32[1000000] {
    %1 = transpose %0 axes=[0,2,1] : f32[1000000,3,3]
    %2 = add %0, %1 : f32[1000000,3,3]
    %3 = multiply %2, %2 : f32[1000000,3,3]
    %4 = sum %3 axes=[2] : f32[1000000,3]
    %5 = sum %4 axes=[1] : f32[1000000]
    return %5
  })",
                                              cuda_target);
  CHECK(planned.kernels.size() == 1);
}

TEST_CASE("steps that read a few rows and columns of the one before share a kernel") {
  std::string text = "func @f(%0: f32[4096,4096]) -> f32[4096,4096] {\n";
  int last = 0;
  for (int k = 0; k < 4; ++k) {
    text += fmt::format(R"(  %{1} = slice %{0} starts=[0,{4}] steps=[1,1] : f32[4096,1]
  %{2} = slice %{0} starts=[{4},0] steps=[1,1] : f32[1,4096]
  %{3} = add %{1}, %{2} : f32[4096,4096]
  %{5} = minimum %{0}, %{3} : f32[4096,4096]
)",
                        last, last + 1, last + 2, last + 3, k, last + 4);
    last += 4;
  }
  text += fmt::format("  return %{}\n}}", last);
  CHECK(moved(text, cuda_target).kernels == 1);
}

TEST_CASE("pieces that end between vectors are loaded as vectors") {
  for (const auto& [first, width] : {std::pair{64, 8}, {36, 4}, {2, 2}}) {
    const passes::PlannedProgram planned =
        plan(fmt::format(R"(func @halves(%0: f16[100,{0}], %1: f16[100,{1}]) -> f16[100,128] {{
  %2 = negative %0 : f16[100,{0}]
  %3 = concatenate %2, %1 axes=[1] : f16[100,128]
  return %3
}})",
                         first, 128 - first),
             cuda_target);
    REQUIRE(planned.kernels.size() == 1);
    const passes::KernelPlan& kernel = planned.kernels[0];
    CHECK(kernel.vector == width);
    for (const passes::Instruction& one : kernel.body) {
      if (one.kind == passes::Instruction::Kind::load)
        CHECK(passes::vector_width(kernel, one, kernel.outer.back(), width) == width);
    }
  }
}
