// Users' functions in kernels: emulated, on the host and through NVRTC, against the same programs
// of Heddle's own ops.
#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cases/programs.h"
#include "tests/emulator/emulated_programs.h"
#include "tests/numerics/suite.h"
#include "tests/support/oracle.h"
#include "tests/support/samples.h"

namespace heddle::test {
namespace {

/// A program with users' functions, and one without that has the same results.
struct Pair {
  std::string name, with, without;
  std::size_t kernels;  ///< of the first one
};

std::string function(const std::string& operands, const std::string& inputs,
                     const std::string& outputs, const std::string& operation,
                     const std::string& more = "") {
  return fmt::format(
      "call user.map {} {{name = \"f\", inputs = \"{}\", outputs = \"{}\", operation = \"{}\"{}}}",
      operands, inputs, outputs, operation, more);
}

/// Of each dtype: arithmetic with the dtype's type, in a kernel with other ops.
Pair doubled(DType dtype) {
  const std::string d(name_of(dtype));
  const std::string types = fmt::format(", types = \"T {}\"", d);
  return {"doubled " + d,
          fmt::format(
              "func @f(%0: {0}[5,67], %1: {0}[67]) -> {0}[5,67] {{\n"
              "  %2 = add %0, %1 : {0}[5,67]\n"
              "  %3 = {1} : {0}[5,67]\n"
              "  %4 = multiply %3, %1 : {0}[5,67]\n"
              "  return %4\n}}\n",
              d, function("%2, %1", "x, y", "z " + d, "T two = x;\\ntwo += x; z = two - y", types)),
          fmt::format("func @f(%0: {0}[5,67], %1: {0}[67]) -> {0}[5,67] {{\n"
                      "  %2 = add %0, %1 : {0}[5,67]\n"
                      "  %3 = add %2, %2 : {0}[5,67]\n"
                      "  %4 = subtract %3, %1 : {0}[5,67]\n"
                      "  %5 = multiply %4, %1 : {0}[5,67]\n"
                      "  return %5\n}}\n",
                      d),
          1};
}

/// Elements that the function reads itself, of an array that is a view.
Pair reversed(DType dtype) {
  const std::string d(name_of(dtype));
  return {"reversed " + d,
          fmt::format("func @f(%0: {0}[9,7]) -> {0}[7,9] {{\n"
                      "  %1 = transpose %0 axes=[1,0] : {0}[7,9]\n"
                      "  %2 = iota axes=[0] : i64[63]\n"
                      "  %3 = reshape %2 : i64[7,9]\n"
                      "  %4 = {1} : {0}[7,9]\n"
                      "  return %4\n}}\n",
                      d,
                      function("%1, %3", "raw x, k", "z " + d,
                               "z = k < 9 ? x[{6 - (int)k / 9, 8 - (int)k % 9}] : "
                               "x[x.size() - 1 - k]")),
          fmt::format("func @f(%0: {0}[9,7]) -> {0}[7,9] {{\n"
                      "  %1 = transpose %0 axes=[1,0] : {0}[7,9]\n"
                      "  %2 = slice %1 starts=[6,8] steps=[-1,-1] : {0}[7,9]\n"
                      "  return %2\n}}\n",
                      d),
          2};
}

/// Elements that the function writes itself, to an array that has others, too.
Pair written(DType dtype) {
  const std::string d(name_of(dtype));
  return {
      "written " + d,
      fmt::format("func @f(%0: {0}[9], %1: {0}[4,5]) -> {0}[4,5] {{\n"
                  "  %2 = iota axes=[0] : i64[9]\n"
                  "  %3 = call user.write %2, %0, %1 {{name = \"f\", inputs = \"k, x\", outputs "
                  "= \"z {0}\", operation = \"z[{{k / 5, 4 - k % 5}}] = x; z[{{1, 0}}] = "
                  "z[5]\", initial = true}} : {0}[4,5]\n"
                  "  return %3\n}}\n",
                  d),
      fmt::format("func @f(%0: {0}[9], %1: {0}[4,5]) -> {0}[4,5] {{\n"
                  "  %2 = reshape %1 : {0}[20]\n"
                  "  %3 = slice %0 starts=[4] steps=[-1] : {0}[5]\n"
                  "  %4 = slice %0 starts=[8] steps=[-1] : {0}[4]\n"
                  "  %5 = slice_update %2, %3 starts=[0] steps=[1] shape=[5] : {0}[20]\n"
                  "  %6 = slice_update %5, %4 starts=[6] steps=[1] shape=[4] : {0}[20]\n"
                  "  %7 = reshape %6 : {0}[4,5]\n"
                  "  return %7\n}}\n",
                  d),
      2};
}

std::vector<Pair> pairs() {
  std::vector<Pair> made;
  for (int i = 0; i < dtype_count; ++i) made.push_back(written(static_cast<DType>(i)));
  for (int i = 1; i < dtype_count; ++i) made.push_back(doubled(static_cast<DType>(i)));
  for (int i = 0; i < dtype_count; ++i) made.push_back(reversed(static_cast<DType>(i)));
  made.push_back(
      {"two outputs and a sum",
       "func @f(%0: f32[40,300]) -> (f32[40], i32[40,300]) {\n"
       "  %1 = " +
           function("%0", "x", "s f32, k i32", "s = x < 0 ? -x : x; k = 3") +
           " : f32[40,300]\n"
           "  %2 = " +
           function("%0", "x", "s f32, k i32", "s = x < 0 ? -x : x; k = 3", ", result = 1") +
           " : i32[40,300]\n"
           "  %3 = max %1 axes=[1] : f32[40]\n"
           "  return %3, %2\n}\n",
       "func @f(%0: f32[40,300]) -> (f32[40], i32[40,300]) {\n"
       "  %1 = absolute %0 : f32[40,300]\n"
       "  %2 = constant 3 : i32[]\n"
       "  %3 = broadcast_to %2 : i32[40,300]\n"
       "  %4 = max %1 axes=[1] : f32[40]\n"
       "  return %4, %3\n}\n",
       2});
  made.push_back({"initial values",
                  "func @f(%0: f32[70], %1: f32[70]) -> f32[70] {\n"
                  "  %2 = " +
                      function("%0, %1", "x", "z f32", "if (x > 0) z = x", ", initial = true") +
                      " : f32[70]\n"
                      "  return %2\n}\n",
                  "func @f(%0: f32[70], %1: f32[70]) -> f32[70] {\n"
                  "  %2 = constant 0 : f32[]\n"
                  "  %3 = greater %0, %2 : bool[70]\n"
                  "  %4 = select %3, %0, %1 : f32[70]\n"
                  "  return %4\n}\n",
                  1});
  made.push_back({"a preamble",
                  "func @f(%0: f64[70]) -> f64[70] {\n"
                  "  %1 = " +
                      function("%0", "x", "z f64", "z = larger(x, T(0))",
                               ", types = \"T f64\", preamble = \"__device__ T larger(T "
                               "a, T b) {\\n  return a < b ? b : a;\\n}\"") +
                      " : f64[70]\n"
                      "  return %1\n}\n",
                  "func @f(%0: f64[70]) -> f64[70] {\n"
                  "  %1 = constant 0 : f64[]\n"
                  "  %2 = maximum %0, %1 : f64[70]\n"
                  "  return %2\n}\n",
                  1});
  // Nothing is computed for values that there are not: from 0 the function would never return.
  const std::string endless = function("%2", "x", "z f32", "z = x; while (z < 1) z += z");
  const auto pieces = [](const std::string& one) {
    return "func @f(%0: f32[65], %1: f32[31]) -> f32[96] {\n"
           "  %5 = absolute %0 : f32[65]\n"
           "  %6 = constant 1 : f32[]\n"
           "  %2 = add %5, %6 : f32[65]\n"
           "  %3 = " +
           one +
           " : f32[65]\n"
           "  %4 = concatenate %3, %1 axes=[0] : f32[96]\n"
           "  return %4\n}\n";
  };
  made.push_back({"a part that may run forever", pieces(endless), pieces("maximum %2, %2"), 2});
  const auto alone = [](const std::string& one) {
    return "func @f(%0: f32[65]) -> f32[65] {\n"
           "  %1 = absolute %0 : f32[65]\n"
           "  %6 = constant 1 : f32[]\n"
           "  %2 = add %1, %6 : f32[65]\n"
           "  %3 = " +
           one +
           " : f32[65]\n"
           "  return %3\n}\n";
  };
  made.push_back({"behind the last element", alone(endless), alone("maximum %2, %2"), 1});
  const auto halving = [](const std::string& half) {
    return "func @f(%0: f32[130]) -> f32[130] {\n"
           "  %1 = call control.while %0 {carries = 1} : f32[130] "
           "region (%0: f32[130]) -> bool[130] {\n"
           "    %1 = absolute %0 : f32[130]\n"
           "    %2 = constant 1 : f32[]\n"
           "    %3 = greater %1, %2 : bool[130]\n"
           "    return %3\n"
           "  } region (%0: f32[130]) -> f32[130] {\n"
           "    %1 = constant 0.5 : f32[]\n"
           "    %2 = " +
           half +
           " : f32[130]\n"
           "    return %2\n"
           "  }\n"
           "  return %1\n}\n";
  };
  made.push_back({"in a loop", halving(function("%0, %1", "x, y", "z f32", "z = x * y")),
                  halving("multiply %0, %1"), 1});
  return made;
}

std::vector<ir::HostArray> inputs_of(const ir::Graph& graph) {
  std::vector<ir::HostArray> inputs;
  for (const ir::ValueId parameter : graph.parameters()) {
    const ir::Type type = graph.type(parameter);
    inputs.push_back(moderate_sample(type.dtype, type.shape, inputs.size() + 1));
  }
  return inputs;
}

void check(const std::vector<ir::HostArray>& found, const std::vector<ir::HostArray>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    const Comparison same = compare_equal(found[k], expected[k]);
    CHECK_MESSAGE(same.equal, same.message);
  }
}

TEST_CASE("users' functions fuse and compute what Heddle's own ops do") {
  const std::vector<Pair> all = pairs();
  std::vector<runtime::PrintedProgram> programs;
  std::vector<codegen::KernelSource> kernels;
  for (const Pair& one : all) {
    CAPTURE(one.name);
    const ir::Graph graph = ir::parse(one.with);
    CHECK(ir::print(ir::parse(ir::print(graph))) == ir::print(graph));
    programs.push_back(runtime::print_program(graph, {}, ir::parse_target("sm_90:h200")));
    CHECK(programs.back().kernels.size() == one.kernels);
    for (const codegen::KernelSource& kernel : programs.back().kernels) {
      if (std::ranges::find(kernels, kernel.name, &codegen::KernelSource::name) == kernels.end())
        kernels.push_back(kernel);
    }
  }
  compile_with_nvrtc(kernels, "sm_90");
  emulator::EmulatedPrograms emulated(std::move(programs));
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(all[i].name);
    const ir::Graph graph = ir::parse(all[i].with);
    const std::vector<ir::HostArray> inputs = inputs_of(graph);
    const auto expected = ir::interpret(ir::parse(all[i].without), inputs);
    check(emulated.run(i, inputs, {.shuffle_seed = i}), expected);
  }
}

