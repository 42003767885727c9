#include "passes/rewrite/roll_loops.h"

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "ir/calls/calls.h"
#include "ir/types/constant.h"
#include "passes/pipeline/pipeline.h"
#include "passes/rewrite/repeats.h"
#include "tests/passes/plans.h"
#include "tests/support/samples.h"

using namespace heddle;
using namespace heddle::passes;
using namespace heddle::test;

namespace {

constexpr std::int64_t width = 5, rows = 64;
constexpr RollLimits small_limits{10, 20, 0};

std::size_t count_scans(const ir::Graph& graph) {
  std::size_t scans = 0;
  for (std::uint32_t i = 0; i < graph.size(); ++i)
    scans += graph.is_call_of(ir::ValueId{i}, ir::calls::scan()) ? 1 : 0;
  return scans;
}

/// Rolls a graph, and checks that it computes the same, bit for bit. Returns the rolled graph.
ir::Graph rolled(const ir::Graph& graph, const RollLimits& limits = small_limits) {
  const ir::Graph result = roll_loops(graph, limits);
  ir::verify(result);
  CHECK(ir::parse(ir::print(result)).hash() == result.hash());
  std::vector<ir::HostArray> arguments;
  for (const ir::ValueId parameter : graph.parameters())
    arguments.push_back(moderate_sample(graph.dtype(parameter), graph.shape(parameter), 7));
  const auto expected = ir::interpret(graph, arguments), found = ir::interpret(result, arguments);
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CHECK(found[i].type == expected[i].type);
    CHECK_MESSAGE(found[i].data == expected[i].data, ir::print(result));
  }
  return result;
}

ir::ValueId integer(ir::Graph& graph, std::int64_t value) {
  return graph.constant(DType::i64, ir::ElementBits(static_cast<std::uint64_t>(value)));
}

ir::ValueId row(ir::Graph& graph, ir::ValueId matrix, std::int64_t at) {
  ir::Attributes part;
  part.shape = {1, width};
  part.starts = {at, 0};
  part.steps = {1, 1};
  return graph.add(ir::Op::slice, {matrix}, part);
}

ir::ValueId with_row(ir::Graph& graph, ir::ValueId matrix, ir::ValueId values, std::int64_t at) {
  ir::Attributes part;
  part.shape = {1, width};
  part.starts = {at, 0};
  part.steps = {1, 1};
  return graph.add(ir::Op::slice_update, {matrix, values}, part);
}

/// A graph of `steps` steps of one carried row [1, width]; `step` gives the next one.
struct Steps {
  ir::Graph graph;
  ir::ValueId matrix = graph.parameter(DType::i64, {rows, width});
  ir::ValueId start = graph.parameter(DType::i64, {1, width});
  std::vector<ir::ValueId> values = {start};

  void take(std::int64_t steps, const std::function<ir::ValueId(std::int64_t, ir::ValueId)>& step) {
    for (std::int64_t i = 0; i < steps; ++i) values.push_back(step(i, values.back()));
    graph.outputs = {values.back()};
  }
  ir::ValueId add(ir::Op op, ir::ValueId a, ir::ValueId b) { return graph.add(op, {a, b}); }
};

}  // namespace

TEST_CASE("repeats are found, longest first, shortest period first") {
  const std::vector<std::uint64_t> sequence = {9, 8, 1, 2, 1, 2, 1, 2, 1, 7, 5, 5, 5, 5};
  const std::vector<Repeat> found = find_repeats(sequence, 3);
  REQUIRE(found.size() == 2);
  CHECK(found[0].begin == 2);
  CHECK(found[0].end == 9);
  CHECK(found[0].period == 2);
  CHECK(found[1].begin == 10);
  CHECK(found[1].period == 1);
  CHECK(found[1].steps() == 4);
  CHECK(find_repeats({}, 3).empty());
}

TEST_CASE("all repeats of random sequences are found") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint64_t> sequence;
    while (sequence.size() < 200) {
      std::vector<std::uint64_t> part(1 + random() % 9);
      for (std::uint64_t& value : part) value = random() % 3;
      for (std::uint64_t steps = random() % 8; steps-- > 0;)
        sequence.insert(sequence.end(), part.begin(), part.end());
      sequence.push_back(random() % 3);
    }
    const std::size_t min_steps = 2 + seed % 5;
    std::size_t expected = 0;
    for (std::size_t period = 1; period <= sequence.size() / min_steps; ++period) {
      std::size_t run = 0;
      for (std::size_t i = 0; i + period <= sequence.size(); ++i) {
        const bool equal = i + period < sequence.size() && sequence[i] == sequence[i + period];
        if (equal) ++run;
        if (!equal && run >= (min_steps - 1) * period) ++expected;
        if (!equal) run = 0;
      }
    }
    CHECK(find_repeats(sequence, min_steps).size() == expected);
  }
}

