#include "passes/report/report.h"

#include <algorithm>
#include <set>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "passes/pipeline/flops.h"
#include "tests/passes/dot_grammar.h"
#include "tests/passes/plans.h"
#include "tests/passes/programs.h"

using namespace heddle;
using namespace heddle::test;
using ir::Dim;

namespace {

passes::Report report_of(std::string_view text, const char* target = cuda_target,
                         std::vector<bool> donated = {}, std::vector<std::string> disabled = {}) {
  const ir::Graph graph = ir::parse(text, "program.hd");
  const passes::PlanOptions options{
      ir::parse_target(target), std::move(donated), {}, std::move(disabled)};
  passes::Reporter reporter(graph);
  const passes::PlannedProgram planned = plan_program(graph, options, reporter.observer());
  return reporter.report(planned, options);
}

const passes::ReportPass& pass_of(const passes::Report& report, std::string_view name) {
  return *std::ranges::find(report.passes, name, &passes::ReportPass::name);
}

std::vector<passes::ChangedLine> differences(const char* before, const char* after) {
  return passes::difference(ir::parse(before), ir::parse(after));
}

constexpr const char* squares = R"(func @squares(%0: f32[n,8]) -> f32[8,n] {
  %1 = constant 2.0 : f32[]
  %2 = power %0, %1 : f32[n,8]
  %3 = transpose %2 axes=[1,0] : f32[8,n]
  %4 = exp %3 : f32[8,n]
  return %4
})";

}  // namespace

TEST_CASE("nodes are printed one by one as in the whole text") {
  const ir::Graph graph = ir::parse(softmax);
  const std::vector<ir::PrintedNode> nodes = ir::print_nodes(graph);
  REQUIRE(nodes.size() == 6);
  CHECK(nodes[0].text == "%0: f32[512,96]");
  const std::string whole = ir::print(graph);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    CHECK(nodes[i].number == i);
    CHECK(contains(whole, nodes[i].text));
  }
}

TEST_CASE("a difference keeps what stays the same operation") {
  const char* before = R"(func @f(%0: f32[4]) -> f32[4] {
  %1 = constant 2.0 : f32[]
  %2 = power %0, %1 : f32[4]
  %3 = exp %2 : f32[4]
  return %3
})";
  const char* after = R"(func @f(%0: f32[4]) -> f32[4] {
  %1 = multiply %0, %0 : f32[4]
  %2 = exp %1 : f32[4]
  return %2
})";
  const auto lines = differences(before, after);
  REQUIRE(lines.size() == 5);
  CHECK((lines[0].before == 0 && lines[0].after == 0 && !lines[0].rewired));
  CHECK((lines[1].before == 1 && !lines[1].after));
  CHECK((lines[2].before == 2 && !lines[2].after));
  CHECK((!lines[3].before && lines[3].after == 1));
  CHECK((lines[4].before == 3 && lines[4].after == 2 && lines[4].rewired));
  for (const passes::ChangedLine& line : differences(before, before)) {
    CHECK(line.before == line.after);
    CHECK_FALSE(line.rewired);
  }
}

TEST_CASE("a difference of long graphs lists every node of both once") {
  const auto chain = [](int length, ir::Op op) {
    ir::Graph graph;
    ir::ValueId value = graph.parameter(DType::f32, {64});
    for (int i = 0; i < length; ++i) value = graph.add(i % 2 == 0 ? op : ir::Op::exp, {value});
    graph.outputs = {value};
    return graph;
  };
  // The second is beyond what is aligned pair by pair.
  for (const int length : {40, 5000}) {
    const auto lines = passes::difference(chain(length, ir::Op::sin), chain(length, ir::Op::cos));
    std::set<std::uint32_t> before, after;
    for (const passes::ChangedLine& line : lines) {
      if (line.before) CHECK(before.insert(*line.before).second);
      if (line.after) CHECK(after.insert(*line.after).second);
    }
    CHECK(before.size() == static_cast<std::size_t>(length) + 1);
    CHECK(after.size() == static_cast<std::size_t>(length) + 1);
  }
}

