// Steps of an unrolled loop share kernels that take their numbers as arguments.
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/emulator/emulated_programs.h"
#include "tests/support/oracle.h"
#include "tests/support/samples.h"

namespace heddle::emulator {
namespace {

constexpr int n = 72;  ///< the loop's array has n rows and columns

/// The text of a graph in which the loop's array goes through steps.
class Unrolled {
 public:
  std::string add(const std::string& operation, const std::string& shape,
                  const std::string& dtype = "f32") {
    const std::string name = fmt::format("%{}", ++last_);
    lines_ += fmt::format("  {} = {} : {}[{}]\n", name, operation, dtype, shape);
    return name;
  }
  std::string whole(const std::string& operation) {
    return add(operation, fmt::format("{0},{0}", n));
  }
  std::string number(double value) { return add(fmt::format("constant {}", value), ""); }
  /// Rows and columns from `row` and `column` on.
  std::string part(const std::string& x, int row, int column) {
    return add(fmt::format("slice {} starts=[{},{}] steps=[1,1]", x, row, column),
               fmt::format("{},{}", n - row, n - column));
  }
  std::string update(const std::string& x, const std::string& part, int row, int column, int rows,
                     int columns) {
    return whole(fmt::format("slice_update {}, {} starts=[{},{}] steps=[1,1] shape=[{},{}]", x,
                             part, row, column, rows, columns));
  }
  std::string text(const std::string& result) const {
    return fmt::format("func @unrolled(%0: f32[{0},{0}]) -> f32[{0},{0}] {{\n{1}  return {2}\n}}\n",
                       n, lines_, result);
  }

