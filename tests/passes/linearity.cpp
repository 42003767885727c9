#include <algorithm>
#include <ctime>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/passes/plans.h"

using namespace heddle;
using namespace heddle::test;

namespace {

ir::Graph chain(int length) {
  ir::Graph graph;
  ir::ValueId value = graph.parameter(DType::f32, {4096});
  static constexpr ir::Op ops[] = {ir::Op::sin, ir::Op::add, ir::Op::tanh, ir::Op::multiply};
  for (int i = 0; i < length; ++i) {
    const ir::Op op = ops[i % 4];
    value = ir::info(op).arity == 1 ? graph.add(op, {value})
                                    : graph.add(op, {value, graph.parameters()[0]});
  }
  graph.outputs = {value};
  return graph;
}

/// One value that `count` others use, all of which one sum takes in.
ir::Graph fan(int count) {
  ir::Graph graph;
  const ir::ValueId shared = graph.add(ir::Op::exp, {graph.parameter(DType::f32, {64})});
  ir::ValueId sum = shared;
  for (int i = 0; i < count; ++i) sum = graph.add(ir::Op::add, {sum, shared});
  graph.outputs = {sum};
  return graph;
}

ir::ValueId view(ir::Graph& graph, ir::ValueId value, int i) {
  ir::Attributes attributes;
  switch (i % 3) {
    case 0:
      attributes.axes = {1, 0};
      return graph.add(ir::Op::transpose, {value}, attributes);
    case 1:
      attributes.shape = graph.shape(value);
      attributes.starts = {attributes.shape[0] - ir::Dim(1), 0};
      attributes.steps = {-1, 1};
      return graph.add(ir::Op::slice, {value}, attributes);
    default:
      attributes.shape = {graph.shape(value)[1], graph.shape(value)[0]};
      return graph.add(ir::Op::reshape, {value}, attributes);
  }
}

ir::Graph views(int depth) {
  ir::Graph graph;
  ir::ValueId value = graph.parameter(DType::f32, {32, 32});
  // Rank and extents come back to where they were, so depth is all that grows.
  for (int i = 0; i < depth; ++i) value = view(graph, value, i % 3 == 2 ? 1 : i);
  graph.outputs = {graph.add(ir::Op::exp, {value})};
  return graph;
}

/// Chains of updates, each of which reads the one before.
ir::Graph updates(int count) {
  ir::Graph graph;
  ir::ValueId value = graph.parameter(DType::f32, {4096, 16});
  const ir::ValueId row = graph.parameter(DType::f32, {1, 16});
  for (int i = 0; i < count; ++i) {
    ir::Attributes attributes;
    attributes.shape = {1, 16};
    attributes.starts = {i % 4096, 0};
    attributes.steps = {1, 1};
    value = graph.add(ir::Op::slice_update, {value, row}, attributes);
  }
  graph.outputs = {value};
  return graph;
}

/// As many outputs as inputs of their size, each of which could be any's.
ir::Graph negations(int count) {
  ir::Graph graph;
  for (int i = 0; i < count; ++i) graph.parameter(DType::f32, {64});
  for (int i = 0; i < count; ++i)
    graph.outputs.push_back(graph.add(ir::Op::negative, {graph.parameters()[i]}));
  return graph;
}

/// Of this thread, so that what else runs on the machine counts less.
double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double seconds_to_plan(const ir::Graph& graph, const std::vector<bool>& donated = {}) {
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    const double start = processor_seconds();
    const auto planned =
        passes::plan_program(graph, {ir::parse_target(cuda_target), donated, {}, {}});
    CHECK_FALSE(planned.kernels.empty());
    best = std::min(best, processor_seconds() - start);
  }
  return best;
}

/// Ten times the nodes: 10 times as long when planning is linear, 100 times when it is quadratic.
/// The bound lies between, far from both, for caches and neighbours move such a ratio a good deal;
/// the ratio itself is printed.
void check_linear(double small, double large, double most_seconds) {
  MESSAGE(
      fmt::format("ten times the nodes took {:.1f} times as long, {:.4f} s", large / small, large));
  CHECK(large <= 36 * small);
  CHECK(large < most_seconds);
}

}  // namespace

TEST_CASE("a chain of 10,000 is planned in linear time") {
  check_linear(seconds_to_plan(chain(1000)), seconds_to_plan(chain(10000)), 5);
}

TEST_CASE("a value with 40,000 users is planned in linear time") {
  check_linear(seconds_to_plan(fan(4000)), seconds_to_plan(fan(40000)), 20);
}

TEST_CASE("views 10,000 deep are planned in linear time") {
  check_linear(seconds_to_plan(views(1000)), seconds_to_plan(views(10000)), 5);
}

TEST_CASE("thousands of updates in a row are planned in linear time") {
  check_linear(seconds_to_plan(updates(400), {true, false}),
               seconds_to_plan(updates(4000), {true, false}), 10);
}

TEST_CASE("thousands of donated inputs find their outputs in linear time") {
  check_linear(seconds_to_plan(negations(400), std::vector<bool>(400, true)),
               seconds_to_plan(negations(4000), std::vector<bool>(4000, true)), 5);
}
