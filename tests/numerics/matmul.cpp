#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "ir/calls/calls.h"
#include "tests/numerics/suite.h"

namespace heddle::test {
namespace {

using ir::Dim;
using ir::HostArray;
using ir::Op;
using ir::Shape;
using ir::ValueId;

ValueId matmul(Builder& builder, ValueId a, ValueId b) {
  return builder.add(Op::call, {a, b}, ir::matmul_attributes(Precision::ieee));
}

TEST_CASE("products of every dtype, of vectors, matrices and batches") {
  Suite suite;
  for (const DType dtype : dtypes_in(ir::calls::matmul().dtypes)) {
    Builder builder(fmt::format("matmul of {}", name_of(dtype)));
    const ValueId a = builder.input(moderate_sample(dtype, {17, 40}, 1));
    const ValueId b = builder.input(moderate_sample(dtype, {40, 33}, 2), false);
    const ValueId batch = builder.input(moderate_sample(dtype, {3, 17, 40}, 3));
    const ValueId row = builder.slice(a, {4, 0}, {1, 1}, {1, 40});
    const ValueId column = builder.slice(b, {0, 5}, {1, 1}, {40, 1});
    builder.output(matmul(builder, a, b));
    builder.output(matmul(builder, row, b));
    builder.output(matmul(builder, a, column));
    builder.output(matmul(builder, row, column));
    builder.output(matmul(builder, column, row));
    builder.output(matmul(builder, batch, b));
    builder.output(matmul(builder, builder.transpose(batch, {0, 2, 1}), batch));
    suite.add(std::move(builder));
  }
  suite.finish();
  suite.require(ir::calls::matmul(), 7);
}

TEST_CASE("products with conjugates of operands") {
  Suite suite;
  for (const DType dtype : {DType::c64, DType::c128}) {
    Builder builder(fmt::format("conjugates of {}", name_of(dtype)));
    const ValueId a = builder.input(moderate_sample(dtype, {40, 18}, 1));
    const ValueId b = builder.input(moderate_sample(dtype, {40, 33}, 2));
    const ValueId many = builder.input(moderate_sample(dtype, {3, 17, 40}, 3));
    const auto conjugate = [&](ValueId value) { return builder.add(Op::conjugate, {value}); };
    const auto adjoint = [&](ValueId value) { return builder.transpose(conjugate(value), {1, 0}); };
    const ValueId stack = conjugate(builder.transpose(many, {0, 2, 1}));
    builder.output(matmul(builder, adjoint(a), b));
    builder.output(matmul(builder, builder.transpose(b, {1, 0}), conjugate(a)));  // not transposed
    builder.output(matmul(builder, adjoint(a), a));
    builder.output(matmul(builder, b, adjoint(b)));
    builder.output(matmul(builder, stack, many));
    builder.output(matmul(builder, many, stack));
    builder.output(matmul(builder, adjoint(b), adjoint(builder.reshape(a, {18, 40}))));
    builder.output(matmul(builder, adjoint(builder.slice(a, {0, 3}, {1, 1}, {40, 9})), b));
    suite.add(std::move(builder));
  }
  suite.finish();
}

TEST_CASE("products with weighted transposes") {
  Suite suite;
  for (const DType dtype : {DType::f16, DType::f32, DType::f64, DType::c64}) {
    Builder builder(fmt::format("weights of {}", name_of(dtype)));
    const ValueId x = builder.input(moderate_sample(dtype, {40, 18}, 1));
    const ValueId weights = builder.input(moderate_sample(dtype, {40}, 2));
    const ValueId factors = builder.input(moderate_sample(dtype, {18, 1}, 3));
    const ValueId many = builder.input(moderate_sample(dtype, {3, 40, 18}, 4));
    const auto multiply = [&](ValueId a, ValueId b) { return builder.add(Op::multiply, {a, b}); };
    const ValueId transposed = builder.transpose(x, {1, 0});
    builder.output(matmul(builder, multiply(transposed, weights), x));
    builder.output(matmul(builder, multiply(factors, multiply(weights, transposed)), x));
    builder.output(matmul(builder, x, multiply(transposed, factors)));
    builder.output(matmul(builder, multiply(builder.transpose(many, {0, 2, 1}), weights), many));
    builder.output(matmul(builder, multiply(builder.transpose(many, {0, 2, 1}), weights), x));
    suite.add(std::move(builder));
  }
  suite.finish();
}

/// Values that lie in the memory of what they are made of, in the middle and in the results.
TEST_CASE("values made in the memory of products and sorts") {
  Suite suite;
  for (const DType dtype : {DType::f32, DType::f64, DType::f16}) {
    for (const bool together : {false, true}) {
      Builder builder(fmt::format("in place, of {}", name_of(dtype)));
      const ValueId a = builder.input(moderate_sample(dtype, {33, 40}, 1));
      const ValueId b = builder.input(moderate_sample(dtype, {40, 33}, 2));
      const ValueId row = builder.input(moderate_sample(dtype, {33}, 3));
      const ValueId first = matmul(builder, a, b);
      const ValueId hidden = builder.add(Op::tanh, {builder.add(Op::add, {first, row})});
      const ValueId second = matmul(builder, hidden, a);
      const ir::Attributes rows =
          ir::call_attributes(ir::calls::sort(), {{"axis", std::int64_t{1}}});
      const ValueId sorted = builder.add(Op::call, {hidden}, rows);
      if (together) builder.output(hidden);  // needed later, and not overwritten
      builder.output(builder.add(Op::tanh, {builder.add(Op::negative, {second})}));
      builder.output(builder.add(Op::maximum, {builder.add(Op::negative, {sorted}), row}));
      suite.add(std::move(builder));
    }
  }
  suite.finish();
}

/// One of each way that a library, a kernel or both multiply.
const std::vector<DType> ways = {DType::i8, DType::i64, DType::f16, DType::f32, DType::f64};

TEST_CASE("transposed, strided and broadcast operands") {
  Suite suite;
  for (const DType dtype : ways) {
    Builder builder(fmt::format("operands of {}", name_of(dtype)));
    const ValueId a = builder.input(moderate_sample(dtype, {40, 18}, 1));
    const ValueId b = builder.input(moderate_sample(dtype, {33, 40}, 2));
    const ValueId left = builder.transpose(a, {1, 0}), right = builder.transpose(b, {1, 0});
    builder.output(matmul(builder, left, right));
    builder.output(matmul(builder, left, builder.slice(right, {39, 1}, {-1, 2}, {40, 16})));
    builder.output(matmul(builder, builder.slice(b, {0, 10}, {1, 1}, {33, 20}),
                          builder.slice(a, {20, 0}, {1, 1}, {20, 18})));
    builder.output(matmul(builder, builder.reshape(b, {44, 30}), builder.reshape(a, {30, 24})));

    const ValueId many = builder.input(moderate_sample(dtype, {2, 1, 6, 7}, 3));
    const ValueId others = builder.input(moderate_sample(dtype, {5, 7, 4}, 4));
    builder.output(matmul(builder, many, others));
    builder.output(matmul(builder, builder.transpose(others, {0, 2, 1}),
                          builder.slice(others, {4, 0, 0}, {-1, 1, 1}, {5, 7, 4})));
    builder.output(matmul(
        builder, builder.transpose(many, {1, 0, 2, 3}),
        builder.broadcast(builder.slice(others, {1, 0, 0}, {1, 1, 1}, {1, 7, 4}), {3, 1, 7, 4})));
    const ValueId single = builder.input(moderate_sample(dtype, {1, 7, 9}, 5));
    builder.output(matmul(builder, many, single));
    suite.add(std::move(builder));
  }
  suite.finish();
}

TEST_CASE("products without rows, columns, batches or depth") {
  Suite suite;
  for (const DType dtype : ways) {
    Builder builder(fmt::format("empty products of {}", name_of(dtype)));
    const ValueId a = builder.input(moderate_sample(dtype, {6, 9}, 1));
    const auto cut = [&](std::int64_t rows, std::int64_t columns) {
      return builder.slice(a, {0, 0}, {1, 1}, {rows, columns});
    };
    builder.output(matmul(builder, cut(6, 0), cut(0, 9)));
    builder.output(
        builder.add(Op::add, {matmul(builder, cut(5, 0), cut(0, 4)), builder.constant(dtype, 3)}));
    builder.output(matmul(builder, cut(0, 6), a));
    builder.output(matmul(builder, a, builder.reshape(cut(0, 9), {9, 0})));
    const ValueId none = builder.input(HostArray{{dtype, {0, 4, 9}}, {}});
    builder.output(matmul(builder, none, builder.transpose(a, {1, 0})));
    suite.add(std::move(builder));
  }
  suite.finish();
}

TEST_CASE("elementwise work and reductions around products") {
  Suite suite;
  for (const DType dtype : dtypes_in(ir::floats)) {
    Builder builder(fmt::format("layers of {}", name_of(dtype)));
    const ValueId x = builder.input(sample(ir::Domain::unit, 0, dtype, {19, 30}, 1));
    const ValueId w = builder.input(sample(ir::Domain::unit, 0, dtype, {30, 24}, 2));
    const ValueId bias = builder.input(sample(ir::Domain::unit, 0, dtype, {24}, 3));
    const ValueId v = builder.input(sample(ir::Domain::unit, 0, dtype, {24, 10}, 4));
    const ValueId hidden =
        builder.add(Op::tanh, {builder.add(Op::add, {matmul(builder, x, w), bias})});
    const ValueId result = matmul(builder, hidden, v);
    builder.output(hidden);
    builder.output(builder.add(Op::maximum, {result, builder.constant(dtype, 0)}));
    builder.output(builder.reduce(Op::sum, result, {1}, false));
    const ValueId scaled = builder.add(Op::multiply, {x, builder.constant(dtype, 0.5)});
    builder.output(matmul(builder, scaled, builder.add(Op::add, {w, bias})));
    builder.output(matmul(builder, builder.transpose(scaled, {1, 0}), x));
    suite.add(std::move(builder));
  }
  suite.finish();
}

TEST_CASE("one program multiplies any extents") {
  Suite suite;
  const Dim m = Dim::symbol("m"), k = Dim::symbol("k"), n = Dim::symbol("n");
  for (const DType dtype : ways) {
    Builder builder(fmt::format("{}[m,k] times [k,n]", name_of(dtype)));
    const auto arrays = [&](std::int64_t rows, std::int64_t depth, std::int64_t columns) {
      return std::vector<HostArray>{moderate_sample(dtype, {rows, depth}, 1),
                                    moderate_sample(dtype, {depth, columns}, 2)};
    };
    std::vector<HostArray> first = arrays(5, 33, 7);
    const ValueId a = builder.input(std::move(first[0]), {m, k});
    const ValueId b = builder.input(std::move(first[1]), {k, n});
    builder.made.bindings = {
        {ir::intern_symbol("m"), 5}, {ir::intern_symbol("k"), 33}, {ir::intern_symbol("n"), 7}};
    const ValueId product = matmul(builder, a, b);
    builder.output(product);
    builder.output(builder.add(Op::absolute, {product}));
    builder.output(matmul(builder, builder.transpose(b, {1, 0}), builder.transpose(a, {1, 0})));
    builder.run_also(arrays(1, 1, 1));
    builder.run_also(arrays(0, 4, 3));
    builder.run_also(arrays(4, 0, 3));
    builder.run_also(arrays(64, 65, 2));
    builder.run_also(arrays(1, 300, 40));
    suite.add(std::move(builder));
  }
  suite.finish();
}

}  // namespace
}  // namespace heddle::test
