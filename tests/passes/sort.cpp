#include "passes/plan/sort.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "passes/pipeline/traffic.h"
#include "passes/report/explain.h"
#include "tests/passes/plans.h"

using namespace heddle;
using namespace heddle::passes;
using namespace heddle::test;

namespace {

std::string sort_text(const char* op, const char* shape, int axis) {
  return fmt::format(
      "func @f(%0: f32{1}) -> {2}{1} {{\n  %1 = call {0} %0 {{axis = {3}}} : {2}{1}\n  return "
      "%1\n}}",
      op, shape, std::string_view(op) == "sort" ? "f32" : "i64", axis);
}

/// What the steps are, in order: "sort" a call, "kernel" a kernel.
std::string kinds_of(const PlannedProgram& planned) {
  std::string kinds;
  for (const Step& step : planned.program.steps) {
    REQUIRE(step.fill() == nullptr);
    kinds += (kinds.empty() ? "" : " ") + (step.call() ? step.call()->handler : "kernel");
  }
  return kinds;
}

SortCall sort_at(const PlannedProgram& planned, std::size_t step) {
  return sort_of(*planned.program.steps.at(step).call());
}

}  // namespace

TEST_CASE("rows that one block holds take one launch and no scratch") {
  for (const char* op : {"sort", "argsort"}) {
    const PlannedProgram planned = plan(sort_text(op, "[300,2048]", 1), cuda_target);
    CHECK(kinds_of(planned) == "sort");
    CHECK(planned.kernels.size() == 1);
    CHECK(planned.program.temporaries.empty());
    const SortCall step = sort_at(planned, 0);
    CHECK(launches(step, 300, 2048).size() == 1);
    CHECK(step.kernels->kernels[0].shared_bytes <= 48 * 1024);
  }
}

TEST_CASE("longer rows are merged, twice as long a run with each launch") {
  const PlannedProgram keys = plan(sort_text("sort", "[3,20000]", 1), cuda_target);
  REQUIRE(kinds_of(keys) == "sort");
  CHECK(keys.kernels.size() == 2);
  CHECK(keys.program.temporaries.size() == 1);
  // 5 tiles of 4,096: 5 runs, 3, 2, 1.
  const std::vector<KernelStep> steps = launches(sort_at(keys, 0), 3, 20000);
  REQUIRE(steps.size() == 4);
  for (const KernelStep& step : steps) CHECK(step.grid[0].elements == Dim(15));
  const auto destination = [](const KernelStep& step) { return step.parameters.back().buffer; };
  CHECK(destination(steps.back()) == sort_at(keys, 0).out);
  for (std::size_t i = 1; i < steps.size(); ++i)
    CHECK_FALSE(destination(steps[i]) == destination(steps[i - 1]));
  const PlannedProgram places = plan(sort_text("argsort", "[3,6000]", 1), cuda_target);
  CHECK(places.program.temporaries.size() == 4);
}

TEST_CASE("several short rows share a block, whatever is known of their length") {
  for (const char* shape : {"[1000,5]", "[m,n]"}) {
    const PlannedProgram planned = plan(sort_text("sort", shape, 1), cuda_target);
    const std::vector<KernelStep> steps = launches(sort_at(planned, 0), 1000, 5);
    REQUIRE(steps.size() == 1);
    // Runs of 16 elements, 256 of them a block.
    CHECK(steps[0].grid[0].elements == Dim(4));
    CHECK(launches(sort_at(planned, 0), 0, 5).empty());
  }
}

TEST_CASE("on the host the step is the whole sort") {
  const PlannedProgram planned = plan(sort_text("argsort", "[3,20000]", 1), host_target);
  CHECK(kinds_of(planned) == "sort");
  CHECK(planned.kernels.empty());
  CHECK(planned.program.temporaries.size() == 1);
}

TEST_CASE("another axis is moved by copies that what is around a sort fuses into") {
  for (const char* target : {cuda_target, host_target}) {
    const auto other = plan(sort_text("sort", "[64,32]", 0), target);
    CHECK(kinds_of(other) == "kernel sort kernel");
    // An axis of 1 behind it makes the memory the same.
    CHECK(kinds_of(plan(sort_text("sort", "[64,1]", 0), target)) == "sort");
    const auto around = plan(R"(func @f(%0: f32[64,32]) -> f32[64,32] {
  %1 = negative %0 : f32[64,32]
  %2 = call sort %1 {axis = 0} : f32[64,32]
  %3 = exp %2 : f32[64,32]
  return %3
})",
                             target);
    CHECK(kinds_of(around) == "kernel sort kernel");
  }
}

TEST_CASE("a flattened array is sorted where it lies") {
  const auto planned = plan(R"(func @f(%0: f32[64,32]) -> f32[2048] {
  %1 = reshape %0 : f32[2048]
  %2 = call sort %1 {axis = 0} : f32[2048]
  return %2
})",
                            cuda_target);
  CHECK(kinds_of(planned) == "sort");
}

TEST_CASE("a search is part of the kernel that uses it, and what it searches is in memory") {
  const char* text = R"(func @f(%0: f32[64], %1: f32[1000]) -> i64[1000] {
  %2 = negative %0 : f32[64]
  %3 = exp %1 : f32[1000]
  %4 = searchsorted_left %2, %3 : i64[1000]
  %5 = add %4, %4 : i64[1000]
  return %5
})";
  for (const char* target : {cuda_target, host_target}) {
    const PlannedProgram planned = plan(text, target);
    CHECK(planned.kernels.size() == 2);
    CHECK(contains(explain(planned), "a search reads it from memory"));
  }
}

TEST_CASE("explain counts what merging moves") {
  const PlannedProgram one = plan(sort_text("sort", "[4096]", 0), cuda_target);
  const PlannedProgram two = plan(sort_text("sort", "[8192]", 0), cuda_target);
  CHECK(traffic(one).moved == Dim(2 * 4096 * 4));
  CHECK(traffic(two).moved == Dim(2 * 2 * 8192 * 4));
}