TEST_CASE("a report has every pass, in order, and what it changed") {
  const passes::Report report = report_of(squares);
  REQUIRE(report.passes.size() == passes::graph_passes().size());
  for (std::size_t i = 0; i < report.passes.size(); ++i) {
    const passes::ReportPass& shown = report.passes[i];
    CHECK(shown.name == passes::graph_passes()[i].name);
    CHECK(shown.why == passes::graph_passes()[i].why);
    CHECK(shown.before == (i == 0 ? 0 : report.passes[i - 1].after));
    CHECK(shown.changes.empty() == (shown.before == shown.after));
  }
  const passes::ReportPass& simplify = pass_of(report, "simplify");
  CHECK(simplify.after == simplify.before + 1);
  CHECK(pass_of(report, "split_concatenate").changes.empty());
  CHECK(report.passes.back().after + 1 == report.graphs.size());

  const passes::Report off = report_of(squares, cuda_target, {}, {"simplify"});
  CHECK_FALSE(pass_of(off, "simplify").ran);
  CHECK(pass_of(off, "simplify").changes.empty());
}

TEST_CASE("groups, kernels, steps and buffers of a report refer to each other") {
  for (const char* target : {cuda_target, host_target}) {
    for (const char* text : {pointwise_chain, softmax, wide_softmax, digits, dense_layer,
                             sum_of_all, jacobi, min_and_max, update, squares}) {
      CAPTURE(text);
      const passes::Report report = report_of(text, target);
      const std::size_t nodes = report.graphs.back().nodes.size();
      std::set<std::uint32_t> steps;
      for (const passes::ReportGroup& group : report.groups) {
        CHECK_FALSE(group.members.empty());
        for (const std::uint32_t member : group.members) CHECK(member < nodes);
        for (const std::uint32_t kernel : group.kernels)
          CHECK(report.kernels[kernel].group == group.id);
        for (const std::uint32_t step : group.steps) {
          CHECK(report.steps[step].group == group.id);
          CHECK(steps.insert(step).second);
        }
      }
      CHECK(steps.size() == report.steps.size());
      for (const passes::ReportKernel& kernel : report.kernels) CHECK_FALSE(kernel.nodes.empty());
      for (const passes::ReportTemporary& one : report.temporaries) {
        CHECK_FALSE(one.nodes.empty());
        CHECK(one.last_step < report.steps.size());
      }
    }
  }
}

TEST_CASE("flops are counted as on paper") {
  // Each of 1,000 x 64 elements: multiply, add, tanh, exp.
  CHECK(report_of(pointwise_chain).flops == Dim(1000 * 64 * 4));
  // Each element: max, subtract, exp, sum, divide.
  CHECK(report_of(softmax).flops == Dim(512 * 96 * 5));
  CHECK(report_of(softmax, host_target).flops == Dim(512 * 96 * 5));
  CHECK(report_of(squares).flops == report_of(squares, host_target).flops);
  const passes::Report product =
      report_of(R"(func @f(%0: f32[64,32], %1: f32[32,20]) -> f32[64,20] {
  %2 = call matmul %0, %1 : f32[64,20]
  return %2
})");
  CHECK(product.flops == Dim(2 * 64 * 32 * 20));
  const passes::Report integers = report_of(R"(func @f(%0: i32[64]) -> i32[64] {
  %1 = multiply %0, %0 : i32[64]
  return %1
})");
  CHECK(integers.flops == Dim(0));
  const passes::Report complex = report_of(R"(func @f(%0: c64[64]) -> c64[64] {
  %1 = multiply %0, %0 : c64[64]
  %2 = add %1, %0 : c64[64]
  return %2
})");
  CHECK(complex.flops == Dim(64 * (6 + 2)));
}

TEST_CASE("kernels of transforms report their flops, their nodes and what they store") {
  const char* text = R"(func @f(%0: c64[32,16]) -> c64[16,32] {
  %1 = multiply %0, %0 : c64[32,16]
  %2 = call fft.fft %1 : c64[32,16]
  %3 = transpose %2 axes=[1,0] : c64[16,32]
  %4 = call fft.fft %3 : c64[16,32]
  return %4
})";
  using Numbers = std::vector<std::uint32_t>;
  for (const char* target : {cuda_target, host_target}) {
    const passes::Report report = report_of(text, target);
    REQUIRE(report.steps.size() == 2);
    CHECK(report.steps[0].flops.to_string() == std::to_string(32 * (16 * 6 + 5 * 16 * 4)));
    CHECK(report.steps[1].flops.to_string() == std::to_string(16 * (5 * 32 * 5)));
    CHECK(report.kernels[0].nodes == Numbers{1, 2});
    CHECK(report.kernels[1].nodes == Numbers{4});
    REQUIRE(report.temporaries.size() == 1);
    CHECK(report.temporaries[0].nodes == Numbers{3});
  }
}

