#include "passes/calls/checked_matrices.h"

#include <limits>

#include "passes/rewrite/rewrite.h"

namespace heddle::passes {

using ir::Op;

namespace {

constexpr double not_finite = -4;

ValueId constant(Graph& graph, DType dtype, double value) {
  return graph.constant(dtype, ir::constant_bits(dtype, value));
}

}  // namespace

CheckedMatrices::CheckedMatrices(Graph& graph, ValueId matrices, ir::Location location)
    : graph_(graph),
      location_(location),
      given_(matrices),
      finite_(for_each_matrix(Op::all, add(Op::isfinite, {matrices}))),
      clean_(add(Op::select,
                 {with_axes(finite_, 2), matrices, constant(graph, graph.dtype(matrices), 0)})) {}

ValueId CheckedMatrices::has_nan() const {
  return for_each_matrix(Op::any, add(Op::isnan, {given_}));
}

ValueId CheckedMatrices::status(ValueId said, ValueId bad) const {
  const ValueId zero = constant(graph_, DType::i32, 0);
  const ValueId found = add(Op::select, {bad, constant(graph_, DType::i32, not_finite), zero});
  return add(Op::select, {add(Op::equal, {said, zero}), found, said});
}

ValueId CheckedMatrices::result(ValueId value, ValueId said, std::size_t core) const {
  const ValueId converged = add(Op::equal, {said, constant(graph_, DType::i32, 0)});
  const ValueId valid = add(Op::logical_and, {converged, finite_});
  const ValueId nan =
      constant(graph_, graph_.dtype(value), std::numeric_limits<double>::quiet_NaN());
  return add(Op::select, {with_axes(valid, core), value, nan});
}

ValueId CheckedMatrices::for_each_matrix(Op op, ValueId flags) const {
  const auto rank = static_cast<std::int64_t>(graph_.shape(flags).size());
  ir::Attributes last;
  last.axes = {rank - 2, rank - 1};
  return add(op, {flags}, std::move(last));
}

ValueId CheckedMatrices::with_axes(ValueId flags, std::size_t core) const {
  ir::Attributes attributes;
  attributes.shape = graph_.shape(flags);
  attributes.shape.insert(attributes.shape.end(), core, Dim(1));
  return add(Op::reshape, {flags}, std::move(attributes));
}

ValueId CheckedMatrices::add(Op op, std::initializer_list<ValueId> operands,
                             ir::Attributes attributes) const {
  return graph_.add(op, std::vector<ValueId>(operands), std::move(attributes), location_);
}

}  // namespace heddle::passes
