// Products of the transposes of long matrices with long matrices, and inverses, as a GPU's lowering
// writes them.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "ir/graph/graph.h"
#include "ir/interpreter/host_array.h"
#include "passes/calls/gemm.h"
#include "passes/calls/lowering.h"
#include "passes/plan/item_vectors.h"
#include "tests/passes/plans.h"
#include "tests/support/samples.h"

namespace heddle::test {
namespace {

std::string gram(int rows, int columns, const char* dtype) {
  return fmt::format(R"(func @main(%0: {2}[{0},{1}]) -> {2}[{1},{1}] {{
  %1 = transpose %0 axes=[1,0] : {2}[{1},{0}]
  %2 = call matmul %1, %0 : {2}[{1},{1}]
  return %2
}})",
                     rows, columns, dtype);
}

/// The transpose of [rows, left] times [rows, right].
std::string pair(int rows, int left, int right, const char* dtype) {
  return fmt::format(R"(func @main(%0: {3}[{0},{1}], %1: {3}[{0},{2}]) -> {3}[{1},{2}] {{
  %2 = transpose %0 axes=[1,0] : {3}[{1},{0}]
  %3 = call matmul %2, %1 : {3}[{1},{2}]
  return %3
}})",
                     rows, left, right, dtype);
}

constexpr const char* inverse_text =
    R"(func @main(%0: f64[3,4,4]) -> (f64[3,4,4], i32[3]) {
  %1 = iota axes=[1] : i64[3,4,4]
  %2 = iota axes=[2] : i64[3,4,4]
  %3 = equal %1, %2 : bool[3,4,4]
  %4 = cast %3 : f64[3,4,4]
  %5, _, _, %6 = call linalg.solve %0, %4 {transposed = true} : f64[3,4,4], f64[3,4,4], i32[3,4], i32[3]
  return %5, %6
})";

bool calls(const ir::Graph& graph, std::string_view name) {
  for (std::uint32_t i = 0; i < graph.size(); ++i) {
    if (graph.op(ir::ValueId{i}) == ir::Op::call && graph.op_name(ir::ValueId{i}) == name)
      return true;
  }
  return false;
}

/// The largest distance of an element of the lowered graph's first result from the op's own.
double lowered_error(std::string_view text, std::string_view name) {
  const ir::Graph graph = ir::parse(text);
  const ir::Graph lowered = passes::lower_calls(graph, ir::parse_target(cuda_target));
  REQUIRE(calls(lowered, name));
  std::vector<ir::HostArray> inputs;
  for (const ir::ValueId parameter : graph.parameters()) {
    const std::size_t seed = 1 + inputs.size();
    inputs.push_back(moderate_sample(graph.dtype(parameter), graph.shape(parameter), seed));
  }
  const ir::HostArray expected = ir::interpret(graph, inputs)[0];
  const ir::HostArray found = ir::interpret(lowered, inputs)[0];
  REQUIRE(expected.data.size() == found.data.size());
  double worst = 0;
  for (std::size_t i = 0; i < found.data.size(); i += sizeof(double)) {
    double a = 0, b = 0;
    std::memcpy(&a, &expected.data[i], sizeof a);
    std::memcpy(&b, &found.data[i], sizeof b);
    worst = std::max(worst, std::abs(a - b) / (1 + std::abs(a)));
  }
  return worst;
}

TEST_CASE("the transpose of a long matrix times the matrix is a kernel that fills a GPU") {
  CHECK(lowered_error(gram(16390, 5, "f64"), "linalg.gram_parts") < 1e-12);
  const passes::PlannedProgram planned = plan(gram(1 << 20, 32, "f32"), cuda_target);
  const passes::KernelPlan& first = planned.kernels.front();
  REQUIRE(first.items);
  CHECK(first.items->parts == 264);
  CHECK(first.items->phases.front().direct);
  CHECK(passes::access_width(first, first.items->phases.front()) == 4);
  CHECK(first.least_blocks == 2);
}

TEST_CASE("products of a long matrix ask for no more shared memory than a block may have") {
  for (const char* name : {"sm_75", "sm_89", "sm_90:h200"}) {
    const ir::Target target = ir::parse_target(name);
    for (const int columns : {2, 3, 4, 5, 9, 32, 100}) {
      CAPTURE(std::string(name));
      CAPTURE(columns);
      const passes::PlannedProgram planned =
          passes::plan_program(ir::parse(gram(1 << 20, columns, "f32")), {target, {}, {}, {}});
      bool found = false;
      for (const passes::Step& step : planned.program.steps) {
        const passes::KernelStep* const kernel = step.kernel();
        if (kernel == nullptr) continue;
        CHECK(kernel->shared_bytes <= static_cast<std::uint32_t>(target.shared_bytes_per_block));
        found |= kernel->shared_bytes > 0;
      }
      CHECK(found);
    }
  }
}

TEST_CASE("work on a long matrix happens where its product reads it") {
  const passes::PlannedProgram planned = plan(R"(func @main(%0: f32[1048576,32]) -> f32[32,32] {
  %1 = square %0 : f32[1048576,32]
  %2 = transpose %1 axes=[1,0] : f32[32,1048576]
  %3 = call matmul %2, %1 : f32[32,32]
  return %3
})",
                                              cuda_target);
  CHECK(planned.kernels.front().items->parts == 264);
  for (const passes::KernelPlan& kernel : planned.kernels) CHECK(kernel.family != "pointwise");
}

