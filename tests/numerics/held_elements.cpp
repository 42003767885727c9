#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "passes/pipeline/program_builder.h"
#include "tests/numerics/suite.h"

namespace heddle::test {
namespace {

using ir::Op;
using ir::Shape;
using ir::ValueId;

/// One multiprocessor, which a few elements fill.
ir::Target one_multiprocessor() {
  ir::Target target = ir::parse_target("sm_90:h200");
  target.multiprocessors = 1;
  return target;
}

ValueId roll(Builder& builder, ValueId value, std::int64_t shift, std::int64_t axis) {
  const Shape whole = builder.made.graph.shape(value);
  const auto along = static_cast<std::size_t>(axis);
  const auto part = [&](std::int64_t begin, std::int64_t end) {
    ir::Dims starts(whole.size(), 0), steps(whole.size(), 1);
    Shape shape = whole;
    starts[along] = begin;
    shape[along] = end - begin;
    return builder.slice(value, starts, steps, shape);
  };
  const std::int64_t extent = whole[along].constant(), cut = (extent - shift) % extent;
  return builder.concatenate({part(cut, extent), part(0, cut)}, axis);
}

/// Differences of neighbours on a torus; the roll back makes the roll forth a plain load.
Builder torus(DType dtype, Shape shape) {
  Builder builder(fmt::format("differences on a torus of {}", name_of(dtype)));
  const ValueId x = builder.input(moderate_sample(dtype, shape, 1));
  ValueId sum = x;
  for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(shape.size()); ++axis) {
    const std::int64_t extent = shape[static_cast<std::size_t>(axis)].constant();
    const ValueId difference = builder.add(Op::subtract, {roll(builder, x, extent - 1, axis), x});
    sum = builder.add(Op::add, {sum, roll(builder, difference, 1, axis)});
  }
  builder.output(sum);
  return builder;
}

/// Two shifted parts of an array, one behind the other, where neither is aligned.
Builder pieces(DType dtype, std::int64_t axis) {
  Builder builder(fmt::format("pieces of {} along {}", name_of(dtype), axis));
  const ValueId x = builder.input(moderate_sample(dtype, {43, 41, 67}, 2));
  const ValueId a = builder.slice(x, {1, 0, 1}, {1, 1, 1}, {42, 40, 66});
  const ValueId b = builder.slice(x, {0, 1, 1}, {1, 1, 1}, {42, 40, 66});
  const ValueId c = builder.slice(x, {0, 0, 0}, {1, 1, 1}, {42, 40, 66});
  const ValueId first = builder.add(Op::subtract, {a, c});
  const ValueId second = builder.add(Op::subtract, {b, c});
  const ValueId both = builder.concatenate({first, second}, axis);
  builder.output(builder.add(Op::multiply, {both, both}));
  return builder;
}

/// A stack of three pieces, each of two of the same parts of an array.
Builder stack(DType dtype, std::int64_t width) {
  Builder builder(fmt::format("a stack of {}, {} wide", name_of(dtype), width));
  const ValueId x = builder.input(moderate_sample(dtype, {151, width + 1}, 6));
  const auto part = [&](std::int64_t row, std::int64_t column) {
    return builder.slice(x, {row, column}, {1, 1}, {150, width});
  };
  std::vector<ValueId> pieces;
  for (const auto& [a, b] : {std::pair{part(0, 0), part(1, 0)}, std::pair{part(1, 0), part(0, 1)},
                             std::pair{part(0, 1), part(0, 0)}}) {
    const ValueId piece = builder.add(Op::subtract, {a, b});
    pieces.push_back(builder.reshape(piece, {1, 150, width}));
  }
  const ValueId whole = builder.input(moderate_sample(dtype, {3, 150, width}, 7));
  builder.output(builder.add(Op::add, {builder.concatenate(pieces, 0), whole}));
  return builder;
}

/// A stack of pieces that take the elements of one vector from two.
Builder shifted_stack(DType dtype) {
  Builder builder(fmt::format("a stack of shifted vectors of {}", name_of(dtype)));
  const ValueId x = builder.input(moderate_sample(dtype, {150, 264}, 8));
  const ValueId a = builder.slice(x, {0, 0}, {1, 1}, {150, 256});
  const ValueId b = builder.slice(x, {0, 1}, {1, 1}, {150, 256});
  std::vector<ValueId> pieces;
  for (const Op op : {Op::add, Op::subtract, Op::multiply})
    pieces.push_back(builder.reshape(builder.add(op, {a, b}), {1, 150, 256}));
  builder.output(builder.concatenate(pieces, 0));
  return builder;
}

/// Single elements with values of their row, of their column and of neither.
Builder channels(DType dtype, Shape shape) {
  Builder builder(fmt::format("channels of {}", name_of(dtype)));
  const ValueId x = builder.input(moderate_sample(dtype, shape, 3));
  const ValueId scale = builder.input(moderate_sample(dtype, {shape[1], 1}, 4));
  const ValueId last = builder.input(moderate_sample(dtype, {shape[2]}, 5));
  const ValueId scaled = builder.add(Op::multiply, {x, scale});
  builder.output(builder.add(Op::maximum, {scaled, last}));
  return builder;
}

}  // namespace

TEST_CASE("threads that take several iterations of a loop compute each element once") {
  Suite suite(one_multiprocessor());
  const auto add = [&](Builder builder) {
    CAPTURE(builder.label);
    const passes::PlanOptions options{one_multiprocessor(), {}, {}, {}};
    const auto planned = passes::plan_program(builder.made.graph, options);
    const passes::KernelPlan& kernel = planned.kernels.at(0);
    // Rows of narrow elements without other loads are stored in vectors instead.
    const DType stored =
        kernel.operands[static_cast<std::size_t>(kernel.stores.at(0).operand)].dtype;
    CHECK((kernel.held > 0 || (size_of(stored) < 4 && kernel.row_loops > 0)));
    suite.add(std::move(builder));
  };
  for (const DType dtype : {DType::f16, DType::f32, DType::f64, DType::i32, DType::c64}) {
    add(torus(dtype, {131, 257}));
    add(shifted_stack(dtype));
    add(channels(dtype, {23, 37, 129}));
  }
  add(torus(DType::f32, {33, 34, 65}));
  add(channels(DType::u8, {23, 37, 129}));
  for (const DType dtype : {DType::f16, DType::f32, DType::i64}) {
    add(stack(dtype, 255));
    add(stack(dtype, 256));
  }
  for (const std::int64_t axis : {0, 1, 2}) {
    add(pieces(DType::f32, axis));
    add(pieces(DType::i64, axis));
  }
  suite.finish();
}

}  // namespace heddle::test
