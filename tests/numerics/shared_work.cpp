#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/numerics/suite.h"

namespace heddle::test {
namespace {

using ir::Dim;
using ir::HostArray;
using ir::Op;
using ir::Shape;
using ir::ValueId;

ValueId matmul(Builder& builder, ValueId a, ValueId b) {
  return builder.add(Op::call, {a, b}, ir::matmul_attributes(Precision::ieee));
}

/// A small reduction in the rows of another: of all pairs of x's and y's elements, over an axis of
/// `terms`, which is the last, or the first if `columns`.
Builder pairs(Op op, DType dtype, std::int64_t terms, bool columns) {
  Builder builder(fmt::format("{} over {} {} of {}", ir::info(op).name, terms,
                              columns ? "rows" : "columns", name_of(dtype)));
  const auto input = [&](std::int64_t count, std::uint64_t seed, Shape row, Shape column) {
    const Shape shape = columns ? Shape{terms, count} : Shape{count, terms};
    const ValueId x = builder.input(moderate_sample(dtype, shape, seed));
    return builder.reshape(x, columns ? std::move(column) : std::move(row));
  };
  const ValueId x = input(20, 1, {20, 1, terms}, {terms, 20, 1});
  const ValueId y = input(33, 2, {1, 33, terms}, {terms, 1, 33});
  const bool is_inexact_dtype = is_inexact(dtype);
  const ValueId both = builder.add(is_inexact_dtype ? Op::subtract : Op::minimum, {x, y});
  const std::int64_t axis = columns ? 0 : 2;
  const ValueId small = builder.reduce(op, both, {axis}, false);
  const ValueId number = builder.cast(small, DType::f32);
  builder.output(builder.reduce(Op::max, number, {1}, false));
  builder.output(small);
  return builder;
}

TEST_CASE("reductions of a few elements inside other reductions") {
  Suite suite;
  for (const Op op : {Op::sum, Op::prod, Op::min, Op::argmax}) {
    for (const DType dtype : {DType::f16, DType::f64, DType::i8}) {
      if (op == Op::prod && !is_inexact(dtype)) continue;
      suite.add(pairs(op, dtype, 3, false));
    }
    suite.add(pairs(op, DType::f32, 3, true));
    suite.add(pairs(op, DType::f32, 17, op == Op::sum));
  }
  suite.add(pairs(Op::sum, DType::f32, 32, false));
  suite.add(pairs(Op::argmin, DType::bf16, 2, false));
  suite.add(pairs(Op::sum, DType::c64, 3, false));
  suite.finish();
}

TEST_CASE("reductions of a few rows, of several axes, and of values without a number") {
  Suite suite;
  for (const DType dtype : {DType::f16, DType::f32, DType::i16}) {
    Builder builder(fmt::format("a few rows of {}", name_of(dtype)));
    const ValueId x = builder.input(moderate_sample(dtype, {3, 1000}, 1));
    builder.output(builder.reduce(Op::sum, x, {0}, false));
    builder.output(builder.reduce(Op::max, x, {0}, true));
    builder.output(builder.reduce(Op::argmax, x, {0}, false));
    const ValueId cube = builder.input(moderate_sample(dtype, {4, 130, 5, 36}, 2));
    builder.output(builder.reduce(Op::sum, cube, {0, 2}, false));
    builder.output(builder.reduce(Op::argmin, builder.reshape(cube, {20, 130, 36}), {0}, false));
    suite.add(std::move(builder));
  }
  Builder truths("any and all of a few rows");
  const ValueId flags = truths.input(integers(DType::i32, {5, 400}, 0, 2, 3));
  truths.output(truths.reduce(Op::any, flags, {0}, false));
  truths.output(truths.reduce(Op::all, flags, {0}, false));
  suite.add(std::move(truths));
  for (const DType dtype : {DType::f16, DType::f64}) {
    Builder special(fmt::format("special values of {}", name_of(dtype)));
    const ValueId x = special.input(sample(ir::Domain::any, 0, dtype, {7, 500}, 4));
    for (const Op op : {Op::min, Op::max, Op::argmin, Op::argmax})
      special.output(special.reduce(op, x, {0}, false));
    suite.add(std::move(special));
  }
  suite.finish();
}

TEST_CASE("a few columns that share what is computed for each pair") {
  Suite suite;
  for (const std::int64_t axes : {2, 3, 4, 5}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      Builder builder(fmt::format("bodies in {} dimensions of {}", axes, name_of(dtype)));
      const ValueId x = builder.input(moderate_sample(dtype, {300, axes}, 1));
      const ValueId mass = builder.input(moderate_sample(dtype, {300}, 2));
      const ValueId distance = builder.add(
          Op::subtract, {builder.reshape(x, {1, 300, axes}), builder.reshape(x, {300, 1, axes})});
      const ValueId squares = builder.add(Op::multiply, {distance, distance});
      const ValueId near = builder.add(
          Op::add, {builder.reduce(Op::sum, squares, {2}, false), builder.constant(dtype, 0.5)});
      const ValueId cubes = builder.add(Op::multiply, {near, builder.add(Op::sqrt, {near})});
      const ValueId weight = builder.reshape(builder.add(Op::divide, {mass, cubes}), {300, 300, 1});
      builder.output(
          builder.reduce(Op::sum, builder.add(Op::multiply, {distance, weight}), {1}, false));
      suite.add(std::move(builder));
    }
  }
  suite.finish();
}

TEST_CASE("all pairs of long rows, in tiles of registers") {
  Suite suite;
  for (const std::int64_t terms : {48, 64, 100}) {
    Builder builder(fmt::format("pairs of rows of {}", terms));
    const ValueId x = builder.input(moderate_sample(DType::f32, {256, terms}, 1));
    const ValueId y = builder.input(moderate_sample(DType::f32, {516, terms}, 2));
    const ValueId difference = builder.add(
        Op::subtract, {builder.reshape(x, {256, 1, terms}), builder.reshape(y, {1, 516, terms})});
    builder.output(builder.reduce(Op::sum, builder.add(Op::absolute, {difference}), {2}, false));
    builder.output(builder.reduce(Op::argmin, builder.add(Op::absolute, {difference}), {2}, false));
    suite.add(std::move(builder));
  }
  suite.finish();
}

TEST_CASE("sums and minima of products without products, whose columns are contiguous") {
  Suite suite;
  for (const DType dtype : {DType::i32, DType::f32, DType::f64, DType::f16}) {
    Builder builder(fmt::format("the cheapest of all paths in {}", name_of(dtype)));
    const ValueId a = builder.input(moderate_sample(dtype, {68, 50}, 1));
    const ValueId b = builder.input(moderate_sample(dtype, {50, 131}, 2));
    const ValueId sums =
        builder.add(Op::add, {builder.reshape(a, {68, 50, 1}), builder.reshape(b, {1, 50, 131})});
    builder.output(builder.reduce(Op::min, sums, {1}, false));
    builder.output(builder.reduce(Op::sum, builder.add(Op::absolute, {sums}), {1}, false));
    suite.add(std::move(builder));
  }
  suite.finish();
}

TEST_CASE("products with tiny matrices") {
  Suite suite;
  for (const DType dtype : {DType::f16, DType::f32, DType::f64, DType::c64}) {
    Builder builder(fmt::format("tiny products of {}", name_of(dtype)));
    const ValueId points = builder.input(moderate_sample(dtype, {700, 3}, 1));
    const ValueId turn = builder.input(moderate_sample(dtype, {3, 3}, 2));
    const ValueId centre = builder.input(moderate_sample(dtype, {3}, 3));
    builder.output(matmul(builder, points, turn));
    builder.output(builder.add(
        Op::add, {matmul(builder, builder.add(Op::subtract, {points, centre}), turn), centre}));
    builder.output(matmul(builder, turn, builder.transpose(points, {1, 0})));
    suite.add(std::move(builder));
  }
  suite.finish();
}

/// x rolled by `shift` along an axis.
ValueId rolled(Builder& builder, ValueId x, std::int64_t axis, std::int64_t shift) {
  const Shape shape = builder.made.graph.shape(x);
  const std::int64_t extent = shape[static_cast<std::size_t>(axis)].constant();
  const auto part = [&](std::int64_t from, std::int64_t count) {
    ir::Dims starts(shape.size(), Dim(0)), steps(shape.size(), Dim(1));
    Shape region = shape;
    starts[static_cast<std::size_t>(axis)] = from;
    region[static_cast<std::size_t>(axis)] = count;
    return builder.slice(x, starts, steps, region);
  };
  return builder.concatenate({part(extent - shift, shift), part(0, extent - shift)}, axis);
}

TEST_CASE(
    "rolls of rows that are then laid end to end, so that vectors contain parts of two rows") {
  Suite suite(ir::parse_target("sm_90"));
  for (const DType dtype : {DType::i8, DType::f16, DType::f32}) {
    for (const std::int64_t width : {5, 10, 12, 33, 64, 70}) {
      Builder builder(fmt::format("a roll of {}[6,{}], flattened", name_of(dtype), width));
      const ValueId x = builder.input(moderate_sample(dtype, {6, width}, 1));
      for (const std::int64_t shift : {std::int64_t{1}, width - 1}) {
        const ValueId sum = builder.add(Op::add, {x, rolled(builder, x, 1, shift)});
        builder.output(builder.reshape(sum, {6 * width}));
      }
      suite.add(std::move(builder));
    }
  }
  suite.finish();
}

TEST_CASE("rolls along each axis, of what is read and of what is computed") {
  Suite suite;
  for (const DType dtype : {DType::i8, DType::f16, DType::f32, DType::c128}) {
    for (const std::int64_t width : {64, 70, 33}) {
      Builder builder(fmt::format("rolls of {}[40,{}]", name_of(dtype), width));
      const ValueId x = builder.input(moderate_sample(dtype, {40, width}, 1));
      ValueId sum = x;
      for (const std::int64_t shift : {std::int64_t{1}, width - 1, std::int64_t{3}}) {
        sum = builder.add(Op::add, {sum, rolled(builder, x, 1, shift)});
        sum = builder.add(Op::add, {sum, rolled(builder, rolled(builder, x, 0, 1), 1, shift)});
      }
      builder.output(sum);
      builder.output(rolled(builder, x, 0, 39));
      const ValueId twice = builder.add(Op::add, {x, x});
      builder.output(builder.add(Op::subtract, {twice, rolled(builder, twice, 1, 32)}));
      builder.output(builder.reduce(Op::sum, rolled(builder, twice, 1, 1), {0}, false));
      suite.add(std::move(builder));
    }
  }
  suite.finish();
}

TEST_CASE("pieces that begin and end between vectors, or within") {
  Suite suite;
  for (const DType dtype : {DType::u8, DType::f16, DType::f32, DType::f64}) {
    for (const std::int64_t first : {64, 40, 36, 33, 2}) {
      Builder builder(fmt::format("pieces of {}, {} and others", name_of(dtype), first));
      const ValueId x = builder.input(moderate_sample(dtype, {30, first}, 1));
      const ValueId y = builder.input(moderate_sample(dtype, {30, 128 - first}, 2));
      const ValueId all = builder.input(moderate_sample(dtype, {30, 128}, 3));
      const ValueId joined = builder.concatenate({x, builder.add(Op::add, {y, y})}, 1);
      builder.output(builder.add(Op::add, {joined, all}));
      builder.output(builder.update(all, y, {0, 0}, {1, 1}, {30, 128 - first}));
      const ValueId line = builder.concatenate(
          {builder.reshape(x, {30 * first}), builder.reshape(y, {30 * (128 - first)})}, 0);
      builder.output(builder.add(Op::add, {line, line}));
      suite.add(std::move(builder));
    }
  }
  suite.finish();
}

TEST_CASE("neighbours in a row, of a whole row and of its inside") {
  Suite suite;
  for (const DType dtype : {DType::i8, DType::f16, DType::f32, DType::f64}) {
    for (const std::int64_t width : {66, 67, 130}) {
      Builder builder(fmt::format("neighbours of {}[9,{}]", name_of(dtype), width));
      const ValueId x = builder.input(moderate_sample(dtype, {9, width}, 1));
      const auto from = [&](std::int64_t row, std::int64_t column) {
        return builder.slice(x, {row, column}, {1, 1}, {7, width - 2});
      };
      ValueId sum = from(1, 1);
      for (const auto& [row, column] : {std::pair{1, 0}, {1, 2}, {0, 1}, {2, 1}, {0, 0}, {2, 2}})
        sum = builder.add(Op::add, {sum, from(row, column)});
      builder.output(sum);
      const ValueId line = builder.reshape(x, {9 * width});
      const auto at = [&](std::int64_t start) {
        return builder.slice(line, {start}, {1}, {9 * width - 3});
      };
      builder.output(builder.add(Op::add, {builder.add(Op::add, {at(0), at(1)}), at(3)}));
      // Taps of a filter: each vector has what the one before it lacks.
      ValueId taps = builder.slice(line, {0}, {1}, {9 * width - 17});
      for (int i = 1; i < 18; ++i)
        taps = builder.add(Op::add, {taps, builder.slice(line, {i}, {1}, {9 * width - 17})});
      builder.output(taps);
      suite.add(std::move(builder));
    }
  }
  suite.finish();
}

TEST_CASE("reductions of rows of narrow elements that begin anywhere within a vector") {
  Suite suite(small_target());
  for (const DType dtype : {DType::u8, DType::i8, DType::i16, DType::f16, DType::bf16}) {
    for (const std::int64_t length : {1, 7, 33, 441, 1501}) {
      Builder builder(fmt::format("rows of {} of {}", length, name_of(dtype)));
      const ValueId x = builder.input(moderate_sample(dtype, {37, length}, 1));
      const ValueId y = builder.input(moderate_sample(dtype, {37, length}, 2));
      const ValueId weights = builder.input(moderate_sample(DType::f32, {length}, 3));
      const ValueId wide = builder.cast(x, DType::f32);
      builder.output(builder.reduce(Op::sum, builder.add(Op::multiply, {wide, wide}), {1}, false));
      builder.output(
          builder.reduce(Op::sum, builder.add(Op::multiply, {wide, weights}), {1}, false));
      builder.output(builder.reduce(Op::max, builder.add(Op::maximum, {x, y}), {1}, false));
      suite.add(std::move(builder));
    }
    // Few and long rows, in parts.
    Builder parts(fmt::format("parts of rows of {}", name_of(dtype)));
    const ValueId x = parts.input(moderate_sample(dtype, {3, 50001}, 4));
    parts.output(parts.reduce(Op::sum, parts.cast(x, DType::f32), {1}, false));
    parts.output(parts.reduce(Op::min, x, {1}, false));
    suite.add(std::move(parts));
  }
  suite.finish();
}

/// log(sum(exp(x - max))) + max along an axis, and the two reductions.
void log_sum_exp(Builder& builder, ValueId x, std::int64_t axis) {
  const ValueId greatest = builder.reduce(Op::max, x, {axis}, true);
  const ValueId powers = builder.add(Op::exp, {builder.add(Op::subtract, {x, greatest})});
  const ValueId sum = builder.reduce(Op::sum, powers, {axis}, true);
  builder.output(builder.add(Op::add, {builder.add(Op::log, {sum}), greatest}));
  builder.output(sum);
  builder.output(greatest);
}

TEST_CASE("sums of exponentials of long rows, in the pass that finds the maximum") {
  Suite suite(ir::parse_target("sm_80"));
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    for (const std::int64_t length : {20000, 70001}) {
      Builder builder(fmt::format("logsumexp of {}[2,{}]", name_of(dtype), length));
      const ValueId x = builder.input(moderate_sample(dtype, {2, length}, 1));
      log_sum_exp(builder,
                  is_inexact(dtype) && size_of(dtype) == 2 ? builder.cast(x, DType::f32) : x, 1);
      suite.add(std::move(builder));
    }
  }
  Builder columns("logsumexp of columns");
  log_sum_exp(columns, columns.input(moderate_sample(DType::f32, {30000, 12}, 1)), 0);
  suite.add(std::move(columns));
  suite.finish();
}

