#include <cstring>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "ir/calls/calls.h"
#include "tests/numerics/suite.h"

namespace heddle::test {
namespace {

using ir::Dim;
using ir::HostArray;
using ir::Op;
using ir::Shape;
using ir::ValueId;

ValueId sorted(Builder& builder, const ir::CallOp& op, ValueId value, std::int64_t axis) {
  return builder.add(Op::call, {value}, ir::call_attributes(op, {{"axis", axis}}));
}

void output_both(Builder& builder, ValueId value, std::int64_t axis) {
  builder.output(sorted(builder, ir::calls::sort(), value, axis));
  builder.output(sorted(builder, ir::calls::argsort(), value, axis));
}

/// Values of which each occurs many times, NaN, infinities and both zeros among them.
HostArray with_duplicates(DType dtype, const Shape& shape, std::uint64_t seed) {
  HostArray array = sample(ir::Domain::any, 0, dtype, shape, seed);
  const std::size_t size = size_of(dtype), count = array.data.size() / size;
  std::mt19937_64 random(seed);
  for (std::size_t i = 16; i < count; ++i) {
    std::memcpy(&array.data[i * size], &array.data[random() % 16 * size], size);
  }
  return array;
}

TEST_CASE("every dtype, along every axis, with all that is special to it") {
  Suite suite;
  for (const DType dtype : dtypes_in(ir::all_dtypes)) {
    Builder builder(fmt::format("sort of {}", name_of(dtype)));
    const ValueId special = builder.input(sample(ir::Domain::any, 0, dtype, {700}, 1));
    const ValueId cube = builder.input(with_duplicates(dtype, {5, 9, 33}, 2), false);
    output_both(builder, special, 0);
    for (const std::int64_t axis : {0, 1, 2}) output_both(builder, cube, axis);
    suite.add(std::move(builder));
  }
  suite.finish();
  suite.require(ir::calls::sort(), 4);
  suite.require(ir::calls::argsort(), 4);
}

/// One of each size that keys have, and of each kind.
const std::vector<DType> kinds = {DType::boolean, DType::i8,  DType::f16,
                                  DType::u32,     DType::f32, DType::f64};

TEST_CASE("rows of every length around what a thread and a block hold") {
  Suite suite;
  for (const DType dtype : kinds) {
    for (const std::int64_t length : {1, 2, 7, 8, 9, 16, 17, 100, 257, 2048, 4096}) {
      Builder builder(fmt::format("rows of {} of {}", length, name_of(dtype)));
      const std::int64_t rows = std::max<std::int64_t>(1, 300 / length);
      const ValueId x = builder.input(with_duplicates(dtype, {rows, length}, 3), length % 2 == 0);
      output_both(builder, x, 1);
      suite.add(std::move(builder));
    }
  }
  suite.finish();
}

TEST_CASE("rows that several blocks sort and merge") {
  Suite suite;
  for (const DType dtype : {DType::u8, DType::f16, DType::f32, DType::f64}) {
    Builder builder(fmt::format("long rows of {}", name_of(dtype)));
    // 1, 2, 3 and 5 runs of 2,048 or 4,096, the last of them of one element or nearly full.
    for (const std::int64_t length : {2049, 4095, 4097, 6145, 8193, 20479}) {
      const Shape shape = length < 5000 ? Shape{2, length} : Shape{length};
      const HostArray values = length % 4 == 1 ? sample(ir::Domain::any, 0, dtype, shape, 4)
                                               : with_duplicates(dtype, shape, 5);
      output_both(builder, builder.input(values), std::ssize(shape) - 1);
    }
    suite.add(std::move(builder));
  }
  suite.finish();
}

TEST_CASE("lengths that are symbols") {
  Suite suite;
  const Dim n = Dim::symbol("n"), m = Dim::symbol("m");
  for (const DType dtype : {DType::i16, DType::f32}) {
    Builder builder(fmt::format("symbolic rows of {}", name_of(dtype)));
    const ValueId x = builder.input(with_duplicates(dtype, {3, 50}, 6), Shape{m, n});
    output_both(builder, x, 1);
    output_both(builder, x, 0);
    for (const Shape& shape : {Shape{1, 1}, Shape{0, 4}, Shape{2, 5000}, Shape{1000, 2}}) {
      builder.run_also({with_duplicates(dtype, shape, 7)});
    }
    suite.add(std::move(builder));
  }
  suite.finish();
}

TEST_CASE("what is sorted is computed before, and used after") {
  Suite suite;
  Builder builder("work around sorts");
  const ValueId x = builder.input(with_duplicates(DType::f32, {6, 40}, 8));
  const ValueId y = builder.input(moderate_sample(DType::f32, {40}, 9));
  const ValueId negated = builder.add(Op::negative, {x});
  const ValueId descending =
      builder.add(Op::negative, {sorted(builder, ir::calls::sort(), negated, 1)});
  builder.output(descending);
  builder.output(builder.slice(descending, {0, 39}, {1, -3}, {6, 12}));
  builder.output(builder.add(Op::add, {sorted(builder, ir::calls::sort(), y, 0), y}));
  const ValueId flat = builder.reshape(x, {240});
  builder.output(builder.reshape(sorted(builder, ir::calls::argsort(), flat, 0), {40, 6}));
  const ValueId wide = builder.broadcast(builder.reshape(y, {40, 1}), {40, 3});
  output_both(builder, wide, 0);
  output_both(builder, wide, 1);
  const ValueId backwards = builder.slice(x, {5, 39}, {-1, -1}, {6, 40});
  output_both(builder, backwards, 0);
  output_both(builder, sorted(builder, ir::calls::sort(), x, 1), 0);
  suite.add(std::move(builder));
  suite.finish();
}

TEST_CASE("nothing, and single elements, are sorted without a kernel") {
  Suite suite;
  Builder builder("degenerate sorts");
  const ValueId none = builder.input(moderate_sample(DType::f64, {0, 3}, 10));
  const ValueId ones = builder.input(moderate_sample(DType::f64, {4, 1}, 11));
  output_both(builder, none, 0);
  output_both(builder, none, 1);
  output_both(builder, ones, 1);
  output_both(builder, ones, 0);
  suite.add(std::move(builder));
  suite.finish();
}

}  // namespace
}  // namespace heddle::test
