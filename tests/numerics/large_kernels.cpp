// Kernels of hundreds of operations, and graphs that are cut in several of them.
#include <random>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/numerics/suite.h"

namespace heddle::test {
namespace {

using ir::Op;
using ir::ValueId;

/// Exact operations on any of the values made last, so that every way gives the same bits.
Builder random_operations(int count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Builder builder(fmt::format("{} operations, seed {}", count, seed));
  constexpr std::size_t width = 6;
  std::vector<ValueId> values;
  for (std::size_t i = 0; i < width; ++i)
    values.push_back(builder.input(moderate_sample(DType::f64, {97}, i)));
  static constexpr Op ops[] = {Op::add, Op::subtract, Op::minimum, Op::maximum};
  for (int i = 0; i < count; ++i) {
    const auto any = [&] { return values[values.size() - 1 - random() % width]; };
    const ValueId a = any(), b = any();
    ValueId made = builder.add(ops[random() % std::size(ops)], {a, b});
    // Sums of sums stay of a size.
    if (i % 4 == 0) made = builder.add(Op::multiply, {made, builder.constant(DType::f64, 0.25)});
    values.push_back(made);
  }
  builder.output(values.back());
  builder.output(values[values.size() - 2]);
  return builder;
}

/// Products of many inputs, all of them recorded before they are summed.
Builder products(int count) {
  Builder builder(fmt::format("{} products", count));
  std::vector<ValueId> values;
  for (int i = 0; i < count; ++i) {
    const ValueId a = builder.input(moderate_sample(DType::f64, {5, 33}, 2 * i));
    const ValueId b = builder.input(moderate_sample(DType::f64, {5, 33}, 2 * i + 1));
    values.push_back(builder.add(Op::multiply, {a, b}));
  }
  ValueId sum = values[0];
  for (int i = 1; i < count; ++i) sum = builder.add(Op::add, {values[i], sum});
  builder.output(sum);
  builder.output(builder.reduce(Op::max, sum, {1}, false));
  return builder;
}

TEST_CASE("graphs beyond the limits of a kernel") {
  Suite suite;
  suite.add(random_operations(700, 1));
  suite.add(random_operations(2500, 2));
  suite.add(products(80));
  suite.finish();
}

}  // namespace
}  // namespace heddle::test
