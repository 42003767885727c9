#include <numeric>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "ir/calls/calls.h"
#include "tests/numerics/suite.h"

namespace heddle::test {
namespace {

using ir::Op;
using ir::ValueId;

/// A program with the product of the transpose of [rows, columns] with itself.
Builder product(DType dtype, std::int64_t rows, std::int64_t columns, bool shifted) {
  Builder builder(fmt::format("{} rows of {} {}", rows, columns, name_of(dtype)));
  ValueId x = builder.input(moderate_sample(dtype, {rows, columns}, 1));
  if (shifted) x = builder.add(Op::subtract, {x, builder.constant(dtype, 0.5)});
  builder.output(builder.add(Op::call, {builder.transpose(x, {1, 0}), x},
                             ir::matmul_attributes(Precision::ieee)));
  return builder;
}

/// A program with the product of the transpose of a matrix with another one of as many rows. If
/// `weighted`, both are computed from what is in memory.
Builder pair(DType dtype, const ir::Shape& left, const ir::Shape& right, bool weighted) {
  Builder builder(fmt::format("{} rows of {} and {} {}", left[left.size() - 2].constant(),
                              left.back().constant(), right.back().constant(), name_of(dtype)));
  ValueId a = builder.input(moderate_sample(dtype, left, 1));
  ValueId b = builder.input(moderate_sample(dtype, right, 2));
  if (weighted) {
    ir::Shape column = left;
    column.back() = 1;
    const ValueId weights = builder.input(moderate_sample(dtype, column, 3));
    a = builder.add(Op::multiply, {a, weights});
    b = builder.add(Op::subtract, {b, weights});
  }
  std::vector<std::int64_t> axes(left.size());
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[axes.size() - 2], axes.back());
  builder.output(builder.add(Op::call, {builder.transpose(a, axes), b},
                             ir::matmul_attributes(Precision::ieee)));
  return builder;
}

/// The covariance of weighted rows: both matrices are made of the same one, in one group.
Builder covariance(DType dtype, std::int64_t rows, std::int64_t columns) {
  Builder builder(fmt::format("covariance of {} rows of {} {}", rows, columns, name_of(dtype)));
  const ValueId x = builder.input(moderate_sample(dtype, {rows, columns}, 1));
  const ValueId weights = builder.input(moderate_sample(dtype, {rows, 1}, 2));
  const ValueId centred = builder.add(Op::subtract, {x, builder.constant(dtype, 0.25)});
  const ValueId weighted = builder.add(Op::multiply, {centred, weights});
  builder.output(builder.add(Op::call, {builder.transpose(weighted, {1, 0}), centred},
                             ir::matmul_attributes(Precision::ieee)));
  return builder;
}

TEST_CASE("products of the transposes of long matrices with themselves") {
  Suite suite(small_target());
  suite.add(product(DType::f32, 16387, 32, false));
  suite.add(product(DType::f32, 16384, 10, true));
  suite.add(product(DType::f64, 16385, 7, true));
  suite.add(product(DType::f64, 16384, 20, false));
  suite.finish();
}

TEST_CASE("products of the transposes of long matrices with others") {
  Suite suite(small_target());
  suite.add(covariance(DType::f32, 16387, 32));
  suite.add(covariance(DType::f64, 16384, 5));
  suite.add(pair(DType::f32, {16385, 10}, {16385, 23}, false));
  suite.add(pair(DType::f64, {16384, 20}, {16384, 2}, true));
  suite.add(pair(DType::f32, {2, 16384, 4}, {2, 16384, 9}, true));
  suite.finish();
}

}  // namespace
}  // namespace heddle::test
