#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "ir/types/target.h"
#include "tests/emulator/emulated_programs.h"
#include "tests/support/host_arrays.h"
#include "tests/support/oracle.h"
#include "tests/support/samples.h"

namespace heddle::emulator {
namespace {

struct Case {
  const char* graph;
  std::vector<std::vector<ir::Shape>> inputs;  ///< shapes of the inputs, for each run
};

const std::vector<Case> cases = {
    {"func @chain(%0: f32[n], %1: f32[n], %2: scalar f32) -> f32[n] {\n"
     "  %3 = multiply %0, %1 : f32[n]\n  %4 = add %3, %2 : f32[n]\n  return %4\n}\n",
     {{{1}, {1}, {}}, {{1023}, {1023}, {}}, {{4097}, {4097}, {}}, {{0}, {0}, {}}}},
    {"func @rows(%0: f32[n,m]) -> (f32[n], f32[n,m]) {\n"
     "  %1 = max %0 axes=[1] keepdims : f32[n,1]\n  %2 = subtract %0, %1 : f32[n,m]\n"
     "  %3 = exp %2 : f32[n,m]\n  %4 = sum %3 axes=[1] : f32[n]\n  return %4, %3\n}\n",
     {{{3, 7}}, {{70, 33}}, {{2, 3000}}}},
    {"func @columns(%0: f64[n,m]) -> (f64[m], i64[m]) {\n"
     "  %1 = sum %0 axes=[0] : f64[m]\n  %2 = argmin %0 axes=[0] : i64[m]\n  return %1, %2\n}\n",
     {{{5, 3}}, {{100, 64}}, {{1, 1}}}},
    {"func @both(%0: f32[n,m]) -> (f32[n,m], f32[n,m]) {\n"
     "  %1 = max %0 axes=[0] keepdims : f32[1,m]\n  %2 = subtract %0, %1 : f32[n,m]\n"
     "  %3 = exp %2 : f32[n,m]\n  %4 = sum %3 axes=[0] keepdims : f32[1,m]\n"
     "  %5 = divide %3, %4 : f32[n,m]\n"
     "  %6 = max %0 axes=[1] keepdims : f32[n,1]\n  %7 = subtract %0, %6 : f32[n,m]\n"
     "  %8 = exp %7 : f32[n,m]\n  %9 = sum %8 axes=[1] keepdims : f32[n,1]\n"
     "  %10 = divide %8, %9 : f32[n,m]\n  return %5, %10\n}\n",
     {{{5, 70}}, {{257, 3}}, {{2, 1025}}}},
    {"func @turned(%0: f16[n,m]) -> f16[m,n] {\n"
     "  %1 = transpose %0 axes=[1,0] : f16[m,n]\n  %2 = negative %1 : f16[m,n]\n"
     "  return %2\n}\n",
     {{{31, 65}}, {{1, 5}}}},
    {"func @whole(%0: i32[n]) -> i32[] {\n  %1 = sum %0 axes=[0] : i32[]\n  return %1\n}\n",
     {{{1}}, {{1000003}}}},
    {"func @product(%0: f32[n,k], %1: f32[k,m]) -> f32[n,m] {\n"
     "  %2 = call matmul %0, %1 : f32[n,m]\n  %3 = tanh %2 : f32[n,m]\n  return %3\n}\n",
     {{{5, 7}, {7, 3}}, {{33, 1}, {1, 40}}}},
};

TEST_CASE("programs planned for a GPU give in the emulator what the interpreter gives") {
  std::vector<ir::Graph> graphs;
  std::vector<runtime::PrintedProgram> printed;
  for (const Case& each : cases) {
    graphs.push_back(ir::parse(each.graph));
    printed.push_back(runtime::print_program(graphs.back(), {}, ir::parse_target("sm_90")));
  }
  EmulatedPrograms programs(std::move(printed));
  for (std::size_t i = 0; i < cases.size(); ++i) {
    for (const std::vector<ir::Shape>& shapes : cases[i].inputs) {
      std::vector<ir::HostArray> inputs;
      for (std::size_t k = 0; k < shapes.size(); ++k) {
        const DType dtype = graphs[i].dtype(graphs[i].parameters()[k]);
        inputs.push_back(test::moderate_sample(dtype, shapes[k], 100 * i + k));
      }
      CAPTURE(graphs[i].name);
      const auto actual = programs.run(i, inputs, {.shuffle_seed = i});
      const test::Comparison result =
          test::compare(actual, test::Oracle::instance().ask(graphs[i], inputs));
      CHECK_MESSAGE(result.equal, result.message);
    }
  }
}

TEST_CASE("programs for unaligned inputs take them at every offset that elements may have") {
  std::vector<ir::Graph> graphs;
  std::vector<runtime::PrintedProgram> printed;
  for (const char* dtype : {"u8", "f16", "f32", "f64", "c128"}) {
    const std::string d = dtype;
    graphs.push_back(
        ir::parse("func @offsets(%0: " + d + "[9,67]) -> (" + d + "[9,67], " + d + "[9], " + d +
                  "[67,9]) {\n  %1 = add %0, %0 : " + d + "[9,67]\n  %2 = sum %0 axes=[1] : " + d +
                  "[9]\n  %3 = transpose %0 axes=[1,0] : " + d +
                  "[67,9]\n  %4 = negative %3 : " + d + "[67,9]\n  return %1, %2, %4\n}\n"));
    printed.push_back(
        runtime::print_program(graphs.back(), {.aligned = {false}}, ir::parse_target("sm_90")));
  }
  EmulatedPrograms programs(std::move(printed));
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    const DType dtype = graphs[i].dtype(graphs[i].parameters()[0]);
    const ir::HostArray input = test::moderate_sample(dtype, {9, 67}, i);
    const auto expected = test::Oracle::instance().ask(graphs[i], {&input, 1});
    const std::size_t step = is_complex(dtype) ? size_of(dtype) / 2 : size_of(dtype);
    for (std::size_t offset = 0; offset < 16; offset += step) {
      CAPTURE(name_of(dtype));
      CAPTURE(offset);
      const auto actual = programs.run(i, {&input, 1}, {.input_offset = offset});
      const test::Comparison result = test::compare(actual, expected);
      CHECK_MESSAGE(result.equal, result.message);
    }
  }
}

runtime::PrintedProgram print_whole_sum() {
  return runtime::print_program(ir::parse("func @whole(%0: f32[1000003]) -> f32[] {\n"
                                          "  %1 = sum %0 axes=[0] : f32[]\n  return %1\n}\n"),
                                {}, ir::parse_target("sm_90"));
}

/// What a run of the program says; inputs are ones.
std::string failure_of(runtime::PrintedProgram program) {
  std::vector<runtime::PrintedProgram> one;
  one.push_back(std::move(program));
  EmulatedPrograms programs(std::move(one));
  const std::vector<float> ones(1000003, 1.0f);
  const ir::HostArray input = test::host_array<float>(DType::f32, {1000003}, ones);
  try {
    programs.run(0, std::span(&input, 1));
  } catch (const EmulationError& error) {
    return error.what();
  }
  return {};
}

TEST_CASE("what a program leaves unwritten is reported, in its outputs and between its steps") {
  const runtime::PrintedProgram good = print_whole_sum();
  REQUIRE(good.program.steps.size() == 2);
  CHECK(failure_of(good) == "");

  runtime::PrintedProgram no_last = good;
  no_last.program.steps[1].kernel()->grid = {{0, 1}};
  CHECK(failure_of(no_last) == "program whole never writes element 0 of output 0");

  runtime::PrintedProgram no_first = good;
  no_first.program.steps[0].kernel()->grid = {{0, 1}};
  const std::string message = failure_of(no_first);
  CAPTURE(message);
  CHECK(message.find("program whole, step 1: kernel") != std::string::npos);
  CHECK(message.find("nothing has been written there") != std::string::npos);
}

}  // namespace
}  // namespace heddle::emulator
