#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "ir/types/target.h"
#include "tests/emulator/emulated_programs.h"
#include "tests/support/oracle.h"
#include "tests/support/samples.h"

namespace heddle::emulator {
namespace {

/// Forward substitution: writes x[i] in place, from the rows of a matrix.
const std::string substitution_text =
    "func @substitution(%0: f64[6,6], %1: f64[6]) -> (f64[6], f64[6]) {\n"
    "  %2, %3 = call control.scan %0, %1 {carries = 1, length = [6], reverse = true} : f64[6], "
    "f64[6] region (%0: u8[step1,0], %1: scalar i64, %2: f64[6,6], %3: f64[6]) -> "
    "(f64[6], f64[]) {\n"
    "    %4 = slice %2 starts=[-1*step1+5,0] steps=[1,1] : f64[1,6]\n"
    "    %5 = reshape %4 : f64[6]\n"
    "    %6 = multiply %5, %3 : f64[6]\n"
    "    %7 = sum %6 axes=[0] : f64[]\n"
    "    %8 = constant 0.125 : f64[]\n"
    "    %9 = multiply %7, %8 : f64[]\n"
    "    %10 = slice_update %3, %9 starts=[step1] steps=[1] shape=[1] : f64[6]\n"
    "    return %10, %9\n"
    "  }\n"
    "  return %2, %3\n"
    "}\n";

/// Rows of n elements, summed while there are some left.
const std::string counted_text =
    "func @counted(%0: f32[n], %1: i64[]) -> (i64[], f32[n]) {\n"
    "  %2, %3 = call control.while %1, %0 {carries = 2} : i64[], f32[n] "
    "region (%0: i64[], %1: f32[n]) -> bool[] {\n"
    "    %2 = constant 3 : i64[]\n"
    "    %3 = less %0, %2 : bool[]\n"
    "    return %3\n"
    "  } region (%0: i64[], %1: f32[n]) -> (i64[], f32[n]) {\n"
    "    %2 = constant 1 : i64[]\n"
    "    %3 = add %0, %2 : i64[]\n"
    "    %4 = tanh %1 : f32[n]\n"
    "    return %3, %4\n"
    "  }\n"
    "  return %2, %3\n"
    "}\n";

/// A branch in each step of a loop.
const std::string chosen_text =
    "func @chosen(%0: f32[5]) -> f32[5] {\n"
    "  %1 = call control.scan %0 {carries = 1, length = [4]} : f32[5] "
    "region (%0: u8[step1,0], %1: scalar i64, %2: f32[5]) -> f32[5] {\n"
    "    %3 = call control.switch %1, %2 : f32[5] region (%0: f32[5]) -> f32[5] {\n"
    "      return %0\n"
    "    } region (%0: f32[5]) -> f32[5] {\n"
    "      %1 = negative %0 : f32[5]\n"
    "      return %1\n"
    "    } region (%0: f32[5]) -> f32[5] {\n"
    "      %1 = slice %0 starts=[4] steps=[-1] : f32[5]\n"
    "      return %1\n"
    "    }\n"
    "    return %3\n"
    "  }\n"
    "  return %1\n"
    "}\n";

/// Rows of three numbers, each the last value of a loop's carry, and three numbers of each step.
const std::string rows_text =
    "func @rows(%0: f64[3], %1: f32[4,3]) -> (f64[3], f64[4,3], f32[4,3]) {\n"
    "  %2, %3, %4 = call control.scan %0, %1 {carries = 1, length = [4], sequences = 1} : f64[3], "
    "f64[4,3], f32[4,3] region (%0: u8[step1,0], %1: scalar i64, %2: f64[3], %3: f32[3]) -> "
    "(f64[3], f64[3], f32[3]) {\n"
    "    %4 = negative %2 : f64[3]\n"
    "    %5 = call control.scan %4 {carries = 1, length = [3]} : f64[3] "
    "region (%0: u8[step2,0], %1: scalar i64, %2: f64[3]) -> f64[3] {\n"
    "      %3 = cumsum %2 axes=[0] : f64[3]\n"
    "      %4 = negative %3 : f64[3]\n"
    "      return %4\n"
    "    }\n"
    "    %6 = negative %5 : f64[3]\n"
    "    %7 = negative %3 : f32[3]\n"
    "    return %6, %5, %7\n"
    "  }\n"
    "  return %2, %3, %4\n"
    "}\n";

ir::HostArray array(const ir::Type& type, std::uint64_t seed) {
  return test::moderate_sample(type.dtype, type.shape, seed);
}

TEST_CASE("loops and branches planned for a GPU give in the emulator what NumPy gives") {
  std::vector<ir::Graph> graphs;
  std::vector<runtime::PrintedProgram> printed;
  for (const std::string& text : {substitution_text, counted_text, chosen_text, rows_text}) {
    graphs.push_back(ir::parse(text));
    printed.push_back(runtime::print_program(graphs.back(), {}, ir::parse_target("sm_90")));
  }
  ir::HostArray zero{{DType::i64, {}}, std::vector<std::byte>(8)};
  const std::vector<std::pair<std::size_t, std::vector<ir::HostArray>>> runs = {
      {0, {array({DType::f64, {6, 6}}, 1), array({DType::f64, {6}}, 2)}},
      {1, {array({DType::f32, {7}}, 1), zero}},
      {1, {array({DType::f32, {0}}, 1), zero}},
      {2, {array({DType::f32, {5}}, 3)}},
      {3, {array({DType::f64, {3}}, 4), array({DType::f32, {4, 3}}, 5)}}};
  EmulatedPrograms programs(std::move(printed));
  for (const auto& [index, inputs] : runs) {
    CAPTURE(graphs[index].name);
    const auto actual = programs.run(index, inputs, {.shuffle_seed = index});
    const test::Comparison result =
        test::compare(actual, test::Oracle::instance().ask(graphs[index], inputs));
    CHECK_MESSAGE(result.equal, result.message);
  }
}

TEST_CASE("a fault in a loop's body names the program and the body's step") {
  runtime::PrintedProgram printed =
      runtime::print_program(ir::parse(substitution_text), {}, ir::parse_target("sm_90"));
  passes::CallStep& loop = *printed.program.steps.at(0).call();
  passes::Program body = *loop.bodies.at(0);
  body.steps.clear();
  loop.bodies[0] = std::make_shared<const passes::Program>(std::move(body));
  std::vector<runtime::PrintedProgram> all;
  all.push_back(std::move(printed));
  EmulatedPrograms programs(std::move(all));
  const std::vector<ir::HostArray> inputs = {array({DType::f64, {6, 6}}, 1),
                                             array({DType::f64, {6}}, 2)};
  CHECK_THROWS_WITH_AS(programs.run(0, inputs), doctest::Contains("step 0: program"),
                       EmulationError);
}

}  // namespace
}  // namespace heddle::emulator
