// Graphs of more operations, or more inputs, than one kernel takes: where they are cut, few bytes
// cross.
#include <algorithm>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "passes/plan/families.h"
#include "tests/passes/plans.h"

using namespace heddle;
using namespace heddle::test;

namespace {

using ir::Op;
using ir::ValueId;

constexpr std::int64_t extent = 4096;

ir::Attributes along_rows() {
  ir::Attributes attributes;
  attributes.axes = {1};
  return attributes;
}

/// Steps of z = z * z + c and how many of them stay within a circle. The counts are recorded along
/// with the steps, or all of them afterwards, as a lazy evaluation may find them.
ir::Graph mandelbrot(int steps, bool counts_last) {
  ir::Graph graph;
  const ValueId real = graph.parameter(DType::f32, {extent}),
                imaginary = graph.parameter(DType::f32, {extent});
  const ValueId two = graph.constant(DType::f32, {0x40000000, 0}),
                four = graph.constant(DType::f32, {0x40800000, 0});
  ValueId x = real, y = imaginary;
  std::vector<ValueId> inside;
  ValueId count = graph.constant(DType::i32, {0, 0});
  const auto add_count = [&](ValueId one) {
    ir::Attributes integer;
    integer.dtype = DType::i32;
    count = graph.add(Op::add, {count, graph.add(Op::cast, {one}, integer)});
  };
  for (int i = 0; i < steps; ++i) {
    const ValueId x2 = graph.add(Op::multiply, {x, x}), y2 = graph.add(Op::multiply, {y, y});
    inside.push_back(graph.add(Op::less, {graph.add(Op::add, {x2, y2}), four}));
    if (!counts_last) add_count(inside.back());
    const ValueId next = graph.add(Op::add, {graph.add(Op::subtract, {x2, y2}), real});
    const ValueId product = graph.add(Op::multiply, {two, graph.add(Op::multiply, {x, y})});
    y = graph.add(Op::select, {inside.back(), graph.add(Op::add, {product, imaginary}), y});
    x = graph.add(Op::select, {inside.back(), next, x});
  }
  if (counts_last) {
    for (const ValueId one : inside) add_count(one);
  }
  graph.outputs = {count};
  return graph;
}

/// Sums of products of as many pairs of inputs, recorded one after the other or the products first.
ir::Graph products_of_inputs(int count, bool products_first) {
  ir::Graph graph;
  std::vector<ValueId> products;
  ValueId sum{};
  const auto accumulate = [&](ValueId product, bool first) {
    sum = first ? product : graph.add(Op::add, {product, sum});
  };
  for (int i = 0; i < count; ++i) {
    const ValueId a = graph.parameter(DType::f32, {extent}),
                  b = graph.parameter(DType::f32, {extent});
    products.push_back(graph.add(Op::multiply, {a, b}));
    if (!products_first) accumulate(products.back(), i == 0);
  }
  for (int i = 0; products_first && i < count; ++i) accumulate(products[i], i == 0);
  graph.outputs = {sum};
  return graph;
}

/// A balanced tree of sums.
ir::Graph tree_of_inputs(int count) {
  ir::Graph graph;
  std::vector<ValueId> level;
  for (int i = 0; i < count; ++i) level.push_back(graph.parameter(DType::f32, {extent}));
  while (level.size() > 1) {
    std::vector<ValueId> next;
    for (std::size_t i = 0; i + 1 < level.size(); i += 2)
      next.push_back(graph.add(Op::add, {level[i], level[i + 1]}));
    if (level.size() % 2 == 1) next.push_back(level.back());
    level = std::move(next);
  }
  graph.outputs = level;
  return graph;
}

/// A rational function of three variables, whose coefficients are polynomials: Horner's scheme in
/// one variable of polynomials in the others, with a root that all of them use.
ir::Graph rational_function(int degree) {
  ir::Graph graph;
  const ValueId s = graph.parameter(DType::f64, {extent}),
                t = graph.parameter(DType::f64, {extent}),
                p = graph.parameter(DType::f64, {extent});
  const ValueId root = graph.add(Op::sqrt, {s});
  int next = 1;
  const auto constant = [&] {
    const double value = 1.0 / next++;
    ir::ElementBits bits{};
    std::memcpy(&bits.low, &value, sizeof value);
    return graph.constant(DType::f64, bits);
  };
  const auto polynomial = [&](ValueId variable, int terms, const std::function<ValueId()>& term) {
    ValueId sum = term();
    for (int i = 1; i < terms; ++i)
      sum = graph.add(Op::add, {term(), graph.add(Op::multiply, {variable, sum})});
    return sum;
  };
  const auto part = [&] {
    return polynomial(p, degree, [&] {
      return polynomial(t, degree, [&] { return polynomial(root, degree, constant); });
    });
  };
  const ValueId numerator = part(), denominator = part();
  graph.outputs = {graph.add(Op::divide, {numerator, denominator})};
  return graph;
}

/// Elementwise operations on any of the `width` values made last.
ir::Graph random_operations(int count, int width, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  ir::Graph graph;
  std::vector<ValueId> values;
  for (int i = 0; i < width; ++i) values.push_back(graph.parameter(DType::f32, {extent}));
  static constexpr Op ops[] = {Op::add, Op::multiply, Op::subtract, Op::maximum, Op::sin};
  for (int i = 0; i < count; ++i) {
    const auto any = [&] { return values[values.size() - 1 - random() % width]; };
    const Op op = ops[random() % std::size(ops)];
    const ValueId a = any(), b = any();
    const ValueId made = ir::info(op).arity == 1 ? graph.add(op, {a}) : graph.add(op, {a, b});
    values.push_back(made);
  }
  graph.outputs = {values.end() - width, values.end()};
  return graph;
}

struct Cost {
  std::size_t groups = 0, kept = 0;  ///< values that are stored but no outputs
  std::int64_t bytes = 0;            ///< of these
};

passes::PlannedProgram plan(const ir::Graph& graph, const char* target) {
  return passes::plan_program(graph, {ir::parse_target(target), {}, {}, {"roll_loops"}});
}

Cost cost_of(const ir::Graph& graph, const char* target) {
  const passes::PlannedProgram planned = plan(graph, target);
  Cost cost;
  cost.groups = planned.grouping.groups.size();
  for (const passes::Group& group : planned.grouping.groups) {
    CHECK(group.operations <= passes::max_operations);
    for (const ValueId value : group.stored) {
      if (std::ranges::find(planned.graph.outputs, value) != planned.graph.outputs.end()) continue;
      ++cost.kept;
      cost.bytes += byte_count(planned.graph.type(value)).constant();
    }
  }
  for (const passes::KernelPlan& kernel : planned.kernels)
    CHECK(kernel.operands.size() <= 3 * passes::max_operands);
  return cost;
}

/// At most so many groups, and so many values and bytes an element across each cut.
void check_cuts(const ir::Graph& graph, std::size_t most_groups, std::size_t values,
                std::int64_t bytes) {
  for (const char* target : {cuda_target, host_target}) {
    CAPTURE(std::string(target));
    const Cost cost = cost_of(graph, target);
    CHECK(cost.groups <= most_groups);
    CHECK(cost.kept <= values * (cost.groups - 1));
    CHECK(cost.bytes <= bytes * extent * static_cast<std::int64_t>(cost.groups - 1));
  }
}

/// Kernels that hold so many operations, each more than half full.
std::size_t kernels_for(std::size_t operations) {
  return 1 + 2 * operations / passes::max_operations;
}

}  // namespace

