// Stacks of small matrices, each of which is factorised in the memory of an item of a kernel, with
// elementwise work before and after it.

#include <cstring>
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

using ir::CallOp;
using ir::Dim;
using ir::HostArray;
using ir::Op;
using ir::Shape;
using ir::ValueId;

const std::vector<DType> dtypes = dtypes_in(ir::calls::lu().dtypes);

ValueId call(Builder& builder, const CallOp& op, std::vector<ValueId> operands,
             std::initializer_list<ir::NamedAttribute> attributes = {}) {
  return builder.add(Op::call, std::move(operands), ir::call_attributes(op, attributes));
}

ValueId result(Builder& builder, ValueId call, std::uint32_t index) {
  return builder.made.graph.result(call, index);
}

/// `value`, with so much added to the diagonal that it dominates.
ValueId dominant(Builder& builder, ValueId value) {
  const ir::Type type = builder.made.graph.type(value);
  ir::Attributes indices;
  indices.dtype = DType::i32;
  indices.shape = {type.shape.end() - 2, type.shape.end()};
  indices.axes = {0};
  const ValueId row = builder.add(Op::iota, {}, indices);
  indices.axes = {1};
  const ValueId diagonal = builder.add(Op::equal, {row, builder.add(Op::iota, {}, indices)});
  const double weight = 4 + 2 * static_cast<double>(type.shape.back().constant());
  const ValueId added = builder.add(Op::select, {diagonal, builder.constant(type.dtype, weight),
                                                 builder.constant(type.dtype, 0)});
  return builder.add(Op::add, {value, added});
}

ValueId scaled(Builder& builder, ValueId value, double by) {
  return builder.add(Op::multiply, {value, builder.constant(builder.made.graph.dtype(value), by)});
}

TEST_CASE("factors and solutions of every order, with work before and after") {
  Suite suite;
  for (const std::int64_t n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 31, 32}) {
    for (const DType dtype : dtypes) {
      Builder builder(fmt::format("{} matrices of order {}", name_of(dtype), n));
      builder.most_ambiguous = 0.7;  // large random matrices may be as good as singular
      const bool odd = n % 2 != 0;
      const ValueId a = builder.input(moderate_sample(dtype, {3, n, n}, 1), odd);
      const ValueId regular = dominant(builder, a);
      const ValueId factor = call(builder, ir::calls::cholesky(), {regular}, {{"upper", odd}});
      builder.output(scaled(builder, factor, 0.5));
      builder.output(result(builder, factor, 1));

      const std::int64_t sides = n % 3 == 0 ? n : n % 3;
      const ValueId b = builder.input(moderate_sample(dtype, {3, sides, n}, 2));
      const ValueId x = call(builder, ir::calls::solve(), {regular, scaled(builder, b, 2)},
                             {{"transposed", odd}});
      builder.output(scaled(builder, builder.transpose(x, {0, 2, 1}), 3));
      builder.output(result(builder, x, 3));

      const ValueId lu = call(builder, ir::calls::lu(), {regular});
      builder.output(builder.add(Op::negative, {lu}));
      builder.output(result(builder, lu, 1));
      builder.output(result(builder, lu, 2));

      const ValueId sign = call(builder, ir::calls::slogdet(), {scaled(builder, a, 2)});
      builder.output(builder.add(Op::negative, {sign}));
      builder.output(result(builder, sign, 1));
      suite.add(std::move(builder));
    }
  }
  suite.finish();
  suite.require(ir::calls::slogdet(), 20);
  suite.require(ir::calls::cholesky(), 20);
  suite.require(ir::calls::solve(), 20);
  suite.require(ir::calls::lu(), 30);
}

/// The identity for each matrix of a value.
ValueId identities(Builder& builder, ValueId matrices) {
  const ir::Type type = builder.made.graph.type(matrices);
  const auto rank = static_cast<std::int64_t>(type.shape.size());
  ir::Attributes indices;
  indices.dtype = DType::i64;
  indices.shape = type.shape;
  indices.axes = {rank - 2};
  const ValueId row = builder.add(Op::iota, {}, indices);
  indices.axes = {rank - 1};
  return builder.cast(builder.add(Op::equal, {row, builder.add(Op::iota, {}, indices)}),
                      type.dtype);
}

