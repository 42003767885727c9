#include "heddle/reductions.h"

#include <algorithm>

#include <fmt/format.h>

#include "heddle/sparse.h"

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/graph/axes.h"
#include "frontend/sparse/entries.h"
#include "frontend/sparse/segment_sum.h"

namespace heddle::sparse {

using frontend::Access;
using frontend::NodeRef;
using frontend::OpRecorder;
using frontend::record_constant;
using ir::Op;

Array sum(const Csr& a, int axis, SourceLocation where) {
  const OpRecorder on{where};
  auto [data, indices, indptr, count] = frontend::nodes_of(a, where);
  data = on.cast(data, frontend::accumulator_dtype(data->dtype));
  if (axis == 1 || count == ir::Dim(0)) {
    if (axis == 1) return Access::make(frontend::segment_sum(data, indptr, on));
    return Access::make(frontend::broadcast_to_shape(record_constant(data->dtype, 0),
                                                     {ir::Dim(a.shape[1])}, where));
  }
  const NodeRef order = frontend::order_of(indices, a.shape[1], on);
  const NodeRef offsets =
      frontend::offsets_of(frontend::pick(indices, order, on), a.shape[1], DType::i64, on);
  return Access::make(frontend::segment_sum(frontend::pick(data, order, on), offsets, on));
}

namespace {

/// Canonical rows, prepared for reductions.
struct Rows {
  NodeRef data, column;        ///< of the elements
  NodeRef row, position;       ///< of the elements: the row, and the number in the row
  NodeRef first, end, length;  ///< of the rows: its elements
  ir::Dim rows;
};

/// The rows that begin at offsets; without data.
Rows rows_between(const NodeRef& offsets, ir::Dim count, const OpRecorder& on) {
  Rows made;
  made.rows = offsets->shape[0] - ir::Dim(1);
  made.row = frontend::segment_of(offsets, count, on);
  const NodeRef wide = on.cast(offsets, DType::i64);
  made.first = on.part(wide, 0, 0, made.rows);
  made.end = on.part(wide, 0, ir::Dim(1), made.rows);
  made.length = on(Op::subtract, made.end, made.first);
  made.position = on(Op::subtract, on.places(count), frontend::pick(made.first, made.row, on));
  return made;
}

Rows rows_for(const Csr& a, const OpRecorder& on) {
  const auto [data, indices, indptr, count] = frontend::nodes_of(a, on.site);
  Rows made = rows_between(indptr, count, on);
  made.data = data;
  made.column = on.cast(indices, DType::i64);
  return made;
}

/// The min or max of the stored elements of each row; `fallback` for empty rows.
NodeRef extreme(const Rows& rows, Op op, const NodeRef& values, const NodeRef& fallback,
                const OpRecorder& on) {
  const NodeRef found = on.segments(op, values, rows.first, rows.end, 0);
  const NodeRef filled = on(Op::greater, rows.length, record_constant(DType::i64, 0));
  return on(Op::select, filled, found, fallback);
}

/// The extremes of rows, with the zeros that are not stored.
NodeRef with_zeros(const Rows& rows, const Csr& a, Op extremum, const OpRecorder& on) {
  const NodeRef zero = record_constant(rows.data->dtype, 0);
  const NodeRef stored = extreme(rows, extremum, rows.data, zero, on);
  const NodeRef full = on(Op::equal, rows.length, on.extent(ir::Dim(a.shape[1])));
  const Op op = extremum == Op::min ? Op::minimum : Op::maximum;
  return on(Op::select, full, stored, on(op, stored, zero));
}

Array extreme_of_rows(const Csr& matrix, Op extremum, const SourceLocation& where) {
  const OpRecorder on{where};
  const Csr a = sum_duplicates(matrix, where);
  return Access::make(with_zeros(rows_for(a, on), a, extremum, on));
}

Array place_in_rows(const Csr& matrix, Op extremum, const SourceLocation& where) {
  const OpRecorder on{where};
  const Csr a = sum_duplicates(matrix, where);
  const Rows rows = rows_for(a, on);
  const NodeRef wanted = with_zeros(rows, a, extremum, on);
  const NodeRef columns = on.extent(ir::Dim(a.shape[1]));
  // The first stored element that is equal, NaN for NaN.
  const NodeRef mine = frontend::pick(wanted, rows.row, on);
  const auto is_nan = [&](const NodeRef& node) { return on(Op::not_equal, node, node); };
  const NodeRef equal = on(Op::logical_or, on(Op::equal, rows.data, mine),
                           on(Op::logical_and, is_nan(rows.data), is_nan(mine)));
  const NodeRef stored =
      extreme(rows, Op::min, on(Op::select, equal, rows.column, columns), columns, on);
  // The first column that is not stored: where columns do not count from 0.
  const NodeRef gap =
      on(Op::select, on(Op::not_equal, rows.column, rows.position), rows.position, columns);
  const NodeRef missing = on(Op::minimum, extreme(rows, Op::min, gap, columns, on), rows.length);
  const NodeRef zero = record_constant(rows.data->dtype, 0);
  const NodeRef implicit =
      on(Op::logical_and, on(Op::equal, wanted, zero), on(Op::less, rows.length, columns));
  return Access::make(on(Op::select, implicit, on(Op::minimum, stored, missing), stored));
}

}  // namespace

Array segment_min(const Operand& values, const Array& offsets, const Operand& initial) {
  const OpRecorder on{values.where()};
  const NodeRef node = frontend::node_of("segment_min", values);
  const NodeRef bounds = Access::node(offsets, on.site);
  if (node->shape.size() != 1 || bounds->shape.size() != 1 || bounds->shape[0] == ir::Dim(0)) {
    throw ShapeError(
        frontend::at(fmt::format("segment_min({}, {}): takes values [n] and offsets [m + 1]",
                                 frontend::describe(*node), frontend::describe(*bounds)),
                     on.site));
  }
  const NodeRef fallback = frontend::node_of("segment_min", initial, node->dtype);
  const Rows rows = rows_between(bounds, node->shape[0], on);
  return Access::make(extreme(rows, Op::min, node, fallback, on));
}

Array min_of_rows(const Csr& a, SourceLocation where) { return extreme_of_rows(a, Op::min, where); }

Array max_of_rows(const Csr& a, SourceLocation where) { return extreme_of_rows(a, Op::max, where); }

Array argmin_of_rows(const Csr& a, SourceLocation where) {
  return place_in_rows(a, Op::min, where);
}

Array argmax_of_rows(const Csr& a, SourceLocation where) {
  return place_in_rows(a, Op::max, where);
}

Array diagonal(const Csr& a, std::int64_t k, SourceLocation where) {
  const OpRecorder on{where};
  const auto [data, indices, indptr, count] = frontend::nodes_of(a, where);
  const std::int64_t first = k < 0 ? -k : 0;
  const std::int64_t length = std::max<std::int64_t>(
      0, std::min(a.shape[0] - first, a.shape[1] - std::max<std::int64_t>(k, 0)));
  const NodeRef zero = record_constant(data->dtype, 0);
  if (length == 0 || count == ir::Dim(0))
    return Access::make(frontend::broadcast_to_shape(zero, {ir::Dim(length)}, where));
  const NodeRef rows = frontend::segment_of(indptr, count, on);
  const NodeRef there =
      on(Op::equal, on(Op::subtract, on.cast(indices, DType::i64), rows),
         frontend::record_scalar(DType::i64, static_cast<std::uint64_t>(k), false));
  const NodeRef sums = frontend::segment_sum(on(Op::select, there, data, zero), indptr, on);
  return Access::make(on.part(sums, 0, ir::Dim(first), ir::Dim(length)));
}

}  // namespace heddle::sparse