TEST_CASE("steps that read and write rows at the counter become one loop") {
  Steps steps;
  ir::ValueId matrix = steps.matrix;
  for (std::int64_t i = 0; i < 30; ++i) {
    const ir::ValueId sum =
        steps.add(ir::Op::add, row(steps.graph, matrix, i), row(steps.graph, matrix, i + 1));
    matrix = with_row(steps.graph, matrix, sum, i + 1);
  }
  steps.graph.outputs = {matrix};
  const ir::Graph result = rolled(steps.graph);
  CHECK(count_scans(result) == 1);
  CHECK(ir::print(result).find("length = [30]") != std::string::npos);
}

TEST_CASE("steps downwards, and every third row, become one loop") {
  for (const std::int64_t growth : {-1, 3, 0}) {
    Steps steps;
    steps.take(20, [&](std::int64_t i, ir::ValueId value) {
      const ir::ValueId next = row(steps.graph, steps.matrix, growth < 0 ? 40 - i : growth * i);
      return steps.add(ir::Op::bitwise_xor, steps.add(ir::Op::multiply, value, next), next);
    });
    CHECK(count_scans(rolled(steps.graph)) == 1);
  }
}

TEST_CASE("integers that grow with the steps become the counter") {
  for (const DType dtype :
       {DType::i64, DType::i8, DType::u16, DType::f32, DType::f16, DType::bf16, DType::c64}) {
    ir::Graph graph;
    ir::ValueId value = graph.parameter(dtype, {width});
    for (int i = 0; i < 40; ++i) {
      const ir::ValueId factor =
          graph.constant(dtype, ir::constant_bits(dtype, 3 * i - 10 * (dtype != DType::u16)));
      const ir::ValueId one = graph.constant(dtype, ir::constant_bits(dtype, 1));
      value = graph.add(ir::Op::minimum, {graph.add(ir::Op::subtract, {factor, value}), one});
    }
    graph.outputs = {value};
    const ir::Graph result = rolled(graph);
    CHECK(count_scans(result) == 1);
    CHECK(result.size() < 8);
  }
}

TEST_CASE("numbers that do not grow evenly stop a loop") {
  Steps steps;
  steps.take(40, [&](std::int64_t i, ir::ValueId value) {
    const ir::ValueId odd = integer(steps.graph, i < 20 ? i : i * i);
    return steps.add(ir::Op::bitwise_xor, steps.add(ir::Op::add, value, odd), steps.start);
  });
  const ir::Graph result = rolled(steps.graph);
  CHECK(count_scans(result) == 1);
  CHECK(ir::print(result).find("length = [20]") != std::string::npos);
}

TEST_CASE("values of the last steps, and of two steps before, are carried") {
  Steps steps;
  steps.values = {steps.start, row(steps.graph, steps.matrix, 3)};
  for (int i = 0; i < 20; ++i) {
    const ir::ValueId before = steps.values[steps.values.size() - 2];
    const ir::ValueId twice = steps.add(ir::Op::add, steps.values.back(), steps.values.back());
    steps.values.push_back(steps.add(ir::Op::subtract, twice, before));
  }
  const std::vector<ir::ValueId>& values = steps.values;
  steps.graph.outputs = {values.back(), values[values.size() - 2], values[values.size() - 3]};
  CHECK(count_scans(rolled(steps.graph)) == 1);
}

TEST_CASE("values of all steps are stacked, and joining them is no work") {
  Steps steps;
  ir::Attributes along;
  along.axes = {1};
  steps.take(140, [&](std::int64_t, ir::ValueId value) {
    const ir::ValueId sums = steps.graph.add(ir::Op::cumsum, {value}, along);
    return steps.add(ir::Op::bitwise_xor, sums, steps.start);
  });
  ir::Attributes axis;
  axis.axes = {0};
  const std::vector<ir::ValueId> parts(steps.values.begin() + 1, steps.values.end());
  steps.graph.outputs = {steps.graph.add(ir::Op::concatenate, parts, axis)};
  const ir::Graph result = rolled(steps.graph);
  CHECK(count_scans(result) == 1);
  PlanOptions options;
  options.target = ir::parse_target(host_target);
  const std::string planned = ir::print(run_graph_passes(steps.graph, options));
  CHECK(contains(planned, "control.scan"));
  CHECK_FALSE(contains(planned, "concatenate"));
}

