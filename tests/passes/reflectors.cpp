// Products of Householder reflectors as each target lowers them, interpreted: the results must be
// those of the op.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "ir/calls/calls.h"
#include "ir/graph/graph.h"
#include "ir/types/constant.h"
#include "passes/calls/lowering.h"
#include "passes/pipeline/program_builder.h"
#include "tests/support/samples.h"

namespace heddle::test {
namespace {

using ir::Dim;
using ir::HostArray;
using ir::Shape;

constexpr DType dtypes[] = {DType::f32, DType::f64, DType::c64, DType::c128};

ir::Graph product_of(const ir::Type& reflectors, const ir::Type& tau) {
  ir::Graph graph;
  const ir::ValueId a = graph.parameter(reflectors.dtype, reflectors.shape);
  const ir::ValueId b = graph.parameter(tau.dtype, tau.shape);
  graph.outputs.push_back(graph.call(ir::calls::householder_product(), {a, b}));
  return graph;
}

/// The names of a graph's calls.
std::string calls_of(const ir::Graph& graph) {
  std::string names;
  for (std::uint32_t i = 0; i < graph.size(); ++i) {
    const ir::ValueId id{i};
    if (graph.op(id) == ir::Op::call)
      names += (names.empty() ? "" : " ") + std::string(graph.attributes(id).call->op->name);
  }
  return names;
}

ir::Graph lowered(const ir::Graph& graph) {
  return passes::lower_calls(graph, ir::parse_target("sm_90:h200"));
}

std::string lowered_calls(const Shape& reflectors, const Shape& tau) {
  return calls_of(lowered(product_of({DType::f32, reflectors}, {DType::f32, tau})));
}

/// Real numbers of an array, and of complex elements both parts.
std::vector<double> numbers(const HostArray& array) {
  const bool wide = size_of(real_dtype(array.type.dtype)) == sizeof(double);
  std::vector<double> made(array.data.size() / (wide ? sizeof(double) : sizeof(float)));
  for (std::size_t k = 0; k < made.size(); ++k) {
    if (wide) {
      std::memcpy(&made[k], &array.data[k * sizeof(double)], sizeof(double));
    } else {
      float value = 0;
      std::memcpy(&value, &array.data[k * sizeof value], sizeof value);
      made[k] = static_cast<double>(value);
    }
  }
  return made;
}

void set(HostArray& array, std::size_t k, double to) {
  const ir::ElementBits bits = ir::constant_bits(array.type.dtype, to);
  std::memcpy(&array.data[k * size_of(array.type.dtype)], bits.bytes(), size_of(array.type.dtype));
}

std::size_t count(const Shape& shape) {
  return static_cast<std::size_t>(ir::element_count(shape).constant());
}

/// Reflectors and factors of random matrices, [..., k, m], and `more` rows after them that do not
/// count. The second factor of the first matrix is 0.
std::vector<HostArray> reflectors(DType dtype, const Shape& shape, std::size_t more) {
  ir::Graph graph;
  const ir::ValueId call = graph.call(ir::calls::geqrf(), {graph.parameter(dtype, shape)});
  graph.outputs = {call, graph.result(call, 1)};
  std::vector<HostArray> inputs{moderate_sample(dtype, shape, 1)};
  std::vector<HostArray> made = ir::interpret(graph, inputs);
  if (shape[shape.size() - 2].constant() > 1) set(made[1], 1, 0);
  if (more == 0) return made;
  const std::size_t m = count({shape.back()}), k = count({shape[shape.size() - 2]});
  Shape padded = shape;
  padded[shape.size() - 2] = Dim(static_cast<std::int64_t>(k + more));
  HostArray all = moderate_sample(dtype, padded, 2);
  const std::size_t matrices = count(shape) / (k * m), size = size_of(dtype);
  for (std::size_t i = 0; i < matrices; ++i) {
    std::memcpy(&all.data[i * (k + more) * m * size], &made[0].data[i * k * m * size],
                k * m * size);
    for (std::size_t j = k * m; j < (k + more) * m; ++j)
      set(all, i * (k + more) * m + j, std::numeric_limits<double>::quiet_NaN());
  }
  made[0] = std::move(all);
  return made;
}

}  // namespace

TEST_CASE("products of reflectors of stacks, as a GPU has them, are those of the op") {
  struct Case {
    Shape shape;
    std::size_t more;
  };
  const Case cases[] = {{{3, 35, 35}, 0}, {{3, 4, 39}, 0}, {{2, 2, 2, 37}, 0}, {{2, 3, 36}, 3},
                        {{4, 2, 36}, 2},  {{2, 1, 33}, 0}, {{2, 1, 34}, 2},    {{2, 33, 40}, 0}};
  for (const DType dtype : dtypes) {
    for (const auto& [shape, more] : cases) {
      CAPTURE(to_string(ir::Type{dtype, shape}));
      CAPTURE(more);
      std::vector<HostArray> operands = reflectors(dtype, shape, more);
      const ir::Graph graph = product_of(operands[0].type, operands[1].type);
      const ir::Graph expanded = lowered(graph);
      CHECK(calls_of(expanded) == "matmul linalg.solve_triangular matmul");
      const HostArray expected = ir::interpret(graph, operands)[0];
      const HostArray made = ir::interpret(expanded, operands)[0];
      CHECK(made.type == expected.type);
      const std::vector<double> a = numbers(made), b = numbers(expected);
      REQUIRE(a.size() == b.size());
      double worst = 0;
      for (std::size_t k = 0; k < a.size(); ++k) {
        REQUIRE(!std::isnan(a[k]));
        worst = std::max(worst, std::abs(a[k] - b[k]));
      }
      CHECK(worst < (real_dtype(dtype) == DType::f32 ? 1e-5 : 1e-13));
    }
  }
}

TEST_CASE("a GPU expands the products of stacks of matrices that no item holds") {
  const std::string whole = "linalg.householder_product";
  const std::string expanded = "matmul linalg.solve_triangular matmul";
  CHECK(lowered_calls({5, 5}, {5}) == whole);
  CHECK(lowered_calls({1, 5, 5}, {1, 5}) == whole);
  CHECK(lowered_calls({2, 5, 5}, {2, 0}) == whole);
  CHECK(lowered_calls({2, 5, 513}, {2, 5}) == whole);
  CHECK(lowered_calls({2, 5, 512}, {2, 5}) == expanded);
  const Dim batch = Dim::symbol("b"), n = Dim::symbol("n");
  CHECK(lowered_calls({2, 5, 32}, {2, 5}) == whole);
  CHECK(lowered_calls({batch, 5, 6}, {batch, 5}) == whole);
  CHECK(lowered_calls({batch, 5, 40}, {batch, 5}) == expanded);
  CHECK(lowered_calls({batch, n, 6}, {batch, n}) == whole);
  const ir::Graph graph = product_of({DType::f32, {2, 5, 40}}, {DType::f32, {2, 5}});
  CHECK(calls_of(passes::lower_calls(graph, ir::parse_target("x86-64-v3"))) == whole);
}

TEST_CASE("programs of the products of reflectors of stacks") {
  for (const Shape& shape :
       {Shape{64, 8, 40}, Shape{2, 3, 5, 35}, Shape{2, 3, 5, 5}, Shape{0, 3, 3}}) {
    const Shape tau(shape.begin(), shape.end() - 1);
    const passes::PlannedProgram planned =
        passes::plan_program(product_of({DType::c64, shape}, {DType::c64, tau}),
                             {ir::parse_target("sm_90:h200"), {}, {}, {}});
    std::size_t calls = 0;
    for (const passes::Step& step : planned.program.steps) calls += step.call() != nullptr ? 1 : 0;
    CHECK(calls == (shape.back().constant() > 32 ? 3 : 0));
  }
}

}  // namespace heddle::test
