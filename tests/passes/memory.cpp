// What programs keep beside their inputs and outputs.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/passes/plans.h"
#include "tests/passes/programs.h"

using namespace heddle;
using namespace heddle::test;

namespace {

const char* const perceptron =
    "func @perceptron(%0: f32[8192,1024], %1: f32[1024,4096], %2: f32[4096], %3: f32[4096,1024], "
    "%4: f32[1024]) -> f32[8192,1024] {\n"
    " %5 = call matmul %0, %1 : f32[8192,4096]\n %6 = add %5, %2 : f32[8192,4096]\n"
    " %7 = tanh %6 : f32[8192,4096]\n %8 = call matmul %7, %3 : f32[8192,1024]\n"
    " %9 = add %8, %4 : f32[8192,1024]\n %10 = exp %9 : f32[8192,1024]\n return %10\n}\n";

std::int64_t arena_bytes(const passes::Program& program) {
  std::vector<std::int64_t> sizes;
  for (const passes::Temporary& temporary : program.temporaries)
    sizes.push_back(temporary.bytes.constant());
  return passes::plan_arena(program.temporaries, sizes).bytes;
}

}  // namespace

TEST_CASE("temporaries hold no values that stay within one kernel") {
  struct Case {
    const char* text;
    std::int64_t kept;  ///< bytes that have to be in memory in between, beside states of reductions
  };
  const Case cases[] = {{pointwise_chain, 0}, {softmax, 0},
                        {wide_softmax, 0},    {layernorm, 0},
                        {standardize, 0},     {sum_of_all, 0},
                        {sum_of_rows, 0},     {sum_of_columns, 0},
                        {row_norms, 0},       {jacobi, 0},
                        {transposed, 0},      {mean_and_variance, 0},
                        {dense_layer, 0},     {perceptron, 8192LL * 4096 * 4}};
  for (const char* const target : {cuda_target, host_target}) {
    for (const Case& each : cases) {
      const passes::Program program = plan(each.text, target).program;
      CAPTURE(program.name);
      CAPTURE(std::string(target));
      // States are of lines or parts, of which the smallest inputs here have some hundreds.
      std::int64_t inputs = 0;
      for (const passes::ProgramInput& input : program.inputs)
        inputs += byte_count(input.type).constant();
      CHECK(arena_bytes(program) >= each.kept);
      CHECK(arena_bytes(program) <= each.kept + inputs / 50);
    }
  }
}

TEST_CASE("a kernel after a product writes its result over the product") {
  const passes::PlannedProgram planned = plan(perceptron, host_target);
  const passes::Program& program = planned.program;
  REQUIRE(program.temporaries.size() == 1);
  REQUIRE(program.steps.size() == 4);
  const passes::BufferRef hidden{passes::BufferRef::Kind::temporary, 0},
      result{passes::BufferRef::Kind::output, 0};
  CHECK(program.temporaries[0].first_step == 0);
  CHECK(program.temporaries[0].last_step == 2);
  CHECK(program.steps[0].call()->results[0].buffer == hidden);
  CHECK(program.steps[2].call()->operands[0].buffer == hidden);
  CHECK(program.steps[2].call()->results[0].buffer == result);
  for (const std::size_t step : {1, 3}) {
    const passes::KernelStep& kernel = *program.steps[step].kernel();
    int places = 0;
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
      const bool own = kernel.parameters[i].buffer == (step == 1 ? hidden : result);
      CHECK(planned.kernels[kernel.kernel].operands[i].aliased == own);
      places += own ? 1 : 0;
    }
    CHECK(places == 2);
  }
  const passes::Program apart = plan(perceptron, host_target, {}, {"in_place"}).program;
  CHECK(apart.temporaries.size() == 3);
  CHECK(arena_bytes(apart) == 2 * arena_bytes(program));
}

TEST_CASE("no result is written over an operand that is read at other indices or later") {
  const char* const programs[] = {
      // Read reversed.
      "func @reversed(%0: f32[64,64], %1: f32[64,64]) -> f32[64,64] {\n"
      " %2 = call matmul %0, %1 : f32[64,64]\n"
      " %3 = slice %2 starts=[63,0] steps=[-1,1] : f32[64,64]\n"
      " %4 = exp %3 : f32[64,64]\n %5 = call matmul %4, %1 : f32[64,64]\n return %5\n}\n",
      // Read in two places.
      "func @twice(%0: f32[64,64], %1: f32[64,64]) -> f32[64,64] {\n"
      " %2 = call matmul %0, %1 : f32[64,64]\n %3 = transpose %2 axes=[1,0] : f32[64,64]\n"
      " %4 = add %2, %3 : f32[64,64]\n %5 = call matmul %4, %1 : f32[64,64]\n return %5\n}\n",
      // Read again by a later product.
      "func @later(%0: f32[64,64], %1: f32[64,64]) -> f32[64,64] {\n"
      " %2 = call matmul %0, %1 : f32[64,64]\n %3 = exp %2 : f32[64,64]\n"
      " %4 = call matmul %3, %2 : f32[64,64]\n return %4\n}\n",
      // Of elements of another size.
      "func @wider(%0: f32[64,64], %1: f32[64,64]) -> f64[64,64] {\n"
      " %2 = call matmul %0, %1 : f32[64,64]\n %3 = cast %2 : f64[64,64]\n"
      " %4 = exp %3 : f64[64,64]\n return %4\n}\n"};
  for (const char* const text : programs) {
    CAPTURE(std::string(text));
    const passes::PlannedProgram planned = plan(text, host_target);
    CHECK(planned.program.temporaries.size() ==
          plan(text, host_target, {}, {"in_place"}).program.temporaries.size());
    for (const passes::KernelPlan& kernel : planned.kernels) {
      for (const passes::KernelOperand& operand : kernel.operands) CHECK_FALSE(operand.aliased);
    }
  }
}

