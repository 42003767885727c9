#include <numeric>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "ir/calls/calls.h"
#include "tests/numerics/suite.h"

namespace heddle::test {
namespace {

using ir::Op;
using ir::Shape;
using ir::ValueId;

ir::Attributes along(std::vector<std::int64_t> axes, Shape shape = {}) {
  ir::Attributes attributes;
  attributes.axes = std::move(axes);
  attributes.shape = std::move(shape);
  return attributes;
}

/// Extents whose axes neither merge (with the operands below) nor are all alike; few elements.
Shape shape_of(int rank) {
  Shape shape;
  for (int axis = 0; axis < rank; ++axis) shape.emplace_back(axis % 4 == 1 ? 3 : 2);
  return shape;
}

/// Every second axis of the shape is 1, beginning with the first or the second.
Shape every_second_one(Shape shape, std::size_t first) {
  for (std::size_t axis = first; axis < shape.size(); axis += 2) shape[axis] = 1;
  return shape;
}

/// The even axes behind the odd ones, each from the last on.
std::vector<std::int64_t> shuffled(int rank) {
  std::vector<std::int64_t> order;
  for (int parity : {1, 0}) {
    for (int axis = rank - 1; axis >= 0; --axis) {
      if (axis % 2 == parity) order.push_back(axis);
    }
  }
  return order;
}

std::vector<std::int64_t> even_axes(int rank) {
  std::vector<std::int64_t> axes;
  for (int axis = 0; axis < rank; axis += 2) axes.push_back(axis);
  return axes;
}

Builder builder_of(const char* family, int rank) {
  return Builder(fmt::format("{} of rank {}", family, rank));
}

const std::vector<int> ranks = {8, 9, 10, 11, 12};

TEST_CASE("pointwise kernels, transposes and views of many axes") {
  Suite suite;
  for (const int rank : ranks) {
    Builder builder = builder_of("elements", rank);
    const Shape shape = shape_of(rank);
    const ValueId x = builder.input(moderate_sample(DType::f32, shape, 1), rank % 2 == 0);
    const ValueId y = builder.input(moderate_sample(DType::f32, every_second_one(shape, 0), 2));
    const ValueId z = builder.input(moderate_sample(DType::f32, every_second_one(shape, 1), 3));
    builder.output(builder.add(Op::add, {builder.add(Op::multiply, {x, y}), z}));
    builder.output(builder.add(Op::add, {y, z}));
    builder.output(builder.add(Op::negative, {builder.transpose(x, shuffled(rank))}));
    ir::Dims starts(shape.size());
    ir::Dims steps(shape.size(), ir::Dim(1));
    for (std::size_t axis = 0; axis < shape.size(); axis += 3) {
      starts[axis] = shape[axis] - 1;
      steps[axis] = ir::Dim(-1);
    }
    builder.output(builder.add(Op::exp, {builder.slice(x, starts, steps, shape)}));
    builder.output(builder.broadcast(y, shape));
    suite.add(std::move(builder));
  }
  suite.finish();
}

TEST_CASE("parts, updates and neighbours along an axis of many") {
  Suite suite;
  for (const int rank : ranks) {
    Builder builder = builder_of("parts", rank);
    const Shape shape = shape_of(rank);
    const auto middle = static_cast<std::size_t>(rank / 2);
    const ValueId x = builder.input(moderate_sample(DType::f32, shape, 1));
    const ValueId y = builder.input(moderate_sample(DType::f32, shape, 2), false);
    builder.output(
        builder.add(Op::tanh, {builder.concatenate({x, builder.add(Op::add, {x, y})}, rank / 2)}));
    Shape region = shape;
    region[middle] = 1;
    ir::Dims starts(shape.size());
    starts[middle] = 1;
    const ir::Dims steps(shape.size(), ir::Dim(1));
    const ValueId last = builder.slice(y, starts, steps, region);
    builder.output(builder.update(x, builder.add(Op::square, {last}), starts, steps, region));
    // Each element and the next one along two axes: a stencil.
    Shape inner = shape;
    for (const std::size_t axis : {std::size_t{1}, middle}) inner[axis] = inner[axis] - 1;
    ir::Dims here(shape.size()), next(shape.size());
    next[1] = next[middle] = 1;
    builder.output(builder.add(Op::subtract, {builder.slice(x, next, steps, inner),
                                              builder.slice(x, here, steps, inner)}));
    suite.add(std::move(builder));
  }
  suite.finish();
}

TEST_CASE("reductions and normalisations of many axes") {
  Suite suite;
  for (const int rank : ranks) {
    Builder builder = builder_of("reductions", rank);
    const Shape shape = shape_of(rank);
    const ValueId x = builder.input(moderate_sample(DType::f32, shape, 1));
    const ValueId y = builder.input(moderate_sample(DType::f32, every_second_one(shape, 1), 2));
    const ValueId product = builder.add(Op::multiply, {x, y});
    std::vector<std::int64_t> all(shape.size());
    std::iota(all.begin(), all.end(), 0);
    builder.output(builder.reduce(Op::sum, product, even_axes(rank), false));
    builder.output(builder.reduce(Op::max, product, {1, rank / 2, rank - 1}, true));
    builder.output(builder.reduce(Op::sum, product, all, false));
    builder.output(builder.reduce(Op::argmax, product, {rank / 2}, false));
    const ValueId turned = builder.transpose(x, shuffled(rank));
    builder.output(builder.reduce(Op::sum, turned, even_axes(rank), false));
    suite.add(std::move(builder));

    Builder normal = builder_of("softmax", rank);
    const ValueId logits = normal.input(moderate_sample(DType::f32, shape, 3));
    for (const std::vector<std::int64_t>& axes :
         {std::vector<std::int64_t>{rank / 2}, even_axes(rank)}) {
      const ValueId shifted =
          normal.add(Op::subtract, {logits, normal.reduce(Op::max, logits, axes, true)});
      const ValueId powers = normal.add(Op::exp, {shifted});
      normal.output(normal.add(Op::divide, {powers, normal.reduce(Op::sum, powers, axes, true)}));
    }
    suite.add(std::move(normal));
  }
  suite.finish();
}

TEST_CASE("scans, sorts, gathers and scatters along an axis of many") {
  Suite suite;
  for (const int rank : ranks) {
    Builder builder = builder_of("scans and sorts", rank);
    const Shape shape = shape_of(rank);
    const ValueId x = builder.input(moderate_sample(DType::f32, shape, 1));
    const ValueId turned = builder.transpose(x, shuffled(rank));
    builder.output(builder.scan(Op::cumsum, x, rank / 2));
    builder.output(builder.scan(Op::cumsum, turned, rank / 2));
    const auto middle = static_cast<std::int64_t>(rank / 2);
    builder.output(
        builder.add(Op::call, {x}, ir::call_attributes(ir::calls::sort(), {{"axis", middle}})));
    builder.output(builder.add(Op::call, {turned}, ir::call_attributes(ir::calls::argsort())));
    const ValueId index = builder.input(integers(DType::i32, shape, 0, 2, 2));
    builder.output(builder.add(Op::gather, {x, index}, along({rank / 2})));
    const ValueId counts = builder.input(integers(DType::i32, shape, -5, 5, 3));
    Shape wider = shape;
    wider[static_cast<std::size_t>(rank / 2)] = 4;
    builder.output(builder.add(Op::scatter_add, {counts, index}, along({rank / 2}, wider)));
    suite.add(std::move(builder));
  }
  suite.finish();
}

TEST_CASE("products of stacks of many axes") {
  Suite suite;
  for (const int rank : ranks) {
    for (const DType dtype : {DType::f32, DType::i32}) {
      Builder builder(fmt::format("product of {} of rank {}", name_of(dtype), rank));
      Shape left = every_second_one(shape_of(rank), 0), right = every_second_one(shape_of(rank), 1);
      const auto last = left.size() - 1;
      left[last - 1] = 5, left[last] = 7;
      right[last - 1] = 7, right[last] = 4;
      const ValueId a = builder.input(moderate_sample(dtype, left, 1));
      const ValueId b = builder.input(moderate_sample(dtype, right, 2), false);
      const ValueId product = builder.add(Op::call, {a, b}, ir::matmul_attributes(Precision::ieee));
      builder.output(product);
      builder.output(builder.add(Op::negative, {product}));
      suite.add(std::move(builder));
    }
  }
  suite.finish();
}

}  // namespace
}  // namespace heddle::test