/// Sets element (row, column) of a matrix.
void set(HostArray& matrices, std::size_t matrix, std::size_t row, std::size_t column, double to) {
  const auto n = static_cast<std::size_t>(matrices.type.shape.back().constant());
  const std::size_t size = size_of(matrices.type.dtype);
  const ir::ElementBits bits = ir::constant_bits(matrices.type.dtype, to);
  std::memcpy(&matrices.data[((matrix * n + row) * n + column) * size], bits.bytes(), size);
}

/// Reflectors, their factors and the columns of their product, with elementwise work around each.
void add_reflectors(Builder& builder, ValueId a) {
  const ValueId factors = call(builder, ir::calls::geqrf(), {a});
  const ValueId tau = result(builder, factors, 1);
  builder.output(scaled(builder, factors, 0.5));
  builder.output(builder.add(Op::negative, {tau}));
  const Shape shape = builder.made.graph.shape(a);
  if (shape.back().constant() < shape[shape.size() - 2].constant()) return;
  const ValueId product = call(builder, ir::calls::householder_product(), {factors, tau});
  builder.output(builder.add(Op::negative, {product}));
}

TEST_CASE("reflectors of every order, of zeros, and of numbers whose squares are out of range") {
  Suite suite;
  for (const DType dtype : dtypes) {
    Builder builder(fmt::format("reflectors of {}", name_of(dtype)));
    std::uint64_t seed = 0;
    for (const Shape& shape :
         {Shape{3, 1, 1}, Shape{9, 2, 2}, Shape{2, 3, 8, 8}, Shape{40, 5, 5}, Shape{5, 13, 13},
          Shape{3, 32, 32}, Shape{7, 3, 6}, Shape{7, 6, 3}, Shape{5, 1, 32}, Shape{5, 32, 1}}) {
      ++seed;
      const ValueId a = builder.input(moderate_sample(dtype, shape, seed), seed % 2 == 0);
      add_reflectors(builder, scaled(builder, a, 2));
    }
    suite.add(std::move(builder));

    Builder extremes(
        fmt::format("reflectors of {} zeros, and of small and large numbers", name_of(dtype)));
    HostArray zeros = moderate_sample(dtype, {6, 4, 4}, 20);
    for (std::size_t k = 0; k < 4; ++k) {
      for (std::size_t i = 0; i < 4; ++i) set(zeros, k, k, i, 0);  // column k
      for (std::size_t i = 1; i < 4; ++i) set(zeros, 4, 0, i, 0);  // below the diagonal
      for (std::size_t j = 0; j < 4; ++j) set(zeros, 5, j, 3 - j, 0);
    }
    add_reflectors(extremes, extremes.input(zeros));
    const bool narrow = real_dtype(dtype) == DType::f32;
    for (const double scale : {narrow ? 0x1p-90 : 0x1p-480, narrow ? 0x1p90 : 0x1p505}) {
      const ValueId a = extremes.input(moderate_sample(dtype, {6, 5, 7}, 21));
      add_reflectors(extremes, scaled(extremes, a, scale));
    }
    suite.add(std::move(extremes));
  }
  suite.finish();
  suite.require(ir::calls::geqrf(), 13);
  suite.require(ir::calls::householder_product(), 8);
}

TEST_CASE("inverses of regular and of singular matrices") {
  Suite suite;
  for (const DType dtype : dtypes) {
    for (const std::int64_t n : {1, 3, 4, 8}) {
      Builder builder(fmt::format("inverses of {} matrices of order {}", name_of(dtype), n));
      HostArray given = moderate_sample(dtype, {35, n, n}, 1);
      for (std::int64_t j = 0; j < n; ++j) set(given, 2, 0, static_cast<std::size_t>(j), 0);
      const ValueId a = builder.input(given);
      // Rows change places: the diagonal is large only once the rows are in reverse order.
      const ValueId regular = dominant(builder, scaled(builder, a, 0.25));
      const ValueId turned = builder.slice(regular, {0, n - 1, 0}, {1, -1, 1}, {35, n, n});
      for (const ValueId matrices : {a, turned}) {
        const ValueId x = call(builder, ir::calls::solve(),
                               {matrices, identities(builder, matrices)}, {{"transposed", true}});
        builder.output(scaled(builder, x, 2));
        builder.output(result(builder, x, 3));
      }
      builder.most_ambiguous = 0.3;  // inverses of random matrices
      suite.add(std::move(builder));
    }
  }
  suite.finish();
}