 private:
  int last_ = 0;
  std::string lines_;
};

struct Loop {
  const char* name;
  int steps;
  std::function<std::string(Unrolled&, const std::string&, int)> step;
};

const std::vector<Loop> loops = {
    {"constants", 24,
     [](Unrolled& u, const std::string& x, int i) {
       const std::string c = u.number(0.25 + 0.125 * i);
       return u.whole(
           fmt::format("cumsum {} axes=[1]", u.whole(fmt::format("multiply {}, {}", x, c))));
     }},
    {"windows", 68,
     [](Unrolled& u, const std::string& x, int i) {
       const int rest = n - i - 1;
       const std::string column =
           u.add(fmt::format("slice {} starts=[{},{}] steps=[1,1]", x, i + 1, i),
                 fmt::format("{},1", rest));
       const std::string row =
           u.add(fmt::format("slice {} starts=[{},{}] steps=[1,1]", x, i, i + 1),
                 fmt::format("1,{}", rest));
       const std::string shape = fmt::format("{0},{0}", rest);
       const std::string product = u.add(fmt::format("multiply {}, {}", column, row), shape);
       const std::string less =
           u.add(fmt::format("subtract {}, {}", u.part(x, i + 1, i + 1), product), shape);
       return u.update(x, less, i + 1, i + 1, rest, rest);
     }},
    {"rows", 24,
     [](Unrolled& u, const std::string& x, int i) {
       const std::string sum = u.add(fmt::format("sum {} axes=[1] keepdims", u.part(x, i, i + 1)),
                                     fmt::format("{},1", n - i));
       return u.update(x, sum, i, 0, n - i, 1);
     }},
    {"columns", 24,
     [](Unrolled& u, const std::string& x, int i) {
       const std::string sum = u.add(fmt::format("sum {} axes=[0] keepdims", u.part(x, i + 1, i)),
                                     fmt::format("1,{}", n - i));
       return u.update(x, sum, 0, i, 1, n - i);
     }},
    {"vectors", 24,
     [](Unrolled& u, const std::string& x, int i) {
       const std::string sum = u.add(fmt::format("max {} axes=[0] keepdims", u.part(x, 2 * i, 0)),
                                     fmt::format("1,{}", n));
       const std::string c = u.number(1.5 * i);
       const std::string less = u.whole(fmt::format("subtract {}, {}", x, sum));
       return u.whole(fmt::format("add {}, {}", less, c));
     }},
    {"tiles", 24,
     [](Unrolled& u, const std::string& x, int i) {
       const std::string shape = fmt::format("{0},{0}", n - i);
       const std::string turned =
           u.add(fmt::format("transpose {} axes=[1,0]", u.part(x, i, i)), shape);
       const std::string sums = u.whole(fmt::format("cumsum {} axes=[0]", x));
       const std::string both =
           u.add(fmt::format("maximum {}, {}", turned, u.part(sums, i, i)), shape);
       return u.update(sums, both, i, i, n - i, n - i);
     }},
    {"places", 24,
     [](Unrolled& u, const std::string& x, int i) {
       const std::string place = u.add(fmt::format("argmax {} axes=[0]", u.part(x, 0, i)),
                                       fmt::format("{}", n - i), "i64");
       const std::string value = u.add(fmt::format("cast {}", place), fmt::format("{}", n - i));
       const std::string row = u.add(fmt::format("reshape {}", value), fmt::format("1,{}", n - i));
       return u.update(x, row, i, i, 1, n - i);
     }},
};

ir::Graph graph_of(const Loop& loop) {
  Unrolled unrolled;
  std::string x = "%0";
  for (int i = 0; i < loop.steps; ++i) x = loop.step(unrolled, x, i);
  return ir::parse(unrolled.text(x));
}

runtime::PrintedProgram print(const ir::Graph& graph, const char* target, bool shared) {
  runtime::CompileOptions options;
  if (!shared) options.disabled = {"shared_kernels"};
  return runtime::print_program(graph, options, ir::parse_target(target));
}

TEST_CASE("kernels with numbers as arguments give the same bits as those with numbers in texts") {
  std::vector<ir::Graph> graphs;
  std::vector<runtime::PrintedProgram> printed;
  for (const Loop& loop : loops) {
    graphs.push_back(graph_of(loop));
    for (const bool shared : {false, true})
      printed.push_back(print(graphs.back(), "sm_90:h200", shared));
  }
  EmulatedPrograms programs(std::move(printed));
  for (std::size_t i = 0; i < loops.size(); ++i) {
    CAPTURE(loops[i].name);
    const ir::HostArray input = test::moderate_sample(DType::f32, {n, n}, i);
    const auto apart = programs.run(2 * i, {&input, 1}, {.shuffle_seed = i});
    const auto shared = programs.run(2 * i + 1, {&input, 1}, {.shuffle_seed = i});
    const test::Comparison same = test::compare_equal(shared[0], apart[0]);
    CHECK_MESSAGE(same.equal, same.message);
  }
}

TEST_CASE("steps that differ in numbers share kernels on each target") {
  for (const char* target : {"sm_90:h200", "x86-64-v3"}) {
    for (const Loop& loop : loops) {
      CAPTURE(target);
      CAPTURE(loop.name);
      const ir::Graph graph = graph_of(loop);
      const std::size_t apart = print(graph, target, false).kernels.size();
      const std::size_t shared = print(graph, target, true).kernels.size();
      MESSAGE(fmt::format("{} {}: {} kernels instead of {}", target, loop.name, shared, apart));
      CHECK(shared < apart);
      CHECK(shared <= 16);
    }
  }
}

TEST_CASE("three kernels that differ in numbers keep them in their texts") {
  const auto program = [](int count) {
    Unrolled unrolled;
    std::string x = "%0";
    for (int i = 0; i < count; ++i) x = loops[0].step(unrolled, x, i);
    return print(ir::parse(unrolled.text(x)), "sm_90:h200", true);
  };
  CHECK(program(3).kernels.size() == 3);
  const runtime::PrintedProgram shared = program(4);
  CHECK(shared.kernels.size() == 1);
  CHECK(shared.program.steps.size() == 4);
  std::set<std::uint64_t> constants;
  for (const passes::Step& step : shared.program.steps) {
    for (const passes::Parameter& parameter : step.kernel()->parameters) {
      if (parameter.kind == passes::Parameter::Kind::constant) constants.insert(parameter.bits.low);
    }
  }
  CHECK(constants.size() == 4);
  const passes::Program read = passes::program_from_json(passes::to_json(shared.program));
  CHECK(passes::to_json(read) == passes::to_json(shared.program));
}

TEST_CASE("exponents and other operands of functions stay in the text") {
  Unrolled unrolled;
  std::string x = "%0";
  for (int i = 0; i < 6; ++i) {
    const std::string c = unrolled.number(2.25 + i);
    x = unrolled.whole(fmt::format("power {}, {}", x, c));
    x = unrolled.whole(fmt::format("cumsum {} axes=[1]", x));
  }
  CHECK(print(ir::parse(unrolled.text(x)), "sm_90:h200", true).kernels.size() == 6);
}

}  // namespace
}  // namespace heddle::emulator