TEST_CASE("unrolled loops are divided between steps, so that only the loop's state is stored") {
  for (const bool counts_last : {false, true}) {
    CAPTURE(counts_last);
    for (const int steps : {20, 50, 200, 1000}) {
      CAPTURE(steps);
      const ir::Graph graph = mandelbrot(steps, counts_last);
      // The point, the count and what the step before decided.
      check_cuts(graph, kernels_for(graph.size()), 4, 13);
    }
  }
  check_cuts(mandelbrot(50, false), 1, 0, 0);
}

TEST_CASE("sums of many inputs are divided so that only partial sums are stored") {
  for (const int count : {40, 150, 300}) {
    CAPTURE(count);
    const auto operands = static_cast<std::size_t>(2 * count);
    // A kernel may read a few inputs less than it could.
    const std::size_t most = 1 + operands / (passes::max_operands - 8);
    check_cuts(products_of_inputs(count, false), most, 1, 4);
    check_cuts(products_of_inputs(count, true), most, 1, 4);
    // Subtrees do not fill kernels as exactly.
    check_cuts(tree_of_inputs(2 * count), 1 + 2 * operands / passes::max_operands, 2, 8);
  }
}

TEST_CASE("long formulas of few variables are divided where few values are stored") {
  const ir::Graph one_kernel = rational_function(5);
  CHECK(one_kernel.size() > 500);
  check_cuts(one_kernel, 1, 0, 0);
  const ir::Graph several = rational_function(11);
  CHECK(several.size() > 4 * static_cast<std::size_t>(passes::max_operations));
  check_cuts(several, kernels_for(several.size()), 5, 5 * 8);
}

