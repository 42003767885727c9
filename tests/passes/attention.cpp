#include <string>

#include <doctest/doctest.h>

#include "tests/passes/plans.h"

namespace heddle::test {
namespace {

/// Attention whose scores, f16[4,256,512], are %10: queries %0, keys %1 and values %2.
std::string attention(const std::string& scores, const std::string& returned = "%16",
                      const std::string& results = "f16[4,256,64]") {
  return "func @attention(%0: f16[4,256,64], %1: f16[4,512,64], %2: f16[4,512,64]) -> " + results +
         " {\n" + scores +
         "  %11 = max %10 axes=[2] keepdims : f16[4,256,1]\n"
         "  %12 = subtract %10, %11 : f16[4,256,512]\n"
         "  %13 = exp %12 : f16[4,256,512]\n"
         "  %14 = sum %13 axes=[2] keepdims : f16[4,256,1]\n"
         "  %15 = divide %13, %14 : f16[4,256,512]\n"
         "  %16 = call matmul %15, %2 : f16[4,256,64]\n"
         "  return " +
         returned + "\n}\n";
}

const std::string plain =
    "  %3 = transpose %1 axes=[0,2,1] : f16[4,64,512]\n"
    "  %10 = call matmul %0, %3 : f16[4,256,512]\n";

/// The scale of the only kernel, if it computes attention; else 0.
double scale_of(const passes::PlannedProgram& planned) {
  if (planned.program.steps.size() != 1 || planned.kernels.size() != 1) return 0;
  const auto& attention = planned.kernels[0].attention;
  return attention ? attention->scale : 0;
}

TEST_CASE("a softmax between two products is one kernel where tensor cores multiply tiles") {
  CHECK(scale_of(plan(attention(plain), cuda_target)) == 1);
  CHECK(scale_of(plan(attention(plain), "sm_80")) == 0);
  CHECK(scale_of(plan(attention(plain), host_target)) == 0);
  CHECK(scale_of(plan(attention(plain), cuda_target, {}, {"attention"})) == 0);
  passes::PlanOptions strict{ir::parse_target(cuda_target), {}, {}, {}};
  strict.strict = true;
  CHECK(scale_of(passes::plan_program(ir::parse(attention(plain)), strict)) == 0);
}

TEST_CASE("numbers that scale queries, keys or scores are part of attention") {
  const std::string transposed = "  %3 = transpose %1 axes=[0,2,1] : f16[4,64,512]\n";
  const std::string half = "  %4 = constant 0.5 : f16[]\n";
  CHECK(scale_of(plan(attention(transposed + half +
                                "  %5 = multiply %0, %4 : f16[4,256,64]\n"
                                "  %10 = call matmul %5, %3 : f16[4,256,512]\n"),
                      cuda_target)) == 0.5);
  CHECK(scale_of(plan(attention(transposed + half +
                                "  %5 = multiply %4, %3 : f16[4,64,512]\n"
                                "  %6 = call matmul %0, %5 : f16[4,256,512]\n"
                                "  %10 = divide %6, %4 : f16[4,256,512]\n"),
                      cuda_target)) == 1);
}

TEST_CASE("scores that are scaled by 0 or a negative number are stored") {
  for (const char* const number : {"-0.5", "0.0", "inf"}) {
    CAPTURE(number);
    CHECK(scale_of(plan(attention("  %3 = transpose %1 axes=[0,2,1] : f16[4,64,512]\n"
                                  "  %4 = constant " +
                                  std::string(number) +
                                  " : f16[]\n  %5 = call matmul %0, %3 : f16[4,256,512]\n"
                                  "  %10 = multiply %5, %4 : f16[4,256,512]\n"),
                        cuda_target)) == 0);
  }
}

TEST_CASE("a softmax in float32 between products of halves is part of attention") {
  const std::string text =
      "func @attention(%0: f16[4,256,64], %1: f16[4,512,64], %2: f16[4,512,64]) "
      "-> f16[4,256,64] {\n" +
      std::string(plain) +
      "  %20 = cast %10 : f32[4,256,512]\n"
      "  %11 = max %20 axes=[2] : f32[4,256]\n"
      "  %21 = reshape %11 : f32[4,256,1]\n"
      "  %12 = subtract %20, %21 : f32[4,256,512]\n"
      "  %13 = exp %12 : f32[4,256,512]\n"
      "  %14 = sum %13 axes=[2] keepdims : f32[4,256,1]\n"
      "  %15 = divide %13, %14 : f32[4,256,512]\n"
      "  %22 = cast %15 : f16[4,256,512]\n"
      "  %16 = call matmul %22, %2 : f16[4,256,64]\n"
      "  return %16\n}\n";
  CHECK(scale_of(plan(text, cuda_target)) == 1);
}

TEST_CASE("scores and weights that are used elsewhere are stored") {
  CHECK(scale_of(plan(attention(plain, "%16, %15", "(f16[4,256,64], f16[4,256,512])"),
                      cuda_target)) == 0);
  CHECK(scale_of(plan(attention(plain, "%16, %10", "(f16[4,256,64], f16[4,256,512])"),
                      cuda_target)) == 0);
}

TEST_CASE("what only looks like attention is computed as it is written") {
  // The sum is along another axis of a square.
  const std::string square =
      "func @columns(%0: f16[256,64], %1: f16[256,64], %2: f16[256,64]) -> f16[256,64] {\n"
      "  %3 = transpose %1 axes=[1,0] : f16[64,256]\n"
      "  %10 = call matmul %0, %3 : f16[256,256]\n"
      "  %11 = max %10 axes=[1] keepdims : f16[256,1]\n"
      "  %12 = subtract %10, %11 : f16[256,256]\n"
      "  %13 = exp %12 : f16[256,256]\n"
      "  %14 = sum %13 axes=[1] : f16[256]\n"
      "  %15 = divide %13, %14 : f16[256,256]\n"
      "  %16 = call matmul %15, %2 : f16[256,64]\n"
      "  return %16\n}\n";
  CHECK(scale_of(plan(square, cuda_target)) == 0);
  // The sum of each row divides another row.
  const std::string moved =
      "func @moved(%0: f16[1,64,64], %1: f16[1,256,64], %2: f16[64,256,64]) -> f16[64,64,64] {\n"
      "  %3 = transpose %1 axes=[0,2,1] : f16[1,64,256]\n"
      "  %10 = call matmul %0, %3 : f16[1,64,256]\n"
      "  %11 = max %10 axes=[2] keepdims : f16[1,64,1]\n"
      "  %12 = subtract %10, %11 : f16[1,64,256]\n"
      "  %13 = exp %12 : f16[1,64,256]\n"
      "  %14 = sum %13 axes=[2] : f16[1,64]\n"
      "  %17 = reshape %14 : f16[64,1,1]\n"
      "  %15 = divide %13, %17 : f16[64,64,256]\n"
      "  %16 = call matmul %15, %2 : f16[64,64,64]\n"
      "  return %16\n}\n";
  CHECK(scale_of(plan(moved, cuda_target)) == 0);
}

TEST_CASE("a mask of scores that all values share is applied before they are shared") {
  const auto shared = [](const std::string& scores) {
    return "func @shared(%0: f16[1,256,64], %1: f16[1,256,64], %2: f16[8,256,64]) -> "
           "f16[8,256,64] {\n"
           "  %3 = transpose %1 axes=[0,2,1] : f16[1,64,256]\n" +
           scores +
           "  %11 = max %10 axes=[2] keepdims : f16[1,256,1]\n"
           "  %12 = subtract %10, %11 : f16[1,256,256]\n"
           "  %13 = exp %12 : f16[1,256,256]\n"
           "  %14 = sum %13 axes=[2] keepdims : f16[1,256,1]\n"
           "  %15 = divide %13, %14 : f16[1,256,256]\n"
           "  %16 = call matmul %15, %2 : f16[8,256,64]\n"
           "  return %16\n}\n";
  };
  CHECK(scale_of(plan(shared("  %10 = call matmul %0, %3 : f16[1,256,256]\n"), cuda_target)) == 1);
  const passes::PlannedProgram planned = plan(shared("  %9 = call matmul %0, %3 : f16[1,256,256]\n"
                                                     "  %10 = tanh %9 : f16[1,256,256]\n"),
                                              cuda_target);
  CHECK(scale_of(planned) == 0);
}

/// Attention whose scores are those of `plain`, %9, changed by statements that make %10.
const passes::AttentionKernel& masked(passes::PlannedProgram& planned, const std::string& change) {
  const std::string product =
      "  %3 = transpose %1 axes=[0,2,1] : f16[4,64,512]\n"
      "  %9 = call matmul %0, %3 : f16[4,256,512]\n"
      "  %4 = iota axes=[0] : i64[256,512]\n"
      "  %5 = iota axes=[1] : i64[256,512]\n"
      "  %8 = constant -inf : f16[]\n";
  planned = plan(attention(product + change), cuda_target);
  REQUIRE(scale_of(planned) == 1);
  return *planned.kernels[0].attention;
}

TEST_CASE("keys that a mask of indices leaves out are not read") {
  passes::PlannedProgram planned;
  const passes::AttentionKernel& causal = masked(planned,
                                                 "  %6 = less_equal %5, %4 : bool[256,512]\n"
                                                 "  %10 = select %6, %9, %8 : f16[4,256,512]\n");
  REQUIRE(causal.end);
  CHECK(causal.end->offset == ir::Dim(1));
  CHECK(causal.end->terms.size() == 1);
  CHECK_FALSE(causal.begin);
  CHECK(causal.only_bounds);

  const passes::AttentionKernel& window = masked(planned,
                                                 "  %6 = constant 64 : i64[]\n"
                                                 "  %7 = subtract %4, %6 : i64[256,512]\n"
                                                 "  %20 = less %5, %7 : bool[256,512]\n"
                                                 "  %21 = greater %5, %4 : bool[256,512]\n"
                                                 "  %22 = logical_or %20, %21 : bool[256,512]\n"
                                                 "  %23 = invert %22 : bool[256,512]\n"
                                                 "  %10 = select %23, %9, %8 : f16[4,256,512]\n");
  REQUIRE(window.begin);
  CHECK(window.begin->offset == ir::Dim(-64));
  REQUIRE(window.end);
  CHECK(window.only_bounds);
}

TEST_CASE("bounds beyond 32 bits are computed in 64") {
  passes::PlannedProgram planned;
  masked(planned,
         "  %6 = constant 1099511627776 : i64[]\n"
         "  %7 = add %4, %6 : i64[256,512]\n"
         "  %20 = less_equal %5, %7 : bool[256,512]\n"
         "  %10 = select %20, %9, %8 : f16[4,256,512]\n");
  CHECK(planned.kernels[0].index_bits == 64);
}

TEST_CASE("a mask that is not only of indices is applied to each score") {
  passes::PlannedProgram planned;
  // Also where scores are negative.
  const passes::AttentionKernel& further = masked(planned,
                                                  "  %6 = less_equal %5, %4 : bool[256,512]\n"
                                                  "  %7 = constant 0.0 : f16[]\n"
                                                  "  %20 = greater %9, %7 : bool[4,256,512]\n"
                                                  "  %21 = logical_and %6, %20 : bool[4,256,512]\n"
                                                  "  %10 = select %21, %9, %8 : f16[4,256,512]\n");
  CHECK(further.end);
  CHECK_FALSE(further.only_bounds);
  // Keys after the query are weighted less, not left out.
  const passes::AttentionKernel& finite = masked(planned,
                                                 "  %6 = less_equal %5, %4 : bool[256,512]\n"
                                                 "  %7 = constant -8.0 : f16[]\n"
                                                 "  %10 = select %6, %9, %7 : f16[4,256,512]\n");
  CHECK_FALSE(finite.end);
  CHECK_FALSE(finite.only_bounds);
  // The last key of a query decreases from one query to the next.
  const passes::AttentionKernel& reversed = masked(planned,
                                                   "  %6 = constant 300 : i64[]\n"
                                                   "  %7 = subtract %6, %4 : i64[256,512]\n"
                                                   "  %20 = less %5, %7 : bool[256,512]\n"
                                                   "  %10 = select %20, %9, %8 : f16[4,256,512]\n");
  CHECK_FALSE(reversed.end);
  CHECK_FALSE(reversed.only_bounds);
}

TEST_CASE("attention reads views of its operands where they are in memory") {
  // [batch, length, heads, depth], as projections give it.
  const std::string text =
      "func @heads(%0: f16[2,256,3,8,64]) -> f16[2,8,256,64] {\n"
      "  %1 = slice %0 starts=[0,0,0,0,0] steps=[1,1,1,1,1] : f16[2,256,1,8,64]\n"
      "  %2 = slice %0 starts=[0,0,1,0,0] steps=[1,1,1,1,1] : f16[2,256,1,8,64]\n"
      "  %3 = slice %0 starts=[0,0,2,0,0] steps=[1,1,1,1,1] : f16[2,256,1,8,64]\n"
      "  %4 = reshape %1 : f16[2,256,8,64]\n"
      "  %5 = reshape %2 : f16[2,256,8,64]\n"
      "  %6 = reshape %3 : f16[2,256,8,64]\n"
      "  %7 = transpose %4 axes=[0,2,1,3] : f16[2,8,256,64]\n"
      "  %8 = transpose %5 axes=[0,2,3,1] : f16[2,8,64,256]\n"
      "  %9 = transpose %6 axes=[0,2,1,3] : f16[2,8,256,64]\n"
      "  %10 = call matmul %7, %8 : f16[2,8,256,256]\n"
      "  %11 = max %10 axes=[3] keepdims : f16[2,8,256,1]\n"
      "  %12 = subtract %10, %11 : f16[2,8,256,256]\n"
      "  %13 = exp %12 : f16[2,8,256,256]\n"
      "  %14 = sum %13 axes=[3] keepdims : f16[2,8,256,1]\n"
      "  %15 = divide %13, %14 : f16[2,8,256,256]\n"
      "  %16 = call matmul %15, %9 : f16[2,8,256,64]\n"
      "  return %16\n}\n";
  const passes::PlannedProgram planned = plan(text, cuda_target);
  REQUIRE(scale_of(planned) == 1);
  CHECK(planned.kernels[0].attention->keys.stride == ir::Dim(3 * 8 * 64));
  CHECK(planned.kernels[0].attention->values.start.offset == ir::Dim(2 * 8 * 64));
}

TEST_CASE("attention is not one kernel where that leaves most of the GPU idle") {
  const auto heads = [](int batch, int queries, int keys) {
    const std::string b = std::to_string(batch), n = std::to_string(queries);
    const std::string m = std::to_string(keys);
    const std::string scores = "f16[" + b + "," + n + "," + m + "]";
    const std::string rows = "f16[" + b + "," + n + ",1]";
    return "func @heads(%0: f16[" + b + "," + n + ",64], %1: f16[" + b + "," + m +
           ",64], %2: f16[" + b + "," + m + ",64]) -> f16[" + b + "," + n +
           ",64] {\n  %3 = transpose %1 axes=[0,2,1] : " + "f16[" + b + ",64," + m +
           "]\n  %10 = call matmul %0, %3 : " + scores +
           "\n  %11 = max %10 axes=[2] keepdims : " + rows +
           "\n  %12 = subtract %10, %11 : " + scores + "\n  %13 = exp %12 : " + scores +
           "\n  %14 = sum %13 axes=[2] keepdims : " + rows +
           "\n  %15 = divide %13, %14 : " + scores + "\n  %16 = call matmul %15, %2 : f16[" + b +
           "," + n + ",64]\n  return %16\n}\n";
  };
  CHECK(scale_of(plan(heads(32, 1024, 1024), cuda_target)) == 1);
  CHECK(scale_of(plan(heads(1, 256, 65536), cuda_target)) == 0);
  CHECK(scale_of(plan(heads(64, 1, 4096), cuda_target)) == 0);
}

}  // namespace
}  // namespace heddle::test
