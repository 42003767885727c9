#include "frontend/array/runs.h"

#include <algorithm>
#include <vector>

#include "frontend/array/ordering.h"

namespace heddle::frontend {

using ir::Op;

namespace {

NodeRef integer(std::int64_t value) {
  return record_scalar(DType::i64, static_cast<std::uint64_t>(value), true);
}

/// A 1-d node as the given axis of `rank` ones.
NodeRef along(const NodeRef& node, std::size_t axis, std::size_t rank, const OpRecorder& on) {
  ir::Shape shape(rank, ir::Dim(1));
  shape[axis] = node->shape[0];
  return on.reshape(node, std::move(shape));
}

NodeRef gather(const NodeRef& node, std::vector<NodeRef> indices, std::span<const Run> runs,
               const Site& site) {
  ir::Attributes attributes;
  for (const Run& run : runs) attributes.axes.push_back(static_cast<std::int64_t>(run.axis));
  indices.insert(indices.begin(), node);
  return record(Op::gather, indices, std::move(attributes), site);
}

/// Numbers of the elements that are written to the elements of an axis, and where there are such.
struct Writers {
  NodeRef number, exists;
};

/// The writers of elements at a distance from the run's start.
Writers writers_at(const NodeRef& distance, const Run& run, const OpRecorder& on) {
  NodeRef number = distance;
  if (run.step != 1) number = on(Op::floor_divide, distance, integer(run.step));
  NodeRef exists = on(Op::logical_and, on(Op::greater_equal, number, integer(0)),
                      on(Op::less, number, integer(run.count)));
  if (run.step != 1) {
    const NodeRef multiple = on(Op::multiply, number, integer(run.step));
    exists = on(Op::logical_and, exists, on(Op::equal, multiple, distance));
  }
  return {number, exists};
}

Writers writers_of(const Run& run, ir::Dim extent, const OpRecorder& on) {
  const NodeRef distance = on(Op::subtract, on.places(extent), run.start);
  const Writers own = writers_at(distance, run, on);
  if (run.inside) return own;
  // Of the indices i and i - extent, which name one element, the greater one is written later.
  const Writers from_end = writers_at(on(Op::subtract, distance, on.extent(extent)), run, on);
  const Writers& last = run.step > 0 ? own : from_end;
  const Writers& first = run.step > 0 ? from_end : own;
  return {on(Op::select, last.exists, last.number, first.number),
          on(Op::logical_or, last.exists, first.exists)};
}

}  // namespace

NodeRef indices_of(const Run& run, const SourceLocation& site) {
  const OpRecorder on{site};
  NodeRef offsets = on.places(run.count);
  if (run.step != 1) offsets = on(Op::multiply, offsets, integer(run.step));
  return on(Op::add, offsets, run.start);
}

ir::Shape shape_of_runs(ir::Shape shape, std::span<const Run> runs) {
  for (const Run& run : runs) shape[run.axis] = run.count;
  return shape;
}

NodeRef read_runs(const NodeRef& node, std::span<const Run> runs, const SourceLocation& site) {
  if (runs.empty()) return node;
  const OpRecorder on{site};
  std::vector<NodeRef> indices;
  for (const Run& run : runs)
    indices.push_back(along(indices_of(run, site), run.axis, node->shape.size(), on));
  return gather(node, std::move(indices), runs, site);
}

NodeRef write_runs(const NodeRef& node, std::span<const Run> runs, const NodeRef& value,
                   const SourceLocation& site) {
  if (runs.empty()) return broadcast_to_shape(value, node->shape, site);
  const ir::Shape shape = shape_of_runs(node->shape, runs);
  const bool is_empty =
      ir::element_count(shape) == ir::Dim(0) || ir::element_count(node->shape) == ir::Dim(0);
  if (is_empty) return node;
  const OpRecorder on{site};
  std::vector<NodeRef> numbers;
  NodeRef written;
  for (const Run& run : runs) {
    const std::size_t rank = node->shape.size();
    const Writers writers = writers_of(run, node->shape[run.axis], on);
    numbers.push_back(along(writers.number, run.axis, rank, on));
    const NodeRef exists = along(writers.exists, run.axis, rank, on);
    written = written ? on(Op::logical_and, written, exists) : exists;
  }
  // A number that is out of range belongs to an element that is not written.
  const NodeRef element = value->shape.empty() ? value
                                               : gather(broadcast_to_shape(value, shape, site),
                                                        std::move(numbers), runs, site);
  return on(Op::select, written, element, node);
}

}  // namespace heddle::frontend
