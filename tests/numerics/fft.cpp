#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "ir/calls/calls.h"
#include "tests/numerics/suite.h"

namespace heddle::test {
namespace {

using ir::Dim;
using ir::Op;
using ir::Shape;
using ir::ValueId;

ValueId fft(Builder& builder, ValueId x, bool inverse = false) {
  return builder.add(Op::call, {x}, ir::call_attributes(ir::calls::fft(), {{"inverse", inverse}}));
}

ValueId rfft(Builder& builder, ValueId x) {
  return builder.add(Op::call, {x}, ir::call_attributes(ir::calls::rfft()));
}

ValueId irfft(Builder& builder, ValueId x, std::int64_t length) {
  return builder.add(Op::call, {x}, ir::call_attributes(ir::calls::irfft(), {{"length", length}}));
}

/// Every radix, products of them, a large prime factor, and lengths beyond one item.
const std::vector<std::int64_t> lengths = {1,  2,  3,  4,  5,  6,   7,   8,   11,   13,   16,   17,
                                           26, 30, 32, 64, 77, 105, 128, 330, 1021, 1024, 20000};

TEST_CASE("transforms of every kind of length, both ways") {
  Suite suite;
  for (const DType dtype : dtypes_in(ir::calls::fft().dtypes)) {
    for (const std::int64_t n : lengths) {
      Builder builder(fmt::format("transforms of {} {}", n, name_of(dtype)));
      const ValueId x = builder.input(moderate_sample(dtype, {3, n}, 1), n % 2 == 0);
      builder.output(fft(builder, x));
      builder.output(fft(builder, x, true));
      const ValueId row = builder.input(moderate_sample(dtype, {n}, 2));
      builder.output(fft(builder, row));
      const ValueId real = builder.input(moderate_sample(real_dtype(dtype), {2, n}, 3));
      builder.output(rfft(builder, real));
      const ValueId half = builder.input(moderate_sample(dtype, {2, n / 2 + 1}, 4));
      builder.output(irfft(builder, half, n));
      suite.add(std::move(builder));
    }
  }
  suite.finish();
  suite.require(ir::calls::fft(), 20);
  suite.require(ir::calls::rfft(), 20);
  suite.require(ir::calls::irfft(), 20);
}

TEST_CASE("a large prime factor, in a transform that no block holds") {
  Suite suite;
  Builder builder("transforms of 4273");
  const ValueId x = builder.input(moderate_sample(DType::c128, {2, 1, 4273}, 1));
  builder.output(fft(builder, x));
  suite.add(std::move(builder));
  suite.finish();
}

TEST_CASE("batches, of which no block has a whole number, and none") {
  Suite suite;
  for (const Shape& batch : {Shape{0}, Shape{1}, Shape{33}, Shape{5, 7}, Shape{2, 1, 3}}) {
    Builder builder("batches");
    Shape shape = batch;
    shape.emplace_back(24);
    const ValueId x = builder.input(moderate_sample(DType::c64, shape, 1));
    builder.output(fft(builder, x));
    shape.back() = 13;
    builder.output(irfft(builder, builder.input(moderate_sample(DType::c128, shape, 2)), 24));
    suite.add(std::move(builder));
  }
  suite.finish();
}

/// A GPU with so little shared memory that short transforms are too long for a block.
ir::Target tiny_target() {
  ir::Target target = ir::parse_target("sm_90");
  target.shared_bytes_per_block = 4 << 10;
  target.multiprocessors = 4;
  return target;
}

TEST_CASE("transforms of which two blocks make half each") {
  Suite suite(tiny_target());
  for (const DType dtype : dtypes_in(ir::calls::fft().dtypes)) {
    const std::int64_t scale = real_dtype(dtype) == DType::f64 ? 1 : 2;
    for (const std::int64_t factor : {256, 240, 224}) {
      const std::int64_t n = factor * scale;
      Builder builder(fmt::format("halves of {} {}", n, name_of(dtype)));
      const ValueId x = builder.input(moderate_sample(dtype, {3, n}, 1));
      const ValueId weight = builder.input(moderate_sample(dtype, {n}, 2));
      builder.output(fft(builder, x));
      builder.output(
          builder.add(Op::absolute, {fft(builder, builder.add(Op::multiply, {x, weight}), true)}));
      const ValueId real = builder.input(moderate_sample(real_dtype(dtype), {3, 2 * n}, 3));
      builder.output(rfft(builder, real));
      const ValueId tail = builder.slice(real, {1, 0}, {1, 1}, {2, 2 * n});
      const ValueId spectrum = rfft(builder, builder.add(Op::square, {tail}));
      builder.output(builder.add(Op::conjugate, {spectrum}));
      // What reads other elements, or more than one, or with others, is a kernel of its own.
      builder.output(builder.slice(spectrum, {0, n}, {1, -1}, {2, n + 1}));
      suite.add(std::move(builder));
    }
  }
  suite.finish();
}

TEST_CASE("last stages of real transforms with odd and even numbers of butterflies") {
  Suite suite;
  for (const std::int64_t n : {1458, 1100}) {  // 243 and 110 of radix 3 and 5
    Builder builder(fmt::format("real transforms of {}", n));
    const ValueId x = builder.input(moderate_sample(DType::f32, {2, n}, 1));
    builder.output(rfft(builder, x));
    suite.add(std::move(builder));
  }
  suite.finish();
}

TEST_CASE("views and elementwise work before and after a transform") {
  Suite suite;
  for (const DType dtype : dtypes_in(ir::calls::fft().dtypes)) {
    Builder builder(fmt::format("work around transforms of {}", name_of(dtype)));
    const ValueId x = builder.input(moderate_sample(dtype, {6, 20, 10}, 1));
    const ValueId weight = builder.input(moderate_sample(dtype, {20}, 2));
    // Along another axis, and back.
    const ValueId turned = builder.transpose(x, {0, 2, 1});
    const ValueId columns = fft(builder, builder.add(Op::multiply, {turned, weight}));
    builder.output(builder.transpose(columns, {0, 2, 1}));
    // A reversed spectrum, one that is cropped, and a result that is read twice.
    const ValueId spectrum = fft(builder, x);
    builder.output(builder.slice(spectrum, {0, 0, 9}, {1, 1, -1}, {6, 20, 10}));
    builder.output(builder.slice(spectrum, {1, 0, 2}, {1, 2, 1}, {4, 10, 5}));
    builder.output(builder.reduce(Op::sum, builder.add(Op::absolute, {spectrum}), {2}, false));
    // Its own operand beside the result, and neighbours of other items.
    builder.output(builder.add(Op::subtract, {fft(builder, x, true), x}));
    const ValueId shifted = builder.slice(spectrum, {0, 1, 0}, {1, 1, 1}, {6, 19, 10});
    builder.output(builder.add(Op::tanh, {shifted}));
    // Padded and reshaped before, and a transform of a transform.
    const ValueId padded = builder.concatenate({x, x}, 2);
    const ValueId once = fft(builder, builder.reshape(padded, {6, 400}));
    builder.output(fft(builder, builder.add(Op::conjugate, {once})));
    suite.add(std::move(builder));
  }
  suite.finish();
}

TEST_CASE("a convolution is one kernel of two transforms") {
  Suite suite;
  for (const DType dtype : {DType::f32, DType::f64}) {
    Builder builder(fmt::format("convolutions of {}", name_of(dtype)));
    const ValueId x = builder.input(moderate_sample(dtype, {9, 64}, 1));
    const ValueId filter = builder.input(moderate_sample(complex_dtype(dtype), {33}, 2));
    const ValueId product = builder.add(Op::multiply, {rfft(builder, x), filter});
    const ValueId back = irfft(builder, product, 64);
    builder.output(builder.add(Op::divide, {back, builder.constant(dtype, 64)}));
    suite.add(std::move(builder));
  }
  suite.finish();
}

TEST_CASE("transforms of a batch whose extents are symbols") {
  Suite suite;
  const Dim rows = Dim::symbol("rows"), planes = Dim::symbol("planes");
  for (const DType dtype : dtypes_in(ir::calls::fft().dtypes)) {
    Builder builder(fmt::format("transforms of {}[planes,rows,12]", name_of(dtype)));
    const ValueId x =
        builder.input(moderate_sample(dtype, {2, 3, 12}, 1), Shape{planes, rows, Dim(12)});
    builder.made.bindings = {{ir::intern_symbol("planes"), 2}, {ir::intern_symbol("rows"), 3}};
    builder.output(builder.add(Op::negative, {fft(builder, builder.add(Op::square, {x}))}));
    builder.output(builder.transpose(fft(builder, builder.transpose(x, {1, 0, 2})), {2, 0, 1}));
    for (const Shape& shape : {Shape{1, 1, 12}, Shape{0, 3, 12}, Shape{17, 5, 12}})
      builder.run_also({moderate_sample(dtype, shape, 2)});
    suite.add(std::move(builder));
  }
  suite.finish();
}

TEST_CASE("roots of unity that follow a transform") {
  Suite suite;
  for (const DType dtype : dtypes_in(ir::calls::fft().dtypes)) {
    Builder builder(fmt::format("turned transforms of {}", name_of(dtype)));
    const ValueId x = builder.input(moderate_sample(dtype, {2, 5, 12}, 1));
    for (const bool inverse : {false, true}) {
      builder.output(
          builder.add(Op::call, {x},
                      ir::call_attributes(ir::calls::fft(), {{"inverse", inverse}, {"root", 60}})));
    }
    suite.add(std::move(builder));
  }
  suite.finish();
}

}  // namespace
}  // namespace heddle::test
