#include "passes/report/explain.h"

#include <doctest/doctest.h>

#include "passes/pipeline/traffic.h"
#include "tests/passes/plans.h"
#include "tests/passes/programs.h"

using namespace heddle;
using namespace heddle::test;

namespace {

std::string explained(std::string_view text, const char* target = cuda_target,
                      std::vector<bool> donated = {}) {
  return passes::explain(plan(text, target, std::move(donated)));
}

std::int64_t moved(std::string_view text, std::vector<bool> donated = {}) {
  return passes::traffic(plan(text, cuda_target, std::move(donated))).moved.constant();
}

std::int64_t fewest(std::string_view text) {
  return passes::traffic(plan(text, cuda_target)).fewest.constant();
}

}  // namespace

TEST_CASE("a program of one kernel moves the fewest bytes") {
  for (const char* text : {pointwise_chain, softmax, layernorm, transposed, concatenate_computed,
                           update_and_use, min_and_max, row_norms, jacobi}) {
    CAPTURE(text);
    CHECK(moved(text) == fewest(text));
    CHECK(contains(explained(text), "(1.00 times)"));
  }
  // 1,000 x 64 floats in and out, a row of 64 in.
  CHECK(moved(pointwise_chain) == 2 * 1000 * 64 * 4 + 64 * 4);
}

TEST_CASE("what is stored between kernels is counted") {
  // 897 x 900 distances are written and read once.
  CHECK(moved(digits) == fewest(digits) + 2 * 897 * 900 * 4);
  CHECK(contains(explained(digits), "bytes moved 6925608, fewest possible 467208 (14.82 times)"));
  // A split sum leaves a state of each part.
  CHECK(moved(sum_of_all) > fewest(sum_of_all));
  CHECK(moved(sum_of_all) < fewest(sum_of_all) + 100000);
  // The product is written by the library and read by the kernel behind it.
  CHECK(moved(dense_layer) == fewest(dense_layer) + 2 * 64 * 20 * 4);
}

TEST_CASE("an update in place moves the region only") {
  CHECK(moved(update, {true, false}) == 2 * 10 * 8 * 4);
  CHECK(moved(update) == fewest(update));
}

TEST_CASE("symbols stand in the count") {
  const char* text = R"(func @main(%0: f32[n,64]) -> f32[n,64] {
  %1 = exp %0 : f32[n,64]
  return %1
})";
  CHECK(contains(explained(text), "bytes moved 512*n, fewest possible 512*n"));
}

TEST_CASE("groups list their nodes, and mark what they store") {
  const std::string text = explained(min_and_max);
  CHECK(contains(text, "program min_and_max: 1 groups, 1 kernels\n"));
  CHECK(contains(text, "    * %1 min : f32[1024]\n"));
  CHECK(contains(text, "    * %2 max : f32[1024]\n"));
  CHECK(contains(explained(dense_layer), "group 1 library\n"));
  CHECK(contains(explained(pointwise_chain), "      %3 multiply : f32[1000,64]\n"));
  CHECK(contains(explained(pointwise_chain), "[pointwise]\n"));
}

TEST_CASE("groups of one kernel have no cut between them, and no library step") {
  const std::string joined = explained(R"(func @main(%0: c64[64,32]) -> c64[64,32] {
  %1 = add %0, %0 : c64[64,32]
  %2 = call fft.fft %1 : c64[64,32]
  %3 = multiply %2, %2 : c64[64,32]
  return %3
})");
  CHECK(contains(joined, "3 groups, 1 kernels\n"));
  CHECK(contains(joined, "group 2 in the kernel of group 0\n"));
  CHECK(contains(joined, "group 1 in the kernel of group 0\n"));
  CHECK(!contains(joined, "library"));
  CHECK(!contains(joined, "cuts"));
  // The sum over rows is a kernel of its own.
  const std::string apart = explained(R"(func @main(%0: c64[64,32]) -> c64[32] {
  %1 = sum %0 axes=[0] : c64[32]
  %2 = call fft.fft %1 : c64[32]
  return %2
})");
  CHECK(contains(apart, "2 groups, 2 kernels\n"));
  CHECK(contains(apart, "nearest family items: the kernel of fft.fft reads it from memory"));
  CHECK(!contains(apart, "library"));
}

TEST_CASE("a cut names the nearest family, the limit, and its number") {
  CHECK(contains(explained(wide_softmax, "sm_80"),
                 "nearest family normalization: a row of 262144 elements, at most 16384"));
  CHECK(contains(explained(digits),
                 "it reduces over [64], but the kernel's inner loops run over [900]"));
  CHECK(contains(explained(dense_layer), "%3 matmul") == true);
  const std::string rows = R"(func @main(%0: f32[n,m]) -> f32[n,m] {
  %1 = max %0 axes=[1] keepdims : f32[n,1]
  %2 = subtract %0, %1 : f32[n,m]
  return %2
})";
  CHECK(contains(explained(rows), "a row of m elements may not fit in a block"));
  CHECK(contains(explained(standardize, "sm_80"),
                 "nearest family normalization: a column of 8192 elements, at most 2048"));
  CHECK(contains(explained(standardize, host_target),
                 "nearest family normalization: its rows are not contiguous"));
}

TEST_CASE("limits on operations and operands cut with their numbers") {
  ir::Graph many;
  ir::ValueId value = many.parameter(DType::f32, {64});
  for (int i = 0; i < 900; ++i) value = many.add(i % 2 == 0 ? ir::Op::sin : ir::Op::exp, {value});
  many.outputs = {value};
  const auto operations =
      passes::plan_program(many, {ir::parse_target(cuda_target), {}, {}, {"roll_loops"}});
  CHECK(operations.kernels.size() == 3);
  CHECK(contains(passes::explain(operations), "would exceed 1024 operations or 64 operands"));
  CHECK(contains(passes::explain(operations),
                 "a fusion barrier here stores 1 value, which moves 512 bytes"));

  ir::Graph wide;
  ir::ValueId sum = wide.parameter(DType::f32, {64});
  for (int i = 0; i < 100; ++i)
    sum = wide.add(ir::Op::add, {sum, wide.parameter(DType::f32, {64})});
  wide.outputs = {sum};
  const auto operands = passes::plan_program(wide, {ir::parse_target(cuda_target), {}, {}, {}});
  CHECK(operands.kernels.size() == 2);
  CHECK(contains(passes::explain(operands), "would exceed 1024 operations or 64 operands"));
  for (const passes::KernelPlan& kernel : operands.kernels) CHECK(kernel.operands.size() <= 68);
}

TEST_CASE("a plan prints in words") {
  const std::string text = to_string(plan(transposed, cuda_target).kernels[0]);
  CHECK(text ==
        "transpose hd_multiply_add_f32 tiles along 0 edge=64 vector=4 threads=512 i32\n"
        "  outer: o0<256 o1<512\n"
        "  inner:\n"
        "  p0: f32 in\n"
        "  p1: f32 out\n"
        "  v0 = load p0[o0 + 256*o1] : f32\n"
        "  v1 = constant 2.0 : f32\n"
        "  v2 = multiply v0 v1 : f32\n"
        "  v3 = constant 1.0 : f32\n"
        "  v4 = add v2 v3 : f32\n"
        "  store p1[512*o0 + o1] = v4\n");
}
