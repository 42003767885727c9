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

TEST_CASE("products of the transposes of long matrices with themselves") {
  Suite suite(small_target());
  suite.add(product(DType::f32, 16387, 32, false));
  suite.add(product(DType::f32, 16384, 10, true));
  suite.add(product(DType::f64, 16385, 7, true));
  suite.add(product(DType::f64, 16384, 20, false));
  suite.finish();
}

}  // namespace
}  // namespace heddle::test
