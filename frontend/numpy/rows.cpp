#include "frontend/numpy/rows.h"

#include "frontend/array/views.h"
#include "ir/calls/calls.h"

namespace heddle::frontend {

using ir::Op;

namespace {

NodeRef zeros(ir::Shape shape, const OpRecorder& on) {
  return broadcast_to_shape(record_constant(DType::i64, 0), std::move(shape), on.site);
}

/// For each column: the rank of each element among the column's distinct elements.
NodeRef ranks_in_columns(const NodeRef& keys, const OpRecorder& on) {
  const NodeRef order = on.sort(ir::calls::argsort(), keys, 0);
  const NodeRef step = on.cast(steps(on.gather(keys, order, 0), true, on), DType::i64);
  const NodeRef from_first[] = {zeros({1, keys->shape[1]}, on), step};
  ir::Attributes along, back;
  along.axes = back.axes = {0};
  back.shape = keys->shape;
  const NodeRef ranks = record(Op::cumsum, {join_along(from_first, 0, on.site)}, along, on.site);
  return record(Op::scatter_add, {ranks, order}, back, on.site);
}

}  // namespace

NodeRef steps(const NodeRef& sorted, bool equal_nan, const OpRecorder& on) {
  const ir::Dim rest = sorted->shape[0] - 1;
  const NodeRef before = on.part(sorted, 0, 0, rest), after = on.part(sorted, 0, 1, rest);
  const NodeRef differ = on(Op::not_equal, after, before);
  if (!equal_nan || is_integer(sorted->dtype) || is_boolean(sorted->dtype)) return differ;
  return on(Op::logical_and, differ, on(Op::logical_not, on(Op::isnan, before)));
}

NodeRef rows_along(const NodeRef& node, std::int64_t axis, const OpRecorder& on) {
  std::vector<std::int64_t> order = {axis};
  for (std::int64_t i = 0; i < rank_of(node); ++i) {
    if (i != axis) order.push_back(i);
  }
  const NodeRef front = permute(node, std::move(order), on.site);
  const ir::Shape rest(front->shape.begin() + 1, front->shape.end());
  return on.reshape(front, {front->shape[0], ir::element_count(rest)});
}

// Ranks each column, then repeatedly combines the ranks of two neighbouring columns into one number
// with the same order. This takes as many rounds as the number of columns has bits.
NodeRef ranks_of_rows(const NodeRef& rows, const OpRecorder& on) {
  const std::int64_t count = rows->shape[0].constant();
  std::int64_t columns = rows->shape[1].constant();
  if (count == 0 || columns == 0) return zeros({count}, on);
  NodeRef ranks = ranks_in_columns(rows, on);
  const NodeRef radix = record_constant(DType::i64, static_cast<double>(count));
  while (columns > 1) {
    const std::int64_t pairs = columns / 2;
    const NodeRef paired = on.reshape(on.part(ranks, 1, 0, 2 * pairs), {count, pairs, 2});
    const auto half = [&](std::int64_t k) {
      return on.reshape(on.part(paired, 2, k, 1), {count, pairs});
    };
    NodeRef numbers = on(Op::add, on(Op::multiply, half(0), radix), half(1));
    if (columns % 2 == 1) {
      const NodeRef all[] = {numbers, on.part(ranks, 1, columns - 1, 1)};
      numbers = join_along(all, 1, on.site);
    }
    ranks = ranks_in_columns(numbers, on);
    columns = pairs + columns % 2;
  }
  return on.reshape(ranks, {count});
}

}  // namespace heddle::frontend
