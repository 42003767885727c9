// Which kernels fold their sums: those whose threads may add more elements one after another than
// the bound of a sum's error allows.
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/passes/plans.h"

using namespace heddle;
using namespace heddle::test;

namespace {

/// The steps between folds of the first kernel that reduces; 0: never. Negative where a fold is a
/// plain addition.
int fold_of(const std::string& op, const std::string& type, const std::string& result, int axis,
            const char* target = cuda_target) {
  const std::string program =
      fmt::format("func @reduced(%0: {}) -> {} {{\n  %1 = {} %0 axes=[{}] : {}\n  return %1\n}}\n",
                  type, result, op, axis, result);
  const passes::PlannedProgram planned = plan(program, target);
  const passes::KernelPlan& kernel = planned.kernels.at(0);
  const passes::Folding folding = kernel.folding;
  CHECK(contains(to_string(kernel), " fold=") == (folding.steps > 0 && folding.compensated));
  CHECK(contains(to_string(kernel), " add=") == (folding.steps > 0 && !folding.compensated));
  return folding.compensated ? folding.steps : -folding.steps;
}

}  // namespace

TEST_CASE("sums fold with compensation if a thread adds many elements, or an unknown number") {
  CHECK(fold_of("sum", "f32[1000000000]", "f32[]", 0) == 32);
  CHECK(fold_of("sum", "f32[n]", "f32[]", 0) == 32);
  CHECK(fold_of("sum", "f16[n,m]", "f16[n]", 1) == 32);
  CHECK(fold_of("sum", "c64[4,100000000]", "c64[4]", 1) == 32);
  // Of eight threads a column, and eight warps that are added in turn.
  CHECK(fold_of("sum", "f32[n,m]", "f32[m]", 0) == 16);
  // Of 32 threads a column in each of the eight blocks of a cluster.
  CHECK(fold_of("sum", "f64[1000000,1000]", "f64[1000]", 0) == 32);
}

TEST_CASE("sums fold without compensation if a thread adds a moderate number of elements") {
  CHECK(fold_of("sum", "f32[512,1000,131]", "f32[512,131]", 1) == -16);
}

TEST_CASE("sums of few elements, exact sums and other reductions do not fold") {
  CHECK(fold_of("sum", "f32[1000000]", "f32[]", 0) == 0);
  CHECK(fold_of("sum", "f32[8192,8192]", "f32[8192]", 1) == 0);
  CHECK(fold_of("sum", "f32[100,8192]", "f32[8192]", 0) == 0);
  CHECK(fold_of("sum", "i64[n]", "i64[]", 0) == 0);
  for (const char* op : {"prod", "min", "max"}) CHECK(fold_of(op, "f32[n]", "f32[]", 0) == 0);
  CHECK(fold_of("sum", "f32[n]", "f32[]", 0, host_target) == 0);
}