TEST_CASE("atomic functions of each dtype that CUDA has them for") {
  std::vector<codegen::KernelSource> kernels;
  std::vector<runtime::PrintedProgram> programs;
  std::vector<ir::Graph> graphs;
  for (const DType dtype :
       {DType::i32, DType::i64, DType::u32, DType::u64, DType::f32, DType::f64}) {
    graphs.push_back(
        ir::parse(fmt::format("func @f(%0: i64[100], %1: {0}[7]) -> {0}[7] {{\n"
                              "  %2 = call user.write %0, %1 {{name = \"f\", inputs = \"k\", "
                              "outputs = \"z {0}\", types = "
                              "\"T {0}\", operation = \"atomicAdd(&z[(k % 7 + 7) % 7], T(2))\", "
                              "initial = true}} : {0}[7]\n"
                              "  return %2\n}}\n",
                              name_of(dtype))));
    programs.push_back(runtime::print_program(graphs.back(), {}, ir::parse_target("sm_90:h200")));
    for (const codegen::KernelSource& kernel : programs.back().kernels) kernels.push_back(kernel);
  }
  compile_with_nvrtc(kernels, "sm_90");
  emulator::EmulatedPrograms emulated(std::move(programs));
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    const DType dtype = graphs[i].dtype(graphs[i].parameters()[1]);
    CAPTURE(name_of(dtype));
    const std::vector<ir::HostArray> inputs = {integers(DType::i64, {100}, 0, 7, 1),
                                               integers(dtype, {7}, 0, 9, 2)};
    const ir::Graph expected =
        ir::parse(fmt::format("func @f(%0: i64[100], %1: {0}[7]) -> {0}[7] {{\n"
                              "  %2 = iota axes=[0] : i64[7,1]\n"
                              "  %3 = equal %2, %0 : bool[7,100]\n"
                              "  %4 = cast %3 : {0}[7,100]\n"
                              "  %5 = add %4, %4 : {0}[7,100]\n"
                              "  %6 = sum %5 axes=[1] : {0}[7]\n"
                              "  %7 = add %6, %1 : {0}[7]\n"
                              "  return %7\n}}\n",
                              name_of(dtype)));
    check(emulated.run(i, inputs), ir::interpret(expected, inputs));
  }
}

TEST_CASE("without a compiler a user's function is a typed error") {
  const ir::Graph graph = ir::parse(pairs().front().with);
  CHECK_THROWS_AS(ir::interpret(graph, inputs_of(graph)), CompileError);
}

}  // namespace
}  // namespace heddle::test