TEST_CASE("thousands of random operations store at most the live values between kernels") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    const ir::Graph graph = random_operations(6000, 6, seed);
    check_cuts(graph, kernels_for(graph.size()), 6, 6 * 4);
  }
}

TEST_CASE("ops before a reduction are divided where the fewest bytes are stored") {
  ir::Graph graph;
  ValueId value = graph.parameter(DType::f32, {512, 512});
  const ValueId other = graph.parameter(DType::f32, {512, 512});
  for (int i = 0; i < 700; ++i) {
    // Where a wide value and a narrow one are both alive, and where only the narrow one is.
    const ValueId wide = graph.add(Op::multiply, {graph.add(Op::sin, {value}), other});
    value = graph.add(Op::add, {wide, graph.add(Op::multiply, {wide, value})});
  }
  graph.outputs = {graph.add(Op::sum, {value}, along_rows())};
  for (const char* target : {cuda_target, host_target}) {
    const Cost cost = cost_of(graph, target);
    CHECK(cost.groups <= kernels_for(graph.size()));
    CHECK(cost.kept == cost.groups - 1);
  }
}

TEST_CASE("outputs computed from the same values share a kernel") {
  // Two results of one long computation that no operation joins.
  ir::Graph graph;
  const ValueId x = graph.parameter(DType::f32, {extent}),
                y = graph.parameter(DType::f32, {extent});
  const ValueId ratio = graph.add(Op::log, {graph.add(Op::divide, {x, y})});
  const ValueId up = graph.add(Op::exp, {ratio}), down = graph.add(Op::tanh, {ratio});
  graph.outputs = {graph.add(Op::multiply, {graph.add(Op::sqrt, {up}), x}),
                   graph.add(Op::multiply, {graph.add(Op::sin, {down}), y})};
  check_cuts(graph, 1, 0, 0);
}

TEST_CASE("kernels hold fewer ops that compile slowly, and at most 32 reductions") {
  const auto groups = [](DType dtype, Op op, const char* target) {
    ir::Graph graph;
    const ValueId x = graph.parameter(dtype, {extent});
    ValueId value = x;
    for (int i = 0; i < 200; ++i)
      value = graph.add(
          Op::add, {op == Op::multiply ? graph.add(op, {value, x}) : graph.add(op, {value}), x});
    graph.outputs = {value};
    return cost_of(graph, target).groups;
  };
  CHECK(groups(DType::f32, Op::multiply, cuda_target) == 1);
  CHECK(groups(DType::c64, Op::multiply, cuda_target) == 1);
  CHECK(groups(DType::f16, Op::multiply, cuda_target) == 1);
  CHECK(groups(DType::f16, Op::multiply, host_target) >= 3);
  CHECK(groups(DType::f64, Op::exp, cuda_target) >= 2);
  CHECK(groups(DType::c64, Op::exp, cuda_target) >= 6);

  ir::Graph sums;
  const ValueId x = sums.parameter(DType::f32, {64, 256});
  ValueId value = x;
  for (int i = 0; i < 100; ++i) {
    value = sums.add(Op::multiply, {value, x});
    sums.outputs.push_back(sums.add(Op::sum, {value}, along_rows()));
  }
  for (const char* target : {cuda_target, host_target}) {
    for (const passes::KernelPlan& kernel : plan(sums, target).kernels)
      CHECK(kernel.reductions.size() <= 32);
  }
}

TEST_CASE("the pointers of a kernel with many outputs fit 4,096 bytes of parameters") {
  ir::Graph graph;
  const ValueId x = graph.parameter(DType::f32, {extent});
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const ValueId number = graph.constant(DType::f32, {0x40000000 + i, 0});
    graph.outputs.push_back(graph.add(Op::multiply, {x, number}));
  }
  for (const char* target : {cuda_target, host_target}) {
    const passes::PlannedProgram planned = plan(graph, target);
    CHECK(planned.kernels.size() <= 1 + 1000 / passes::max_stores);
    for (const passes::Step& step : planned.program.steps)
      CHECK(step.kernel()->parameters.size() * 8 <= 4096);
  }
}
