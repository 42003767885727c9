#include "passes/calls/cholesky.h"

#include <limits>

#include "ir/types/capabilities.h"
#include "passes/calls/diagonal.h"
#include "passes/calls/failed_matrices.h"
#include "passes/calls/matrix_item.h"
#include "passes/rewrite/rewrite.h"

namespace heddle::passes {

namespace {

using ir::Op;

ValueId constant(Graph& graph, DType dtype, double value) {
  return graph.constant(dtype, ir::constant_bits(dtype, value));
}

ValueId unary(Graph& graph, Op op, ValueId value, ir::Attributes attributes,
              ir::Location location) {
  return graph.add(op, {value}, std::move(attributes), location);
}

ValueId is_nan(Graph& graph, ValueId factors, ir::Location location) {
  // The libraries read only the real parts of a diagonal.
  const ValueId real =
      is_complex(graph.dtype(factors)) ? unary(graph, Op::real, factors, {}, location) : factors;
  return unary(graph, Op::isnan, real, {}, location);
}

/// The position, counted from 1, of the first NaN on the diagonal of each factor; the largest i32
/// if there is none.
ValueId first_nan(Graph& graph, ValueId factors, ir::Location location) {
  const ir::Shape shape = graph.shape(factors);
  const Dim n = shape.back();
  const auto batch_axes = static_cast<std::int64_t>(shape.size()) - 2;
  ir::Attributes along;
  along.axes = {batch_axes};
  ValueId nans, index;
  // The sign of a slice's step must be known.
  if ((n + Dim(1)).is_non_negative()) {
    nans = is_nan(graph, diagonal(graph, factors, location), location);
    index = indices(graph, {n}, 0, location);
  } else {
    index = indices(graph, {n, n}, 0, location);
    const ValueId on_it =
        graph.add(Op::equal, {index, indices(graph, {n, n}, 1, location)}, {}, location);
    nans = graph.add(Op::logical_and, {is_nan(graph, factors, location), on_it}, {}, location);
    along.axes.push_back(batch_axes + 1);
  }
  const ValueId one = constant(graph, DType::i32, 1);
  const ValueId none = constant(graph, DType::i32, std::numeric_limits<std::int32_t>::max());
  const ValueId place = graph.add(Op::add, {index, one}, {}, location);
  const ValueId places = graph.add(Op::select, {nans, place, none}, {}, location);
  return unary(graph, Op::min, places, along, location);
}

/// The status of each matrix. If the library reports success but the factor's diagonal contains
/// NaN, the status is the position of the first NaN, because cuSOLVER and OpenBLAS do not report
/// NaN as a minor that is not positive.
ValueId status_with_nans(Graph& graph, ValueId said, ValueId factors, ir::Location location) {
  if (graph.shape(factors).back() == Dim(0)) return said;
  const ValueId zero = constant(graph, DType::i32, 0);
  const ValueId none = constant(graph, DType::i32, std::numeric_limits<std::int32_t>::max());
  const ValueId first = first_nan(graph, factors, location);
  const ValueId any = graph.add(Op::less, {first, none}, {}, location);
  const ValueId found = graph.add(Op::select, {any, first, zero}, {}, location);
  const ValueId fine = graph.add(Op::equal, {said, zero}, {}, location);
  return graph.add(Op::select, {fine, found, said}, {}, location);
}

}  // namespace

namespace {

ValueId transposed(Graph& graph, ValueId matrices, ir::Location location) {
  ir::Attributes attributes;
  const auto rank = static_cast<std::int64_t>(graph.shape(matrices).size());
  for (std::int64_t axis = 0; axis < rank; ++axis) attributes.axes.push_back(axis);
  std::swap(attributes.axes[rank - 1], attributes.axes[rank - 2]);
  return unary(graph, Op::transpose, matrices, std::move(attributes), location);
}

}  // namespace

std::vector<ValueId> lower_cholesky(Graph& graph, const OldCall& call, const ir::Target& target) {
  const ir::Location location = call.location();
  const bool upper = call.data().get<bool>("upper");
  ValueId raw = copy_node(graph, call.graph, call.node, call.operands);
  ValueId said = graph.result(raw, 1, location);
  if (cholesky_item(graph, raw, target)) return {raw, said};
  // A lower triangle in C order is a column-major upper one. The factor of the transpose is the
  // transpose of the factor.
  if (!upper && ir::capabilities_of(target).reads_lower_faster) {
    const ValueId factors =
        graph.add(Op::call, {transposed(graph, call.operands[0], location)},
                  ir::call_attributes(ir::calls::cholesky(), {{"upper", true}}), location);
    said = graph.result(factors, 1, location);
    raw = transposed(graph, factors, location);
  }
  const ValueId status = status_with_nans(graph, said, raw, location);
  const ir::Type type = graph.type(raw);
  const ir::Shape matrix(type.shape.end() - 2, type.shape.end());
  const ValueId row = indices(graph, matrix, 0, location);
  const ValueId column = indices(graph, matrix, 1, location);
  const ValueId stored =
      graph.add(Op::less_equal, {upper ? row : column, upper ? column : row}, {}, location);
  const ValueId factor =
      graph.add(Op::select, {stored, raw, constant(graph, type.dtype, 0)}, {}, location);
  return {nan_where_failed(graph, factor, status, location), status};
}

Dim cholesky_flops(const Graph& graph, ValueId call) {
  const ir::Type& type = graph.type(call);
  if (!ir::is_constant(type.shape)) return 0;
  const Dim batch = ir::element_count({type.shape.begin(), type.shape.end() - 2});
  const std::int64_t n = type.shape.back().constant(), each = is_complex(type.dtype) ? 4 : 1;
  return batch * Dim(each * n * n * n / 3);
}

}  // namespace heddle::passes
