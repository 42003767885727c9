#include <cstdint>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/numerics/suite.h"

namespace heddle::test {
namespace {

using ir::Op;
using ir::Shape;
using ir::ValueId;

/// For which small arrays fill all threads.
ir::Target least_target() {
  ir::Target target = small_target();
  target.multiprocessors = 1;
  return target;
}

Op combining(DType dtype) { return is_boolean(dtype) ? Op::bitwise_xor : Op::add; }

/// Sums over rows of an odd length: of two parts of one array, shifted against each other, of an
/// array and a row, and of an array and a column.
Builder maps_of_rows(DType dtype, std::int64_t rows, std::int64_t length, bool aligned) {
  Builder builder(fmt::format("rows of {} of {}", length, name_of(dtype)));
  const Op op = combining(dtype);
  const ValueId x = builder.input(moderate_sample(dtype, {rows + 1, length + 3}, 1), aligned);
  const ValueId y = builder.input(moderate_sample(dtype, {rows, length}, 2), aligned);
  const ValueId row = builder.input(moderate_sample(dtype, {length}, 3));
  const ValueId column = builder.input(moderate_sample(dtype, {rows, 1}, 4));
  const Shape shape{rows, length};
  const auto at = [&](std::int64_t down, std::int64_t right) {
    return builder.slice(x, {down, right}, {1, 1}, shape);
  };
  builder.output(builder.add(op, {at(0, 1), at(1, 3)}));
  builder.output(builder.add(op, {y, builder.broadcast(builder.reshape(row, {1, length}), shape)}));
  builder.output(builder.add(op, {y, builder.broadcast(column, shape)}));
  return builder;
}

TEST_CASE("maps of rows that no vector divides") {
  Suite suite(least_target());
  for (const DType dtype : {DType::boolean, DType::u8, DType::i8, DType::i16, DType::f16,
                            DType::bf16, DType::i32, DType::f64}) {
    suite.add(maps_of_rows(dtype, 53, 701, true));
    suite.add(maps_of_rows(dtype, 25, 1502, false));
  }
  suite.finish();
}

TEST_CASE("pixels of a few channels, mirrored and cropped") {
  Suite suite(least_target());
  for (const DType dtype : {DType::u8, DType::i16, DType::f32}) {
    for (const std::int64_t channels : {2, 3, 5}) {
      Builder builder(fmt::format("{} channels of {}", channels, name_of(dtype)));
      const ValueId x = builder.input(moderate_sample(dtype, {3, 91, 103, channels}, 1));
      builder.output(builder.slice(x, {0, 2, 100, 0}, {1, 1, -1, 1}, {3, 87, 97, channels}));
      suite.add(std::move(builder));
    }
  }
  suite.finish();
}

TEST_CASE("stacks of results of the same array") {
  Suite suite(least_target());
  for (const DType dtype : {DType::u16, DType::bf16, DType::f32}) {
    for (const int parts : {2, 3, 7}) {
      Builder builder(fmt::format("a stack of {} of {}", parts, name_of(dtype)));
      const ValueId x = builder.input(moderate_sample(dtype, {61, 203}, 1));
      const ValueId row = builder.input(moderate_sample(DType::f32, {1, 203}, 2));
      const ValueId wide = builder.cast(x, DType::f32);
      std::vector<ValueId> results;
      for (int part = 0; part < parts; ++part) {
        const ValueId factor = builder.constant(DType::f32, 0.5 * part + 0.25);
        const ValueId scaled = builder.add(Op::multiply, {wide, factor});
        const ValueId result = part % 2 == 0 ? scaled : builder.add(Op::multiply, {scaled, row});
        results.push_back(builder.reshape(result, {1, 61, 203}));
      }
      builder.output(builder.concatenate(results, 0));
      suite.add(std::move(builder));
    }
  }
  suite.finish();
}

TEST_CASE("truth values in vectors, with tails and values that vectors share") {
  Suite suite(least_target());
  for (const std::int64_t count : {16, 4096, 10001}) {
    Builder builder(fmt::format("{} truth values", count));
    std::vector<ValueId> x;
    for (std::uint64_t seed = 1; seed <= 3; ++seed)
      x.push_back(builder.input(moderate_sample(DType::boolean, {count}, seed)));
    for (const Op op : {Op::bitwise_and, Op::bitwise_or, Op::bitwise_xor, Op::logical_and,
                        Op::logical_or, Op::logical_xor, Op::equal, Op::not_equal, Op::add,
                        Op::multiply, Op::maximum, Op::minimum}) {
      const ValueId both = builder.add(op, {x[0], builder.add(Op::invert, {x[1]})});
      builder.output(builder.add(op, {both, builder.add(Op::logical_not, {x[2]})}));
    }
    builder.output(builder.add(Op::bitwise_xor, {x[0], builder.constant(DType::boolean, 1)}));
    suite.add(std::move(builder));
  }
  Builder rows("a truth value for each row");
  const ValueId x = rows.input(moderate_sample(DType::boolean, {300, 256}, 1));
  const ValueId column = rows.input(moderate_sample(DType::boolean, {300, 1}, 2));
  rows.output(rows.add(Op::bitwise_and, {x, column}));
  suite.add(std::move(rows));
  suite.finish();
}

TEST_CASE("sums with transposed arrays of odd and of short sides") {
  Suite suite(least_target());
  for (const DType dtype : {DType::i16, DType::u8, DType::f32, DType::f64, DType::c128}) {
    for (const auto& [rows, columns] :
         {std::pair<std::int64_t, std::int64_t>{257, 263}, {32, 2100}, {20, 2099}, {2048, 48}}) {
      Builder builder(fmt::format("transposed {} x {} of {}", rows, columns, name_of(dtype)));
      const ValueId x = builder.input(moderate_sample(dtype, {columns, rows}, 1));
      const ValueId y = builder.input(moderate_sample(dtype, {rows, columns}, 2));
      builder.output(builder.add(Op::add, {builder.transpose(x, {1, 0}), y}));
      suite.add(std::move(builder));
    }
  }
  suite.finish();
}

}  // namespace
}  // namespace heddle::test
