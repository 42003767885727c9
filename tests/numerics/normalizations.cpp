#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/numerics/suite.h"

namespace heddle::test {
namespace {

using ir::Dim;
using ir::Op;
using ir::Shape;
using ir::ValueId;

/// exp(x - max) / sum(exp(x - max)) along an axis.
ValueId softmax(Builder& builder, ValueId x, std::int64_t axis) {
  const ValueId shifted = builder.add(Op::subtract, {x, builder.reduce(Op::max, x, {axis}, true)});
  const ValueId powers = builder.add(Op::exp, {shifted});
  return builder.add(Op::divide, {powers, builder.reduce(Op::sum, powers, {axis}, true)});
}

/// Of `count` elements along an axis.
ValueId mean(Builder& builder, ValueId x, std::int64_t axis, std::int64_t count) {
  const ValueId n = builder.constant(builder.made.graph.dtype(x), static_cast<double>(count));
  return builder.add(Op::divide, {builder.reduce(Op::sum, x, {axis}, true), n});
}

/// (x - mean) / sqrt(variance + epsilon) along an axis.
ValueId standardized(Builder& builder, ValueId x, std::int64_t axis, std::int64_t count) {
  const ValueId centred = builder.add(Op::subtract, {x, mean(builder, x, axis, count)});
  const ValueId squares = builder.add(Op::multiply, {centred, centred});
  const ValueId epsilon = builder.constant(builder.made.graph.dtype(x), 1e-3);
  const ValueId variance = builder.add(Op::add, {mean(builder, squares, axis, count), epsilon});
  return builder.add(Op::divide, {centred, builder.add(Op::sqrt, {variance})});
}

Builder rows_of(DType dtype, std::int64_t rows, std::int64_t length) {
  Builder builder(fmt::format("rows of {}[{},{}]", name_of(dtype), rows, length));
  const ValueId x = builder.input(moderate_sample(dtype, {rows, length}, 1), length % 2 == 0);
  const ValueId scale = builder.input(moderate_sample(dtype, {length}, 2));
  const ValueId shift = builder.input(moderate_sample(dtype, {length}, 3));
  builder.output(softmax(builder, x, 1));
  const ValueId scaled = builder.add(Op::multiply, {standardized(builder, x, 1, length), scale});
  builder.output(builder.add(Op::add, {scaled, shift}));
  return builder;
}

TEST_CASE("softmax and layernorm of rows at the limits of registers and blocks") {
  Suite suite;
  for (const DType dtype : dtypes_in(ir::floats)) {
    for (const std::int64_t length : {1, 7, 16, 33, 256, 257, 1000, 1024, 4097}) {
      suite.add(rows_of(dtype, 3, length));
    }
    suite.add(rows_of(dtype, 400, 24));
  }
  for (const DType dtype : {DType::f16, DType::f32}) {
    for (const std::int64_t length : {16380, 16384, 16388}) suite.add(rows_of(dtype, 2, length));
  }
  suite.finish();
}

TEST_CASE("rows that a cluster of blocks holds") {
  Suite suite;
  for (const DType dtype : dtypes_in(ir::floats)) suite.add(rows_of(dtype, 2, 20000));
  suite.add(rows_of(DType::f32, 3, 16389));
  suite.add(rows_of(DType::f64, 1, 40002));
  suite.add(rows_of(DType::f16, 1, 131072));
  // Too long for registers: read again.
  Builder several("a long row of several inputs");
  const ValueId x = several.input(moderate_sample(DType::f32, {1, 150000}, 1));
  const ValueId y = several.input(moderate_sample(DType::f32, {1, 150000}, 2));
  const ValueId z = several.input(moderate_sample(DType::f32, {150000}, 3));
  const ValueId sum = several.add(Op::add, {several.add(Op::add, {x, y}), z});
  several.output(softmax(several, sum, 1));
  suite.add(std::move(several));
  suite.finish();
}

/// Columns of arrays [rows, width], or of [2, rows, width]; every second result is of columns
/// alone.
Builder columns_of(DType dtype, std::int64_t rows, std::int64_t width, bool batched) {
  Builder builder(
      fmt::format("columns of {}[{}{},{}]", name_of(dtype), batched ? "2," : "", rows, width));
  Shape shape = {rows, width};
  if (batched) shape.insert(shape.begin(), 2);
  const std::int64_t axis = batched ? 1 : 0;
  const ValueId x = builder.input(moderate_sample(dtype, shape, 1), width % 4 == 0);
  const ValueId scale = builder.input(moderate_sample(dtype, {width}, 2));
  const ValueId shift = builder.input(moderate_sample(dtype, {rows, 1}, 3));
  const ValueId centred = builder.add(Op::subtract, {x, builder.reduce(Op::max, x, {axis}, true)});
  builder.output(builder.add(Op::multiply, {centred, scale}));
  builder.output(builder.reduce(Op::argmax, centred, {axis}, false));
  const ValueId scaled = builder.add(Op::multiply, {standardized(builder, x, axis, rows), scale});
  builder.output(builder.add(Op::add, {scaled, shift}));
  builder.output(softmax(builder, x, axis));
  return builder;
}

TEST_CASE("columns that a block or a cluster holds, of every width") {
  Suite suite;
  for (const DType dtype : dtypes_in(ir::floats)) {
    suite.add(columns_of(dtype, 700, 40, false));
    suite.add(columns_of(dtype, 65, 37, true));
  }
  for (const std::int64_t rows : {1, 3, 64, 300, 2100, 9000})
    suite.add(columns_of(DType::f32, rows, 36, false));
  for (const std::int64_t width : {1, 2, 3, 31, 64, 130})
    suite.add(columns_of(DType::f32, 500, width, true));
  suite.add(columns_of(DType::f64, 3000, 12, false));
  suite.add(columns_of(DType::f16, 5000, 24, false));
  suite.finish();
}

TEST_CASE("columns, several axes, and what stands around a normalisation") {
  Suite suite;
  for (const DType dtype : dtypes_in(ir::floats)) {
    Builder columns(fmt::format("columns of {}", name_of(dtype)));
    const ValueId x = columns.input(moderate_sample(dtype, {130, 37}, 1));
    columns.output(standardized(columns, x, 0, 130));
    columns.output(softmax(columns, x, 0));
    columns.output(softmax(columns, columns.transpose(x, {1, 0}), 0));
    suite.add(std::move(columns));

    Builder around(fmt::format("around softmax of {}", name_of(dtype)));
    const ValueId cube = around.input(moderate_sample(dtype, {4, 9, 70}, 2), false);
    const ValueId weight = around.input(moderate_sample(dtype, {9, 1}, 3));
    const ValueId mixed = around.add(Op::multiply, {cube, weight});
    const ValueId shares = softmax(around, mixed, 2);
    around.output(around.add(Op::add, {shares, mixed}));
    around.output(around.reduce(Op::max, shares, {2}, false));
    around.output(softmax(around, cube, 1));
    around.output(around.reduce(Op::sum, around.add(Op::multiply, {shares, cube}), {0, 2}, false));
    suite.add(std::move(around));
  }
  suite.finish();
}

TEST_CASE("argmax after softmax, and rows with NaNs and infinities") {
  Suite suite;
  for (const DType dtype : dtypes_in(ir::floats)) {
    Builder best(fmt::format("argmax of softmax of {}", name_of(dtype)));
    const ValueId x = best.input(moderate_sample(dtype, {21, 40}, 4));
    best.output(best.reduce(Op::argmax, softmax(best, x, 1), {1}, false));
    best.output(best.reduce(Op::argmax, best.add(Op::rint, {x}), {1}, false));
    best.most_ambiguous = 0.5;  // 16-bit shares tie
    suite.add(std::move(best));

    Builder special(fmt::format("softmax of special values of {}", name_of(dtype)));
    special.most_ambiguous = 0.5;
    const ValueId any = special.input(sample(ir::Domain::any, 1, dtype, {60, 5}, 5));
    special.output(softmax(special, any, 1));
    suite.add(std::move(special));
  }
  suite.finish();
}

/// x / y of rows, where y is known only after a reduction of the row, which makes sure that it
/// stays in the kernel of the division.
Builder quotients(DType dtype, const ir::HostArray& x, const ir::HostArray& y) {
  Builder builder(fmt::format("rows of {} divided by numbers", name_of(dtype)));
  builder.made.options.strict = true;
  builder.most_ambiguous = 0.6;
  const Shape shape = {64, 260};
  const ValueId numbers = builder.input(x), divisors = builder.input(y);
  const ValueId marks = builder.input(moderate_sample(DType::i32, {64, 260}, 9));
  const ValueId mark = builder.reduce(Op::max, marks, {1}, true);
  const ValueId zero = builder.broadcast(builder.constant(DType::i32, 0), {64, 1});
  const ValueId positive = builder.add(Op::greater, {mark, zero});
  const ValueId negative = builder.add(Op::negative, {divisors});
  const ValueId divisor = builder.add(Op::select, {positive, divisors, negative});
  builder.output(builder.add(Op::divide, {numbers, builder.broadcast(divisor, shape)}));
  return builder;
}

TEST_CASE("what belongs to a row divides its elements as IEEE says") {
  Suite suite;
  std::size_t exact = 0;
  for (const DType dtype : dtypes_in(ir::floats)) {
    for (const std::uint64_t seed : {1, 3, 5}) {
      suite.add(quotients(dtype, moderate_sample(dtype, {64, 260}, seed),
                          moderate_sample(dtype, {64, 1}, seed + 1)));
      // Of all magnitudes, with quotients that are subnormal, infinite or not numbers.
      suite.add(quotients(dtype, sample(ir::Domain::any, 0, dtype, {64, 260}, seed),
                          sample(ir::Domain::any, 1, dtype, {64, 1}, seed + 1)));
      exact += 2;
    }
  }
  suite.finish();
  CHECK(suite.bitwise() == exact);
}

/// Rows of a reshaped array, divided by their greatest magnitude, reshaped back.
Builder blocks_of(DType dtype, Shape shape, Shape blocks) {
  Builder builder(fmt::format("blocks of {}", name_of(dtype)));
  const ValueId x = builder.input(moderate_sample(dtype, shape, 5));
  const ValueId rows = builder.reshape(x, blocks);
  const auto last = static_cast<std::int64_t>(blocks.size()) - 1;
  const ValueId largest = builder.reduce(Op::max, builder.add(Op::absolute, {rows}), {last}, true);
  const ValueId scaled = builder.add(Op::divide, {rows, largest});
  const ValueId back = builder.reshape(scaled, shape);
  builder.output(builder.add(Op::multiply, {back, back}));
  builder.output(largest);
  return builder;
}

TEST_CASE("what is computed from rows is reshaped") {
  Suite suite;
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    suite.add(blocks_of(dtype, {96 * 40}, {96, 40}));
    suite.add(blocks_of(dtype, {7, 9 * 33}, {7, 9, 33}));
    suite.add(blocks_of(dtype, {3, 4 * 5, 21}, {3, 4, 5 * 21}));
    // Groups of channels: reductions over several axes.
    Builder groups(fmt::format("group norm of {}", name_of(dtype)));
    const ValueId x = groups.input(moderate_sample(dtype, {3, 12, 7, 9}, 6));
    const ValueId parts = groups.reshape(x, {3, 4, 3, 7, 9});
    const ValueId mean = groups.reduce(Op::max, parts, {2, 3, 4}, true);
    const ValueId centred = groups.add(Op::subtract, {parts, mean});
    const ValueId scale = groups.input(moderate_sample(dtype, {12, 1, 1}, 7));
    groups.output(groups.add(Op::multiply, {groups.reshape(centred, {3, 12, 7, 9}), scale}));
    suite.add(std::move(groups));
  }
  suite.finish();
}

TEST_CASE("one program normalises any number of rows, of any length") {
  Suite suite;
  const Dim m = Dim::symbol("m"), n = Dim::symbol("n");
  for (const DType dtype : dtypes_in(ir::floats)) {
    Builder rows(fmt::format("{}[m,96] normalised", name_of(dtype)));
    const ValueId x = rows.input(moderate_sample(dtype, {5, 96}, 1), {m, 96});
    rows.output(softmax(rows, x, 1));
    rows.output(standardized(rows, x, 1, 96));
    rows.made.bindings = {{ir::intern_symbol("m"), 5}};
    for (const std::int64_t size : {0, 1, 33, 130}) {
      rows.run_also({moderate_sample(dtype, {size, 96}, 2)});
    }
    suite.add(std::move(rows));

    Builder both(fmt::format("{}[m,n] normalised", name_of(dtype)));
    const ValueId y = both.input(moderate_sample(dtype, {5, 70}, 3), {m, n});
    both.output(softmax(both, y, 1));
    both.output(softmax(both, y, 0));
    both.made.bindings = {{ir::intern_symbol("m"), 5}, {ir::intern_symbol("n"), 70}};
    for (const auto& [height, width] : {std::pair{1, 1}, {40, 31}, {2, 1025}, {257, 3}}) {
      both.run_also({moderate_sample(dtype, {height, width}, 4)});
    }
    suite.add(std::move(both));
  }
  suite.finish();
}

}  // namespace
}  // namespace heddle::test
