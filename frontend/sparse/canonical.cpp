#include <utility>

#include <fmt/format.h>

#include "heddle/sparse.h"

#include "frontend/array/access.h"
#include "frontend/array/views.h"
#include "frontend/graph/axes.h"
#include "frontend/sparse/entries.h"
#include "frontend/sparse/segment_sum.h"

namespace heddle::frontend {

Unique sums_of_equal(const char* what, const Ordered& sorted, const NodeRef& data,
                     const OpRecorder& on) {
  const NodeRef values = sorted.of(data, on);
  const NodeRef places = counted(what, sorted.begins, {values, sorted.major, sorted.minor}, on);
  const NodeRef end = on.reshape(on.extent(values->shape[0]), {ir::Dim(1)});
  const NodeRef ends[] = {places, end};
  return {segment_sum(values, join_along(ends, 0, on.site), on), pick(sorted.major, places, on),
          pick(sorted.minor, places, on)};
}

}  // namespace heddle::frontend

namespace heddle::sparse {

using frontend::Access;
using frontend::NodeRef;
using frontend::OpRecorder;
using frontend::Ordered;
using frontend::record_constant;
using ir::Op;

namespace {

Ordered ordered(const Csr& a, const frontend::Compressed& nodes, const OpRecorder& on) {
  const NodeRef rows = frontend::segment_of(nodes.indptr, nodes.count, on);
  return a.sorted ? frontend::already_sorted(rows, nodes.indices, on)
                  : frontend::sorted_by(rows, nodes.indices, a.shape, on);
}

}  // namespace

Csr sort_indices(const Csr& a, SourceLocation where) {
  if (a.sorted) return a;
  const OpRecorder on{where};
  const frontend::Compressed nodes = frontend::nodes_of(a, where);
  const Ordered sorted = ordered(a, nodes, on);
  return {Access::make(sorted.of(nodes.data, on)),
          Access::make(on.cast(sorted.minor, nodes.indices->dtype)),
          a.indptr,
          a.shape,
          true,
          a.canonical};
}

namespace {

/// Whether op(the column before, the column) is true for neighbours in all rows.
Array neighbours(const Csr& a, Op op, const OpRecorder& on) {
  const auto [data, indices, indptr, count] = frontend::nodes_of(a, on.site);
  if (count == ir::Dim(0)) return Access::make(record_constant(DType::boolean, 1));
  const NodeRef rows = frontend::segment_of(indptr, count, on);
  const ir::Dim pairs = count - ir::Dim(1);
  const auto before = [&](const NodeRef& node) { return on.part(node, 0, 0, pairs); };
  const auto after = [&](const NodeRef& node) { return on.part(node, 0, 1, pairs); };
  const NodeRef holds = on(Op::logical_or, on(Op::not_equal, before(rows), after(rows)),
                           on(op, before(indices), after(indices)));
  return Access::make(on.reduce(Op::all, holds, {0}));
}

}  // namespace

Array has_sorted_indices(const Csr& a, SourceLocation where) {
  return neighbours(a, Op::less_equal, {where});
}

Array has_canonical_format(const Csr& a, SourceLocation where) {
  return neighbours(a, Op::less, {where});
}

Csr sum_duplicates(const Csr& a, SourceLocation where) {
  if (a.canonical) return sort_indices(a, where);
  const OpRecorder on{where};
  const frontend::Compressed nodes = frontend::nodes_of(a, where);
  const frontend::Unique made =
      frontend::sums_of_equal("sum_duplicates", ordered(a, nodes, on), nodes.data, on);
  return frontend::compressed(made.data, made.major, made.minor, a.shape, nodes.indices->dtype,
                              true, on);
}

Coo sum_duplicates(const Coo& a, SourceLocation where) {
  if (a.canonical) return a;
  const OpRecorder on{where};
  const NodeRef row = Access::node(a.row, where), col = Access::node(a.col, where);
  const Ordered sorted = frontend::sorted_by(row, col, a.shape, on);
  const frontend::Unique made =
      frontend::sums_of_equal("sum_duplicates", sorted, Access::node(a.data, where), on);
  return {Access::make(made.data), Access::make(on.cast(made.major, row->dtype)),
          Access::make(on.cast(made.minor, row->dtype)), a.shape, true};
}

Csr keep(const Csr& a, const Array& mask, SourceLocation where) {
  const OpRecorder on{where};
  const auto [data, indices, indptr, count] = frontend::nodes_of(a, where);
  const NodeRef kept = Access::node(mask, where);
  if (kept->dtype != DType::boolean || kept->shape.size() != 1 || kept->shape[0] != count) {
    throw ShapeError(frontend::at(fmt::format("keep: the mask is {}, but there are {} elements",
                                              frontend::describe(*kept), count.to_string()),
                                  where));
  }
  const NodeRef rows = frontend::segment_of(indptr, count, on);
  const NodeRef places = frontend::counted("keep", kept, {}, on);
  const auto taken = [&](const NodeRef& node) { return frontend::pick(node, places, on); };
  Csr made = frontend::compressed(taken(data), taken(rows), taken(indices), a.shape, indices->dtype,
                                  a.canonical, on);
  made.sorted = a.sorted;
  return made;
}

}  // namespace heddle::sparse
