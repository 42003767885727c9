#include <utility>
#include <vector>

#include <fmt/format.h>

#include "heddle/creation.h"
#include "heddle/elementwise.h"
#include "heddle/sparse.h"
#include "heddle/take.h"

#include "frontend/array/access.h"
#include "frontend/array/index_arrays.h"
#include "frontend/array/indices_where.h"
#include "frontend/array/promote.h"
#include "frontend/graph/at_location.h"
#include "frontend/graph/axes.h"
#include "frontend/sparse/entries.h"
#include "frontend/sparse/segment_sum.h"

namespace heddle::sparse {

using frontend::Access;
using frontend::at;
using frontend::AtLocation;
using frontend::NodeRef;
using frontend::OpRecorder;
using frontend::record_constant;
using ir::Op;

Coo coo(const Operand& dense) {
  const OpRecorder on{dense.where()};
  const NodeRef node = frontend::node_of("coo", dense);
  if (node->shape.size() != 2) {
    throw ShapeError(
        at(fmt::format("coo: takes a matrix, not {}", frontend::describe(*node)), on.site));
  }
  frontend::refuse_count_in_trace("coo", on.site);
  const Shape shape = frontend::constant_shape("coo", node, on.site);
  const NodeRef flat = on.flat(node);
  const NodeRef stored = on(Op::not_equal, flat, record_constant(node->dtype, 0));
  const NodeRef places = frontend::counted("coo", stored, {flat}, on);
  const std::vector<NodeRef> at_ = frontend::unraveled(places, node->shape, on);
  const DType dtype = index_dtype({shape[0], shape[1]});
  return {Access::make(frontend::pick(flat, places, on)),
          Access::make(on.cast(at_[0], dtype)),
          Access::make(on.cast(at_[1], dtype)),
          {shape[0], shape[1]},
          true};
}

Array rows_of(const Csr& a, SourceLocation where) {
  const OpRecorder on{where};
  const auto [data, indices, indptr, count] = frontend::nodes_of(a, where);
  return Access::make(frontend::segment_of(indptr, count, on));
}

Coo to_coo(const Csr& a, SourceLocation where) {
  const DType dtype = Access::node(a.indices, where)->dtype;
  return {a.data, rows_of(a, where).astype(dtype, where), a.indices, a.shape, a.canonical};
}

Csr to_csr(const Coo& a, SourceLocation where) {
  const OpRecorder on{where};
  const NodeRef row = Access::node(a.row, where);
  const frontend::Ordered sorted =
      frontend::sorted_by(row, Access::node(a.col, where), a.shape, on);
  return frontend::compressed(sorted.of(Access::node(a.data, where), on), sorted.major,
                              sorted.minor, a.shape, row->dtype, a.canonical, on);
}

Csc transpose(const Csr& a) {
  return {a.data, a.indices, a.indptr, {a.shape[1], a.shape[0]}, a.sorted, a.canonical};
}

Csr transpose(const Csc& a) {
  return {a.data, a.indices, a.indptr, {a.shape[1], a.shape[0]}, a.sorted, a.canonical};
}

Csc to_csc(const Csr& a, SourceLocation where) {
  const OpRecorder on{where};
  const auto [data, indices, indptr, count] = frontend::nodes_of(a, where);
  const NodeRef rows = frontend::segment_of(indptr, count, on);
  // Elements are in the order of rows, and a stable sort by column keeps that.
  if (count == ir::Dim(0))
    return transpose(frontend::compressed(data, indices, rows, {a.shape[1], a.shape[0]},
                                          indices->dtype, a.canonical, on));
  const NodeRef order = frontend::order_of(indices, a.shape[1], on);
  return transpose(frontend::compressed(
      frontend::pick(data, order, on), frontend::pick(indices, order, on),
      frontend::pick(rows, order, on), {a.shape[1], a.shape[0]}, indices->dtype, a.canonical, on));
}

Csr to_csr(const Csc& a, SourceLocation where) { return transpose(to_csc(transpose(a), where)); }

Array to_dense(const Csr& a, SourceLocation where) {
  const OpRecorder on{where};
  const auto [data, indices, indptr, count] = frontend::nodes_of(a, where);
  const ir::Dim rows(a.shape[0]), columns(a.shape[1]);
  if (count == ir::Dim(0))
    return Access::make(
        frontend::broadcast_to_shape(record_constant(data->dtype, 0), {rows, columns}, where));
  const NodeRef row = frontend::segment_of(indptr, count, on);
  if (a.canonical) {
    Array flat = zeros({a.shape[0] * a.shape[1]}, data->dtype, where);
    const Array places = Access::make(frontend::joined(row, indices, a.shape[1], on));
    flat.at({IndexItem(places, where)}, where) = Operand(a.data, where);
    return flat.reshape({a.shape[0], a.shape[1]}, where);
  }
  const frontend::Ordered sorted = frontend::sorted_by(row, indices, a.shape, on);
  const NodeRef place = frontend::joined(sorted.major, sorted.minor, a.shape[1], on);
  const NodeRef offsets = frontend::offsets_of(place, a.shape[0] * a.shape[1], DType::i64, on);
  const NodeRef sums = frontend::segment_sum(sorted.of(data, on), offsets, on);
  return Access::make(on.reshape(sums, {rows, columns}));
}

namespace {

/// Which elements of a Dia lie in the matrix: [d, n], with their rows and columns, i64.
struct Diagonals {
  NodeRef data, row, column, inside;
};
Diagonals diagonals_of(const Dia& a, const OpRecorder& on) {
  Diagonals made;
  made.data = Access::node(a.data, on.site);
  const NodeRef offsets = on.cast(Access::node(a.offsets, on.site), DType::i64);
  const ir::Shape shape = made.data->shape;
  made.column = frontend::record_iota(shape, 1, DType::i64, on.site);
  const NodeRef shift =
      frontend::broadcast_to_shape(on.reshape(offsets, {shape[0], ir::Dim(1)}), shape, on.site);
  made.row = on(Op::subtract, made.column, shift);
  const NodeRef inside =
      on(Op::logical_and, on(Op::greater_equal, made.row, record_constant(DType::i64, 0)),
         on(Op::less, made.row, on.extent(ir::Dim(a.shape[0]))));
  made.inside =
      on(Op::logical_and, inside, on(Op::less, made.column, on.extent(ir::Dim(a.shape[1]))));
  return made;
}

}  // namespace

Coo to_coo(const Dia& a, SourceLocation where) {
  const OpRecorder on{where};
  const Diagonals made = diagonals_of(a, on);
  const NodeRef stored = on(Op::logical_and, made.inside,
                            on(Op::not_equal, made.data, record_constant(made.data->dtype, 0)));
  const NodeRef places = frontend::counted("dia: tocoo", on.flat(stored), {}, on);
  const DType dtype = frontend::index_dtype_for(Access::node(a.offsets, where)->dtype, a.shape, 0);
  const auto taken = [&](const NodeRef& node) { return frontend::pick(on.flat(node), places, on); };
  return {Access::make(taken(made.data)), Access::make(on.cast(taken(made.row), dtype)),
          Access::make(on.cast(taken(made.column), dtype)), a.shape, true};
}

Array to_dense(const Dia& a, SourceLocation where) {
  const OpRecorder on{where};
  const NodeRef data = Access::node(a.data, where), offsets = Access::node(a.offsets, where);
  const std::int64_t rows = a.shape[0], columns = a.shape[1];
  const ir::Shape shape{ir::Dim(rows), ir::Dim(columns)};
  const NodeRef zero = record_constant(data->dtype, 0);
  if (ir::element_count(data->shape) == ir::Dim(0) || ir::element_count(shape) == ir::Dim(0))
    return Access::make(frontend::broadcast_to_shape(zero, shape, where));
  // For each diagonal of the matrix, from the last row's on, which line of data it is; else -1.
  const AtLocation here(where);
  Array lines = full({rows + columns}, here(Scalar(-1)), DType::i64);
  const Array first = add(here(a.offsets.astype(DType::i64, where)), here(Scalar(rows)));
  const Array inside = logical_and(here(greater(here(first), here(Scalar(0)))),
                                   here(less(here(first), here(Scalar(rows + columns)))));
  const Array numbers = Access::make(on.places(offsets->shape[0]));
  const Array slots = heddle::where(here(inside), here(first), here(Scalar(0)));
  lines.at({IndexItem(slots, where)}, where) =
      here(heddle::where(here(inside), here(numbers), here(Scalar(-1))));
  const NodeRef i = frontend::record_iota(shape, 0, DType::i64, where);
  const NodeRef j = frontend::record_iota(shape, 1, DType::i64, where);
  const NodeRef diagonal = on.flat(on(Op::add, on(Op::subtract, j, i), on.extent(ir::Dim(rows))));
  const NodeRef line = frontend::pick(Access::node(lines, where), diagonal, on);
  const NodeRef width = on.extent(data->shape[1]);
  const NodeRef place = on(Op::add, on(Op::multiply, line, width), on.flat(j));
  const NodeRef value =
      frontend::pick(on.flat(data), on(Op::maximum, place, record_constant(DType::i64, 0)), on);
  const NodeRef there =
      on(Op::logical_and, on(Op::greater_equal, line, record_constant(DType::i64, 0)),
         on(Op::less, on.flat(j), width));
  return Access::make(on.reshape(on(Op::select, there, value, zero), shape));
}

Dia to_dia(const Coo& a, SourceLocation where) {
  const OpRecorder on{where};
  frontend::refuse_count_in_trace("todia", where);
  const Csr unique = a.canonical ? to_csr(a, where) : sum_duplicates(to_csr(a, where), where);
  const auto [data, indices, indptr, count] = frontend::nodes_of(unique, where);
  const DType dtype = index_dtype(a.shape);
  if (count == ir::Dim(0))
    return {zeros({0, 0}, data->dtype, where), zeros({0}, dtype, where), a.shape};
  const NodeRef row = frontend::segment_of(indptr, count, on);
  const NodeRef column = on.cast(indices, DType::i64);
  const NodeRef shift = on(Op::subtract, column, row);
  // Numbers of diagonals from 0 on, sorted.
  const NodeRef names = on(Op::add, shift, on.extent(ir::Dim(a.shape[0])));
  const NodeRef order = frontend::order_of(names, a.shape[0] + a.shape[1], on);
  const frontend::Ordered sorted =
      frontend::already_sorted(frontend::pick(shift, order, on), on.places(count), on);
  const NodeRef before =
      on(Op::maximum, on(Op::subtract, on.places(count), record_constant(DType::i64, 1)),
         record_constant(DType::i64, 0));
  const NodeRef begins =
      on(Op::logical_or, on(Op::equal, on.places(count), record_constant(DType::i64, 0)),
         on(Op::not_equal, sorted.major, frontend::pick(sorted.major, before, on)));
  const NodeRef last_column = on.reduce(Op::max, column, {0});
  const NodeRef places = frontend::counted("todia", begins, {sorted.major, last_column}, on);
  const NodeRef offsets = frontend::pick(sorted.major, places, on);
  const std::int64_t width = Access::make(last_column).item<std::int64_t>(where) + 1;
  const std::int64_t lines = offsets->shape[0].constant();
  const NodeRef line = on(Op::searchsorted_left, offsets, shift);
  Array flat = zeros({lines * width}, data->dtype, where);
  const Array slots = Access::make(frontend::joined(line, column, width, on));
  flat.at({IndexItem(slots, where)}, where) = Operand(unique.data, where);
  return {flat.reshape({lines, width}, where), Access::make(on.cast(offsets, dtype)), a.shape};
}

}  // namespace heddle::sparse
