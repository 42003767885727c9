#include "heddle/elementwise.h"

#include <utility>

#include <fmt/format.h>

#include "heddle/manipulation.h"
#include "heddle/sparse.h"

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/array/views.h"
#include "frontend/graph/axes.h"
#include "frontend/sparse/entries.h"

namespace heddle::sparse {

using frontend::Access;
using frontend::at;
using frontend::NodeRef;
using frontend::OpRecorder;
using frontend::Ordered;
using frontend::record_constant;
using ir::Op;

namespace {

void check_shapes(const char* what, const Csr& a, const Csr& b, const SourceLocation& where) {
  if (a.shape == b.shape) return;
  throw ShapeError(at(fmt::format("{}: sparse matrices of shapes ({}, {}) and ({}, {})", what,
                                  a.shape[0], a.shape[1], b.shape[0], b.shape[1]),
                      where));
}

NodeRef both(const NodeRef& a, const NodeRef& b, DType dtype, const OpRecorder& on) {
  const NodeRef nodes[] = {on.cast(a, dtype), on.cast(b, dtype)};
  return frontend::join_along(nodes, 0, on.site);
}

/// The elements of two matrices, those of the first before equal ones of the second.
Ordered merged(const Csr& a, const Csr& b, const OpRecorder& on) {
  const frontend::Compressed left = frontend::nodes_of(a, on.site);
  const frontend::Compressed right = frontend::nodes_of(b, on.site);
  const NodeRef rows = both(frontend::segment_of(left.indptr, left.count, on),
                            frontend::segment_of(right.indptr, right.count, on), DType::i64, on);
  return frontend::sorted_by(rows, both(left.indices, right.indices, DType::i64, on), a.shape, on);
}

/// The neighbour behind each element; of the last, itself.
NodeRef behind(const NodeRef& node, const OpRecorder& on) {
  const ir::Dim count = node->shape[0];
  const NodeRef next = on(Op::add, on.places(count), record_constant(DType::i64, 1));
  return frontend::pick(node, on(Op::minimum, next, on.extent(count - ir::Dim(1))), on);
}

/// op(a, b) where one of them is stored, without what becomes 0.
Csr combine(const char* what, Op op, const Csr& first, const Csr& second,
            const SourceLocation& where) {
  const OpRecorder on{where};
  check_shapes(what, first, second, where);
  frontend::refuse_count_in_trace(what, where);
  const Csr a = sum_duplicates(first, where), b = sum_duplicates(second, where);
  const frontend::Compressed left = frontend::nodes_of(a, where);
  const frontend::Compressed right = frontend::nodes_of(b, where);
  const DType dtype = promote_types(left.data->dtype, right.data->dtype);
  const DType like = promote_types(left.indices->dtype, right.indices->dtype);
  const NodeRef data = both(left.data, right.data, dtype, on), zero = record_constant(dtype, 0);
  const ir::Dim count = data->shape[0];
  if (count == ir::Dim(0)) {
    const NodeRef none = on.places(0);
    const NodeRef result = on(op, data, data);
    return frontend::compressed(result, none, none, a.shape, like, true, on);
  }
  const Ordered sorted = merged(a, b, on);
  // An element that both have is there twice: first that of a, then that of b.
  const NodeRef values = sorted.of(data, on);
  const NodeRef of_a = on(Op::less, sorted.order, on.extent(left.count));
  const NodeRef is_last = on(Op::equal, on.places(count), on.extent(count - ir::Dim(1)));
  const NodeRef next_begins = on(Op::logical_or, behind(sorted.begins, on), is_last);
  const NodeRef x = on(Op::select, of_a, values, zero);
  const NodeRef alone = on(Op::select, of_a, zero, values);
  const NodeRef y = on(Op::select, next_begins, alone, behind(values, on));
  const NodeRef result = on(op, x, y);
  const NodeRef stored = on(Op::logical_and, sorted.begins,
                            on(Op::not_equal, result, record_constant(result->dtype, 0)));
  const NodeRef places = frontend::counted(what, stored, {result, sorted.major, sorted.minor}, on);
  return frontend::compressed(frontend::pick(result, places, on),
                              frontend::pick(sorted.major, places, on),
                              frontend::pick(sorted.minor, places, on), a.shape, like, true, on);
}

}  // namespace

Csr add(const Csr& a, const Csr& b, SourceLocation where) {
  return combine("add", Op::add, a, b, where);
}

Csr subtract(const Csr& a, const Csr& b, SourceLocation where) {
  return combine("subtract", Op::subtract, a, b, where);
}

Csr multiply(const Csr& a, const Csr& b, SourceLocation where) {
  return combine("multiply", Op::multiply, a, b, where);
}

Csr maximum(const Csr& a, const Csr& b, SourceLocation where) {
  return combine("maximum", Op::maximum, a, b, where);
}

Csr minimum(const Csr& a, const Csr& b, SourceLocation where) {
  return combine("minimum", Op::minimum, a, b, where);
}

Csr not_equal(const Csr& a, const Csr& b, SourceLocation where) {
  return combine("not_equal", Op::not_equal, a, b, where);
}

Csr less(const Csr& a, const Csr& b, SourceLocation where) {
  return combine("less", Op::less, a, b, where);
}

Csr greater(const Csr& a, const Csr& b, SourceLocation where) {
  return combine("greater", Op::greater, a, b, where);
}

Array values_at(const Csr& a, const Operand& dense) {
  const OpRecorder on{dense.where()};
  const auto [data, indices, indptr, count] = frontend::nodes_of(a, on.site);
  const NodeRef node = Access::node(broadcast_to(dense, {a.shape[0], a.shape[1]}), on.site);
  const NodeRef rows = frontend::segment_of(indptr, count, on);
  if (count == ir::Dim(0))
    return Access::make(
        frontend::broadcast_to_shape(record_constant(node->dtype, 0), {count}, on.site));
  return Access::make(
      frontend::pick(on.flat(node), frontend::joined(rows, indices, a.shape[1], on), on));
}

namespace {

Csr overwritten(const Csr& a, const Ordered& sorted, const NodeRef& values, DType like,
                const OpRecorder& on) {
  // Of equal elements the last.
  const ir::Dim count = values->shape[0];
  const NodeRef is_last = on(Op::equal, on.places(count), on.extent(count - ir::Dim(1)));
  const NodeRef ends = on(Op::logical_or, behind(sorted.begins, on), is_last);
  const NodeRef data = sorted.of(values, on);
  const NodeRef places =
      frontend::counted("overwrite", ends, {data, sorted.major, sorted.minor}, on);
  return frontend::compressed(frontend::pick(data, places, on),
                              frontend::pick(sorted.major, places, on),
                              frontend::pick(sorted.minor, places, on), a.shape, like, true, on);
}

}  // namespace

Csr overwrite(const Csr& matrix, const Array& rows, const Array& columns, const Array& values,
              SourceLocation where) {
  const OpRecorder on{where};
  frontend::refuse_count_in_trace("overwrite", where);
  const Csr a = sum_duplicates(matrix, where);
  const frontend::Compressed nodes = frontend::nodes_of(a, where);
  const NodeRef data = both(nodes.data, Access::node(values, where), nodes.data->dtype, on);
  if (data->shape[0] == ir::Dim(0)) return a;
  const NodeRef major = both(frontend::segment_of(nodes.indptr, nodes.count, on),
                             Access::node(rows, where), DType::i64, on);
  const NodeRef minor = both(nodes.indices, Access::node(columns, where), DType::i64, on);
  return overwritten(a, frontend::sorted_by(major, minor, a.shape, on), data, nodes.indices->dtype,
                     on);
}

Coo kron(const Coo& a, const Coo& b, SourceLocation where) {
  const OpRecorder on{where};
  const Extents shape{a.shape[0] * b.shape[0], a.shape[1] * b.shape[1]};
  const auto pairs = [&](Op op, NodeRef x, NodeRef y) {
    const ir::Dim m = x->shape[0], n = y->shape[0];
    x = frontend::broadcast_to_shape(on.reshape(x, {m, ir::Dim(1)}), {m, n}, where);
    y = frontend::broadcast_to_shape(on.reshape(y, {ir::Dim(1), n}), {m, n}, where);
    return on.flat(on(op, x, y));
  };
  const NodeRef x = Access::node(a.data, where), y = Access::node(b.data, where);
  const DType dtype = promote_types(x->dtype, y->dtype);
  const NodeRef data = pairs(Op::multiply, on.cast(x, dtype), on.cast(y, dtype));
  const DType like = frontend::index_dtype_for(
      promote_types(Access::node(a.row, where)->dtype, Access::node(b.row, where)->dtype), shape,
      data->shape[0]);
  const auto places = [&](const Array& outer, const Array& inner, std::int64_t extent) {
    const NodeRef scaled = on(Op::multiply, on.cast(Access::node(outer, where), DType::i64),
                              on.extent(ir::Dim(extent)));
    const NodeRef sum = pairs(Op::add, scaled, on.cast(Access::node(inner, where), DType::i64));
    return Access::make(on.cast(sum, like));
  };
  return {Access::make(data), places(a.row, b.row, b.shape[0]), places(a.col, b.col, b.shape[1]),
          shape, a.canonical && b.canonical};
}

}  // namespace heddle::sparse
