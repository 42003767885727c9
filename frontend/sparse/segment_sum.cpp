#include "frontend/sparse/segment_sum.h"

#include <fmt/format.h>

#include "heddle/sparse.h"

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/graph/axes.h"
#include "frontend/sparse/entries.h"

namespace heddle::frontend {

using ir::Op;

NodeRef segment_sum(const NodeRef& values, const NodeRef& offsets, const OpRecorder& on) {
  const ir::Dim segments = offsets->shape[0] - ir::Dim(1);
  const NodeRef begins = on.part(offsets, 0, 0, segments);
  const NodeRef ends = on.part(offsets, 0, ir::Dim(1), segments);
  return on.segments(is_boolean(values->dtype) ? Op::any : Op::sum, values, begins, ends, 0);
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
