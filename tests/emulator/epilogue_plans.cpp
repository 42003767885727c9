#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "ir/types/target.h"
#include "runtime/report/report.h"
#include "tests/emulator/emulated_programs.h"
#include "tests/support/host_arrays.h"
#include "tests/support/oracle.h"
#include "tests/support/samples.h"

// What else is true of plans whose products do more than multiply.

namespace heddle::emulator {
namespace {

const ir::Target& target() {
  static const ir::Target parsed = ir::parse_target("sm_90:h200");
  return parsed;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// One program of a graph, run both ways; both must give what NumPy gives.
void check_both(const std::string& text, const std::vector<ir::HostArray>& inputs,
                const runtime::CompileOptions& options = {}) {
  const ir::Graph graph = ir::parse(text);
  std::vector<runtime::PrintedProgram> one;
  one.push_back(runtime::print_program(graph, options, target()));
  EmulatedPrograms programs(std::move(one));
  const auto expected = test::Oracle::instance().ask(graph, inputs);
  for (const bool refuse : {false, true}) {
    CAPTURE(refuse);
    const test::Comparison result =
        test::compare(programs.run(0, inputs, {.refuse_epilogues = refuse}), expected);
    CHECK_MESSAGE(result.equal, result.message);
  }
}

/// The same where NaN and infinity are: exactly those elements, and the others nearly.
void check_specials(const std::string& text, const std::vector<ir::HostArray>& inputs,
                    const std::vector<float>& expected) {
  std::vector<runtime::PrintedProgram> one;
  one.push_back(runtime::print_program(ir::parse(text), {}, target()));
  EmulatedPrograms programs(std::move(one));
  for (const bool refuse : {false, true}) {
    CAPTURE(refuse);
    const auto results = programs.run(0, inputs, {.refuse_epilogues = refuse});
    REQUIRE(results[0].data.size() == expected.size() * sizeof(float));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CAPTURE(i);
      float value = 0;
      std::memcpy(&value, results[0].data.data() + i * sizeof value, sizeof value);
      if (std::isnan(expected[i])) {
        CHECK(std::isnan(value));
      } else {
        CHECK(value == expected[i]);
      }
    }
  }
}

std::string explained(const std::string& text, const runtime::CompileOptions& options = {}) {
  return passes::to_text(
      runtime::report_program(ir::parse(text), options, target(), runtime::Detail::plan));
}

ir::HostArray floats(ir::Shape shape, const std::vector<float>& values) {
  return test::host_array<float>(DType::f32, std::move(shape), values);
}

TEST_CASE("a product with other users gets no epilogue; an epilogue's result may have many users") {
  const std::string both =
      "func @f(%0: f32[n,k], %1: f32[k,m], %2: f32[m]) -> (f32[n,m], f32[n,m]) {\n"
      "  %3 = call matmul %0, %1 : f32[n,m]\n  %4 = add %3, %2 : f32[n,m]\n  return %3, %4\n}\n";
  CHECK(!contains(explained(both), "in one step"));
  CHECK(contains(explained(both), "%3 matmul has 2 uses, 1 of them outside of the epilogue"));
  const std::vector<ir::HostArray> inputs = {test::moderate_sample(DType::f32, {5, 7}, 1),
                                             test::moderate_sample(DType::f32, {7, 3}, 2),
                                             test::moderate_sample(DType::f32, {3}, 3)};
  check_both(both, inputs);
  const std::string users =
      "func @f(%0: f32[n,k], %1: f32[k,m], %2: f32[m]) -> (f32[n,m], f32[n], f32[n,m]) {\n"
      "  %3 = call matmul %0, %1 : f32[n,m]\n  %4 = add %3, %2 : f32[n,m]\n"
      "  %5 = sum %4 axes=[1] : f32[n]\n  %6 = exp %4 : f32[n,m]\n  return %4, %5, %6\n}\n";
  CHECK(contains(explained(users), ": matmul + bias in one step"));
  check_both(users, inputs);
  const std::string layers =
      "func @f(%0: f32[n,k], %1: f32[k,m], %2: f32[m], %3: f32[m,k]) -> f32[n,k] {\n"
      "  %4 = call matmul %0, %1 : f32[n,m]\n  %5 = add %4, %2 : f32[n,m]\n"
      "  %6 = call matmul %5, %3 : f32[n,k]\n  %7 = add %6, %0 : f32[n,k]\n  return %7\n}\n";
  CHECK(contains(explained(layers), ": matmul + bias in one step"));
  CHECK(contains(explained(layers), ": matmul + residual in one step"));
  std::vector<ir::HostArray> four = inputs;
  four.push_back(test::moderate_sample(DType::f32, {3, 7}, 4));
  check_both(layers, four);
}

TEST_CASE("a factor of 0 gives NaN for NaN and infinities") {
  const std::string text =
      "func @f(%0: f32[n,k], %1: f32[k,m], %2: f32[n,m], %3: scalar f32, %4: scalar f32) -> "
      "f32[n,m] {\n  %5 = call matmul %0, %1 : f32[n,m]\n  %6 = multiply %5, %3 : f32[n,m]\n"
      "  %7 = multiply %2, %4 : f32[n,m]\n  %8 = add %6, %7 : f32[n,m]\n  return %8\n}\n";
  CHECK(contains(explained(text), ": matmul + scale + scaled residual in one step"));
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<ir::HostArray> matrices = {floats({2, 1}, {inf, 1}), floats({1, 2}, {1, 2}),
                                               floats({2, 2}, {1, 2, nan, 4})};
  const auto check = [&](float alpha, float beta, const std::vector<float>& expected) {
    CAPTURE(alpha);
    CAPTURE(beta);
    std::vector<ir::HostArray> inputs = matrices;
    inputs.push_back(floats({}, {alpha}));
    inputs.push_back(floats({}, {beta}));
    check_specials(text, inputs, expected);
  };
  check(0, 0, {nan, nan, nan, 0});
  check(-0.0f, 3, {nan, nan, nan, 12});
  check(2, 0, {inf, inf, nan, 4});
  check(2, 3, {inf, inf, nan, 16});
}

TEST_CASE("relu keeps NaN unless approximate results are allowed") {
  const std::string text =
      "func @f(%0: f32[n,k], %1: f32[k,m]) -> f32[n,m] {\n  %2 = call matmul %0, %1 : f32[n,m]\n"
      "  %3 = constant 0 : f32[]\n  %4 = maximum %3, %2 : f32[n,m]\n  return %4\n}\n";
  const float nan = std::numeric_limits<float>::quiet_NaN();
  check_specials(text, {floats({3, 1}, {nan, -1, 2}), floats({1, 2}, {1, -3})},
                 {nan, nan, 0, 3, 2, 0});
  CHECK(contains(explained(text, {.approximate = true}), ": matmul + relu in one step"));
}

TEST_CASE("a product with a donated residual writes its result over it") {
  const ir::Graph graph = ir::parse(
      "func @f(%0: f32[40,40], %1: f32[40,40], %2: f32[40,40]) -> f32[40,40] {\n"
      "  %3 = call matmul %0, %1 : f32[40,40]\n  %4 = add %3, %2 : f32[40,40]\n  return %4\n}\n");
  std::vector<runtime::PrintedProgram> printed;
  printed.push_back(runtime::print_program(graph, {.donated = {true, true, true}}, target()));
  const passes::Program& program = printed[0].program;
  REQUIRE(program.outputs[0].input.has_value());
  CHECK(*program.outputs[0].input == 2);
  const passes::BufferRef residual{passes::BufferRef::Kind::input, 2};
  CHECK(program.steps[0].call()->results[0].buffer == residual);
  EmulatedPrograms programs(std::move(printed));
  const std::vector<ir::HostArray> inputs = {test::moderate_sample(DType::f32, {40, 40}, 1),
                                             test::moderate_sample(DType::f32, {40, 40}, 2),
                                             test::moderate_sample(DType::f32, {40, 40}, 3)};
  for (const bool refuse : {false, true}) {
    const test::Comparison result =
        test::compare(programs.run(0, inputs, {.refuse_epilogues = refuse}),
                      test::Oracle::instance().ask(graph, inputs));
    CHECK_MESSAGE(result.equal, result.message);
  }
  const ir::Graph same = ir::parse(
      "func @f(%0: f32[40,40], %1: f32[40,40]) -> f32[40,40] {\n"
      "  %2 = call matmul %0, %1 : f32[40,40]\n  %3 = add %2, %0 : f32[40,40]\n  return %3\n}\n");
  const passes::Program both =
      runtime::print_program(same, {.donated = {true, true}}, target()).program;
  CHECK(!both.outputs[0].input.has_value());
}

TEST_CASE("an epilogue moves less memory, and can be switched off") {
  const std::string text =
      "func @f(%0: f32[512,512], %1: f32[512,512], %2: f32[512]) -> f32[512,512] {\n"
      "  %3 = call matmul %0, %1 : f32[512,512]\n  %4 = add %3, %2 : f32[512,512]\n"
      "  return %4\n}\n";
  CHECK(contains(explained(text), "program f: 1 groups, 0 kernels\n"));
  CHECK(contains(explained(text), "fallback, runs if the library refuses"));
  CHECK(contains(explained(text), "(1.00 times)"));
  CHECK(contains(explained(text, {.disabled = {"epilogue"}}), "(1.67 times)"));
  CHECK(!contains(explained(text, {.disabled = {"epilogue"}}), "in one step"));
  const passes::Program program = runtime::print_program(ir::parse(text), {}, target()).program;
  CHECK(program.temporaries.empty());
  REQUIRE(program.steps.size() == 1);
  CHECK(program.steps[0].call()->fallback.has_value());
}

}  // namespace
}  // namespace heddle::emulator