TEST_CASE("rows are exchanged") {
  Suite suite;
  for (const DType dtype : dtypes) {
    Builder builder(fmt::format("pivots of {}", name_of(dtype)));
    builder.most_ambiguous = 0.6;  // of elements that are nearly as large, either is the pivot
    std::uint64_t seed = 0;
    for (const Shape& shape : {Shape{9, 2, 2}, Shape{40, 5, 5}, Shape{2, 3, 8, 8}, Shape{5, 13, 13},
                               Shape{3, 32, 32}, Shape{7, 3, 6}, Shape{7, 6, 3}, Shape{2, 32, 1}}) {
      ++seed;
      const ValueId a = builder.input(moderate_sample(dtype, shape, seed), seed % 2 == 0);
      const ValueId lu = call(builder, ir::calls::lu(), {a});
      builder.output(lu);
      builder.output(result(builder, lu, 1));
      builder.output(result(builder, lu, 2));
      if (!(shape.back() == shape[shape.size() - 2])) continue;
      builder.output(call(builder, ir::calls::solve(),
                          {a, builder.input(moderate_sample(dtype, shape, seed + 50))}));
    }
    suite.add(std::move(builder));
  }
  suite.finish();
}

// The factors, and the solution 1, 1 ..., are exact if elements are divided by pivots. The
// reciprocals of these pivots overflow, or are subnormal numbers, and so are the squares of complex
// ones, whose parts are equal. Only of float32 and complex64, because the reference computes in
// float64.
TEST_CASE("pivots whose reciprocals are out of range") {
  Suite suite;
  const double scales[] = {0x1p-130, 0x1p-127, 0x1.8p126};
  for (const std::size_t n : {std::size_t{3}, std::size_t{10}}) {
    const auto extent = static_cast<std::int64_t>(n);
    HostArray matrices = moderate_sample(DType::f32, {3, extent, extent}, 1);
    HostArray sides = moderate_sample(DType::f32, {3, 1, extent}, 2);
    for (std::size_t k = 0; k < 3; ++k) {
      double sum = 0;
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j)
          set(matrices, k, i, j, j > i ? 0 : scales[k] / static_cast<double>(1 << (i - j)));
        sum += scales[k] / static_cast<double>(1 << i);
        set(sides, 0, k, i, sum);
      }
    }
    for (const DType dtype : {DType::f32, DType::c64}) {
      Builder builder(fmt::format("pivots of {} without reciprocals, n = {}", name_of(dtype), n));
      const auto numbers = [&](const HostArray& array) {
        const ValueId parts = builder.input(array);
        return is_complex(dtype) ? builder.add(Op::make_complex, {parts, parts}) : parts;
      };
      const ValueId a = numbers(matrices);
      builder.output(call(builder, ir::calls::solve(), {a, numbers(sides)}));
      builder.output(call(builder, ir::calls::lu(), {a}));
      builder.output(call(builder, ir::calls::lu(), {builder.transpose(a, {0, 2, 1})}));
      const ValueId sign = call(builder, ir::calls::slogdet(), {a});
      builder.output(sign);
      builder.output(result(builder, sign, 1));
      const ValueId second = builder.slice(a, {1, 0, 0}, {1, 1, 1}, {1, extent, extent});
      builder.output(call(builder, ir::calls::solve(), {second, identities(builder, second)},
                          {{"transposed", true}}));
      suite.add(std::move(builder));
    }
  }
  suite.finish();
}

TEST_CASE("singular matrices among others") {
  Suite suite;
  for (const DType dtype : dtypes) {
    for (const bool transposed : {false, true}) {
      // Matrix k < 5 has a column k of zeros, matrix 5 nothing else.
      HostArray matrices = moderate_sample(dtype, {12, 5, 5}, 1);
      for (std::size_t k = 0; k < 5; ++k) {
        for (std::size_t i = 0; i < 5; ++i) {
          set(matrices, k, transposed ? k : i, transposed ? i : k, 0);
          for (std::size_t j = 0; j < 5; ++j) set(matrices, 5, i, j, 0);
        }
      }
      Builder builder(fmt::format("singular matrices of {}", name_of(dtype)));
      builder.most_ambiguous = 0.05;  // by pivots that are nearly others
      const ValueId a = builder.input(matrices);
      const ValueId b = builder.input(moderate_sample(dtype, {12, 2, 5}, 2));
      const ValueId x = call(builder, ir::calls::solve(), {a, b}, {{"transposed", transposed}});
      builder.output(builder.add(Op::negative, {x}));
      builder.output(result(builder, x, 3));
      if (transposed) {
        builder.output(result(builder, call(builder, ir::calls::lu(), {a}), 2));
        const ValueId sign = call(builder, ir::calls::slogdet(), {a});
        builder.output(sign);
        builder.output(result(builder, sign, 1));
      }
      const std::vector<HostArray> values = ir::interpret(builder.made.graph, builder.made.inputs);
      const Comparison statuses = compare_equal(
          values[1], host_array<std::int32_t>({12}, {1, 2, 3, 4, 5, 1, 0, 0, 0, 0, 0, 0}));
      CHECK_MESSAGE(statuses, statuses.message);
      suite.add(std::move(builder));
    }
  }
  suite.finish();
}

