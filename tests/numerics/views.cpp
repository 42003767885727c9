#include <cstdlib>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "passes/pipeline/program_builder.h"
#include "tests/numerics/suite.h"

namespace heddle::test {
namespace {

using ir::Dim;
using ir::HostArray;
using ir::Op;
using ir::Shape;
using ir::ValueId;

/// A dtype of every size, and the 16-bit float that computes in another.
const std::vector<DType> sizes = {DType::u8, DType::f16, DType::f32, DType::f64};

ValueId iota(Builder& builder, DType dtype, Shape shape, std::int64_t axis) {
  ir::Attributes attributes;
  attributes.dtype = dtype;
  attributes.shape = std::move(shape);
  attributes.axes = {axis};
  return builder.add(Op::iota, {}, attributes);
}

ValueId plus(Builder& builder, ValueId value, double number) {
  const DType dtype = builder.made.graph.dtype(value);
  return builder.add(Op::add, {value, builder.constant(dtype, number)});
}

TEST_CASE("every dtype is moved, made and repeated") {
  Suite suite;
  for (const DType dtype : dtypes_in(ir::all_dtypes)) {
    Builder builder(fmt::format("moves of {}", name_of(dtype)));
    const ValueId plane = builder.input(sample(ir::Domain::any, 0, dtype, {40, 36}, 1), false);
    const ValueId line = builder.input(sample(ir::Domain::any, 0, dtype, {36}, 2));
    builder.output(builder.transpose(plane, {1, 0}));
    builder.output(builder.reshape(plane, {6, 240}));
    builder.output(builder.reshape(builder.transpose(plane, {1, 0}), {1440}));
    builder.output(builder.broadcast(line, {3, 40, 36}));
    builder.output(builder.slice(plane, {39, 1}, {-2, 3}, {20, 12}));
    builder.output(builder.concatenate({plane, builder.reshape(line, {1, 36})}, 0));
    builder.output(builder.update(plane, line, {3, 0}, {5, 1}, {7, 36}));
    builder.output(builder.broadcast(builder.constant(dtype, 1), {33}));
    suite.add(std::move(builder));
  }
  for (const DType dtype : dtypes_in(ir::reals)) {
    Builder builder(fmt::format("iota of {}", name_of(dtype)));
    builder.output(iota(builder, dtype, {70000}, 0));
    builder.output(iota(builder, dtype, {5, 33, 3}, 1));
    builder.output(iota(builder, dtype, {4, 0}, 0));
    const ValueId columns = iota(builder, dtype, {7, 130}, 1);
    builder.output(builder.transpose(columns, {1, 0}));
    builder.output(builder.slice(plus(builder, columns, 1), {6, 129}, {-1, -2}, {7, 65}));
    builder.output(builder.add(Op::multiply, {columns, iota(builder, dtype, {7, 130}, 0)}));
    suite.add(std::move(builder));
  }
  suite.finish();
  suite.require(ir::OpKind::view);
  suite.require(ir::OpKind::piecewise);
  suite.require(ir::OpKind::source);
}

TEST_CASE("transposes of rank 2 to 5 around the edges of tiles") {
  Suite suite;
  for (const DType dtype : sizes) {
    for (const auto& [height, width] : {std::pair{1, 70},
                                        {16, 16},
                                        {31, 33},
                                        {32, 64},
                                        {65, 97},
                                        {130, 15},
                                        {132, 72},
                                        {64, 192}}) {
      Builder builder(fmt::format("{}[{},{}] transposed", name_of(dtype), height, width));
      const ValueId x = builder.input(moderate_sample(dtype, {height, width}, 1), width != 70);
      const ValueId y = builder.input(moderate_sample(dtype, {width, height}, 2));
      const ValueId turned = builder.transpose(x, {1, 0});
      builder.output(turned);
      builder.output(builder.add(Op::multiply, {plus(builder, turned, 1), y}));
      builder.output(builder.add(Op::maximum, {builder.transpose(y, {1, 0}), x}));
      suite.add(std::move(builder));
    }
    Builder builder(fmt::format("{} of higher rank transposed", name_of(dtype)));
    const ValueId cube = builder.input(moderate_sample(dtype, {18, 5, 35}, 3));
    for (const std::vector<std::int64_t>& axes :
         {std::vector<std::int64_t>{0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}) {
      builder.output(plus(builder, builder.transpose(cube, axes), 2));
    }
    const ValueId four = builder.input(moderate_sample(dtype, {3, 17, 4, 20}, 4), false);
    builder.output(builder.transpose(four, {0, 3, 2, 1}));
    builder.output(builder.transpose(four, {3, 1, 0, 2}));
    const ValueId five = builder.input(moderate_sample(dtype, {2, 19, 3, 2, 17}, 5));
    builder.output(builder.transpose(five, {4, 3, 2, 1, 0}));
    builder.output(builder.transpose(five, {0, 4, 2, 3, 1}));
    suite.add(std::move(builder));
  }
  suite.finish();
}

/// The sum of an element and its neighbours on both sides along every axis, without the edges.
ValueId neighbours(Builder& builder, ValueId x, const Shape& shape) {
  const std::size_t rank = shape.size();
  Shape inside;
  for (const Dim extent : shape) inside.push_back(extent - Dim(2));
  const auto moved = [&](std::size_t axis, std::int64_t by) {
    ir::Dims starts(rank, Dim(1));
    starts[axis] = Dim(1 + by);
    return builder.slice(x, starts, ir::Dims(rank, Dim(1)), inside);
  };
  ValueId sum = moved(0, 0);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    for (const std::int64_t by : {-1, 1}) sum = builder.add(Op::add, {sum, moved(axis, by)});
  }
  return sum;
}

TEST_CASE("neighbouring rows whose loads a thread shares") {
  // One multiprocessor has enough threads for this in arrays of a test's size.
  std::string one = ir::to_string(ir::parse_target("sm_90:h200"));
  one.replace(one.find("sm=132"), 6, "sm=1");
  const ir::Target target = ir::parse_target(one);
  Suite suite(target);
  for (const DType dtype : sizes) {
    for (const Shape& shape : {Shape{130, 258}, {135, 131}, {9, 42, 46}, {12, 4, 1030}}) {
      Builder builder(fmt::format("neighbours in {}{}", name_of(dtype), ir::to_string(shape)));
      builder.output(neighbours(builder, builder.input(moderate_sample(dtype, shape, 1)), shape));
      const auto plans = passes::plan_program(builder.made.graph, {target, {}, {}, {}});
      if (size_of(dtype) >= 4) CHECK(plans.kernels[0].held > 1);
      suite.add(std::move(builder));
    }
  }
  suite.finish();
}

TEST_CASE("slices with negative and long steps, and reshapes that keep their order or not") {
  Suite suite;
  for (const DType dtype : sizes) {
    Builder builder(fmt::format("slices of {}", name_of(dtype)));
    const ValueId line = builder.input(moderate_sample(dtype, {1500}, 1));
    for (const std::int64_t step : {1, -1, 2, -3, 499, -1499}) {
      for (const std::int64_t start : {0, 7, 1499}) {
        const std::int64_t room = step > 0 ? 1499 - start : start;
        builder.output(builder.slice(line, {start}, {step}, {room / std::abs(step) + 1}));
      }
    }
    builder.output(builder.slice(line, {3}, {1}, {0}));
    const ValueId twice =
        builder.slice(builder.slice(line, {1490}, {-5}, {280}), {200}, {-2}, {90});
    builder.output(plus(builder, twice, 1));
    suite.add(std::move(builder));

    Builder reshapes(fmt::format("reshapes of {}", name_of(dtype)));
    const ValueId cube = reshapes.input(moderate_sample(dtype, {6, 20, 14}, 2), false);
    const ValueId turned = reshapes.transpose(cube, {2, 0, 1});
    reshapes.output(reshapes.reshape(cube, {120, 14}));
    reshapes.output(reshapes.reshape(turned, {14, 120}));
    reshapes.output(reshapes.reshape(turned, {84, 20}));
    reshapes.output(reshapes.reshape(turned, {7, 240}));
    reshapes.output(plus(reshapes, reshapes.reshape(turned, {1, 1680, 1}), 3));
    const ValueId part = reshapes.slice(cube, {5, 0, 1}, {-2, 1, 2}, {3, 20, 6});
    reshapes.output(reshapes.reshape(part, {360}));
    reshapes.output(reshapes.reshape(part, {12, 5, 2, 3}));
    const ValueId wide =
        reshapes.broadcast(reshapes.slice(cube, {0, 3, 0}, {1, 1, 1}, {6, 1, 14}), {6, 5, 14});
    reshapes.output(reshapes.reshape(wide, {30, 14}));
    reshapes.output(reshapes.reshape(wide, {2, 210}));
    reshapes.output(reshapes.transpose(reshapes.reshape(turned, {21, 4, 20}), {1, 2, 0}));
    suite.add(std::move(reshapes));
  }
  suite.finish();
}

TEST_CASE("concatenations of any parts along any axis") {
  Suite suite;
  for (const DType dtype : sizes) {
    Builder builder(fmt::format("concatenations of {}", name_of(dtype)));
    const ValueId a = builder.input(moderate_sample(dtype, {9, 4, 35}, 1));
    const ValueId b = builder.input(moderate_sample(dtype, {9, 4, 35}, 2), false);
    const ValueId none = builder.slice(a, {0, 0, 0}, {1, 1, 1}, {9, 0, 35});
    for (const std::int64_t axis : {0, 1, 2}) builder.output(builder.concatenate({a, b, a}, axis));
    builder.output(builder.concatenate({none, a, none, b}, 1));
    builder.output(builder.concatenate({none, none}, 1));
    builder.output(builder.concatenate({a}, 2));
    builder.output(plus(builder, builder.concatenate({plus(builder, a, 1), b}, 0), 1));
    builder.output(
        builder.concatenate({builder.transpose(a, {2, 1, 0}), builder.transpose(b, {2, 1, 0})}, 2));
    const ValueId nested = builder.concatenate(
        {builder.concatenate({a, b}, 2), builder.concatenate({none, none}, 2)}, 1);
    builder.output(
        builder.add(Op::square, {builder.slice(nested, {8, 0, 60}, {-1, 1, -1}, {9, 4, 50})}));
    builder.output(builder.reduce(Op::sum, builder.concatenate({a, b}, 2), {2}, false));
    std::vector<ValueId> many;
    for (std::int64_t i = 0; i < 9; ++i) {
      many.push_back(builder.slice(a, {i, 0, 3 * i}, {1, 1, 1}, {1, 4, i + 1}));
    }
    builder.output(builder.concatenate(many, 2));
    suite.add(std::move(builder));

    // Boundaries at, before and behind those of vectors.
    Builder lines(fmt::format("lines of {}", name_of(dtype)));
    const ValueId line = lines.input(moderate_sample(dtype, {4096}, 3));
    for (const std::int64_t edge : {1, 7, 8, 16, 1023, 1024, 1025}) {
      lines.output(lines.concatenate(
          {lines.slice(line, {0}, {1}, {edge}), lines.slice(line, {edge}, {1}, {2048})}, 0));
    }
    suite.add(std::move(lines));
  }
  suite.finish();
}

TEST_CASE("slice updates write their region and nothing else") {
  Suite suite;
  for (const DType dtype : sizes) {
    for (const bool donated : {false, true}) {
      const auto start = [&](std::string_view what) {
        Builder builder(fmt::format("{} in {}{}", what, name_of(dtype), donated ? " donated" : ""));
        builder.input(moderate_sample(dtype, {20, 66}, 1));
        builder.made.options.donated = {donated};
        return builder;
      };
      const ValueId base{0};
      Builder one = start("region");
      ValueId value = one.input(moderate_sample(dtype, {7, 13}, 2));
      one.output(one.update(base, plus(one, value, 1), {19, 64}, {-3, -5}, {7, 13}));
      suite.add(std::move(one));

      Builder whole = start("whole");
      value = whole.input(moderate_sample(dtype, {66}, 3));
      whole.output(whole.update(base, value, {0, 0}, {1, 1}, {20, 66}));
      suite.add(std::move(whole));

      Builder empty = start("nothing");
      value = empty.input(moderate_sample(dtype, {1, 66}, 3));
      empty.output(empty.update(base, value, {4, 0}, {1, 1}, {0, 66}));
      suite.add(std::move(empty));

      // Each row from the one before, which is itself written.
      Builder overlap = start("shifted");
      const ValueId rows = overlap.slice(base, {0, 0}, {1, 1}, {19, 66});
      overlap.output(overlap.update(base, plus(overlap, rows, 1), {1, 0}, {1, 1}, {19, 66}));
      suite.add(std::move(overlap));

      Builder turned = start("turned");
      const ValueId back = turned.slice(base, {19, 65}, {-1, -1}, {20, 66});
      turned.output(turned.update(base, back, {0, 0}, {1, 1}, {20, 66}));
      suite.add(std::move(turned));

      Builder chain = start("chain");
      value = chain.input(moderate_sample(dtype, {20, 5}, 4));
      ValueId now = base;
      for (std::int64_t i = 0; i < 6; ++i) {
        now = chain.update(now, value, {0, 9 * i}, {1, 2}, {20, 5});
        if (i == 3) chain.output(chain.reduce(Op::max, now, {1}, false));
      }
      chain.output(now);
      chain.output(plus(chain, now, 1));
      suite.add(std::move(chain));
    }
  }
  suite.finish();
}

TEST_CASE("one program moves arrays of any extents") {
  Suite suite;
  const Dim m = Dim::symbol("m"), n = Dim::symbol("n");
  for (const DType dtype : sizes) {
    Builder builder(fmt::format("moves of {}[m,n]", name_of(dtype)));
    builder.made.graph.facts = {{ir::intern_symbol("n"), 5, 1}, {ir::intern_symbol("m"), 1, 1}};
    builder.made.bindings = {{ir::intern_symbol("m"), 33}, {ir::intern_symbol("n"), 65}};
    const ValueId x = builder.input(moderate_sample(dtype, {33, 65}, 1), {m, n});
    const ValueId y = builder.input(moderate_sample(dtype, {65}, 2), Shape{n});
    const ValueId turned = builder.transpose(x, {1, 0});
    builder.output(plus(builder, turned, 1));
    builder.output(builder.reshape(x, {m * n}));
    builder.output(builder.reshape(turned, {m * n}));
    builder.output(builder.add(Op::multiply, {builder.broadcast(y, {m, n}), x}));
    builder.output(builder.slice(x, {m - 1, 2}, {-1, 1}, {m, n - 4}));
    builder.output(builder.concatenate({x, builder.reshape(y, {1, n}), x}, 0));
    builder.output(builder.concatenate({x, builder.slice(x, {0, n - 1}, {1, -1}, {m, n})}, 1));
    builder.output(
        builder.update(x, builder.slice(y, {0}, {1}, {n - 1}), {0, 1}, {1, 1}, {m, n - 1}));
    builder.output(iota(builder, dtype, {m, n}, 1));
    for (const auto& [height, width] : {std::pair{1, 5}, {3, 31}, {64, 32}, {129, 17}, {2, 1023}}) {
      builder.run_also(
          {moderate_sample(dtype, {height, width}, 3), moderate_sample(dtype, {width}, 4)});
    }
    suite.add(std::move(builder));
  }
  suite.finish();
}

}  // namespace
}  // namespace heddle::test