TEST_CASE("a value of a step in the middle is not stacked") {
  Steps steps;
  steps.take(30, [&](std::int64_t, ir::ValueId value) {
    return steps.add(ir::Op::add, steps.add(ir::Op::bitwise_xor, value, steps.start), value);
  });
  steps.graph.outputs.push_back(steps.values[10]);
  const ir::Graph result = rolled(steps.graph);
  CHECK(count_scans(result) == 1);
  CHECK(ir::print(result).find("length = [15]") != std::string::npos);
}

TEST_CASE("steps that need nothing of each other stay apart") {
  Steps steps;
  std::vector<ir::ValueId> sums;
  for (std::int64_t i = 0; i < 30; ++i) {
    const ir::ValueId one = row(steps.graph, steps.matrix, i);
    sums.push_back(steps.add(ir::Op::multiply, one, steps.add(ir::Op::add, one, steps.start)));
  }
  steps.graph.outputs = sums;
  CHECK(count_scans(rolled(steps.graph)) == 0);
}

TEST_CASE("steps that fuse with each other are not stacked, and stay unrolled if they move on") {
  Steps stacked;
  stacked.take(100, [&](std::int64_t, ir::ValueId value) {
    return stacked.add(ir::Op::add, stacked.add(ir::Op::bitwise_xor, value, stacked.start), value);
  });
  stacked.graph.outputs = stacked.values;
  CHECK(count_scans(rolled(stacked.graph)) == 0);
  Steps moving;
  moving.take(60, [&](std::int64_t i, ir::ValueId value) {
    return moving.add(ir::Op::add, value, row(moving.graph, moving.matrix, i));
  });
  CHECK(count_scans(rolled(moving.graph, {10, 20, 120})) == 0);
  CHECK(count_scans(rolled(moving.graph, {10, 20, 119})) == 1);
}

TEST_CASE("short loops stay unrolled") {
  for (const auto& [count, loops] : {std::pair{31, 0u}, {32, 1u}}) {
    Steps steps;
    steps.take(count, [&](std::int64_t i, ir::ValueId value) {
      for (int k = 0; k < 4; ++k) {
        value = steps.add(ir::Op::bitwise_xor, value, row(steps.graph, steps.matrix, i));
        value = steps.add(ir::Op::multiply, value, steps.start);
      }
      return steps.graph.add(ir::Op::negative, {value});
    });
    CHECK(count_scans(rolled(steps.graph, {.most_fused_nodes = 0})) == loops);
  }
}

TEST_CASE("loops in loops are rolled") {
  Steps steps;
  ir::ValueId matrix = steps.matrix;
  for (int outer = 0; outer < 15; ++outer) {
    for (std::int64_t i = 0; i < 25; ++i) {
      const ir::ValueId one = row(steps.graph, matrix, i);
      const ir::ValueId next = steps.add(ir::Op::subtract, row(steps.graph, matrix, i + 1), one);
      matrix = with_row(steps.graph, matrix, next, i + 1);
    }
    matrix = steps.add(ir::Op::bitwise_xor, matrix, steps.start);
  }
  steps.graph.outputs = {matrix};
  const ir::Graph result = rolled(steps.graph);
  CHECK(count_scans(result) == 1);
  CHECK(result.size() < 8);
}