TEST_CASE("a ratio of expressions is a number where it does not depend on symbols") {
  const Dim n = Dim::symbol("n");
  CHECK(passes::ratio(n * 6, n * 4) == 1.5);
  CHECK(passes::ratio(Dim(1) * 1'000'000'000'000, Dim(1) * 4'000'000'000'000) == 0.25);
  CHECK_FALSE(passes::ratio(n * 6, n * n));
  CHECK_FALSE(passes::ratio(n * 6, Dim(0)));
}

TEST_CASE("temporaries have places where their sizes are known") {
  const passes::Report known = report_of(digits);
  const auto arena = passes::arena_of(known);
  REQUIRE(arena);
  REQUIRE(arena->offsets.size() == known.temporaries.size());
  for (std::size_t i = 0; i < known.temporaries.size(); ++i) {
    const std::int64_t end = arena->offsets[i] + known.temporaries[i].bytes.constant();
    CHECK(end <= arena->bytes);
  }
  const char* symbolic = R"(func @f(%0: f32[n,m]) -> f32[n,m] {
  %1 = max %0 axes=[1] keepdims : f32[n,1]
  %2 = subtract %0, %1 : f32[n,m]
  return %2
})";
  passes::Report unknown = report_of(symbolic);
  REQUIRE_FALSE(unknown.temporaries.empty());
  CHECK_FALSE(passes::arena_of(unknown));
  unknown.symbols = {{ir::intern_symbol("n"), 100}, {ir::intern_symbol("m"), 7}};
  CHECK(passes::arena_of(unknown));
}

TEST_CASE("the JSON of a report says the same, in numbers and expressions") {
  const auto json = nlohmann::json::parse(passes::to_json(report_of(squares)));
  CHECK(json["schema"] == 1);
  CHECK(json["program"] == "squares");
  CHECK(json["passes"].size() == passes::graph_passes().size());
  CHECK(json["bytes_moved"]["text"] == "64*n");
  CHECK(json["bytes_moved"]["value"].is_null());
  CHECK(json["bytes_over_fewest"] == 1.0);
  const auto& node = json["graphs"][0]["nodes"][2];
  CHECK(node["text"] == "%2 = power %0, %1 : f32[n,8]");
  CHECK(node["file"] == "program.hd");
  CHECK(node["line"] == 3);
  const auto memory = nlohmann::json::parse(passes::to_json(report_of(digits)));
  CHECK(memory["temporaries"][0]["offset"].is_number());
  CHECK(memory["arena_bytes"].is_number());
  // A name that is not UTF-8 is shown as far as it is.
  ir::Graph odd = ir::parse(squares);
  odd.name = "a\xff<b>";
  passes::Reporter reporter(odd);
  const passes::PlanOptions options{ir::parse_target(cuda_target), {}, {}, {}};
  const passes::PlannedProgram planned = plan_program(odd, options);
  const auto text = passes::to_json(reporter.report(planned, options));
  CHECK(nlohmann::json::parse(text)["program"] == "a\xef\xbf\xbd<b>");
}

TEST_CASE("donated inputs and outputs that are other arrays are told") {
  const auto json = nlohmann::json::parse(passes::to_json(report_of(
      "func @f(%0: f32[64]) -> (f32[64], f32[64]) {\n  %1 = exp %0 : f32[64]\n  return %1, %1\n}",
      cuda_target, {true})));
  CHECK(json["inputs"][0]["donated"] == true);
  CHECK(json["outputs"][0]["in_input"] == 0);
  CHECK(json["outputs"][1]["same_as_output"] == 0);
}

TEST_CASE("the graph prints in Graphviz's grammar, groups as clusters") {
  for (const char* text : {pointwise_chain, softmax, digits, dense_layer, jacobi, squares}) {
    CAPTURE(text);
    const passes::Report report = report_of(text);
    const std::string dot = passes::to_dot(report);
    DotReader reader(dot);
    CHECK(reader.read());
    const passes::ReportGraph& graph = report.graphs.back();
    std::size_t operands = 0;
    for (const passes::ReportNode& node : graph.nodes) operands += node.operands.size();
    CHECK(reader.nodes == static_cast<int>(graph.nodes.size() + graph.outputs.size()));
    CHECK(reader.edges == static_cast<int>(operands + graph.outputs.size()));
    CHECK(reader.subgraphs == static_cast<int>(report.groups.size()));
  }
  ir::Graph odd = ir::parse(squares);
  odd.name = "a \"b\" \\ {";
  const passes::PlanOptions options{ir::parse_target(cuda_target), {}, {}, {}};
  const std::string dot =
      passes::to_dot(passes::Reporter(odd).report(plan_program(odd, options), options));
  CHECK(DotReader(dot).read());
  CHECK_FALSE(DotReader(dot.substr(0, dot.size() - 3)).read());
}
