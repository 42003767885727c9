#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "ir/calls/calls.h"
#include "tests/support/host_arrays.h"
#include "tests/support/oracle.h"
#include "tests/support/samples.h"

namespace heddle::test {
namespace {

using ir::Attributes;
using ir::Graph;
using ir::HostArray;
using ir::Op;
using ir::OpInfo;
using ir::OpKind;
using ir::Shape;
using ir::ValueId;

void check(const Graph& graph, const std::vector<HostArray>& inputs, double most_ambiguous = 0.0) {
  const OracleResult expected = Oracle::instance().ask(graph, inputs);
  const Comparison comparison =
      compare(ir::interpret(graph, inputs), expected, {.most_ambiguous = most_ambiguous});
  CHECK_MESSAGE(comparison, print(graph) << comparison.message);
}

std::vector<DType> dtypes_in(ir::DTypeSet set) {
  std::vector<DType> found;
  for (int i = 0; i < dtype_count; ++i) {
    const auto dtype = static_cast<DType>(i);
    if ((set & ir::set_of(dtype)) != 0) found.push_back(dtype);
  }
  return found;
}

DType operand_dtype(const OpInfo& info, int operand, DType dtype) {
  return ir::operand_dtype(info.rule, static_cast<std::size_t>(operand), dtype);
}

Attributes over(std::vector<std::int64_t> axes, bool keepdims) {
  Attributes attributes;
  attributes.axes = std::move(axes);
  attributes.keepdims = keepdims;
  return attributes;
}

TEST_CASE("the interpreter and NumPy agree on every elementwise op in every dtype") {
  const Shape shape = {1024};
  for (int i = 0; i < ir::op_count; ++i) {
    const OpInfo& info = ir::info(static_cast<Op>(i));
    if (info.kind != OpKind::elementwise || info.rule == ir::TypeRule::none) continue;
    for (DType dtype : dtypes_in(info.dtypes)) {
      Graph graph;
      std::vector<ValueId> operands;
      std::vector<HostArray> inputs;
      for (int k = 0; k < info.arity; ++k) {
        const DType kind = operand_dtype(info, k, dtype);
        operands.push_back(graph.parameter(kind, shape));
        inputs.push_back(sample(info.domain, k, kind, shape, 7));
      }
      graph.outputs = {graph.add(info.op, operands)};
      // Every fifth complex quotient has parts so large or small that it may leave the range.
      check(graph, inputs, is_complex(dtype) ? 0.2 : 0.05);
    }
  }
}

TEST_CASE("complex functions have NumPy's values at zeros, infinities and NaNs") {
  for (int i = 0; i < ir::op_count; ++i) {
    const OpInfo& info = ir::info(static_cast<Op>(i));
    if (info.kind != OpKind::elementwise || info.arity != 1 || info.op == Op::cast) continue;
    for (DType dtype : dtypes_in(info.dtypes & ir::complexes)) {
      Graph graph;
      const ValueId x = graph.parameter(dtype, {256});
      graph.outputs = {graph.add(info.op, {x})};
      check(graph, {sample(ir::Domain::any, 0, dtype, {256}, 7)}, 0.5);
    }
  }
}

TEST_CASE("the interpreter and NumPy agree on casts between all dtypes") {
  for (DType from : dtypes_in(ir::all_dtypes)) {
    for (DType to : dtypes_in(ir::all_dtypes)) {
      if (from == to) continue;
      Graph graph;
      Attributes attributes;
      attributes.dtype = to;
      const ValueId x = graph.parameter(from, {512});
      graph.outputs = {graph.add(Op::cast, {x}, attributes)};
      check(graph, {sample(ir::Domain::any, 0, from, {512}, 11)});
    }
  }
}

TEST_CASE("the interpreter and NumPy agree on every reduction in every dtype") {
  const Shape shape = {3, 5, 7};
  const std::vector<std::vector<std::int64_t>> axes = {{0}, {2}, {0, 2}, {0, 1, 2}};
  for (int i = 0; i < ir::op_count; ++i) {
    const OpInfo& info = ir::info(static_cast<Op>(i));
    if (info.kind != OpKind::reduction) continue;
    for (DType dtype : dtypes_in(info.dtypes)) {
      Graph graph;
      const ValueId x = graph.parameter(dtype, shape);
      for (const auto& some : axes) {
        const bool takes_some_axes = info.op != Op::argmin && info.op != Op::argmax;
        if (some.size() == 2 && !takes_some_axes) continue;
        graph.outputs.push_back(graph.add(info.op, {x}, over(some, false)));
        graph.outputs.push_back(graph.add(info.op, {x}, over(some, true)));
      }
      // A product of a hundred complex numbers leaves the range of complex64.
      const double most = is_complex(dtype) && info.op == Op::prod ? 0.05 : 0.0;
      check(graph, {moderate_sample(dtype, shape, 5)}, most);
      check(graph, {sample(ir::Domain::any, 0, dtype, shape, 5)}, 1.0);
    }
  }
}

TEST_CASE("the interpreter and NumPy agree on every reduction of segments in every dtype") {
  const Shape shape = {3, 11, 4}, count = {6};
  for (int i = 0; i < ir::op_count; ++i) {
    const OpInfo& info = ir::info(static_cast<Op>(i));
    if (info.kind != OpKind::reduction || ir::finds_index(info.op)) continue;
    for (DType dtype : dtypes_in(info.dtypes)) {
      Graph graph;
      const ValueId x = graph.parameter(dtype, shape);
      const ValueId begins = graph.parameter(DType::i32, count),
                    ends = graph.parameter(DType::i64, count);
      for (const std::int64_t axis : {0, 1, 2})
        graph.outputs.push_back(graph.add(info.op, {x, begins, ends}, over({axis}, false)));
      const double most = is_complex(dtype) && info.op == Op::prod ? 0.05 : 0.0;
      // Empty and overlapping segments, some in the wrong order, one behind the axis.
      const ir::HostArray first = host_array<std::int32_t>(count, {0, 2, 3, 3, -2, 1}),
                          last = host_array<std::int64_t>(count, {2, 2, 1, 40, -1, 3});
      check(graph, {moderate_sample(dtype, shape, 5), first, last}, most);
      check(graph, {sample(ir::Domain::any, 0, dtype, shape, 5), first, last}, 1.0);
    }
  }
}

TEST_CASE("the interpreter and NumPy agree on every scan in every dtype") {
  const Shape shape = {3, 5, 7};
  for (int i = 0; i < ir::op_count; ++i) {
    const OpInfo& info = ir::info(static_cast<Op>(i));
    if (info.kind != OpKind::scan) continue;
    for (DType dtype : dtypes_in(info.dtypes)) {
      Graph graph;
      const ValueId x = graph.parameter(dtype, shape);
      for (const std::int64_t axis : {0, 1, 2}) {
        graph.outputs.push_back(graph.add(info.op, {x}, over({axis}, false)));
      }
      check(graph, {moderate_sample(dtype, shape, 5)});
      check(graph, {sample(ir::Domain::any, 0, dtype, shape, 5)}, 1.0);
    }
  }
}

TEST_CASE("the interpreter and NumPy agree on a softmax in every floating dtype") {
  for (DType dtype : dtypes_in(ir::floats)) {
    Graph graph;
    const Attributes last = over({1}, true);
    const ValueId x = graph.parameter(dtype, {16, 100});
    const ValueId shifted = graph.add(Op::subtract, {x, graph.add(Op::max, {x}, last)});
    const ValueId powers = graph.add(Op::exp, {shifted});
    graph.outputs = {graph.add(Op::divide, {powers, graph.add(Op::sum, {powers}, last)})};
    check(graph, {moderate_sample(dtype, {16, 100}, 3)});
  }
}

TEST_CASE("the interpreter and NumPy agree on what is sorted, in every dtype") {
  for (const Shape& shape : {Shape{300}, Shape{5, 7, 9}}) {
    for (DType dtype : dtypes_in(ir::all_dtypes)) {
      Graph graph;
      const ValueId x = graph.parameter(dtype, shape);
      for (std::int64_t axis = 0; axis < std::ssize(shape); ++axis) {
        graph.outputs.push_back(graph.call(ir::calls::sort(), {x}, {{"axis", axis}}));
        graph.outputs.push_back(graph.call(ir::calls::argsort(), {x}, {{"axis", axis}}));
      }
      check(graph, {sample(ir::Domain::any, 0, dtype, shape, 5)});
    }
  }
}

TEST_CASE("the interpreter and NumPy agree on products of matrices") {
  for (DType dtype : dtypes_in(ir::calls::matmul().dtypes)) {
    Graph graph;
    const ValueId a = graph.parameter(dtype, {2, 1, 9, 17});
    const ValueId b = graph.parameter(dtype, {3, 17, 5});
    graph.outputs = {graph.call(ir::calls::matmul(), {a, b})};
    check(graph, {moderate_sample(dtype, {2, 1, 9, 17}, 1), moderate_sample(dtype, {3, 17, 5}, 2)});
  }
}

TEST_CASE("the interpreter and NumPy agree on factors of matrices, and where there is none") {
  for (DType dtype : dtypes_in(ir::calls::cholesky().dtypes)) {
    for (const bool upper : {false, true}) {
      Graph graph;
      const ValueId y = graph.parameter(dtype, {6, 9, 9});
      const ValueId part = graph.add(Op::transpose, {y}, over({0, 2, 1}, false));
      const ValueId other = is_complex(dtype) ? graph.add(Op::conjugate, {part}) : part;
      // Of y y^H, and of y as it is, whose first elements are of either sign.
      for (const ValueId matrices : {graph.call(ir::calls::matmul(), {y, other}), y}) {
        const ValueId factor = graph.call(ir::calls::cholesky(), {matrices}, {{"upper", upper}});
        graph.outputs.push_back(factor);
        graph.outputs.push_back(graph.result(factor, 1));
      }
      check(graph, {moderate_sample(dtype, {6, 9, 9}, 1)}, 0.1);
    }
  }
}

}  // namespace
}  // namespace heddle::test