TEST_CASE("sums of exponentials about another number than the maximum keep their meaning") {
  Suite suite(ir::parse_target("sm_80"));
  for (const Op about : {Op::min, Op::sum}) {
    Builder builder(about == Op::min ? "sum of exp(x - min)" : "sum of exp(x - sum)");
    const ValueId x = builder.input(moderate_sample(DType::f32, {2, 40000}, 1));
    const ValueId number = builder.reduce(about, x, {1}, true);
    const ValueId terms = builder.add(Op::exp, {builder.add(Op::subtract, {x, number})});
    builder.output(builder.reduce(Op::sum, terms, {1}, false));
    suite.add(std::move(builder));
  }
  suite.finish();
}

/// Rows of f32 numbers that a function of the position gives.
HostArray rows_of(std::int64_t rows, std::int64_t length,
                  const std::function<float(std::int64_t, std::int64_t)>& value) {
  HostArray array = moderate_sample(DType::f32, {rows, length}, 1);
  auto* numbers = reinterpret_cast<float*>(array.data.data());
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t i = 0; i < length; ++i) numbers[row * length + i] = value(row, i);
  }
  return array;
}

TEST_CASE("sums of exponentials of rows that rise, fall, jump, or contain infinities and NaN") {
  constexpr std::int64_t length = 40000;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  Suite suite(ir::parse_target("sm_80"));
  const auto add = [&](const char* label,
                       const std::function<float(std::int64_t, std::int64_t)>& value,
                       double most_ambiguous = 0.05) {
    Builder builder(label);
    log_sum_exp(builder, builder.input(rows_of(2, length, value)), 1);
    builder.most_ambiguous = most_ambiguous;
    suite.add(std::move(builder));
  };
  add("rising and falling rows", [](std::int64_t row, std::int64_t i) {
    return static_cast<float>(row == 0 ? i : length - i) * 0.01F;
  });
  add("rows that jump",
      [](std::int64_t row, std::int64_t i) { return i == length / (row + 2) ? 3e38F : -3e38F; });
  add("rows below the smallest number",
      [](std::int64_t, std::int64_t i) { return -1000.0F - static_cast<float>(i % 7); });
  add(
      "one infinite element, or all",
      [](std::int64_t row, std::int64_t i) { return row == 0 && i != 33333 ? 1.0F : -infinity; },
      0.5);
  add(
      "infinity and NaN",
      [](std::int64_t row, std::int64_t i) {
        return i == 12345 ? (row == 0 ? infinity : std::numeric_limits<float>::quiet_NaN()) : 1.0F;
      },
      0.5);
  suite.finish();
}

}  // namespace
}  // namespace heddle::test
