#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/numerics/suite.h"

namespace heddle::test {
namespace {

using ir::HostArray;
using ir::Op;
using ir::Shape;
using ir::ValueId;

ir::Attributes along(std::vector<std::int64_t> axes, Shape shape = {}) {
  ir::Attributes attributes;
  attributes.axes = std::move(axes);
  attributes.shape = std::move(shape);
  return attributes;
}

TEST_CASE("every dtype is gathered, by indices of every dtype, inside and outside") {
  Suite suite;
  for (const DType dtype : dtypes_in(ir::all_dtypes)) {
    Builder builder(fmt::format("gathers of {}", name_of(dtype)));
    const ValueId plane = builder.input(sample(ir::Domain::any, 0, dtype, {40, 36}, 1), false);
    const ValueId line = builder.input(sample(ir::Domain::any, 0, dtype, {1000}, 2));
    const ValueId many = builder.input(integers(DType::i32, {3000}, -1000, 1000, 3));
    const ValueId rows = builder.input(integers(DType::i64, {70, 1}, -45, 45, 4));
    const ValueId columns = builder.input(integers(DType::i16, {40, 9}, -36, 36, 5));
    builder.output(builder.add(Op::gather, {line, many}, along({0})));
    builder.output(builder.add(Op::gather, {plane, rows}, along({0})));
    builder.output(builder.add(Op::gather, {plane, columns}, along({1})));
    const ValueId both =
        builder.add(Op::gather, {plane, rows, builder.input(integers(DType::u8, {5}, 0, 40, 6))},
                    along({0, 1}));
    builder.output(both);
    suite.add(std::move(builder));
  }
  for (const DType dtype : dtypes_in(ir::integers)) {
    Builder builder(fmt::format("gather by {}", name_of(dtype)));
    const std::int64_t low = is_unsigned_integer(dtype) ? 0 : -120;
    const ValueId index = builder.input(integers(dtype, {2000}, low, 120, 7));
    builder.output(builder.add(
        Op::gather, {builder.input(moderate_sample(DType::f32, {100}, 8)), index}, along({0})));
    suite.add(std::move(builder));
  }
  suite.finish();
  suite.require(ir::OpKind::gather, 4);
}

TEST_CASE("gathers fuse: of what is computed, by what is computed, within parts and reductions") {
  Suite suite;
  for (const DType dtype : {DType::f32, DType::f16, DType::f64}) {
    Builder builder(fmt::format("fused gathers of {}", name_of(dtype)));
    const ValueId x = builder.input(moderate_sample(dtype, {64, 50}, 1));
    const ValueId index = builder.input(integers(DType::i32, {30, 1}, -64, 64, 2));
    const ValueId column = builder.input(integers(DType::i32, {1, 50}, 0, 50, 3));
    const ValueId doubled = builder.add(Op::add, {x, x});
    const ValueId halved = builder.add(Op::floor_divide, {index, builder.constant(DType::i32, 2)});
    const ValueId rows = builder.add(Op::gather, {doubled, halved}, along({0}));
    builder.output(builder.add(Op::square, {rows}));
    builder.output(builder.reduce(Op::sum, rows, {1}, false));
    builder.output(builder.reduce(Op::max, rows, {0}, true));
    const ValueId twice = builder.add(
        Op::gather, {builder.add(Op::gather, {x, index}, along({0})), column}, along({1}));
    builder.output(twice);
    // Rows of a transposed, of a reshaped, and of a repeated array.
    builder.output(builder.add(Op::gather, {builder.transpose(x, {1, 0}), index}, along({0})));
    builder.output(builder.add(Op::gather, {builder.reshape(x, {100, 32}), index}, along({0})));
    builder.output(builder.reshape(rows, {50, 30}));
    builder.output(builder.add(
        Op::gather, {builder.broadcast(builder.slice(x, {0, 0}, {1, 1}, {1, 50}), {64, 50}), index},
        along({0})));
    // Beside what is stored, and of a part.
    const ValueId few = builder.slice(index, {3, 0}, {2, 1}, {7, 1});
    const ValueId some = builder.add(Op::gather, {x, few}, along({0}));
    builder.output(builder.concatenate({some, x, rows}, 0));
    builder.output(builder.update(x, some, {9, 0}, {1, 1}, {7, 50}));
    builder.output(builder.add(
        Op::gather, {builder.concatenate({x, doubled}, 0), builder.add(Op::add, {index, index})},
        along({0})));
    suite.add(std::move(builder));

    Builder normal(fmt::format("softmax of gathered rows of {}", name_of(dtype)));
    const ValueId table = normal.input(moderate_sample(dtype, {33, 128}, 4));
    const ValueId at = normal.input(integers(DType::i64, {17, 1}, 0, 33, 5));
    const ValueId row = normal.add(Op::gather, {table, at}, along({0}));
    const ValueId power = normal.add(
        Op::exp, {normal.add(Op::subtract, {row, normal.reduce(Op::max, row, {1}, true)})});
    normal.output(normal.add(Op::divide, {power, normal.reduce(Op::sum, power, {1}, true)}));
    suite.add(std::move(normal));
  }
  suite.finish();
}

TEST_CASE("scatters of every dtype: duplicates, indices outside, and what is computed") {
  Suite suite;
  for (const Op op : ops_of(ir::OpKind::scatter)) {
    for (const DType dtype : dtypes_in(ir::info(op).dtypes)) {
      Builder builder(fmt::format("{} of {}", ir::info(op).name, name_of(dtype)));
      const ValueId values = builder.input(sample(ir::Domain::any, 0, dtype, {5000}, 1));
      const ValueId index = builder.input(integers(DType::i32, {5000}, -110, 110, 2));
      builder.output(builder.add(op, {values, index}, along({0}, {100})));
      builder.output(builder.add(op, {builder.constant(dtype, 1), index}, along({0}, {100})));
      const ValueId plane = builder.input(sample(ir::Domain::any, 0, dtype, {60, 33}, 3), false);
      const ValueId rows = builder.input(integers(DType::i64, {60, 1}, 0, 7, 4));
      const ValueId columns = builder.input(integers(DType::i8, {33}, -9, 9, 5));
      const ValueId into_rows = builder.add(op, {plane, rows}, along({0}, {7, 33}));
      builder.output(builder.add(Op::bitwise_or, {into_rows, into_rows}));
      builder.output(builder.add(op, {plane, rows, columns}, along({0, 1}, {7, 9})));
      const ValueId both = builder.add(Op::bitwise_xor, {plane, builder.constant(dtype, 5)});
      builder.output(
          builder.add(op, {both, builder.add(Op::add, {columns, columns})}, along({1}, {60, 20})));
      builder.output(builder.add(op, {values, builder.input(integers(DType::i32, {5000}, 0, 1, 6))},
                                 along({0}, {1})));
      builder.output(builder.add(op,
                                 {builder.reduce(Op::max, plane, {1}, false),
                                  builder.input(integers(DType::i32, {60}, 0, 4, 7))},
                                 along({0}, {4})));
      suite.add(std::move(builder));
    }
  }
  suite.finish();
  suite.require(ir::OpKind::scatter, 5);
}

}  // namespace
}  // namespace heddle::test
