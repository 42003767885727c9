#include "frontend/sparse/segment_sum.h"

#include <fmt/format.h>

#include "heddle/sparse.h"

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/graph/axes.h"
#include "frontend/sparse/entries.h"

namespace heddle::frontend {

using ir::Op;

namespace {

/// A 1-d node as [n, 1, ...], to broadcast along the other axes of `like`.
NodeRef column(const NodeRef& node, const NodeRef& like, const OpRecorder& on) {
  ir::Shape shape(like->shape.size(), ir::Dim(1));
  shape[0] = node->shape[0];
  return on.reshape(node, std::move(shape));
}

}  // namespace

NodeRef segment_sum(const NodeRef& values, const NodeRef& offsets, const OpRecorder& on) {
  const DType dtype = values->dtype;
  const ir::Dim count = values->shape[0], segments = offsets->shape[0] - ir::Dim(1);
  ir::Shape shape = values->shape;
  shape[0] = segments;
  if (ir::element_count(values->shape) == ir::Dim(0) || segments == ir::Dim(0))
    return broadcast_to_shape(record_constant(dtype, 0), shape, on.site);
  if (is_boolean(dtype)) {
    const NodeRef sums = segment_sum(on.cast(values, DType::i32), offsets, on);
    return on(Op::not_equal, sums, record_constant(DType::i32, 0));
  }
  const NodeRef none = record_constant(DType::i64, 0), one = record_constant(DType::i64, 1);
  const NodeRef segment = segment_of(offsets, count, on);
  const NodeRef before = on(Op::maximum, on(Op::subtract, on.places(count), one), none);
  const NodeRef begins = on(Op::not_equal, segment, on.gather(segment, before, 0));
  ir::Attributes along;
  along.axes = {0};
  const NodeRef restarts = broadcast_to_shape(column(begins, values, on), values->shape, on.site);
  const NodeRef sums = record(Op::cumsum, {values, restarts}, along, on.site);
  // The last element of a segment is its sum.
  const NodeRef wide = on.cast(offsets, DType::i64);
  const NodeRef begin = on.part(wide, 0, 0, segments), end = on.part(wide, 0, 1, segments);
  const NodeRef last = on(Op::maximum, on(Op::subtract, end, one), none);
  const NodeRef filled = column(on(Op::less, begin, end), values, on);
  const NodeRef zero = record_constant(dtype, 0);
  return on(Op::select, filled, on.gather(sums, column(last, values, on), 0), zero);
}

}  // namespace heddle::frontend

namespace heddle::sparse {

Array segment_sum(const Operand& values, const Array& offsets) {
  const frontend::OpRecorder on{values.where()};
  const frontend::NodeRef node = frontend::node_of("segment_sum", values);
  frontend::NodeRef bounds = frontend::Access::node(offsets, on.site);
  if (node->shape.empty() || bounds->shape.size() != 1 || bounds->shape[0] == ir::Dim(0)) {
    throw ShapeError(
        frontend::at(fmt::format("segment_sum({}, {}): takes values [n, ...] and offsets [m + 1]",
                                 frontend::describe(*node), frontend::describe(*bounds)),
                     on.site));
  }
  if (!is_integer(bounds->dtype)) {
    throw DTypeError(frontend::at(
        fmt::format("segment_sum: offsets are integers, not {}", frontend::describe(*bounds)),
        on.site));
  }
  if (bounds->dtype != DType::i32) bounds = on.cast(bounds, DType::i64);
  return frontend::Access::make(frontend::segment_sum(node, bounds, on));
}

}  // namespace heddle::sparse
