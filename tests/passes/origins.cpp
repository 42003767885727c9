#include <doctest/doctest.h>

#include "passes/pipeline/traffic.h"
#include "tests/passes/plans.h"
#include "tests/passes/programs.h"

using namespace heddle;
using namespace heddle::test;

namespace {

/// The ops of the graph that step `i` of its program says it computes, with their lines.
std::string origins(const ir::Graph& graph, std::size_t i, const char* target) {
  const passes::PlannedProgram planned =
      passes::plan_program(graph, {ir::parse_target(target), {}, {}, {}});
  const std::vector<ir::ValueId> order = ir::shared_order(graph);
  std::string text;
  for (const std::uint32_t origin : planned.program.steps.at(i).origins) {
    const ir::Node& node = graph.node(order.at(origin));
    text += std::string(ir::info(node.op).name) + ":" + std::to_string(node.location.line) + " ";
  }
  return text;
}

/// sin(x) + exp(y), recorded in either order, and something that no output needs.
ir::Graph sum_of_two(bool reversed) {
  ir::Graph graph;
  const ir::ValueId x = graph.parameter(DType::f32, {64}), y = graph.parameter(DType::f32, {64});
  const auto sine = [&] { return graph.add(ir::Op::sin, {x}, {}, {"a.cpp", 1}); };
  const auto power = [&] { return graph.add(ir::Op::exp, {y}, {}, {"a.cpp", 2}); };
  if (reversed) power();
  graph.add(ir::Op::cos, {x}, {}, {"a.cpp", 9});
  graph.outputs = {graph.add(ir::Op::add, {sine(), power()}, {}, {"a.cpp", 3})};
  return graph;
}

}  // namespace

TEST_CASE("steps name the nodes that they compute, in whatever order these were recorded") {
  const ir::Graph one = sum_of_two(false), two = sum_of_two(true);
  REQUIRE(one.hash() == two.hash());
  CHECK(origins(one, 0, host_target) == "sin:1 exp:2 add:3 ");
  CHECK(origins(two, 0, host_target) == "sin:1 exp:2 add:3 ");
  // The program of one serves the other, whose own nodes have other numbers.
  const auto planned = passes::plan_program(one, {ir::parse_target(host_target), {}, {}, {}});
  const std::vector<ir::ValueId> order = ir::shared_order(two);
  std::string ops;
  for (const std::uint32_t origin : planned.program.steps[0].origins)
    ops += std::string(ir::info(two.op(order[origin])).name) + " ";
  CHECK(ops == "sin exp add ");
}

TEST_CASE("what passes rewrite keeps its origin, and each step has its own") {
  const ir::Graph graph = ir::parse(dense_layer, "dense.hd");
  const auto planned = passes::plan_program(graph, {ir::parse_target("sm_80"), {}, {}, {}});
  std::vector<std::uint32_t> all;
  for (const passes::Step& step : planned.program.steps) {
    CHECK_FALSE(step.origins.empty());
    all.insert(all.end(), step.origins.begin(), step.origins.end());
  }
  const auto order = ir::shared_order(graph);
  for (const std::uint32_t origin : all) CHECK(graph.node(order.at(origin)).location.line > 0);
}

TEST_CASE("steps move what the program moves, and programs keep it") {
  for (const char* text : {pointwise_chain, softmax, dense_layer, wide_softmax}) {
    const passes::PlannedProgram planned = plan(text, "sm_80");
    const passes::Program read = passes::program_from_json(passes::to_json(planned.program));
    ir::Dim moved;
    REQUIRE(read.steps.size() == planned.program.steps.size());
    for (std::size_t i = 0; i < read.steps.size(); ++i) {
      moved += read.steps[i].moved;
      CHECK(read.steps[i].origins == planned.program.steps[i].origins);
    }
    CHECK(moved == passes::traffic(planned).moved);
  }
}