TEST_CASE("products of small matrices in large batches") {
  Suite suite;
  struct Extents {
    std::int64_t m, k, n;
  };
  for (const DType dtype : dtypes) {
    Builder builder(fmt::format("products of small matrices of {}", name_of(dtype)));
    std::uint64_t seed = 0;
    for (const Extents& e : {Extents{2, 2, 2},
                             {3, 5, 2},
                             {8, 8, 8},
                             {7, 1, 9},
                             {16, 16, 16},
                             {13, 16, 3},
                             {15, 9, 16},
                             {11, 2, 14}}) {
      ++seed;
      const ValueId a = builder.input(moderate_sample(dtype, {65, e.m, e.k}, seed), seed % 2 == 0);
      const ValueId b = builder.input(moderate_sample(dtype, {65, e.n, e.k}, seed + 50));
      const ValueId product =
          builder.add(Op::call, {scaled(builder, a, 2), builder.transpose(b, {0, 2, 1})},
                      ir::matmul_attributes(Precision::ieee));
      builder.output(builder.add(Op::negative, {product}));
    }
    // A matrix for the whole batch, and a product that is factorised.
    const ValueId a = builder.input(moderate_sample(dtype, {5, 13, 6, 6}, 90));
    const ValueId b = builder.input(moderate_sample(dtype, {6, 6}, 91));
    const ValueId half = builder.input(moderate_sample(dtype, {13, 6, 6}, 92));
    const auto times = [&](ValueId x, ValueId y) {
      return builder.add(Op::call, {x, y}, ir::matmul_attributes(Precision::ieee));
    };
    builder.output(times(a, b));
    builder.output(times(half, a));
    builder.output(times(times(a, a), scaled(builder, a, 0.5)));
    builder.output(call(builder, ir::calls::cholesky(),
                        {dominant(builder, scaled(builder, times(a, a), 0.03125))}));
    suite.add(std::move(builder));
  }
  suite.finish();
}

TEST_CASE("batches that are symbols, and blocks that are not full") {
  Suite suite;
  const Dim batch = Dim::symbol("b");
  for (const DType dtype : dtypes) {
    Builder builder(fmt::format("a stack of any number of {} matrices", name_of(dtype)));
    const ValueId a = builder.input(moderate_sample(dtype, {3, 6, 6}, 1), Shape{batch, 6, 6});
    const ValueId b = builder.input(moderate_sample(dtype, {3, 1, 6}, 2), Shape{batch, 1, 6});
    builder.made.bindings = {{ir::intern_symbol("b"), 3}};
    const ValueId regular = dominant(builder, a);
    builder.output(call(builder, ir::calls::solve(), {regular, b}));
    builder.output(scaled(builder, call(builder, ir::calls::cholesky(), {regular}), 2));
    for (const std::int64_t count : {0, 1, 16, 33, 100}) {
      builder.run_also(
          {moderate_sample(dtype, {count, 6, 6}, 3), moderate_sample(dtype, {count, 1, 6}, 4)});
    }
    suite.add(std::move(builder));
  }
  suite.finish();
}

TEST_CASE("results that several outputs read, also by way of others") {
  Suite suite;
  for (const DType dtype : dtypes) {
    Builder builder(fmt::format("many uses of results of {}", name_of(dtype)));
    const ValueId a = dominant(builder, builder.input(moderate_sample(dtype, {70, 4, 4}, 1)));
    const ValueId x = call(builder, ir::calls::solve(),
                           {a, builder.input(moderate_sample(dtype, {70, 2, 4}, 2))});
    const ValueId turned = builder.transpose(x, {0, 2, 1});
    builder.output(turned);
    builder.output(
        builder.add(Op::not_equal, {result(builder, x, 3), builder.constant(DType::i32, 0)}));
    builder.output(x);
    // An output that reads another one, and results that all items need.
    const ValueId twice = scaled(builder, x, 2);
    builder.output(twice);
    builder.output(builder.add(Op::add, {builder.transpose(twice, {0, 2, 1}), turned}));
    builder.output(builder.reduce(Op::sum, x, {0}, false));

    const ValueId factor =
        call(builder, ir::calls::cholesky(),
             {dominant(builder, builder.input(moderate_sample(dtype, {70, 4, 4}, 3)))});
    const ValueId half = scaled(builder, factor, 0.5);
    builder.output(half);
    builder.output(builder.transpose(half, {0, 2, 1}));
    builder.output(call(builder, ir::calls::solve(), {dominant(builder, half), factor}));
    builder.output(call(builder, ir::calls::solve(), {dominant(builder, factor), half}));
    suite.add(std::move(builder));
  }
  suite.finish();
}

