#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/numerics/suite.h"

namespace heddle::test {
namespace {

using ir::HostArray;
using ir::Op;
using ir::Shape;
using ir::ValueId;

bool allows(Op op, DType dtype) { return (ir::info(op).dtypes & ir::set_of(dtype)) != 0; }

std::vector<Op> segment_ops() {
  std::vector<Op> ops = ops_of(ir::OpKind::reduction);
  std::erase_if(ops, ir::finds_index);
  return ops;
}

/// The ends of `count` segments of an axis: lengths vary, many are 0, and one has half of all.
std::vector<std::int64_t> bounds(std::int64_t count, std::int64_t length) {
  std::vector<std::int64_t> result = {0};
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t mean = length / (2 * std::max<std::int64_t>(count, 1));
    const std::int64_t own = i == count / 3 ? length / 2
                             : i % 4 == 1   ? 0
                                            : (i * 7) % (2 * mean + 2);
    result.push_back(std::min(length, result.back() + own));
  }
  return result;
}

/// A case while it gets inputs with bounds.
struct Segments {
  explicit Segments(const std::string& label) : builder(label) {}

  /// The bounds, m + 1 numbers in one array, as the begins and ends of m segments.
  void bound(const std::vector<std::int64_t>& ends, DType dtype = DType::i32) {
    const auto count = static_cast<std::int64_t>(ends.size());
    HostArray array{{dtype, {count}}, {}};
    for (const std::int64_t one : ends) {
      const auto* const bytes = reinterpret_cast<const std::byte*>(&one);
      array.data.insert(array.data.end(), bytes, bytes + size_of(dtype));
    }
    const ValueId all = builder.input(std::move(array));
    first = builder.slice(all, {0}, {1}, {count - 1});
    last = builder.slice(all, {1}, {1}, {count - 1});
  }
  ValueId reduce(Op op, ValueId value, std::int64_t axis = 0) {
    ir::Attributes attributes;
    attributes.axes = {axis};
    return builder.add(op, {value, first, last}, attributes);
  }

  Builder builder;
  ValueId first{}, last{};
};

TEST_CASE("every reduction of segments in every dtype along any axis") {
  Suite suite;
  for (const DType dtype : dtypes_in(ir::all_dtypes)) {
    for (const std::int64_t axis : {0, 1, 2}) {
      Segments one(fmt::format("segments of {} along axis {}", name_of(dtype), axis));
      Shape shape = {5, 6, 7};
      shape[static_cast<std::size_t>(axis)] = 60;
      one.bound(bounds(13, 60), axis == 1 ? DType::i64 : DType::i32);
      const ValueId values = one.builder.input(moderate_sample(dtype, shape, 3), axis != 1);
      for (const Op op : segment_ops()) {
        if (allows(op, dtype)) one.builder.output(one.reduce(op, values, axis));
      }
      suite.add(std::move(one.builder));
    }
  }
  suite.finish();
}

TEST_CASE("segments of lengths around those of warps, one after another and with gaps") {
  Suite suite(small_target());
  for (const DType dtype : {DType::f32, DType::f64, DType::i16}) {
    for (const std::int64_t length : {0, 1, 2, 31, 33, 257, 1024, 40000}) {
      for (const std::int64_t count : {1, 3, 64, 1000}) {
        Segments one(fmt::format("{} segments of {}[{}]", count, name_of(dtype), length));
        one.bound(bounds(count, length));
        const ValueId values = one.builder.input(moderate_sample(dtype, {length}, 4));
        one.builder.output(one.reduce(Op::sum, values));
        one.builder.output(one.reduce(Op::max, values));
        suite.add(std::move(one.builder));
      }
    }
  }
  suite.finish();
}

TEST_CASE("a sparse matrix times vectors and matrices, with work before and after") {
  Suite suite(small_target());
  for (const DType dtype : {DType::f32, DType::f64, DType::c64, DType::i32}) {
    for (const std::int64_t columns : {1, 3, 8, 40}) {
      const std::int64_t rows = 300, stored = 2500, width = 90;
      Segments one(fmt::format("sparse {} times {} columns", name_of(dtype), columns));
      Builder& builder = one.builder;
      one.bound(bounds(rows, stored));
      const ValueId data = builder.input(moderate_sample(dtype, {stored}, 5));
      const ValueId places = builder.input(integers(DType::i32, {stored}, 0, width, 6));
      const ValueId dense = builder.input(moderate_sample(dtype, {width, columns}, 7));
      const ValueId vector = builder.input(moderate_sample(dtype, {width}, 8));
      const ValueId scaled = builder.add(Op::multiply, {data, data});
      ir::Attributes first_axis;
      first_axis.axes = {0};
      const ValueId each = builder.add(Op::gather, {vector, places}, first_axis);
      const ValueId product = one.reduce(Op::sum, builder.add(Op::multiply, {scaled, each}));
      builder.output(builder.add(Op::add, {product, product}));
      builder.output(one.reduce(Op::sum, scaled));
      const ValueId column = builder.reshape(places, {stored, 1});
      const ValueId lines = builder.add(Op::gather, {dense, column}, first_axis);
      const ValueId wide = builder.add(Op::multiply, {lines, builder.reshape(data, {stored, 1})});
      builder.output(one.reduce(Op::sum, wide));
      suite.add(std::move(one.builder));
    }
  }
  suite.finish();
}

TEST_CASE("segments whose bounds and values a program computes, and long sums") {
  Suite suite;
  Segments one("computed bounds");
  Builder& builder = one.builder;
  ir::Attributes places;
  places.dtype = DType::i64;
  places.shape = {50};
  places.axes = {0};
  const ValueId place = builder.add(Op::iota, {}, places);
  one.first = builder.add(Op::multiply, {place, builder.constant(DType::i64, 3)});
  one.last = builder.add(Op::multiply, {place, builder.constant(DType::i64, 5)});
  const ValueId values = builder.input(moderate_sample(DType::f32, {170}, 9));
  builder.output(one.reduce(Op::sum, builder.add(Op::exp, {values})));
  builder.output(one.reduce(Op::min, values));
  suite.add(std::move(one.builder));

  Segments large("a long segment");
  large.bound({0, 5, 1000000, 1000000, 1000003});
  const ValueId many = large.builder.input(moderate_sample(DType::f32, {1000003}, 10));
  large.builder.output(large.reduce(Op::sum, many));
  suite.add(std::move(large.builder));

  Segments symbolic("segments of a symbolic extent");
  const ir::Dim extent = ir::Dim::symbol("n"), count = ir::Dim::symbol("m");
  const ValueId some = symbolic.builder.input(moderate_sample(DType::f64, {100}, 11), {extent});
  symbolic.first = symbolic.builder.input(integers(DType::i32, {30}, 0, 50, 12), {count});
  symbolic.last = symbolic.builder.input(integers(DType::i32, {30}, 40, 100, 13), {count});
  symbolic.builder.output(symbolic.reduce(Op::sum, some));
  suite.add(std::move(symbolic.builder));
  suite.finish();
}

}  // namespace
}  // namespace heddle::test
