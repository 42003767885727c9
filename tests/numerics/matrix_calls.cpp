// LU factors, solutions, QR factors and triangular systems: by the interpreter, on the CPU and in
// the emulator, against NumPy.

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "ir/calls/calls.h"
#include "tests/numerics/suite.h"

namespace heddle::test {
namespace {

using ir::CallOp;
using ir::Dim;
using ir::Op;
using ir::Shape;
using ir::ValueId;

const std::vector<DType> dtypes = dtypes_in(ir::calls::lu().dtypes);

ValueId call(Builder& builder, const CallOp& op, std::vector<ValueId> operands,
             std::initializer_list<ir::NamedAttribute> attributes = {}) {
  return builder.add(Op::call, std::move(operands), ir::call_attributes(op, attributes));
}

void output_results(Builder& builder, ValueId first, std::initializer_list<std::uint32_t> others) {
  builder.output(first);
  for (const std::uint32_t index : others) builder.output(builder.made.graph.result(first, index));
}

/// Random matrices, with 4 added to the diagonal.
ValueId regular(Builder& builder, DType dtype, const Shape& shape, std::uint64_t seed) {
  const ValueId random = builder.input(moderate_sample(dtype, shape, seed), seed % 2 == 0);
  ir::Attributes indices;
  indices.dtype = DType::i32;
  indices.shape = {shape.end() - 2, shape.end()};
  indices.axes = {0};
  const ValueId row = builder.add(Op::iota, {}, indices);
  indices.axes = {1};
  const ValueId diagonal = builder.add(Op::equal, {row, builder.add(Op::iota, {}, indices)});
  const double weight = 4 + 2 * static_cast<double>(shape.back().constant());
  const ValueId added = builder.add(
      Op::select, {diagonal, builder.constant(dtype, weight), builder.constant(dtype, 0)});
  return builder.add(Op::add, {random, added});
}

TEST_CASE("solutions of every dtype, order, batch and number of right-hand sides") {
  Suite suite;
  for (const DType dtype : dtypes) {
    for (const bool transposed : {false, true}) {
      Builder builder(fmt::format("solutions in {}", name_of(dtype)));
      std::uint64_t seed = 0;
      for (const Shape& batch : {Shape{}, Shape{3}, Shape{2, 1, 2}, Shape{0}}) {
        for (const std::int64_t n : {1, 2, 5, 17, 0}) {
          for (const std::int64_t sides : {1, 3}) {
            ++seed;
            Shape a = batch, b = batch;
            a.insert(a.end(), 2, Dim(n));
            b.push_back(sides), b.push_back(n);
            const ValueId x = call(builder, ir::calls::solve(),
                                   {regular(builder, dtype, a, seed),
                                    builder.input(moderate_sample(dtype, b, seed + 100))},
                                   {{"transposed", transposed}});
            output_results(builder, x, {3});
          }
        }
      }
      suite.add(std::move(builder));
    }
  }
  suite.finish();
  suite.require(ir::calls::solve(), 4);
}

TEST_CASE("triangular systems of all kinds") {
  Suite suite;
  for (const DType dtype : dtypes) {
    for (const bool lower : {false, true}) {
      Builder builder(fmt::format("triangular systems in {}", name_of(dtype)));
      std::uint64_t seed = 0;
      for (const bool unit : {false, true}) {
        for (const char* transpose : {"none", "transpose", "conjugate"}) {
          for (const Shape& shape : {Shape{3, 5, 5}, Shape{17, 17}, Shape{2, 0, 0}}) {
            ++seed;
            Shape b = shape;
            b.back() = 2;
            ValueId a = regular(builder, dtype, shape, seed);
            // With 1 on the diagonal, large elements beside it would be amplified.
            if (unit) a = builder.add(Op::multiply, {a, builder.constant(dtype, 0.0625)});
            builder.output(
                call(builder, ir::calls::solve_triangular(),
                     {a, builder.input(moderate_sample(dtype, b, seed + 100))},
                     {{"lower", lower}, {"unit", unit}, {"transpose", std::string(transpose)}}));
          }
        }
      }
      suite.add(std::move(builder));
    }
  }
  suite.finish();
  suite.require(ir::calls::solve_triangular(), 4);
}

TEST_CASE("QR factors of square, wide and tall matrices") {
  Suite suite;
  for (const DType dtype : dtypes) {
    Builder builder(fmt::format("QR factors in {}", name_of(dtype)));
    std::uint64_t seed = 0;
    for (const Shape& shape : {Shape{1, 1}, Shape{5, 5}, Shape{3, 4, 9}, Shape{3, 9, 9},
                               Shape{2, 1, 2, 7}, Shape{0, 3, 3}}) {
      ++seed;
      const ValueId factors =
          call(builder, ir::calls::geqrf(), {builder.input(moderate_sample(dtype, shape, seed))});
      const ValueId tau = builder.made.graph.result(factors, 1);
      output_results(builder, factors, {1});
      builder.output(call(builder, ir::calls::householder_product(), {factors, tau}));
    }
    const ValueId wide =
        call(builder, ir::calls::geqrf(), {builder.input(moderate_sample(dtype, {2, 8, 3}, 9))});
    output_results(builder, wide, {1});
    suite.add(std::move(builder));
  }
  suite.finish();
  suite.require(ir::calls::geqrf(), 4);
  suite.require(ir::calls::householder_product(), 4);
}

TEST_CASE("LU factors, pivots and the order that they stand for") {
  Suite suite;
  for (const DType dtype : dtypes) {
    Builder builder(fmt::format("LU factors in {}", name_of(dtype)));
    builder.most_ambiguous = 0.6;  // of elements that are nearly as large, either is the pivot
    std::uint64_t seed = 0;
    for (const Shape& shape :
         {Shape{1, 1}, Shape{3, 5, 5}, Shape{6, 4}, Shape{2, 3, 6}, Shape{0, 3, 3}}) {
      ++seed;
      const ValueId factors =
          call(builder, ir::calls::lu(), {builder.input(moderate_sample(dtype, shape, seed))});
      output_results(builder, factors, {1, 2});
      builder.output(call(builder, ir::calls::permutation_of_pivots(),
                          {builder.made.graph.result(factors, 1)}));
    }
    suite.add(std::move(builder));
  }
  suite.finish();
  suite.require(ir::calls::lu(), 2);
}

TEST_CASE("determinants of single matrices and stacks, of any extents too") {
  Suite suite;
  const Dim batch = Dim::symbol("b"), n = Dim::symbol("n");
  for (const DType dtype : dtypes) {
    Builder builder(fmt::format("determinants in {}", name_of(dtype)));
    builder.most_ambiguous = 0.5;  // in float32, large matrices may be as good as singular
    std::uint64_t seed = 0;
    for (const Shape& shape : {Shape{1, 1}, Shape{5, 5}, Shape{3, 5, 5}, Shape{4, 33, 33},
                               Shape{2, 1, 2, 2}, Shape{0, 3, 3}, Shape{3, 0, 0}}) {
      output_results(builder,
                     call(builder, ir::calls::slogdet(),
                          {builder.input(moderate_sample(dtype, shape, ++seed))}),
                     {1});
    }
    suite.add(std::move(builder));
    Builder any(fmt::format("determinants of {}[b,n,n]", name_of(dtype)));
    const ValueId a = any.input(moderate_sample(dtype, {3, 5, 5}, 1), Shape{batch, n, n});
    any.made.bindings = {{ir::intern_symbol("b"), 3}, {ir::intern_symbol("n"), 5}};
    output_results(any, call(any, ir::calls::slogdet(), {a}), {1});
    for (const Shape& shape : {Shape{1, 1, 1}, Shape{0, 3, 3}, Shape{4, 0, 0}, Shape{2, 17, 17}})
      any.run_also({moderate_sample(dtype, shape, 3)});
    suite.add(std::move(any));
  }
  suite.finish();
  suite.require(ir::calls::slogdet(), 4);
}

TEST_CASE("one program solves systems of any extents") {
  Suite suite;
  const Dim batch = Dim::symbol("b"), n = Dim::symbol("n"), k = Dim::symbol("k");
  for (const DType dtype : dtypes) {
    Builder builder(fmt::format("systems of {}[b,n,n]", name_of(dtype)));
    const ValueId a = builder.input(moderate_sample(dtype, {3, 5, 5}, 1), Shape{batch, n, n});
    const ValueId b = builder.input(moderate_sample(dtype, {3, 2, 5}, 2), Shape{batch, k, n});
    builder.made.bindings = {
        {ir::intern_symbol("b"), 3}, {ir::intern_symbol("n"), 5}, {ir::intern_symbol("k"), 2}};
    builder.output(call(builder, ir::calls::solve(), {a, b}));
    struct Extents {
      std::int64_t b, n, k;
    };
    for (const Extents e : {Extents{1, 1, 1}, {0, 3, 2}, {4, 0, 2}, {2, 17, 3}, {40, 2, 1}}) {
      builder.run_also(
          {moderate_sample(dtype, {e.b, e.n, e.n}, 3), moderate_sample(dtype, {e.b, e.k, e.n}, 4)});
    }
    suite.add(std::move(builder));
  }
  suite.finish();
}

}  // namespace
}  // namespace heddle::test
