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

ValueId sorted(Builder& builder, ValueId value) {
  return builder.add(Op::call, {value}, ir::call_attributes(ir::calls::sort()));
}

void output_both(Builder& builder, ValueId among, ValueId values) {
  builder.output(builder.add(Op::searchsorted_left, {among, values}));
  builder.output(builder.add(Op::searchsorted_right, {among, values}));
}

TEST_CASE("every dtype finds its own, with all that is special to it") {
  Suite suite;
  for (const DType dtype : dtypes_in(ir::info(Op::searchsorted_left).dtypes)) {
    Builder builder(fmt::format("search in {}", name_of(dtype)));
    const ValueId x = builder.input(sample(ir::Domain::any, 0, dtype, {300}, 1), false);
    const ValueId y = builder.input(sample(ir::Domain::any, 1, dtype, {30, 17}, 2));
    output_both(builder, sorted(builder, x), y);
    output_both(builder, sorted(builder, x), x);
    suite.add(std::move(builder));
  }
  suite.finish();
  suite.require(ir::OpKind::search, 2);
}

TEST_CASE("few and no elements, views of them, and what is computed around a search") {
  Suite suite;
  Builder builder("searches");
  const ValueId y = builder.input(moderate_sample(DType::f32, {6, 50}, 3));
  for (const std::int64_t length : {0, 1, 2, 3, 64}) {
    const ValueId x = builder.input(moderate_sample(DType::f32, {length}, 4));
    output_both(builder, sorted(builder, x), y);
  }
  const ValueId x = sorted(builder, builder.input(moderate_sample(DType::f32, {64}, 5)));
  const ValueId every_second = builder.slice(x, {1}, {2}, {32});
  const ValueId transposed = builder.transpose(builder.add(Op::negative, {y}), {1, 0});
  const ValueId found = builder.add(Op::searchsorted_left, {every_second, transposed});
  builder.output(builder.add(Op::add, {found, builder.add(Op::multiply, {found, found})}));
  builder.output(builder.reduce(Op::sum, found, {0}, false));
  // The values of x themselves, and x once more beside its search.
  builder.output(builder.cast(builder.add(Op::searchsorted_right, {x, x}), DType::f32));
  builder.output(builder.add(Op::multiply, {x, x}));
  const ValueId grid = builder.reshape(x, {8, 8});
  output_both(builder, builder.reshape(grid, {64}), grid);
  suite.add(std::move(builder));

  Builder symbolic("a symbolic length");
  const Dim n = Dim::symbol("n");
  const ValueId z = symbolic.input(moderate_sample(DType::f64, {40}, 6), Shape{n});
  output_both(symbolic, sorted(symbolic, z), symbolic.add(Op::negative, {z}));
  for (const std::int64_t length : {0, 1, 5000})
    symbolic.run_also({moderate_sample(DType::f64, {length}, 7)});
  suite.add(std::move(symbolic));
  suite.finish();
}

}  // namespace
}  // namespace heddle::test
