#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "ir/calls/calls.h"
#include "ir/types/constant.h"
#include "tests/numerics/suite.h"
#include "tests/support/host_arrays.h"

namespace heddle::test {
namespace {

using ir::Dim;
using ir::HostArray;
using ir::Op;
using ir::Shape;
using ir::ValueId;

struct Factors {
  ValueId factor, info;
};

Factors factorize(Builder& builder, ValueId matrices, bool upper) {
  const ValueId factor = builder.add(
      Op::call, {matrices}, ir::call_attributes(ir::calls::cholesky(), {{"upper", upper}}));
  return {factor, builder.made.graph.result(factor, 1)};
}

void output_both(Builder& builder, ValueId matrices, bool upper) {
  const Factors made = factorize(builder, matrices, upper);
  builder.output(made.factor);
  builder.output(made.info);
}

std::vector<std::int64_t> last_two_swapped(std::size_t rank) {
  std::vector<std::int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[rank - 1], axes[rank - 2]);
  return axes;
}

/// y y^H + 4 on the diagonal for random y.
HostArray positive_definite(DType dtype, const Shape& shape, std::uint64_t seed) {
  Builder builder("matrices");
  const ValueId y = builder.input(moderate_sample(dtype, shape, seed));
  ValueId other = builder.transpose(y, last_two_swapped(shape.size()));
  if (is_complex(dtype)) other = builder.add(Op::conjugate, {other});
  const ValueId product = builder.add(Op::call, {y, other}, ir::matmul_attributes(Precision::ieee));
  ir::Attributes places;
  places.dtype = DType::i32;
  places.shape = {shape.back(), shape.back()};
  places.axes = {0};
  const ValueId row = builder.add(Op::iota, {}, places);
  places.axes = {1};
  const ValueId diagonal = builder.add(Op::equal, {row, builder.add(Op::iota, {}, places)});
  const ValueId four =
      builder.add(Op::select, {diagonal, builder.constant(dtype, 4), builder.constant(dtype, 0)});
  builder.output(builder.add(Op::add, {product, four}));
  return ir::interpret(builder.made.graph, builder.made.inputs).front();
}

void set(HostArray& matrices, std::size_t matrix, std::size_t row, std::size_t column, double to) {
  const auto n = static_cast<std::size_t>(matrices.type.shape.back().constant());
  const std::size_t size = size_of(matrices.type.dtype);
  const ir::ElementBits bits = ir::constant_bits(matrices.type.dtype, to);
  std::memcpy(&matrices.data[((matrix * n + row) * n + column) * size], bits.bytes(), size);
}

/// Makes element (order - 1, order - 1) of a matrix -1, so that this leading minor is not positive.
void spoil(HostArray& matrices, std::size_t matrix, std::size_t order) {
  set(matrices, matrix, order - 1, order - 1, -1);
}

const std::vector<DType> dtypes = dtypes_in(ir::calls::cholesky().dtypes);

TEST_CASE("factors of every dtype, order and batch, upper and lower") {
  Suite suite;
  for (const DType dtype : dtypes) {
    for (const bool upper : {false, true}) {
      Builder builder(fmt::format("{} factors of {}", upper ? "upper" : "lower", name_of(dtype)));
      std::uint64_t seed = 0;
      for (const Shape& shape :
           {Shape{1, 1}, Shape{2, 2}, Shape{3, 5, 5}, Shape{2, 2, 17, 17}, Shape{64, 64},
            Shape{2, 1, 3, 5, 5}, Shape{300, 2, 2}, Shape{0, 0}, Shape{4, 0, 0}, Shape{0, 5, 5}}) {
        ++seed;
        output_both(builder, builder.input(positive_definite(dtype, shape, seed), seed % 2 == 0),
                    upper);
      }
      suite.add(std::move(builder));
    }
  }
  suite.finish();
  suite.require(ir::calls::cholesky(), 4);
}

TEST_CASE("transposed, offset, strided and broadcast operands") {
  Suite suite;
  for (const DType dtype : dtypes) {
    for (const bool upper : {false, true}) {
      Builder builder(fmt::format("operands of {}", name_of(dtype)));
      const ValueId a = builder.input(positive_definite(dtype, {64, 64}, 1));
      const ValueId batch = builder.input(positive_definite(dtype, {6, 5, 5}, 2), false);
      output_both(builder, builder.transpose(a, {1, 0}), upper);
      output_both(builder, builder.transpose(batch, {0, 2, 1}), upper);
      // Rows and columns that are the same some are positive definite too.
      output_both(builder, builder.slice(a, {3, 3}, {1, 1}, {17, 17}), upper);
      output_both(builder, builder.slice(a, {63, 63}, {-3, -3}, {17, 17}), upper);
      output_both(builder, builder.slice(batch, {5, 1, 1}, {-2, 1, 1}, {3, 4, 4}), upper);
      output_both(builder, builder.reshape(batch, {2, 3, 5, 5}), upper);
      const ValueId one = builder.slice(batch, {2, 0, 0}, {1, 1, 1}, {1, 5, 5});
      output_both(builder, builder.broadcast(one, {2, 3, 5, 5}), upper);
      suite.add(std::move(builder));
    }
  }
  suite.finish();
}

TEST_CASE("work around factors, and operands that are needed again or not") {
  Suite suite;
  for (const DType dtype : dtypes) {
    for (const bool donated : {false, true}) {
      Builder builder(fmt::format("work around factors of {}", name_of(dtype)));
      const ValueId a = builder.input(positive_definite(dtype, {3, 17, 17}, 1));
      const ValueId b = builder.input(positive_definite(dtype, {17, 17}, 2));
      const ValueId row = builder.input(moderate_sample(dtype, {17}, 3));
      builder.made.options.donated = {donated, false, false};
      const auto [lower, lower_info] = factorize(builder, a, false);
      builder.output(builder.add(Op::tanh, {builder.add(Op::multiply, {lower, row})}));
      builder.output(builder.reduce(Op::sum, lower, {2}, false));
      builder.output(builder.transpose(lower, {2, 0, 1}));
      builder.output(builder.add(Op::equal, {lower_info, builder.constant(DType::i32, 0)}));

      // Matrices that are computed, and read by nothing else: they may become their factor.
      const ValueId sum = builder.add(Op::add, {b, b});
      const auto [upper, upper_info] = factorize(builder, sum, true);
      builder.output(builder.add(Op::call, {builder.transpose(upper, {1, 0}), upper},
                                 ir::matmul_attributes(Precision::ieee)));
      builder.output(builder.add(Op::negative, {upper_info}));

      // And some that are read again.
      const ValueId half = builder.add(Op::multiply, {b, builder.constant(dtype, 0.5)});
      const ValueId factor = factorize(builder, half, false).factor;
      builder.output(builder.add(Op::subtract, {half, factor}));
      builder.output(factor);
      suite.add(std::move(builder));
    }
  }
  suite.finish();
}

TEST_CASE("one program factorises any extents") {
  Suite suite;
  const Dim batch = Dim::symbol("b"), n = Dim::symbol("n");
  for (const DType dtype : dtypes) {
    Builder builder(fmt::format("factors of {}[b,n,n]", name_of(dtype)));
    const ValueId a = builder.input(positive_definite(dtype, {3, 5, 5}, 1), Shape{batch, n, n});
    builder.made.bindings = {{ir::intern_symbol("b"), 3}, {ir::intern_symbol("n"), 5}};
    for (const bool upper : {false, true}) output_both(builder, a, upper);
    for (const Shape& shape : {Shape{1, 1, 1}, Shape{0, 3, 3}, Shape{4, 0, 0}, Shape{2, 64, 64},
                               Shape{40, 2, 2}, Shape{1, 17, 17}}) {
      builder.run_also({positive_definite(dtype, shape, 2)});
    }
    suite.add(std::move(builder));
  }
  suite.finish();
}

TEST_CASE("a matrix that is not positive definite is NaN in its batch, alone") {
  Suite suite;
  for (const DType dtype : dtypes) {
    HostArray matrices = positive_definite(dtype, {5, 17, 17}, 1);
    spoil(matrices, 1, 3);
    spoil(matrices, 3, 1);
    spoil(matrices, 4, 17);
    HostArray alone = positive_definite(dtype, {4, 4}, 2);
    spoil(alone, 0, 2);
    for (const bool upper : {false, true}) {
      Builder builder(fmt::format("matrices of {} without a factor", name_of(dtype)));
      output_both(builder, builder.input(matrices), upper);
      output_both(builder, builder.input(alone), upper);
      const std::vector<HostArray> values = ir::interpret(builder.made.graph, builder.made.inputs);
      const Comparison many =
          compare_equal(values[1], host_array<std::int32_t>({5}, {0, 3, 0, 1, 17}));
      CHECK_MESSAGE(many, many.message);
      const Comparison one = compare_equal(values[3], host_array<std::int32_t>({}, {2}));
      CHECK_MESSAGE(one, one.message);
      suite.add(std::move(builder));
    }
  }
  suite.finish();
}

TEST_CASE("a NaN that is read makes the factor NaN, as a minor that is not positive") {
  Suite suite;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const DType dtype : dtypes) {
    HostArray small = positive_definite(dtype, {4, 17, 17}, 1);
    set(small, 0, 0, 0, nan);
    set(small, 1, 16, 16, nan);
    set(small, 2, 5, 3, nan);
    set(small, 3, 3, 5, nan);
    HostArray large = positive_definite(dtype, {100, 100}, 2);
    set(large, 0, 70, 7, nan);
    for (const bool upper : {false, true}) {
      Builder builder(fmt::format("matrices of {} with NaN", name_of(dtype)));
      output_both(builder, builder.input(small), upper);
      output_both(builder, builder.input(large), upper);
      const std::vector<HostArray> values = ir::interpret(builder.made.graph, builder.made.inputs);
      const HostArray orders = upper ? host_array<std::int32_t>({4}, {1, 17, 0, 6})
                                     : host_array<std::int32_t>({4}, {1, 17, 6, 0});
      const Comparison many = compare_equal(values[1], orders);
      CHECK_MESSAGE(many, many.message);
      const Comparison one =
          compare_equal(values[3], host_array<std::int32_t>({}, {upper ? 0 : 71}));
      CHECK_MESSAGE(one, one.message);
      suite.add(std::move(builder));
    }
  }
  suite.finish();
}

}  // namespace
}  // namespace heddle::test
