#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "ir/types/target.h"
#include "tests/emulator/emulated_programs.h"
#include "tests/support/host_arrays.h"
#include "tests/support/oracle.h"
#include "tests/support/samples.h"

namespace heddle::emulator {
namespace {

/// Attention as programs write it: queries [b,n,d], keys and values [b,m,d] and [b,m,e] of one
/// dtype.
std::string attention(const std::string& dtype, int d, int e) {
  const std::string queries = fmt::format("{}[b,n,{}]", dtype, d);
  const std::string keys = fmt::format("{}[b,m,{}]", dtype, d);
  const std::string values = fmt::format("{}[b,m,{}]", dtype, e);
  const std::string scores = dtype + "[b,n,m]", rows = dtype + "[b,n,1]";
  return fmt::format(
      "func @attention(%0: {0}, %1: {1}, %2: {2}) -> {5}[b,n,{6}] {{\n"
      "  %3 = transpose %1 axes=[0,2,1] : {5}[b,{7},m]\n"
      "  %4 = call matmul %0, %3 : {3}\n"
      "  %5 = constant 0.25 : {5}[]\n"
      "  %6 = multiply %4, %5 : {3}\n"
      "  %7 = max %6 axes=[2] keepdims : {4}\n"
      "  %8 = subtract %6, %7 : {3}\n"
      "  %9 = exp %8 : {3}\n"
      "  %10 = sum %9 axes=[2] keepdims : {4}\n"
      "  %11 = divide %9, %10 : {3}\n"
      "  %12 = call matmul %11, %2 : {5}[b,n,{6}]\n"
      "  return %12\n}}\n",
      queries, keys, values, scores, rows, dtype, e, d);
}

/// Against float64: weights are rounded to the dtype, and to 0 below its least number; scores are
/// sums in float32.
void check_near(const std::vector<ir::HostArray>& inputs, const ir::HostArray& actual) {
  const std::vector<std::pair<std::string, ir::HostArray>> arrays = {
      {"q", inputs[0]}, {"k", inputs[1]}, {"v", inputs[2]}, {"a", actual}};
  const test::OracleResult found = test::Oracle::instance().python(
      "wide = [x.astype(np.float64) for x in (q, k, v)]\n"
      "scores = 0.25 * wide[0] @ wide[1].swapaxes(-1, -2)\n"
      "sizes = 0.25 * np.abs(wide[0]) @ np.abs(wide[1]).swapaxes(-1, -2)\n"
      "weights = np.exp(scores - scores.max(-1, keepdims=True))\n"
      "total = weights.sum(-1, keepdims=True)\n"
      "expected = weights @ wide[2] / total\n"
      "half = q.dtype == np.float16\n"
      "unit, least = (2.0**-11, 2.0**-25) if half else (2.0**-8, 2.0**-134)\n"
      "rounding = unit + 2 * q.shape[-1] * 2.0**-24 * sizes.max(-1, keepdims=True)\n"
      "spread = (rounding * weights + least) @ np.abs(wide[2]) / total\n"
      "error = np.abs(a.astype(np.float64) - expected) - unit * np.abs(expected) - spread\n"
      "result = str((error <= least).all() and a.shape == expected.shape) + f' {error.max()}'",
      arrays);
  CHECK_MESSAGE(found.error.empty(), found.error);
  CHECK_MESSAGE(found.text.starts_with("True"), found.text);
}

struct Case {
  std::string graph;
  std::vector<std::vector<std::int64_t>> extents;  ///< b, n, m
};

TEST_CASE("attention in one kernel is as near to float64 as its roundings allow") {
  const std::vector<Case> cases = {
      {attention("f16", 64, 64), {{1, 1, 1}, {2, 130, 129}, {1, 64, 400}}},
      {attention("bf16", 64, 64), {{1, 100, 260}}},
      {attention("f16", 8, 128), {{1, 40, 130}}},
      {attention("bf16", 96, 72), {{2, 33, 128}}},
  };
  for (const bool aligned : {true, false}) {
    std::vector<ir::Graph> graphs;
    std::vector<runtime::PrintedProgram> printed;
    for (const Case& each : cases) {
      graphs.push_back(ir::parse(each.graph));
      runtime::CompileOptions options;
      if (!aligned) options.aligned = {false, false, false};
      printed.push_back(runtime::print_program(graphs.back(), options, ir::parse_target("sm_90")));
      REQUIRE(printed.back().program.steps.size() == 1);
    }
    EmulatedPrograms programs(std::move(printed));
    for (std::size_t i = 0; i < cases.size(); ++i) {
      for (const std::vector<std::int64_t>& extents : cases[i].extents) {
        std::vector<ir::HostArray> inputs;
        for (std::size_t k = 0; k < 3; ++k) {
          ir::Shape shape = graphs[i].shape(graphs[i].parameters()[k]);
          shape[0] = extents[0];
          shape[1] = extents[k == 0 ? 1 : 2];
          const DType dtype = graphs[i].dtype(graphs[i].parameters()[k]);
          inputs.push_back(test::moderate_sample(dtype, shape, 100 * i + k));
        }
        RunOptions options{.shuffle_seed = i};
        if (!aligned) options.input_offset = 2;
        const auto actual = programs.run(i, inputs, options);
        CAPTURE(cases[i].graph);
        check_near(inputs, actual.front());
      }
    }
  }
}

}  // namespace
}  // namespace heddle::emulator
