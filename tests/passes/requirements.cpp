#include <doctest/doctest.h>

#include "ir/graph/graph.h"
#include "tests/passes/plans.h"

using namespace heddle;
using namespace heddle::passes;
using namespace heddle::test;

namespace {

bool requires_that(const Program& program, const char* value) {
  for (const ir::Requirement& one : program.requirements) {
    if (one.value == ir::Dim::parse(value)) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("what a pass drops is still required") {
  for (const char* target : {cuda_target, host_target}) {
    CAPTURE(target);
    // All of the slice is written over.
    const PlannedProgram covered = plan(R"(func @f(%0: f32[n], %1: f32[5]) -> f32[5] {
  %2 = slice %0 starts=[n-5] steps=[1] : f32[5]
  %3 = slice_update %2, %1 starts=[0] steps=[1] shape=[5] : f32[5]
  %4 = exp %3 : f32[5]
  return %4
})",
                                        target);
    CHECK(requires_that(covered.program, "n-5"));
    CHECK(covered.graph.size() < 5);

    const PlannedProgram largest = plan(R"(func @f(%0: f32[n], %1: f32[]) -> f32[] {
  %2 = max %0 axes=[0] : f32[]
  %3 = slice_update %2, %1 starts=[] steps=[] shape=[] : f32[]
  return %3
})",
                                        target);
    CHECK(requires_that(largest.program, "n-1"));
    CHECK(largest.program.steps.empty());

    // The result has no elements, so that nothing is computed.
    const PlannedProgram empty = plan(R"(func @f(%0: f32[n,0]) -> i64[0] {
  %1 = argmin %0 axes=[0] : i64[0]
  return %1
})",
                                      target);
    CHECK(requires_that(empty.program, "n-1"));
    CHECK(empty.program.steps.empty());

    // The two ends of an identity: each slice has room, and together they are the array.
    const PlannedProgram same = plan(R"(func @f(%0: f32[n]) -> f32[n-3] {
  %1 = slice %0 starts=[3] steps=[1] : f32[n-3]
  %2 = slice %1 starts=[n-4] steps=[-1] : f32[n-3]
  %3 = slice %2 starts=[n-4] steps=[-1] : f32[n-3]
  return %3
})",
                                     target);
    CHECK(requires_that(same.program, "n-3"));
  }
}
