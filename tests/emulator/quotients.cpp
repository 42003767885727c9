// Kernels of many quotients, of which unusual ones are made again.
#include <cstring>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/emulator/emulated_programs.h"
#include "tests/support/oracle.h"
#include "tests/support/samples.h"

namespace heddle::emulator {
namespace {

TEST_CASE("many quotients and roots in a kernel are those of the interpreter") {
  for (const int columns : {64, 63}) {
    for (const bool unusual : {false, true}) {
      const std::string type = fmt::format("f32[50,{}]", columns);
      const ir::Graph graph = ir::parse(fmt::format(R"(func @many(%0: {0}, %1: {0}) -> {0} {{
  %2 = divide %0, %1 : {0}
  %3 = reciprocal %1 : {0}
  %4 = absolute %0 : {0}
  %5 = sqrt %4 : {0}
  %6 = maximum %2, %3 : {0}
  %7 = minimum %6, %5 : {0}
  return %7
}})",
                                                    type));
      const auto text = runtime::print_program(graph, {}, ir::parse_target("sm_90:h200"));
      CHECK(text.kernels.at(0).body.find("quick::sqrt") != std::string::npos);
      std::vector<ir::HostArray> inputs;
      for (int i = 0; i < 2; ++i) {
        const ir::Domain domain = unusual ? ir::Domain::any : ir::Domain::positive;
        inputs.push_back(test::sample(domain, i, DType::f32, {50, columns}, 1));
      }
      EmulatedPrograms programs({text});
      const auto expected = interpret(graph, inputs);
      const auto actual = programs.run(0, inputs, {.shuffle_seed = 1});
      const test::Comparison same = test::compare_equal(actual[0], expected[0]);
      CHECK_MESSAGE(same, same.message);
    }
  }
}

}  // namespace
}  // namespace heddle::emulator