namespace {

/// Of an array of `rows` rows of 256 zeros, the first rows become sines of the parameter, each plus
/// the row before.
ir::Graph rows_one_by_one(std::int64_t rows, int updates) {
  ir::Graph graph;
  const ir::ValueId source = graph.parameter(DType::f32, {rows, 256});
  ir::Attributes all;
  all.shape = {rows, 256};
  const ir::ValueId zero = graph.constant(DType::f32, {});
  ir::ValueId made = graph.add(ir::Op::broadcast_to, {zero}, all);
  for (int k = 0; k < updates; ++k) {
    ir::Attributes row;
    row.shape = {1, 256};
    row.starts = {k, 0};
    row.steps = {1, 1};
    ir::ValueId value = graph.add(ir::Op::sin, {graph.add(ir::Op::slice, {source}, row)});
    if (k > 0) {
      ir::Attributes before = row;
      before.starts[0] = k - 1;
      value = graph.add(ir::Op::add, {value, graph.add(ir::Op::slice, {made}, before)});
    }
    made = graph.add(ir::Op::slice_update, {made, value}, row);
  }
  graph.outputs = {made};
  return graph;
}

std::size_t updates_in_place(const ir::Graph& graph, const char* target) {
  const passes::PlannedProgram planned =
      passes::plan_program(graph, {ir::parse_target(target), {}, {}, {"roll_loops"}});
  return static_cast<std::size_t>(
      std::ranges::count(planned.grouping.groups, true, &passes::Group::in_place));
}

}  // namespace

TEST_CASE("updates of small parts are done in place, in the memory of the output") {
  const ir::Graph graph = rows_one_by_one(64, 20);
  CHECK(updates_in_place(graph, host_target) == 20);
  // For a GPU, this array is small.
  CHECK(updates_in_place(graph, cuda_target) == 0);
  CHECK(updates_in_place(rows_one_by_one(1 << 16, 20), cuda_target) == 20);
  // A few more launches cost little on a CPU, and much on a GPU.
  CHECK(updates_in_place(rows_one_by_one(1 << 16, 7), cuda_target) == 0);
  CHECK(updates_in_place(rows_one_by_one(64, 2), host_target) == 2);
  CHECK(updates_in_place(rows_one_by_one(64, 1), host_target) == 0);
  CHECK(updates_in_place(rows_one_by_one(2, 2), host_target) == 0);
  const passes::Program program =
      passes::plan_program(graph, {ir::parse_target(host_target), {}, {}, {"roll_loops"}}).program;
  CHECK(program.temporaries.empty());
}

TEST_CASE("rows that a library reads later are not overwritten") {
  const auto in_place = [](const char* order, const char* target) {
    const std::string text =
        "func @main(%0: f32[8,64], %1: f32[2,64], %2: f32[64,32]) -> (f32[8,64], f32[2,32]) {\n"
        "  %3 = slice %0 starts=[1,0] steps=[1,1] : f32[2,64]\n" +
        std::string(order) + "  %5 = call matmul %3, %2 : f32[2,32]\n  return %4, %5\n}";
    return plan(text, target, {true, false, false}).grouping.groups;
  };
  for (const char* target : {cuda_target, host_target}) {
    // A value from elsewhere, and the rows themselves.
    for (const char* value : {"%1", "%3"}) {
      const std::string update = fmt::format(
          "  %4 = slice_update %0, {} starts=[0,0] steps=[1,1] shape=[2,64] : f32[8,64]\n", value);
      CHECK(std::ranges::none_of(in_place(update.c_str(), target), &passes::Group::in_place));
    }
    const char* const apart =
        "  %4 = slice_update %0, %1 starts=[4,0] steps=[1,1] shape=[2,64] : f32[8,64]\n";
    CHECK(std::ranges::none_of(in_place(apart, target), &passes::Group::in_place));
  }
}
