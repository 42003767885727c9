#include <utility>

#include <fmt/format.h>

#include "heddle/sparse.h"

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/evaluate/evaluate.h"
#include "frontend/graph/axes.h"
#include "frontend/sparse/entries.h"
#include "frontend/sparse/segment_sum.h"

namespace heddle::sparse {

using frontend::Access;
using frontend::at;
using frontend::NodeRef;
using frontend::OpRecorder;
using frontend::record_constant;
using ir::Op;

namespace {

void check_inner(const Extents& a, const NodeRef& x, const SourceLocation& where) {
  const std::size_t rank = x->shape.size();
  if ((rank == 1 || rank == 2) && x->shape[0] == ir::Dim(a[1])) return;
  throw ShapeError(
      at(fmt::format("matmul: a sparse matrix of shape ({}, {}) and {}; the right side "
                     "must be [{}] or [{}, k]",
                     a[0], a[1], frontend::describe(*x), a[1], a[1]),
         where));
}

/// [n] as [n, 1] if x is a matrix.
NodeRef beside(const NodeRef& vector, const NodeRef& x, const OpRecorder& on) {
  return x->shape.size() == 1 ? vector : on.reshape(vector, {vector->shape[0], ir::Dim(1)});
}

}  // namespace

namespace {

/// What a product sums, and the offsets of rows in it.
struct Terms {
  NodeRef values, indptr;
};

Terms terms_of(const Csr& a, const Operand& x, const OpRecorder& on) {
  auto [data, indices, indptr, count] = frontend::nodes_of(a, on.site);
  NodeRef right = frontend::node_of("matmul", x);
  check_inner(a.shape, right, on.site);
  const DType dtype = promote_types(data->dtype, right->dtype);
  right = frontend::pick(on.cast(right, dtype), indices, on);
  const NodeRef left = beside(on.cast(data, dtype), right, on);
  return {on(Op::multiply, left, right), indptr};
}

}  // namespace

Array matmul(const Csr& a, const Operand& x) {
  const OpRecorder on{x.where()};
  const auto [values, indptr] = terms_of(a, x, on);
  return Access::make(frontend::segment_sum(values, indptr, on));
}

Array matmul(const Csr& a, const Pieces& pieces, const Operand& x) {
  const OpRecorder on{x.where()};
  const NodeRef sums =
      frontend::segment_sum(terms_of(a, x, on).values, Access::node(pieces.begins, on.site), on);
  return Access::make(frontend::segment_sum(sums, Access::node(pieces.rows, on.site), on));
}

Array matmul(const Dia& a, const Operand& x) {
  const OpRecorder on{x.where()};
  const NodeRef right = frontend::node_of("matmul", x);
  check_inner(a.shape, right, on.site);
  const NodeRef data = Access::node(a.data, on.site);
  const DType dtype = promote_types(data->dtype, right->dtype);
  const NodeRef zero = record_constant(dtype, 0), none = record_constant(DType::i64, 0);
  ir::Shape result = right->shape;
  result[0] = ir::Dim(a.shape[0]);
  const ir::Dim lines = data->shape[0], width = data->shape[1];
  if (ir::element_count(data->shape) == ir::Dim(0) || a.shape[1] == 0 || a.shape[0] == 0)
    return Access::make(frontend::broadcast_to_shape(zero, result, on.site));
  // The column of each diagonal in each row, [lines, rows].
  const ir::Shape shape{lines, result[0]};
  const NodeRef offsets = on.cast(Access::node(a.offsets, on.site), DType::i64);
  const NodeRef shift =
      frontend::broadcast_to_shape(on.reshape(offsets, {lines, ir::Dim(1)}), shape, on.site);
  const NodeRef column = on(Op::add, frontend::record_iota(shape, 1, DType::i64, on.site), shift);
  const NodeRef end = on(Op::minimum, on.extent(width), on.extent(ir::Dim(a.shape[1])));
  const NodeRef inside =
      on(Op::logical_and, on(Op::greater_equal, column, none), on(Op::less, column, end));
  const NodeRef safe = on(Op::select, inside, column, none);
  const NodeRef values = on(Op::select, inside, on.cast(on.gather(data, safe, 1), dtype), zero);
  const NodeRef taken = frontend::pick(on.cast(right, dtype), on.flat(safe), on);
  ir::Shape stacked = result;
  stacked.insert(stacked.begin(), lines);
  ir::Shape left = shape;
  if (right->shape.size() == 2) left.emplace_back(1);
  const NodeRef terms = on(Op::multiply, on.reshape(values, left), on.reshape(taken, stacked));
  // Elements outside are 0 times something, which may be infinite.
  const NodeRef counted = on(Op::select, on.reshape(inside, left), terms, zero);
  return Access::make(on.reduce(is_boolean(dtype) ? Op::any : Op::sum, counted, {0}));
}

Csr matmul(const Csr& a, const Csr& b, SourceLocation where) {
  const OpRecorder on{where};
  const Extents shape{a.shape[0], b.shape[1]};
  if (a.shape[1] != b.shape[0]) {
    throw ShapeError(at(fmt::format("matmul: sparse matrices of shapes ({}, {}) and ({}, {}); the "
                                    "inner extents must be equal",
                                    a.shape[0], a.shape[1], b.shape[0], b.shape[1]),
                        where));
  }
  frontend::refuse_count_in_trace("matmul of sparse matrices", where);
  const frontend::Compressed left = frontend::nodes_of(a, where);
  const frontend::Compressed right = frontend::nodes_of(b, where);
  const DType dtype = promote_types(left.data->dtype, right.data->dtype);
  const DType like = promote_types(left.indices->dtype, right.indices->dtype);
  if (left.count == ir::Dim(0) || right.count == ir::Dim(0)) {
    const NodeRef none = on.places(0);
    return frontend::compressed(on.cast(none, dtype), none, none, shape, like, true, on);
  }
  // Each element of a meets a row of b: `ends` counts the products up to each.
  const NodeRef bounds = on.cast(right.indptr, DType::i64);
  const ir::Dim rows(b.shape[0]);
  const NodeRef begin = frontend::pick(on.part(bounds, 0, 0, rows), left.indices, on);
  const NodeRef end = frontend::pick(on.part(bounds, 0, ir::Dim(1), rows), left.indices, on);
  const NodeRef length = on(Op::subtract, end, begin);
  const NodeRef ends = on.reduce(Op::cumsum, length, {0});
  const NodeRef total = on.part(ends, 0, left.count - ir::Dim(1), ir::Dim(1));
  const Array both[] = {Access::make(ends), Access::make(total)};
  eval(both);
  const std::int64_t products = both[1].item<std::int64_t>(where);
  const NodeRef place = on.places(ir::Dim(products));
  const NodeRef source = on(Op::searchsorted_right, ends, place);
  const NodeRef first = on(Op::subtract, ends, length);
  const NodeRef inside = on(Op::subtract, place, frontend::pick(first, source, on));
  const NodeRef target = on(Op::add, frontend::pick(begin, source, on), inside);
  const NodeRef row = frontend::pick(frontend::segment_of(left.indptr, left.count, on), source, on);
  const NodeRef column = frontend::pick(right.indices, target, on);
  const NodeRef value = on(Op::multiply, on.cast(frontend::pick(left.data, source, on), dtype),
                           on.cast(frontend::pick(right.data, target, on), dtype));
  const frontend::Unique made = frontend::sums_of_equal(
      "matmul of sparse matrices", frontend::sorted_by(row, column, shape, on), value, on);
  // As in SciPy, products that cancel are not stored.
  const NodeRef stored = on(Op::not_equal, made.data, record_constant(dtype, 0));
  const NodeRef kept = frontend::counted("matmul of sparse matrices", stored,
                                         {made.data, made.major, made.minor}, on);
  return frontend::compressed(frontend::pick(made.data, kept, on),
                              frontend::pick(made.major, kept, on),
                              frontend::pick(made.minor, kept, on), shape, like, true, on);
}

}  // namespace heddle::sparse
