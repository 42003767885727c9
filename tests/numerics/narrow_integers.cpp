#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "ir/types/constant.h"
#include "passes/pipeline/program_builder.h"
#include "tests/numerics/suite.h"

namespace heddle::test {
namespace {

using ir::Op;
using ir::Shape;
using ir::ValueId;

ValueId positions(Builder& builder, Shape shape, std::int64_t axis) {
  ir::Attributes attributes;
  attributes.dtype = DType::i64;
  attributes.shape = std::move(shape);
  attributes.axes = {axis};
  return builder.add(Op::iota, {}, attributes);
}

/// Sums of products of elements of few bits with their positions, which need 64 bits; with
/// `others`, also what is stored and compared.
Builder checksums(DType dtype, std::int64_t length, bool others) {
  Builder builder(fmt::format("checksums of {}[9,{}]", name_of(dtype), length));
  const ValueId x =
      builder.cast(builder.input(sample(ir::Domain::any, 0, dtype, {9, length}, 1)), DType::i64);
  const ValueId index = positions(builder, {9, length}, 1);
  const ValueId left = builder.add(Op::subtract, {builder.constant(DType::i64, 1000), index});
  const ValueId products = builder.add(Op::multiply, {x, left});
  builder.output(builder.reduce(Op::sum, products, {1}, false));
  builder.output(builder.reduce(Op::sum, x, {1}, false));
  if (!others) return builder;
  builder.output(builder.reduce(Op::max, products, {1}, false));
  const ValueId greater = builder.add(Op::greater, {products, builder.add(Op::negative, {left})});
  builder.output(builder.add(Op::select, {greater, products, left}));
  return builder;
}

/// Values that do not fit 32 bits, although what they are made of does.
Builder wide(DType dtype) {
  Builder builder(fmt::format("wide results of {}", name_of(dtype)));
  const ValueId x =
      builder.cast(builder.input(sample(ir::Domain::any, 0, dtype, {300}, 2)), DType::i64);
  const ValueId squares = builder.add(Op::multiply, {x, x});
  const ValueId fourth = builder.add(Op::multiply, {squares, squares});
  builder.output(builder.reduce(Op::sum, fourth, {0}, false));
  builder.output(builder.reduce(Op::sum, builder.add(Op::subtract, {fourth, squares}), {0}, true));
  builder.output(builder.add(Op::bitwise_xor, {squares, fourth}));
  builder.output(builder.cast(builder.add(Op::minimum, {squares, x}), DType::f32));
  return builder;
}

/// Sums of elements of few bits in 64 bits, of all elements and along both axes.
Builder sums(DType dtype, DType wide, std::int64_t rows, std::int64_t length) {
  Builder builder(
      fmt::format("sums of {}[{},{}] in {}", name_of(dtype), rows, length, name_of(wide)));
  const ValueId x =
      builder.cast(builder.input(sample(ir::Domain::any, 0, dtype, {rows, length}, 4)), wide);
  builder.output(builder.reduce(Op::sum, x, {1}, false));
  builder.output(builder.reduce(Op::sum, x, {0}, true));
  builder.output(builder.reduce(Op::sum, x, {0, 1}, false));
  return builder;
}

/// The dtypes in which a plan for the target sums, one for each reduction.
std::vector<DType> summed_in(const Builder& builder, const char* target) {
  const passes::PlanOptions options{ir::parse_target(target), {}, {}, {}};
  std::vector<DType> found;
  for (const passes::KernelPlan& kernel :
       passes::plan_program(builder.made.graph, options).kernels) {
    for (const passes::Reduction& one : kernel.reductions) found.push_back(one.dtype);
  }
  return found;
}

/// The sum of rows of one value.
Builder constant_rows(DType dtype, double value, std::int64_t length) {
  Builder builder(fmt::format("{} times {} of {}", length, value, name_of(dtype)));
  const std::uint64_t bits = ir::constant_bits(dtype, value).low;
  ir::HostArray rows{{dtype, {2, length}}, {}};
  for (std::int64_t i = 0; i < 2 * length; ++i) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(&bits);
    rows.data.insert(rows.data.end(), bytes, bytes + size_of(dtype));
  }
  const ValueId x = builder.input(std::move(rows));
  builder.output(builder.reduce(Op::sum, builder.cast(x, DType::i64), {1}, false));
  return builder;
}

}  // namespace