TEST_CASE(
    "the transpose of a long matrix times another long matrix is one kernel that makes both") {
  CHECK(lowered_error(pair(16390, 5, 9, "f64"), "linalg.gram_parts") < 1e-12);
  const passes::PlannedProgram planned =
      plan(R"(func @main(%0: f32[1048576,32], %1: f32[1048576,1], %2: f32[1,32]) -> f32[32,32] {
  %3 = subtract %0, %2 : f32[1048576,32]
  %4 = multiply %3, %1 : f32[1048576,32]
  %5 = transpose %4 axes=[1,0] : f32[32,1048576]
  %6 = call matmul %5, %3 : f32[32,32]
  return %6
})",
           cuda_target);
  const passes::KernelPlan& first = planned.kernels.front();
  REQUIRE(first.items);
  CHECK(first.items->parts == 264);
  REQUIRE(first.items->phases.size() == 4);
  for (const passes::ItemPhase& phase : first.items->phases) CHECK(phase.direct == !phase.routine);
  for (const passes::KernelPlan& kernel : planned.kernels) CHECK(kernel.family != "pointwise");
}

TEST_CASE("short, wide, large and other products are a library's") {
  const ir::Target target = ir::parse_target(cuda_target);
  const auto is_own = [&](const std::string& text) {
    return calls(passes::lower_calls(ir::parse(text), target), "linalg.gram_parts");
  };
  CHECK(!is_own(gram(1000, 32, "f32")));
  CHECK(!is_own(gram(1 << 15, 129, "f32")));
  CHECK(!is_own(gram(1 << 15, 32, "c64")));
  CHECK(is_own(pair(1 << 15, 64, 64, "f32")));
  CHECK(is_own(pair(1 << 15, 128, 2, "f64")));
  CHECK(!is_own(pair(1 << 15, 64, 65, "f32")));
  CHECK(!is_own(pair(1 << 15, 64, 32, "f64")));
  // 32 bits would not count the elements of the last chunk.
  CHECK(!is_own(gram(16777215, 128, "f32")));
  CHECK(!is_own(gram(1073741823, 9, "f32")));
  CHECK(is_own(gram(16769023, 128, "f32")));
  CHECK(!calls(
      passes::lower_calls(ir::parse(gram(1 << 20, 32, "f32")), ir::parse_target(host_target)),
      "linalg.gram_parts"));
}

TEST_CASE("solutions for the identity are inverses, which need no factors in memory") {
  CHECK(lowered_error(inverse_text, "linalg.inverse") < 1e-12);
  const passes::PlannedProgram planned = plan(inverse_text, cuda_target);
  REQUIRE(planned.kernels.size() == 1);
  CHECK(planned.kernels[0].items->bytes < 2 * 4 * 4 * 8);
  std::string with_factors(inverse_text);
  with_factors.replace(with_factors.find("%5, _"), 5, "%5, %7");
  with_factors.replace(with_factors.find("%5, %6"), 6, "%7, %6");
  CHECK(!calls(passes::lower_calls(ir::parse(with_factors), ir::parse_target(cuda_target)),
               "linalg.inverse"));
}

}  // namespace

TEST_CASE("a library conjugates operands that it transposes") {
  const auto kernels = [](const std::string& left, const char* target) {
    return plan("func @main(%0: c64[40,18], %1: c64[40,33]) -> c64[18,33] {\n" + left +
                    " %4 = call matmul %3, %1 : c64[18,33]\n return %4\n}\n",
                target)
        .kernels.size();
  };
  for (const char* const target : {cuda_target, host_target}) {
    CHECK(kernels(" %2 = conjugate %0 : c64[40,18]\n"
                  " %3 = transpose %2 axes=[1,0] : c64[18,40]\n",
                  target) == 0);
    CHECK(kernels(" %2 = transpose %0 axes=[1,0] : c64[18,40]\n %3 = conjugate %2 : c64[18,40]\n",
                  target) == 0);
    CHECK(kernels(" %2 = reshape %0 : c64[18,40]\n %3 = conjugate %2 : c64[18,40]\n", target) == 1);
  }
}

TEST_CASE("what is computed from a transpose is stored as the matrix, which a library transposes") {
  const auto transposes = [](const std::string& left, const char* target) {
    const passes::Program program =
        plan(
            "func @main(%0: f32[40,18], %1: f32[40], %2: f32[18,40]) -> f32[18,18] {\n"
            " %3 = transpose %0 axes=[1,0] : f32[18,40]\n" +
                left + " %7 = call matmul %6, %0 : f32[18,18]\n return %7\n}\n",
            target)
            .program;
    REQUIRE(program.steps.size() == 2);
    return passes::gemm_of(*program.steps[1].call()).a_transposed;
  };
  for (const char* const target : {cuda_target, host_target}) {
    CHECK(transposes(" %6 = multiply %3, %1 : f32[18,40]\n", target));
    CHECK(transposes(" %5 = exp %3 : f32[18,40]\n %6 = multiply %1, %5 : f32[18,40]\n", target));
    CHECK_FALSE(transposes(" %6 = multiply %3, %2 : f32[18,40]\n", target));
  }
}

}  // namespace heddle::test