TEST_CASE("factors of other precisions, and arrays that a product reads twice") {
  Suite suite;
  const DType pairs[][2] = {{DType::f32, DType::f64},
                            {DType::f64, DType::f32},
                            {DType::c64, DType::c128},
                            {DType::c128, DType::c64}};
  for (const auto& [first, second] : pairs) {
    Builder builder(fmt::format("factors of {} and {}", name_of(first), name_of(second)));
    for (const std::int64_t n : {3, 4, 5}) {
      const ValueId a = builder.input(moderate_sample(first, {70, n, n}, 1));
      const ValueId factor = call(builder, ir::calls::cholesky(), {dominant(builder, a)});
      const ValueId wide = dominant(builder, builder.cast(factor, second));
      builder.output(call(builder, ir::calls::cholesky(), {wide}));
      const ValueId twice = scaled(builder, a, 2);
      builder.output(builder.add(Op::call, {twice, twice}, ir::matmul_attributes(Precision::ieee)));
      const ValueId half = scaled(
          builder,
          call(builder, ir::calls::cholesky(), {dominant(builder, scaled(builder, a, 0.75))}), 0.5);
      builder.output(builder.add(Op::call, {half, half}, ir::matmul_attributes(Precision::ieee)));
    }
    suite.add(std::move(builder));
  }
  suite.finish();
}

TEST_CASE("a single matrix") {
  Suite suite;
  for (const DType dtype : dtypes) {
    for (const std::int64_t n : {1, 5, 12}) {
      Builder builder(fmt::format("a single {} matrix of order {}", name_of(dtype), n));
      const ValueId regular = dominant(builder, builder.input(moderate_sample(dtype, {n, n}, 1)));
      const ValueId b = builder.input(moderate_sample(dtype, {2, n}, 2));
      builder.output(scaled(builder, call(builder, ir::calls::cholesky(), {regular}), 0.5));
      const ValueId x = call(builder, ir::calls::solve(), {regular, b});
      builder.output(x);
      builder.output(result(builder, x, 3));
      builder.output(call(builder, ir::calls::lu(), {regular}));
      const ValueId sign = call(builder, ir::calls::slogdet(), {regular});
      builder.output(sign);
      builder.output(result(builder, sign, 1));
      suite.add(std::move(builder));
    }
  }
  suite.finish();
}

TEST_CASE("a factor that is factorised again, and views of stacks") {
  Suite suite;
  for (const DType dtype : dtypes) {
    Builder builder(fmt::format("chains of factorisations of {}", name_of(dtype)));
    const ValueId a = builder.input(moderate_sample(dtype, {6, 2, 7, 7}, 1));
    const ValueId b = builder.input(moderate_sample(dtype, {6, 2, 7, 7}, 2));
    // The stack's matrices are transposed, and a slice of larger ones.
    const ValueId turned = dominant(builder, builder.transpose(a, {1, 0, 3, 2}));
    const ValueId factor = call(builder, ir::calls::cholesky(), {turned});
    builder.output(factor);
    const ValueId part =
        builder.slice(dominant(builder, b), {1, 0, 1, 1}, {1, 1, 1, 1}, {4, 2, 5, 5});
    const ValueId inner = call(builder, ir::calls::cholesky(), {part}, {{"upper", true}});
    builder.output(builder.reduce(Op::sum, inner, {3}, false));
    // A solution, made well-conditioned again, is the matrix of other systems.
    const ValueId x = call(builder, ir::calls::solve(), {dominant(builder, a), b});
    const ValueId again = dominant(builder, x);
    builder.output(call(builder, ir::calls::solve(), {again, scaled(builder, b, 0.5)}));
    suite.add(std::move(builder));
  }
  suite.finish();
}

}  // namespace
}  // namespace heddle::test
