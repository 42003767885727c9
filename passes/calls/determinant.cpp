#include "passes/calls/determinant.h"

#include <limits>
#include <utility>

#include "passes/calls/diagonal.h"
#include "passes/calls/lu.h"
#include "passes/calls/matrix_item.h"
#include "passes/rewrite/rewrite.h"

namespace heddle::passes {

namespace {

using ir::Op;

/// Adds the nodes that compute determinants from LU factors.
class Determinant {
 public:
  /// `lu`: the factors, pivots and statuses of stacks of matrices.
  Determinant(Graph& graph, const std::vector<ValueId>& lu, ir::Location location)
      : graph_(graph),
        location_(location),
        type_(graph.type(lu[0])),
        factors_(lu[0]),
        pivots_(lu[1]),
        regular_(add(Op::equal, {lu[2], number(DType::i32, 0)})) {}

  /// The sign, or for complex numbers the phase; 0 for a singular matrix.
  ValueId sign(ValueId diagonal) {
    const ValueId each = along_last(Op::prod, add(Op::sign, {diagonal}));
    const ValueId product = add(Op::multiply, {each, sign_of_swaps()});
    return add(Op::select, {regular_, product, number(type_.dtype, 0)});
  }

  /// The logarithm of the absolute value; -infinity for a singular matrix.
  ValueId logarithm(ValueId diagonal) {
    const ValueId sum = along_last(Op::sum, add(Op::log, {add(Op::absolute, {diagonal})}));
    const ValueId none = number(graph_.dtype(sum), -std::numeric_limits<double>::infinity());
    return add(Op::select, {regular_, sum, none});
  }

  /// Of the factors, which have any extent.
  ValueId factors_diagonal() {
    const Dim n = type_.shape.back();
    if (n.is_constant()) return diagonal(graph_, factors_, location_);
    const ValueId on_it = add(
        Op::equal, {indices(graph_, {n, n}, 0, location_), indices(graph_, {n, n}, 1, location_)});
    // Each row has one element on the diagonal; the others add 0.
    return along_last(Op::sum, add(Op::select, {on_it, factors_, number(type_.dtype, 0)}));
  }

 private:
  /// -1 where an odd number of rows was swapped, else 1.
  ValueId sign_of_swaps() {
    const ValueId own =
        add(Op::add, {indices(graph_, {type_.shape.back()}, 0, location_), number(DType::i32, 1)});
    const ValueId swapped = add(Op::not_equal, {pivots_, own});
    const ValueId swaps = along_last(Op::sum, cast(swapped, DType::i64));
    const ValueId odd =
        add(Op::equal, {add(Op::remainder, {swaps, number(DType::i64, 2)}), number(DType::i64, 1)});
    return add(Op::select, {odd, number(type_.dtype, -1), number(type_.dtype, 1)});
  }
  ValueId number(DType dtype, double value) {
    return graph_.constant(dtype, ir::constant_bits(dtype, value));
  }
  ValueId cast(ValueId value, DType dtype) {
    ir::Attributes attributes;
    attributes.dtype = dtype;
    return add(Op::cast, {value}, std::move(attributes));
  }
  ValueId along_last(Op op, ValueId value) {
    ir::Attributes last;
    last.axes = {static_cast<std::int64_t>(graph_.shape(value).size()) - 1};
    return add(op, {value}, std::move(last));
  }
  ValueId add(Op op, std::initializer_list<ValueId> operands, ir::Attributes attributes = {}) {
    return graph_.add(op, operands, std::move(attributes), location_);
  }

  Graph& graph_;
  const ir::Location location_;
  const ir::Type type_;
  const ValueId factors_, pivots_, regular_;
};

}  // namespace

std::vector<ValueId> lower_slogdet(Graph& graph, const OldCall& call, const ir::Target& target) {
  const ir::Location location = call.location();
  const ValueId matrices = call.operands.front();
  if (are_small(graph.shape(matrices), target)) {
    const ValueId sign = copy_node(graph, call.graph, call.node, call.operands);
    return {sign, graph.result(sign, 1, location)};
  }
  Determinant made(graph, lu_of(graph, matrices, location, target), location);
  const ValueId diagonal = made.factors_diagonal();
  const ValueId sign = made.sign(diagonal);
  return {sign, made.logarithm(diagonal)};
}

}  // namespace heddle::passes