TEST_CASE("64-bit integers that fit 32 bits, and such that do not") {
  Suite suite;
  for (const DType dtype :
       {DType::boolean, DType::u8, DType::i8, DType::u16, DType::i16, DType::u32, DType::i32}) {
    for (const bool others : {false, true}) {
      suite.add(checksums(dtype, 33, others));
      suite.add(checksums(dtype, 1501, others));
    }
    suite.add(wide(dtype));
    for (const DType summed : {DType::i64, DType::u64}) {
      suite.add(sums(dtype, summed, 9, 515));
      suite.add(sums(dtype, summed, 300, 21));
    }
  }
  suite.finish();
}

TEST_CASE("positions are compared in 32 bits") {
  Builder builder("a triangle");
  const ValueId x = builder.input(moderate_sample(DType::f16, {70, 70}, 3));
  const ValueId inside = builder.add(
      Op::less_equal, {positions(builder, {70, 70}, 1), positions(builder, {70, 70}, 0)});
  builder.output(builder.add(Op::select, {inside, x, builder.constant(DType::f16, -1)}));
  const passes::PlanOptions options{ir::parse_target("sm_90:h200"), {}, {}, {}};
  const auto planned = passes::plan_program(builder.made.graph, options);
  for (const passes::Instruction& one : planned.kernels.at(0).body) CHECK(one.dtype != DType::i64);
  Suite suite;
  suite.add(std::move(builder));
  suite.finish();
}

TEST_CASE("products of bytes and positions are computed in 32 bits") {
  const Builder builder = checksums(DType::u8, 1501, false);
  const passes::PlanOptions options{ir::parse_target("sm_90:h200"), {}, {}, {}};
  const auto planned = passes::plan_program(builder.made.graph, options);
  int narrow = 0, products = 0;
  for (const passes::KernelPlan& kernel : planned.kernels) {
    for (const passes::Instruction& one : kernel.body) {
      if (one.kind != passes::Instruction::Kind::apply || one.op != Op::multiply) continue;
      ++products;
      narrow += one.dtype == DType::i32 ? 1 : 0;
    }
    for (const passes::Reduction& one : kernel.reductions) {
      if (one.op == Op::sum) CHECK(one.dtype == DType::i32);
    }
  }
  CHECK(products > 0);
  CHECK(narrow == products);
}

TEST_CASE("sums are computed in 32 bits as long as these hold them") {
  struct Limit {
    DType dtype;
    double extreme;
    std::int64_t length;  ///< the greatest whose sum fits
  };
  Suite suite;
  for (const Limit& limit : {Limit{DType::i16, -32768, 65536}, Limit{DType::u16, 65535, 32768},
                             Limit{DType::u8, 255, 8421504}}) {
    const Builder fits = constant_rows(limit.dtype, limit.extreme, limit.length);
    const Builder exceeds = constant_rows(limit.dtype, limit.extreme, limit.length + 1);
    CAPTURE(fits.label);
    for (const char* const target : {"sm_90:h200", "x86-64-v4"}) {
      const std::vector<DType> narrow = summed_in(fits, target);
      const std::vector<DType> wide = summed_in(exceeds, target);
      REQUIRE((!narrow.empty() && !wide.empty()));
      CHECK(std::ranges::count(narrow, DType::i32) == std::ssize(narrow));
      CHECK(std::ranges::count(wide, DType::i64) == std::ssize(wide));
    }
    if (limit.length > 65536) continue;
    suite.add(constant_rows(limit.dtype, limit.extreme, limit.length));
    suite.add(constant_rows(limit.dtype, limit.extreme, limit.length + 1));
  }
  suite.finish();
}

}  // namespace heddle::test
