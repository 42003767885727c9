#include <algorithm>

#include <doctest/doctest.h>

#include "tests/passes/plans.h"

// Graphs in which the paths from an output to a value are many more than the graph's nodes: the
// kernel grows with the nodes.

using namespace heddle;
using namespace heddle::test;

namespace {

using passes::Instruction;

passes::PlannedProgram planned(const ir::Graph& graph) {
  return passes::plan_program(graph, {ir::parse_target(cuda_target), {}, {}, {}});
}

std::size_t count(const passes::PlannedProgram& program, ir::Op op) {
  std::size_t found = 0;
  for (const passes::KernelPlan& kernel : program.kernels) {
    for (const Instruction& one : kernel.body)
      found += one.kind == Instruction::Kind::apply && one.op == op ? 1 : 0;
  }
  return found;
}

std::size_t guarded_loads(const passes::PlannedProgram& program) {
  std::size_t found = 0;
  for (const passes::KernelPlan& kernel : program.kernels) {
    for (const Instruction& one : kernel.body)
      found += one.kind == Instruction::Kind::load && !one.arguments.empty() ? 1 : 0;
  }
  return found;
}

ir::Attributes region(std::int64_t start, std::int64_t extent) {
  ir::Attributes attributes;
  attributes.starts = {start};
  attributes.steps = {1};
  attributes.shape = {extent};
  return attributes;
}

/// x[1:] = tanh(x[from:from + 63]), `turns` times.
ir::Graph updates_of_themselves(int turns, std::int64_t from) {
  ir::Graph graph;
  ir::ValueId x = graph.parameter(DType::f32, {64});
  for (int i = 0; i < turns; ++i) {
    const ir::ValueId read = graph.add(ir::Op::slice, {x}, region(from, 63));
    x = graph.add(ir::Op::slice_update, {x, graph.add(ir::Op::tanh, {read})}, region(1, 63));
  }
  graph.outputs = {x};
  return graph;
}

}  // namespace

TEST_CASE("a value under many guards is computed once") {
  const passes::PlannedProgram same = planned(updates_of_themselves(60, 1));
  CHECK(same.kernels.size() == 1);
  CHECK(count(same, ir::Op::tanh) == 60);
  CHECK(guarded_loads(same) == 0);

  ir::Graph graph;
  ir::ValueId value = graph.parameter(DType::f32, {}), base = graph.parameter(DType::f32, {64});
  for (int i = 0; i < 100; ++i) value = graph.add(ir::Op::tanh, {value});
  for (int i = 0; i < 60; ++i)
    base = graph.add(ir::Op::slice_update, {base, value}, region(i, 2 + i % 3));
  graph.outputs = {base};
  CHECK(count(planned(graph), ir::Op::tanh) == 100);
}

TEST_CASE("updates of neighbours stay within the places that a kernel may read") {
  for (const int turns : {12, 24, 48}) {
    const passes::PlannedProgram program = planned(updates_of_themselves(turns, 0));
    CAPTURE(turns);
    CHECK(count(program, ir::Op::tanh) <= 16 * static_cast<std::size_t>(turns));
    for (const passes::KernelPlan& kernel : program.kernels) CHECK(kernel.body.size() < 1000);
  }
}

TEST_CASE("a load under one guard waits for it, and under two that overlap for its own bounds") {
  const char* once = R"(func @f(%0: f32[5], %1: f32[10]) -> f32[10] {
  %2 = slice_update %1, %0 starts=[2] steps=[1] shape=[5] : f32[10]
  return %2
})";
  CHECK(guarded_loads(plan(once, cuda_target)) == 1);
  const char* twice = R"(func @f(%0: f32[5], %1: f32[10], %2: f32[10]) -> f32[10] {
  %3 = slice_update %1, %0 starts=[2] steps=[1] shape=[5] : f32[10]
  %4 = slice %0 starts=[1] steps=[1] : f32[3]
  %5 = slice_update %2, %4 starts=[3] steps=[1] shape=[3] : f32[10]
  %6 = add %3, %5 : f32[10]
  return %6
})";
  const passes::PlannedProgram program = plan(twice, cuda_target);
  REQUIRE(program.kernels.size() == 1);
  CHECK(guarded_loads(program) == 1);
  const std::string text = to_string(program.kernels[0]);
  CAPTURE(text);
  CHECK(contains(text, "o0 + -2 in [0, 5) step 1"));
  CHECK(contains(text, "o0 in [2, 7) step 1"));
  CHECK(contains(text, "o0 in [3, 6) step 1"));
}

TEST_CASE("a concatenation of many arrays takes kernels of few operands") {
  for (const int parts : {64, 65, 200, 5000}) {
    ir::Graph graph;
    std::vector<ir::ValueId> values;
    for (int i = 0; i < parts; ++i) {
      const ir::ValueId array = graph.parameter(DType::f32, {2});
      values.push_back(i % 2 == 0 ? array : graph.add(ir::Op::tanh, {array}));
    }
    ir::Attributes attributes;
    attributes.axes = {0};
    graph.outputs = {graph.add(ir::Op::concatenate, values, attributes)};
    const passes::PlannedProgram program = planned(graph);
    CAPTURE(parts);
    CHECK(graph.shape(graph.outputs[0]) == ir::Shape{2 * parts});
    std::size_t reads = 0;
    for (const passes::KernelPlan& kernel : program.kernels) {
      CHECK(kernel.operands.size() <= 64 + 1);
      reads += kernel.operands.size();
    }
    CHECK(reads > static_cast<std::size_t>(parts));
    CHECK(program.kernels.size() <= static_cast<std::size_t>(parts) / 32 + 1);
  }
}

TEST_CASE("a sum of many reductions, all made before, takes kernels of few operands") {
  ir::Graph graph;
  std::vector<ir::ValueId> sums;
  for (int i = 0; i < 1000; ++i) {
    const ir::ValueId array = graph.parameter(DType::f32, {4, 3 + i % 3});
    ir::Attributes attributes;
    attributes.axes = {1};
    sums.push_back(graph.add(ir::Op::sum, {array}, attributes));
  }
  ir::ValueId total = sums[0];
  for (std::size_t i = 1; i < sums.size(); ++i) total = graph.add(ir::Op::add, {total, sums[i]});
  graph.outputs = {total};
  for (const passes::KernelPlan& kernel : planned(graph).kernels)
    CHECK(kernel.operands.size() <= 400);
}