TEST_CASE(
    "loops that start at the counter of the loop around them use it outside of their region") {
  using Step = std::function<ir::ValueId(ir::Graph&, ir::ValueId, std::int64_t)>;
  const ir::Dim outer = ir::Dim::symbol("c");
  std::vector<ir::SymbolId> symbols;
  outer.collect_symbols(symbols);
  const auto at = [&](ir::Graph& graph, ir::ValueId matrix, std::int64_t column) {
    ir::Attributes part;
    part.shape = {1, 1};
    part.starts = {outer, column};
    part.steps = {1, 1};
    return graph.add(ir::Op::slice, {matrix}, part);
  };
  const auto with = [&](ir::Graph& graph, ir::ValueId matrix, ir::ValueId value,
                        std::int64_t column) {
    ir::Attributes part;
    part.shape = {1, 1};
    part.starts = {outer, column};
    part.steps = {1, 1};
    return graph.add(ir::Op::slice_update, {matrix, value}, part);
  };
  // Returns the number of loops in the rolled region of a loop around it.
  const auto loops = [&](const Step& step) {
    ir::Graph graph;
    graph.parameter(DType::u8, {outer, 0});
    ir::ValueId matrix = graph.parameter(DType::i64, {7, 50});
    const ir::ValueId other = graph.parameter(DType::i64, {7, 50});
    for (std::int64_t i = 0; i < 40; ++i) {
      const ir::ValueId sum =
          graph.add(ir::Op::add, {step(graph, matrix, i), at(graph, other, i + 2)});
      matrix = with(graph, matrix, sum, i + 1);
    }
    graph.outputs = {matrix};
    const ir::Graph result = roll_loops(graph, {.counter = symbols[0], .min_independent_steps = 4});
    ir::verify(result);
    for (std::uint32_t i = 0; i < result.size(); ++i) {
      if (!result.is_call_of(ir::ValueId{i}, ir::calls::scan())) continue;
      const ir::Graph& body = *result.attributes(ir::ValueId{i}).call->regions[0].graph;
      CHECK_FALSE(contains(ir::print(body), "[c"));
    }
    for (const std::int64_t counter : {0, 3, 6}) {
      const std::vector<ir::HostArray> arguments = {moderate_sample(DType::u8, {counter, 0}, 1),
                                                    moderate_sample(DType::i64, {7, 50}, 2),
                                                    moderate_sample(DType::i64, {7, 50}, 3)};
      CHECK_MESSAGE(
          ir::interpret(result, arguments)[0].data == ir::interpret(graph, arguments)[0].data,
          ir::print(result));
    }
    return std::pair(count_scans(result), result.size() < 20);
  };
  // A step reads what the one before has written; and an element that stays where it is.
  CHECK(loops([&](ir::Graph& graph, ir::ValueId matrix, std::int64_t i) {
          return graph.add(ir::Op::multiply, {at(graph, matrix, i), at(graph, matrix, 49)});
        }) == std::pair(std::size_t{1}, true));
  // It does not.
  CHECK(loops([&](ir::Graph& graph, ir::ValueId matrix, std::int64_t i) {
          return graph.add(ir::Op::negative, {at(graph, matrix, i + 1)});
        }) == std::pair(std::size_t{0}, true));
  // What it reads at the counter is computed in the step; so is what is no operation on elements.
  CHECK(loops([&](ir::Graph& graph, ir::ValueId matrix, std::int64_t i) {
          const ir::ValueId numbers =
              graph.add(ir::Op::multiply, {integer(graph, i), graph.parameters()[2]});
          return graph.add(ir::Op::multiply, {at(graph, matrix, i), at(graph, numbers, 3)});
        }) == std::pair(std::size_t{0}, false));
  CHECK(loops([&](ir::Graph& graph, ir::ValueId matrix, std::int64_t i) {
          ir::Attributes along;
          along.axes = {1};
          return graph.add(ir::Op::cumsum, {at(graph, matrix, i)}, along);
        }) == std::pair(std::size_t{0}, false));
}

TEST_CASE("random steps compute the same when they are rolled") {
  constexpr int graphs = 300;
  int loops = 0;
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(random() % n); };
    struct Choice {
      ir::Op op;
      std::int64_t source, operation, delay, offset, growth;
    };
    const std::int64_t size = 2 + below(5);
    std::vector<Choice> choices;
    constexpr ir::Op ops[] = {ir::Op::add, ir::Op::subtract, ir::Op::multiply, ir::Op::bitwise_xor,
                              ir::Op::maximum};
    for (std::int64_t i = 0; i < size; ++i) {
      const std::int64_t delay = below(4);
      choices.push_back({ops[below(5)], below(5),
                         below(static_cast<std::uint64_t>(delay > 0 || i == 0 ? size : i)),
                         i == 0 && delay == 0 ? 1 : delay, below(3), below(3) - 1});
    }
    Steps steps;
    ir::Attributes along;
    along.axes = {1};
    const std::int64_t count = 12 + below(30);
    std::vector<std::vector<ir::ValueId>> made;
    ir::ValueId matrix = steps.matrix, last = steps.start;
    for (std::int64_t i = 0; i < count; ++i) {
      made.emplace_back();
      for (const Choice& choice : choices) {
        const std::int64_t from = i - choice.delay;
        ir::ValueId other = from < 0 ? steps.start : made[from][choice.operation];
        const std::int64_t at = 8 + choice.offset + choice.growth * i;
        if (choice.source == 0) other = integer(steps.graph, at);
        if (choice.source == 1) other = row(steps.graph, matrix, std::abs(at) % rows);
        ir::ValueId next = steps.add(choice.op, last, other);
        if (choice.source == 4) next = steps.graph.add(ir::Op::cumsum, {next}, along);
        if (choice.source == 2) matrix = with_row(steps.graph, matrix, next, std::abs(at) % rows);
        made.back().push_back(next);
        last = next;
      }
    }
    steps.graph.outputs = {last, matrix};
    if (seed % 3 == 0) steps.graph.outputs.push_back(made[count - 2][0]);
    if (seed % 5 == 0)
      for (const auto& step : made) steps.graph.outputs.push_back(step[size - 1]);
    loops += count_scans(rolled(steps.graph)) > 0 ? 1 : 0;
  }
  CHECK(loops > graphs * 3 / 4);
}
