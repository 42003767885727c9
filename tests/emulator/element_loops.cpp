// Loops that run inside a kernel: each element takes its own steps.
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "passes/report/report.h"
#include "tests/emulator/emulated_programs.h"
#include "tests/support/oracle.h"
#include "tests/support/samples.h"

namespace heddle::emulator {
namespace {

struct Program {
  const char* name;
  std::string text;
  std::vector<ir::Type> inputs;
  std::size_t kernels;  ///< on a GPU
};

/// Halves each element until it is at most 1, and counts the steps; `after` uses both results.
std::string halving(const std::string& dtype, const std::string& shape, const std::string& after,
                    const std::string& result) {
  return fmt::format(
      "func @halving(%0: {0}[{1}], %1: i64[{1}]) -> {3} {{\n"
      "  %2, %3 = call control.while %0, %1 {{carries = 2}} : {0}[{1}], i64[{1}] "
      "region (%0: {0}[{1}], %1: i64[{1}]) -> bool[{1}] {{\n"
      "    %2 = absolute %0 : {0}[{1}]\n"
      "    %3 = constant 1 : {0}[]\n"
      "    %4 = greater %2, %3 : bool[{1}]\n"
      "    return %4\n"
      "  }} region (%0: {0}[{1}], %1: i64[{1}]) -> ({0}[{1}], i64[{1}]) {{\n"
      "    %2 = constant 0.5 : {0}[]\n"
      "    %3 = multiply %0, %2 : {0}[{1}]\n"
      "    %4 = constant 1 : i64[]\n"
      "    %5 = add %1, %4 : i64[{1}]\n"
      "    return %3, %5\n"
      "  }}\n{2}}}\n",
      dtype, shape, after, result);
}

/// Adds the step's number, or its square, to each element, and rows of %0 before the loop.
std::string counting(const std::string& length, bool reverse) {
  return fmt::format(
      "func @counting(%0: i64[7,33], %1: i64[33]) -> i64[7,33] {{\n"
      "  %2 = call control.scan %1, %0 {{carries = 1, length = [{}]{}}} : i64[7,33] "
      "region (%0: u8[step1,0], %1: scalar i64, %2: i64[33], %3: i64[7,33]) -> i64[7,33] {{\n"
      "    %4 = multiply %2, %2 : i64[33]\n"
      "    %5 = multiply %3, %1 : i64[7,33]\n"
      "    %6 = add %5, %4 : i64[7,33]\n"
      "    return %6\n"
      "  }}\n"
      "  return %2\n"
      "}}\n",
      length, reverse ? ", reverse = true" : "");
}

/// A recurrence over the rows of %0, which stacks a result of its shape, and one that has it only
/// when it is broadcast. `rows` and `shape` are those of %0; `after` uses the results.
std::string filter(const std::string& dtype, const std::string& rows, const std::string& shape,
                   const std::string& options, const std::string& results) {
  const std::string whole = shape.empty() ? rows : rows + "," + shape;
  return fmt::format(
      "func @filter(%0: {0}[{1}], %1: {0}[{2}], %2: scalar {0}) -> {4} {{\n"
      "  %3, %4, %5, %6 = call control.scan %1, %2, %0 {{carries = 2, sequences = 1, length = [{5}]"
      "{3}}} : {0}[{2}], {0}[], {0}[{1}], bool[{1}] "
      "region (%0: u8[step1,0], %1: scalar i64, %2: {0}[{2}], %3: {0}[], %4: {0}[{2}]) "
      "-> ({0}[{2}], {0}[], {0}[{2}], bool[{2}]) {{\n"
      "    %5 = constant 0.5 : {0}[]\n"
      "    %6 = multiply %2, %5 : {0}[{2}]\n"
      "    %7 = add %6, %4 : {0}[{2}]\n"
      "    %8 = add %3, %5 : {0}[]\n"
      "    %9 = multiply %7, %8 : {0}[{2}]\n"
      "    %10 = less %3, %5 : bool[]\n"
      "    %11 = broadcast_to %10 : bool[{2}]\n"
      "    return %7, %8, %9, %11\n"
      "  }}\n"
      "  return {6}\n"
      "}}\n",
      dtype, whole, shape, options,
      results == "%3, %5, %6" ? fmt::format("({0}[{1}], {0}[{2}], bool[{2}])", dtype, shape, whole)
                              : fmt::format("{}[{}]", dtype, results == "%3" ? shape : whole),
      rows, results);
}

/// For each element, an outer loop of three steps around an inner one that ends by itself.
const std::string nested =
    "func @nested(%0: i64[130]) -> i64[130] {\n"
    "  %1 = call control.scan %0 {carries = 1, length = [3]} : i64[130] "
    "region (%0: u8[step1,0], %1: scalar i64, %2: i64[130]) -> i64[130] {\n"
    "    %3 = call control.while %1, %2 {carries = 1} : i64[130] "
    "region (%0: i64[], %1: i64[130]) -> bool[130] {\n"
    "      %2 = constant 50 : i64[]\n"
    "      %3 = less %1, %2 : bool[130]\n"
    "      return %3\n"
    "    } region (%0: i64[], %1: i64[130]) -> i64[130] {\n"
    "      %2 = constant 7 : i64[]\n"
    "      %3 = add %0, %2 : i64[]\n"
    "      %4 = add %1, %3 : i64[130]\n"
    "      return %4\n"
    "    }\n"
    "    %4 = constant 2 : i64[]\n"
    "    %5 = floor_divide %3, %4 : i64[130]\n"
    "    return %5\n"
    "  }\n"
    "  return %1\n"
    "}\n";

/// An element's step depends on all others, so the loop does not run inside a kernel.
const std::string coupled =
    "func @coupled(%0: i64[40]) -> i64[40] {\n"
    "  %1 = call control.while %0 {carries = 1} : i64[40] "
    "region (%0: i64[40]) -> bool[40] {\n"
    "    %1 = constant 100 : i64[]\n"
    "    %2 = less %0, %1 : bool[40]\n"
    "    return %2\n"
    "  } region (%0: i64[40]) -> i64[40] {\n"
    "    %1 = max %0 axes=[0] : i64[]\n"
    "    %2 = absolute %1 : i64[]\n"
    "    %3 = constant 1 : i64[]\n"
    "    %4 = add %2, %3 : i64[]\n"
    "    %5 = add %0, %4 : i64[40]\n"
    "    return %5\n"
    "  }\n"
    "  return %1\n"
    "}\n";

std::vector<Program> programs() {
  std::vector<Program> made;
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    const std::string name(name_of(dtype));
    made.push_back(
        {"both results",
         halving(name, "5,67", "  return %2, %3\n", fmt::format("({}[5,67], i64[5,67])", name)),
         {{dtype, {5, 67}}, {DType::i64, {5, 67}}},
         1});
  }
  const std::string sums =
      "  %4 = negative %3 : i64[300,200]\n"
      "  %5 = sum %4 axes=[1] : i64[300]\n"
      "  return %5\n";
  made.push_back({"a sum over rows",
                  halving("f32", "300,200", sums, "i64[300]"),
                  {{DType::f32, {300, 200}}, {DType::i64, {300, 200}}},
                  1});
  made.push_back({"a scalar",
                  halving("f64", "", "  return %3\n", "i64[]"),
                  {{DType::f64, {}}, {DType::i64, {}}},
                  1});
  made.push_back({"empty",
                  halving("f32", "0,3", "  return %3\n", "i64[0,3]"),
                  {{DType::f32, {0, 3}}, {DType::i64, {0, 3}}},
                  0});
  const std::vector<ir::Type> rows = {{DType::i64, {7, 33}}, {DType::i64, {33}}};
  for (const bool reverse : {false, true}) {
    made.push_back({"counted", counting("5", reverse), rows, 1});
    made.push_back({"no step", counting("0", reverse), rows, 0});
  }
  // For an element of another part, 0, the loop would never end.
  made.push_back({"a part of a concatenation",
                  "func @part(%0: f32[65], %1: f32[31]) -> f32[96] {\n"
                  "  %2 = absolute %0 : f32[65]\n"
                  "  %6 = constant 1 : f32[]\n"
                  "  %3 = add %2, %6 : f32[65]\n"
                  "  %4 = call control.while %3 {carries = 1} : f32[65] "
                  "region (%0: f32[65]) -> bool[65] {\n"
                  "    %1 = constant 1 : f32[]\n"
                  "    %2 = less %0, %1 : bool[65]\n"
                  "    return %2\n"
                  "  } region (%0: f32[65]) -> f32[65] {\n"
                  "    %1 = add %0, %0 : f32[65]\n"
                  "    return %1\n"
                  "  }\n"
                  "  %5 = concatenate %4, %1 axes=[0] : f32[96]\n"
                  "  return %5\n"
                  "}\n",
                  {{DType::f32, {65}}, {DType::f32, {31}}},
                  2});
  made.push_back({"nested", nested, {{DType::i64, {130}}}, 1});
  for (const DType dtype : {DType::f16, DType::f32, DType::f64}) {
    const std::string name(name_of(dtype));
    made.push_back({"a filter",
                    filter(name, "9", "5,67", "", "%3, %5, %6"),
                    {{dtype, {9, 5, 67}}, {dtype, {5, 67}}, {dtype, {}}},
                    1});
  }
  made.push_back({"a filter from the last row",
                  filter("f64", "4", "130", ", reverse = true", "%5"),
                  {{DType::f64, {4, 130}}, {DType::f64, {130}}, {DType::f64, {}}},
                  1});
  made.push_back({"a filter of numbers",
                  filter("f64", "33", "", "", "%3"),
                  {{DType::f64, {33}}, {DType::f64, {}}, {DType::f64, {}}},
                  1});
  made.push_back({"a filter of one row",
                  filter("f32", "1", "7", "", "%3, %5, %6"),
                  {{DType::f32, {1, 7}}, {DType::f32, {7}}, {DType::f32, {}}},
                  1});
  made.push_back({"a filter without rows",
                  filter("f32", "0", "7", "", "%3, %5, %6"),
                  {{DType::f32, {0, 7}}, {DType::f32, {7}}, {DType::f32, {}}},
                  0});
  return made;
}

std::vector<ir::HostArray> inputs_of(const Program& program) {
  std::vector<ir::HostArray> inputs;
  for (const ir::Type& type : program.inputs)
    inputs.push_back(test::moderate_sample(type.dtype, type.shape, inputs.size() + 1));
  return inputs;
}

runtime::PrintedProgram printed(const std::string& text, const char* target) {
  return runtime::print_program(ir::parse(text), {}, ir::parse_target(target));
}

TEST_CASE("loops over elements are one kernel, whose results are the interpreter's") {
  const std::vector<Program> all = programs();
  std::vector<runtime::PrintedProgram> texts;
  for (const Program& one : all) texts.push_back(printed(one.text, "sm_90:h200"));
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(all[i].name);
    CHECK(texts[i].kernels.size() == all[i].kernels);
  }
  EmulatedPrograms emulated(std::move(texts));
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(all[i].name);
    const std::vector<ir::HostArray> inputs = inputs_of(all[i]);
    const auto expected = ir::interpret(ir::parse(all[i].text), inputs);
    const auto found = emulated.run(i, inputs, {.shuffle_seed = i});
    REQUIRE(found.size() == expected.size());
    for (std::size_t k = 0; k < found.size(); ++k) {
      const test::Comparison same = test::compare_equal(found[k], expected[k]);
      CHECK_MESSAGE(same.equal, same.message);
    }
  }
}

TEST_CASE("a loop whose elements depend on each other is a step of the program") {
  for (const char* target : {"sm_90:h200", "x86-64-v3"}) {
    const runtime::PrintedProgram program = printed(coupled, target);
    REQUIRE(program.program.steps.size() >= 1);
    const passes::CallStep* const call = program.program.steps.back().call();
    REQUIRE(call != nullptr);
    CHECK(call->bodies.size() == 2);
  }
}

TEST_CASE("the loops of programs are part of their saved form") {
  for (const Program& one : programs()) {
    const runtime::PrintedProgram program = printed(one.text, "x86-64-v3");
    const std::string json = passes::to_json(program.program);
    CHECK(passes::to_json(passes::program_from_json(json)) == json);
  }
}

}  // namespace
}  // namespace heddle::emulator
