// Steps of one kernel that do not need each other's results are one launch, with a table.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/emulator/emulated_programs.h"
#include "tests/support/oracle.h"
#include "tests/support/samples.h"

namespace heddle::emulator {
namespace {

constexpr int n = 512;     ///< rows and columns; updates of arrays of this size are in place
constexpr int width = 64;  ///< of a product
constexpr int steps = 40;  ///< of each loop

/// The text of a graph, line by line.
class Text {
 public:
  std::string add(const std::string& operation, const std::string& shape) {
    lines_ += fmt::format("  %{} = {} : f32[{}]\n", ++last_, operation, shape);
    return fmt::format("%{}", last_);
  }
  /// The product of column `column` of `x`, from `row` on, and the first columns of `y`.
  std::string product(const std::string& x, const std::string& y, int row, int column) {
    const int rows = n - row;
    const std::string one = add(fmt::format("slice {} starts=[{},{}] steps=[1,1]", x, row, column),
                                fmt::format("{},1", rows));
    const std::string all = add(fmt::format("slice {} starts=[{},0] steps=[1,1]", y, row),
                                fmt::format("{},{}", rows, width));
    const std::string both =
        add(fmt::format("multiply {}, {}", one, all), fmt::format("{},{}", rows, width));
    return add(fmt::format("sum {} axes=[0] keepdims", both), fmt::format("1,{}", width));
  }
  std::string update(const std::string& x, const std::string& part, int row) {
    return add(fmt::format("slice_update {}, {} starts=[{},0] steps=[1,1] shape=[1,{}]", x, part,
                           row, width),
               fmt::format("{0},{0}", n));
  }
  std::string text(const std::string& result) const {
    return fmt::format("func @loop(%0: f32[{0},{0}]) -> f32[{0},{0}] {{\n{1}  return {2}\n}}\n", n,
                       lines_, result);
  }

 private:
  int last_ = 0;
  std::string lines_;
};

struct Loop {
  const char* name;
  std::function<std::string(Text&, const std::string&, int)> step;
  std::size_t least, most;  ///< how many launches there are, instead of more than `steps`
};

const std::vector<Loop> loops = {
    // Each row is a function of the input: the products are independent of each other.
    {"products of the input",
     [](Text& text, const std::string& x, int i) {
       return text.update(x, text.product("%0", "%0", i, i), i);
     },
     3, steps},
    // Row i is overwritten with what the rows below it were: it must be read before.
    {"rows below",
     [](Text& text, const std::string& x, int i) {
       return text.update(x, text.product("%0", x, i + 1, i), i);
     },
     3, 2 * steps},
    // Each step reads the row that the step before it wrote.
    {"rows above",
     [](Text& text, const std::string& x, int i) {
       return text.update(x, text.product("%0", x, i, i), i + 1);
     },
     steps, 3 * steps},
};

ir::Graph graph_of(const Loop& loop) {
  Text text;
  std::string x = "%0";
  for (int i = 0; i < steps; ++i) x = loop.step(text, x, i);
  return ir::parse(text.text(x));
}

runtime::PrintedProgram print(const ir::Graph& graph, bool tables) {
  runtime::CompileOptions options;
  if (!tables) options.disabled = {"launch_tables"};
  return runtime::print_program(graph, options, ir::parse_target("sm_90:h200"));
}

std::size_t launches(const passes::Program& program) {
  return static_cast<std::size_t>(
      std::ranges::count_if(program.steps, [](const passes::Step& step) {
        return step.kernel() == nullptr || step.kernel()->together > 0;
      }));
}

TEST_CASE("launches of many steps give the same bits as one launch a step") {
  std::vector<runtime::PrintedProgram> printed;
  for (const Loop& loop : loops) {
    CAPTURE(loop.name);
    const ir::Graph graph = graph_of(loop);
    for (const bool tables : {false, true}) printed.push_back(print(graph, tables));
    const std::size_t apart = launches(printed[printed.size() - 2].program);
    const std::size_t together = launches(printed.back().program);
    MESSAGE(std::string(loop.name), ": ", apart, " steps, ", together, " launches");
    CHECK(together <= apart);
    CHECK(together >= loop.least);
    CHECK(together <= loop.most);
  }
  EmulatedPrograms programs(std::move(printed));
  for (std::size_t i = 0; i < loops.size(); ++i) {
    CAPTURE(loops[i].name);
    const ir::HostArray input = test::moderate_sample(DType::f32, {n, n}, i);
    const auto apart = programs.run(2 * i, {&input, 1}, {.shuffle_seed = i});
    const auto together = programs.run(2 * i + 1, {&input, 1}, {.shuffle_seed = i});
    const test::Comparison same = test::compare_equal(together[0], apart[0]);
    CHECK_MESSAGE(same.equal, same.message);
  }
}

}  // namespace
}  // namespace heddle::emulator
