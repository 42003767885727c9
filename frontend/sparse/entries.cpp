#include "frontend/sparse/entries.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "frontend/array/access.h"
#include "frontend/array/indices_where.h"
#include "frontend/graph/axes.h"
#include "frontend/graph/trace.h"
#include "frontend/numpy/sums_by_key.h"
#include "ir/calls/calls.h"

namespace heddle::frontend {

using ir::Op;
using sparse::Extents;

namespace {

NodeRef number(double value) { return record_constant(DType::i64, value); }

bool fits(const Extents& extents) {
  return extents[1] == 0 || extents[0] <= std::numeric_limits<std::int64_t>::max() / extents[1];
}

}  // namespace

Compressed nodes_of(const sparse::Csr& a, const SourceLocation& where) {
  Compressed made{Access::node(a.data, where),
                  Access::node(a.indices, where),
                  Access::node(a.indptr, where),
                  {}};
  made.count = made.indices->shape[0];
  return made;
}

NodeRef segment_of(const NodeRef& offsets, ir::Dim count, const OpRecorder& on) {
  const NodeRef places = on.cast(on.places(count), offsets->dtype);
  return on(Op::subtract, on(Op::searchsorted_right, offsets, places), number(1));
}

NodeRef offsets_of(const NodeRef& sorted, std::int64_t segments, DType dtype,
                   const OpRecorder& on) {
  const ir::Dim length(segments + 1);
  if (sorted->shape[0] == ir::Dim(0))
    return broadcast_to_shape(record_constant(dtype, 0), {length}, on.site);
  const NodeRef names = on.cast(on.places(length), sorted->dtype);
  return on.cast(on(Op::searchsorted_left, sorted, names), dtype);
}

NodeRef pick(const NodeRef& node, const NodeRef& indices, const OpRecorder& on) {
  ir::Shape shape = node->shape;
  shape[0] = indices->shape[0];
  if (ir::element_count(node->shape) == ir::Dim(0) || ir::element_count(shape) == ir::Dim(0))
    return broadcast_to_shape(record_constant(node->dtype, 0), shape, on.site);
  ir::Shape column(shape.size(), ir::Dim(1));
  column[0] = shape[0];
  return on.gather(node, on.reshape(indices, column), 0);
}

NodeRef joined(const NodeRef& major, const NodeRef& minor, std::int64_t minor_extent,
               const OpRecorder& on) {
  const NodeRef rows =
      on(Op::multiply, on.cast(major, DType::i64), on.extent(ir::Dim(minor_extent)));
  return on(Op::add, rows, on.cast(minor, DType::i64));
}

NodeRef order_of(const NodeRef& numbers, std::int64_t extent, const OpRecorder& on) {
  const NodeRef narrow = on.cast(numbers, key_dtype(std::max<std::int64_t>(extent - 1, 0)));
  return on.cast(on.sort(ir::calls::argsort(), narrow, 0), DType::i64);
}

Ordered already_sorted(const NodeRef& major, const NodeRef& minor, const OpRecorder& on) {
  Ordered made{{}, on.cast(major, DType::i64), on.cast(minor, DType::i64), {}};
  const ir::Dim count = major->shape[0];
  const NodeRef place = on.places(count), none = number(0);
  const NodeRef before = on(Op::maximum, on(Op::subtract, place, number(1)), none);
  const auto differs = [&](const NodeRef& node) {
    return on(Op::not_equal, node, pick(node, before, on));
  };
  made.begins = on(Op::logical_or, on(Op::equal, place, none),
                   on(Op::logical_or, differs(made.major), differs(made.minor)));
  return made;
}

Ordered sorted_by(const NodeRef& major, const NodeRef& minor, const Extents& extents,
                  const OpRecorder& on) {
  if (major->shape[0] == ir::Dim(0)) return already_sorted(major, minor, on);
  NodeRef order;
  if (fits(extents)) {
    order = order_of(joined(major, minor, extents[1], on), extents[0] * extents[1], on);
  } else {
    order = order_of(minor, extents[1], on);
    order = pick(order, order_of(pick(major, order, on), extents[0], on), on);
  }
  Ordered made = already_sorted(pick(major, order, on), pick(minor, order, on), on);
  made.order = order;
  return made;
}

NodeRef Ordered::of(const NodeRef& values, const OpRecorder& on) const {
  return order ? pick(values, order, on) : values;
}

DType index_dtype_for(DType like, const Extents& shape, ir::Dim count) {
  if (like == DType::i64) return like;
  return sparse::index_dtype(shape, count.is_constant() ? count.constant() : 0);
}

sparse::Csr compressed(const NodeRef& data, const NodeRef& rows, const NodeRef& columns,
                       const Extents& shape, DType like, bool canonical, const OpRecorder& on) {
  const DType dtype = index_dtype_for(like, shape, data->shape[0]);
  return {Access::make(data),
          Access::make(on.cast(columns, dtype)),
          Access::make(offsets_of(rows, shape[0], dtype, on)),
          shape,
          true,
          canonical};
}

void refuse_count_in_trace(const char* what, const SourceLocation& where) {
  if (Trace::current() == nullptr) return;
  throw TraceError(
      at(fmt::format("{}: the number of stored elements of the result depends on values, which are "
                     "unknown inside a trace; call it outside of the jitted function or loop",
                     what),
         where));
}

NodeRef counted(const char* what, const NodeRef& mask, std::vector<NodeRef> beside,
                const OpRecorder& on) {
  refuse_count_in_trace(what, on.site);
  if (mask->shape[0] == ir::Dim(0)) return on.places(0);
  return places_of(what, mask, std::move(beside), on);
}

}  // namespace heddle::frontend

namespace heddle::sparse {

DType index_dtype(const Extents& shape, std::int64_t count) {
  const std::int64_t greatest = std::max({shape[0], shape[1], count});
  return greatest > std::numeric_limits<std::int32_t>::max() ? DType::i64 : DType::i32;
}

}  // namespace heddle::sparse
