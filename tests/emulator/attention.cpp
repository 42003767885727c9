#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/graph/graph.h"
#include "ir/types/target.h"
#include "passes/pipeline/pipeline.h"
#include "tests/emulator/emulated_programs.h"
#include "tests/support/host_arrays.h"
#include "tests/support/oracle.h"
#include "tests/support/samples.h"

namespace heddle::emulator {
namespace {

/// What becomes of the scores %6 [b,n,m] in a program: statements that make %20, further
/// parameters, and what NumPy does with them.
struct Map {
  std::string statements, parameters, numpy = "scores";
};

/// Attention as programs write it: queries [b,n,d], keys and values [b,m,d] and [b,m,e] of one
/// dtype.
std::string attention(const std::string& dtype, int d, int e, const Map& map = {}) {
  const std::string queries = fmt::format("{}[b,n,{}]", dtype, d);
  const std::string keys = fmt::format("{}[b,m,{}]", dtype, d);
  const std::string values = fmt::format("{}[b,m,{}]", dtype, e);
  const std::string scores = dtype + "[b,n,m]", rows = dtype + "[b,n,1]";
  return fmt::format(
      "func @attention(%0: {0}, %1: {1}, %2: {2}{8}) -> {5}[b,n,{6}] {{\n"
      "  %3 = transpose %1 axes=[0,2,1] : {5}[b,{7},m]\n"
      "  %4 = call matmul %0, %3 : {3}\n"
      "  %5 = constant 0.25 : {5}[]\n"
      "  %6 = multiply %4, %5 : {3}\n{9}"
      "  %27 = max %{10} axes=[2] keepdims : {4}\n"
      "  %28 = subtract %{10}, %27 : {3}\n"
      "  %29 = exp %28 : {3}\n"
      "  %30 = sum %29 axes=[2] keepdims : {4}\n"
      "  %31 = divide %29, %30 : {3}\n"
      "  %32 = call matmul %31, %2 : {5}[b,n,{6}]\n"
      "  return %32\n}}\n",
      queries, keys, values, scores, rows, dtype, e, d, map.parameters, map.statements,
      map.statements.empty() ? 6 : 20);
}

/// The maps of scores in float16.
const Map causal = {
    "  %10 = iota axes=[0] : i64[n,m]\n  %11 = iota axes=[1] : i64[n,m]\n"
    "  %12 = less_equal %11, %10 : bool[n,m]\n  %13 = constant -inf : f16[]\n"
    "  %20 = select %12, %6, %13 : f16[b,n,m]\n",
    "", "np.where(j <= i, scores, -np.inf)"};
const Map window = {
    "  %10 = iota axes=[0] : i64[n,m]\n  %11 = iota axes=[1] : i64[n,m]\n"
    "  %12 = less %10, %11 : bool[n,m]\n  %14 = constant 150 : i64[]\n"
    "  %15 = subtract %10, %14 : i64[n,m]\n  %16 = less_equal %11, %15 : bool[n,m]\n"
    "  %17 = logical_or %12, %16 : bool[n,m]\n  %13 = constant -inf : f16[]\n"
    "  %20 = select %17, %13, %6 : f16[b,n,m]\n",
    "", "np.where((i < j) | (j <= i - 150), -np.inf, scores)"};
const Map padding_and_bias = {
    "  %13 = constant -inf : f16[]\n  %10 = add %6, %8 : f16[b,n,m]\n"
    "  %20 = select %7, %10, %13 : f16[b,n,m]\n",
    ", %7: bool[b,1,m], %8: f16[n,m]", "np.where(x, scores + y, -np.inf)"};

constexpr const char* names[] = {"q", "k", "v", "x", "y"};

/// Against float64: weights are rounded to the dtype, and to 0 below its least number; scores are
/// sums in float32.
void check_near(const Map& map, const std::vector<ir::HostArray>& inputs,
                const ir::HostArray& actual) {
  std::vector<std::pair<std::string, ir::HostArray>> arrays = {{"a", actual}};
  for (std::size_t k = 0; k < inputs.size(); ++k) arrays.emplace_back(names[k], inputs[k]);
  const test::OracleResult found = test::Oracle::instance().python(
      "wide = [x.astype(np.float64) for x in (q, k, v)]\n"
      "scores = 0.25 * wide[0] @ wide[1].swapaxes(-1, -2)\n"
      "sizes = 0.25 * np.abs(wide[0]) @ np.abs(wide[1]).swapaxes(-1, -2)\n"
      "i, j = np.arange(q.shape[1])[:, None], np.arange(k.shape[1])[None, :]\n"
      "scores = " +
          map.numpy +
          "\n"
          "weights = np.exp(scores - scores.max(-1, keepdims=True))\n"
          "total = weights.sum(-1, keepdims=True)\n"
          "expected = weights @ wide[2] / total\n"
          "half = q.dtype == np.float16\n"
          "unit, least = (2.0**-11, 2.0**-25) if half else (2.0**-8, 2.0**-134)\n"
          "rounding = unit + 2 * q.shape[-1] * 2.0**-24 * sizes.max(-1, keepdims=True)\n"
          "spread = (rounding * weights + least) @ np.abs(wide[2]) / total\n"
          "a = a.astype(np.float64)\n"
          "nan = np.isnan(expected)\n"
          "error = np.where(nan, 0, np.abs(a - expected) - unit * np.abs(expected) - spread)\n"
          "error[nan != np.isnan(a)] = np.inf\n"
          "result = str((error <= least).all() and a.shape == expected.shape) + f' {error.max()}'",
      arrays);
  CHECK_MESSAGE(found.error.empty(), found.error);
  CHECK_MESSAGE(found.text.starts_with("True"), found.text);
}

struct Case {
  Map map;
  std::string graph;
  std::vector<std::vector<std::int64_t>> extents;  ///< b, n, m
};

std::vector<Case> cases() {
  return {
      {{}, attention("f16", 64, 64), {{1, 1, 1}, {2, 130, 129}, {1, 64, 400}}},
      {{}, attention("bf16", 64, 64), {{1, 100, 260}}},
      {{}, attention("f16", 8, 128), {{1, 40, 130}}},
      {{}, attention("bf16", 96, 72), {{2, 33, 128}}},
      {causal, attention("f16", 64, 64, causal), {{1, 300, 300}, {1, 200, 30}, {1, 30, 200}}},
      {window, attention("f16", 64, 64, window), {{1, 400, 390}, {1, 400, 20}}},
      {padding_and_bias, attention("f16", 64, 64, padding_and_bias), {{2, 70, 135}}},
  };
}

ir::HostArray input(const ir::Graph& graph, std::size_t k, const std::vector<std::int64_t>& extents,
                    std::size_t seed) {
  ir::Shape shape = graph.shape(graph.parameters()[k]);
  const auto set = [&](const char* name, std::int64_t extent) {
    for (ir::Dim& dim : shape) {
      if (dim.to_string() == name) dim = extent;
    }
  };
  set("b", extents[0]);
  set("n", extents[1]);
  set("m", extents[2]);
  return test::moderate_sample(graph.dtype(graph.parameters()[k]), shape, seed + k);
}

TEST_CASE("attention in one kernel is as near to float64 as its roundings allow") {
  const std::vector<Case> all = cases();
  for (const bool aligned : {true, false}) {
    std::vector<ir::Graph> graphs;
    std::vector<runtime::PrintedProgram> printed;
    for (const Case& each : all) {
      graphs.push_back(ir::parse(each.graph));
      runtime::CompileOptions options;
      if (!aligned) options.aligned.assign(graphs.back().parameters().size(), false);
      printed.push_back(runtime::print_program(graphs.back(), options, ir::parse_target("sm_90")));
      REQUIRE(printed.back().program.steps.size() == 1);
    }
    EmulatedPrograms programs(std::move(printed));
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (const std::vector<std::int64_t>& extents : all[i].extents) {
        std::vector<ir::HostArray> inputs;
        for (std::size_t k = 0; k < graphs[i].parameters().size(); ++k)
          inputs.push_back(input(graphs[i], k, extents, 100 * i));
        RunOptions options{.shuffle_seed = i};
        if (!aligned) options.input_offset = 2;
        const auto actual = programs.run(i, inputs, options);
        CAPTURE(all[i].graph);
        CAPTURE(fmt::format("{}", fmt::join(extents, " ")));
        check_near(all[i].map, inputs, actual.front());
      }
    }
  }
}

TEST_CASE("the interpreter's attention is that of the steps that it replaces") {
  const passes::PlanOptions options{ir::parse_target("sm_90"), {}, {}, {}};
  for (const Case& each : cases()) {
    const ir::Graph graph = ir::parse(each.graph);
    const ir::Graph whole = passes::run_graph_passes(graph, options);
    std::vector<ir::HostArray> inputs;
    for (std::size_t k = 0; k < graph.parameters().size(); ++k)
      inputs.push_back(input(graph, k, {2, 20, 30}, k));
    CAPTURE(each.graph);
    check_near(each.map, inputs, ir::interpret(whole, inputs).front());
    CHECK(ir::print(ir::parse(ir::print(whole))) == ir::print(whole));
  }
}

}  // namespace
}  // namespace heddle::emulator
