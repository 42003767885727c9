#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "ir/calls/calls.h"
#include "ir/types/constant.h"
#include "tests/numerics/suite.h"

namespace heddle::test {
namespace {

using ir::Dim;
using ir::Op;
using ir::Shape;
using ir::ValueId;

const std::vector<DType> dtypes = dtypes_in(ir::calls::svdvals().dtypes);

/// The values and the statuses.
void output_both(Builder& builder, ValueId matrices, ir::Attributes attributes) {
  const ValueId values = builder.add(Op::call, {matrices}, std::move(attributes));
  builder.output(values);
  builder.output(builder.made.graph.result(values, 1));
}

ir::Attributes svdvals() { return ir::call_attributes(ir::calls::svdvals()); }
ir::Attributes eigvalsh(bool upper) {
  return ir::call_attributes(ir::calls::eigvalsh(), {{"upper", upper}});
}

TEST_CASE("singular values of every dtype, shape and batch") {
  Suite suite;
  for (const DType dtype : dtypes) {
    Builder builder(fmt::format("singular values of {}", name_of(dtype)));
    std::uint64_t seed = 0;
    for (const Shape& shape :
         {Shape{1, 1}, Shape{5, 2}, Shape{2, 5}, Shape{3, 5, 5}, Shape{2, 2, 17, 9}, Shape{70, 66},
          Shape{40, 33}, Shape{1, 33, 40}, Shape{300, 2, 3}, Shape{2, 1, 6, 1}}) {
      ++seed;
      const ValueId a = builder.input(moderate_sample(dtype, shape, seed), seed % 2 == 0);
      output_both(builder, a, svdvals());
    }
    suite.add(std::move(builder));
  }
  suite.finish();
  suite.require(ir::calls::svdvals(), 4);
}

TEST_CASE("eigenvalues of Hermitian matrices of every dtype, extent and batch") {
  Suite suite;
  for (const DType dtype : dtypes) {
    Builder builder(fmt::format("eigenvalues of {}", name_of(dtype)));
    std::uint64_t seed = 0;
    for (const Shape& shape : {Shape{1, 1}, Shape{5, 5}, Shape{3, 8, 8}, Shape{2, 2, 17, 17},
                               Shape{66, 66}, Shape{300, 2, 2}}) {
      ++seed;
      const ValueId a = builder.input(moderate_sample(dtype, shape, seed), seed % 2 == 0);
      for (const bool upper : {false, true}) output_both(builder, a, eigvalsh(upper));
    }
    suite.add(std::move(builder));
  }
  suite.finish();
  suite.require(ir::calls::eigvalsh(), 4);
}

/// The sum of v w v^H over the eigenvectors v and eigenvalues w: the Hermitian matrices again.
ValueId rebuilt(Builder& builder, ValueId values) {
  const ValueId rows = builder.made.graph.result(values, 1);  // v^H
  const ir::Type type = builder.made.graph.type(rows);
  const ValueId column = builder.reshape(values, {type.shape[0], type.shape[1], 1});
  const ValueId weights = builder.cast(builder.broadcast(column, type.shape), type.dtype);
  const ValueId columns = builder.transpose(
      is_complex(type.dtype) ? builder.add(Op::conjugate, {rows}) : rows, {0, 2, 1});
  return builder.add(Op::call, {columns, builder.add(Op::multiply, {weights, rows})},
                     ir::matmul_attributes(Precision::ieee));
}

TEST_CASE("eigenvectors of stacks of small matrices") {
  Suite suite;
  for (const DType dtype : dtypes) {
    for (const std::int64_t n : {1, 2, 3, 5, 8, 9, 16, 32}) {
      Builder builder(fmt::format("eigenvectors of {} matrices of order {}", name_of(dtype), n));
      const bool narrow = real_dtype(dtype) == DType::f32;
      std::vector<double> scales{narrow ? 0x1p90 : 0x1p450, narrow ? 0x1p-90 : 0x1p-450};
      if (narrow) scales.push_back(0x1p-131);  // in float64, the reference's range ends there, too
      std::vector<ValueId> stacks{builder.input(moderate_sample(dtype, {5, n, n}, 1))};
      for (const double by : scales) {
        stacks.push_back(builder.add(Op::multiply, {stacks.front(), builder.constant(dtype, by)}));
      }
      for (const double value : {0, 3}) {
        if (n > 9) break;  // large kernels take a compiler long
        stacks.push_back(builder.broadcast(builder.constant(dtype, value), {2, n, n}));
      }
      for (std::size_t i = 0; i < stacks.size(); ++i) {
        const bool upper = i % 2 == 0;
        const ValueId values = builder.add(
            Op::call, {stacks[i]}, ir::call_attributes(ir::calls::eigh(), {{"upper", upper}}));
        builder.output(builder.add(Op::negative, {values}));
        builder.output(rebuilt(builder, values));
        builder.output(builder.made.graph.result(values, 2));
        output_both(builder, stacks[i], eigvalsh(!upper));
      }
      suite.add(std::move(builder));
    }
  }
  suite.finish();
  suite.require(ir::calls::eigh(), 30);
}

ValueId conjugate_transpose(Builder& builder, ValueId x) {
  const ValueId turned = builder.transpose(x, {0, 2, 1});
  const bool conjugates = is_complex(builder.made.graph.dtype(x));
  return conjugates ? builder.add(Op::conjugate, {turned}) : turned;
}

ValueId product(Builder& builder, ValueId a, ValueId b) {
  return builder.add(Op::call, {a, b}, ir::matmul_attributes(Precision::ieee));
}

/// The values, u s v^H, and that u and v are unitary: what does not depend on signs.
void output_svd(Builder& builder, ValueId matrices, bool full) {
  const ValueId u = builder.add(Op::call, {matrices},
                                ir::call_attributes(ir::calls::svd(), {{"full_matrices", full}}));
  const ValueId values = builder.made.graph.result(u, 1), vh = builder.made.graph.result(u, 2);
  const Shape left = builder.made.graph.shape(u), right = builder.made.graph.shape(vh);
  const Dim k = builder.made.graph.shape(values)[1];
  const ValueId first = builder.slice(u, {0, 0, 0}, {1, 1, 1}, {left[0], left[1], k});
  const ValueId second = builder.slice(vh, {0, 0, 0}, {1, 1, 1}, {right[0], k, right[2]});
  const ValueId row =
      builder.broadcast(builder.reshape(values, {left[0], 1, k}), {left[0], left[1], k});
  const ValueId scaled =
      builder.add(Op::multiply, {first, builder.cast(row, builder.made.graph.dtype(u))});
  builder.output(values);
  builder.output(product(builder, scaled, second));
  builder.output(product(builder, conjugate_transpose(builder, u), u));
  builder.output(product(builder, vh, conjugate_transpose(builder, vh)));
  builder.output(builder.made.graph.result(u, 3));
}

TEST_CASE("singular vectors of stacks of small matrices, also of dependent columns") {
  Suite suite;
  for (const DType dtype : dtypes) {
    for (const Shape& shape : {Shape{5, 1, 1}, Shape{5, 3, 3}, Shape{4, 2, 5}, Shape{4, 5, 2},
                               Shape{3, 8, 8}, Shape{3, 9, 4}, Shape{3, 4, 9}, Shape{2, 16, 16},
                               Shape{2, 32, 3}, Shape{2, 3, 32}, Shape{2, 32, 32}}) {
      Builder builder(fmt::format("singular vectors of {} {}", name_of(dtype), to_string(shape)));
      const ValueId a = builder.input(moderate_sample(dtype, shape, 1));
      for (const bool full : {false, true}) output_svd(builder, a, full);
      const ValueId first = builder.slice(a, {0, 0, 0}, {1, 1, 1}, {shape[0], shape[1], 1});
      output_svd(builder, builder.broadcast(first, shape), false);
      if (shape[1].constant() <= 9 && shape[2].constant() <= 9) {
        // Of rank 1, and of none; small numbers.
        const ValueId row = builder.slice(a, {0, 0, 0}, {1, 1, 1}, {shape[0], 1, shape[2]});
        output_svd(builder,
                   builder.add(Op::multiply,
                               {builder.broadcast(first, shape), builder.broadcast(row, shape)}),
                   true);
        output_svd(builder, builder.broadcast(builder.constant(dtype, 0), shape), false);
        const double small = real_dtype(dtype) == DType::f32 ? 0x1p-90 : 0x1p-450;
        output_svd(builder, builder.add(Op::multiply, {a, builder.constant(dtype, small)}), false);
      }
      suite.add(std::move(builder));
    }
  }
  suite.finish();
  suite.require(ir::calls::svd(), 30);
}

TEST_CASE("matrices that are not finite among others") {
  Suite suite;
  for (const DType dtype : dtypes) {
    ir::HostArray a = moderate_sample(dtype, {6, 5, 5}, 1);
    const auto set = [&](std::size_t matrix, std::size_t row, std::size_t column, double to) {
      const ir::ElementBits bits = ir::constant_bits(dtype, to);
      const std::size_t size = size_of(dtype);
      std::memcpy(&a.data[((matrix * 5 + row) * 5 + column) * size], bits.bytes(), size);
    };
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    constexpr double infinity = std::numeric_limits<double>::infinity();
    set(1, 3, 1, nan);
    set(2, 1, 3, nan);  // in the other triangle
    set(3, 2, 2, -infinity);
    set(4, 4, 0, infinity);
    Builder builder(fmt::format("{} matrices that are not finite", name_of(dtype)));
    builder.most_ambiguous = 0.7;  // what is rebuilt of NaN
    const ValueId matrices = builder.input(std::move(a));
    for (const bool upper : {false, true}) {
      const ValueId values = builder.add(
          Op::call, {matrices}, ir::call_attributes(ir::calls::eigh(), {{"upper", upper}}));
      builder.output(values);
      builder.output(rebuilt(builder, values));
      builder.output(builder.made.graph.result(values, 2));
      output_both(builder, matrices, eigvalsh(upper));
    }
    output_both(builder, matrices, svdvals());
    output_svd(builder, matrices, true);
    suite.add(std::move(builder));
  }
  suite.finish();
}

TEST_CASE("spectra of transposed, offset, strided and broadcast operands, and work around them") {
  Suite suite;
  for (const DType dtype : dtypes) {
    Builder builder(fmt::format("operands of {}", name_of(dtype)));
    const ValueId a = builder.input(moderate_sample(dtype, {6, 9, 5}, 1));
    const ValueId square = builder.input(moderate_sample(dtype, {12, 12}, 2), false);
    output_both(builder, builder.transpose(a, {0, 2, 1}), svdvals());
    output_both(builder, builder.slice(a, {5, 1, 0}, {-2, 2, 1}, {3, 4, 5}), svdvals());
    output_both(builder, builder.reshape(a, {2, 3, 9, 5}), svdvals());
    output_both(builder, builder.transpose(square, {1, 0}), eigvalsh(false));
    output_both(builder, builder.slice(square, {11, 11}, {-2, -2}, {5, 5}), eigvalsh(true));
    const ValueId one = builder.slice(a, {2, 0, 0}, {1, 1, 1}, {1, 9, 5});
    output_both(builder, builder.broadcast(one, {3, 9, 5}), svdvals());
    const ValueId sum = builder.add(Op::add, {square, square});
    const ValueId values = builder.add(Op::call, {sum}, eigvalsh(false));
    builder.output(builder.reduce(Op::max, values, {0}, false));
    builder.output(sum);
    suite.add(std::move(builder));
  }
  suite.finish();
}

TEST_CASE("one program finds the spectra of any extents") {
  Suite suite;
  const Dim batch = Dim::symbol("b"), n = Dim::symbol("n");
  for (const DType dtype : dtypes) {
    Builder builder(fmt::format("spectra of {}[b,n,n]", name_of(dtype)));
    const ValueId a = builder.input(moderate_sample(dtype, {3, 5, 5}, 1), Shape{batch, n, n});
    builder.made.bindings = {{ir::intern_symbol("b"), 3}, {ir::intern_symbol("n"), 5}};
    output_both(builder, a, svdvals());
    output_both(builder, a, eigvalsh(true));
    for (const Shape& shape :
         {Shape{1, 1, 1}, Shape{0, 3, 3}, Shape{4, 0, 0}, Shape{2, 40, 40}, Shape{40, 2, 2}})
      builder.run_also({moderate_sample(dtype, shape, 2)});
    suite.add(std::move(builder));
  }
  suite.finish();
}

}  // namespace
}  // namespace heddle::test
