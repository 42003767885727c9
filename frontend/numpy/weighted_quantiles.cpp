#include "frontend/numpy/weighted_quantiles.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "heddle/scans.h"

#include "frontend/array/access.h"
#include "frontend/array/ordering.h"
#include "frontend/array/promote.h"
#include "frontend/graph/axes.h"
#include "ir/calls/calls.h"

namespace heddle::frontend {
namespace {

using ir::Op;

/// The kept axes, then the reduced axes, each in order.
struct Order {
  std::vector<std::int64_t> kept, reduced;
};

Order order_of(int rank, const std::vector<std::int64_t>& reduced) {
  Order order;
  for (const std::int64_t axis : all_axes(rank)) {
    const bool goes = std::find(reduced.begin(), reduced.end(), axis) != reduced.end();
    (goes ? order.reduced : order.kept).push_back(axis);
  }
  return order;
}

ir::Shape extents(const NodeRef& node, const std::vector<std::int64_t>& axes) {
  ir::Shape shape;
  for (const std::int64_t axis : axes) shape.push_back(extent_of(node, axis));
  return shape;
}

/// The weights, expanded to the shape of x.
NodeRef weights_like_x(const WeightedQuantile& asked, const std::vector<std::int64_t>& axes,
                       const OpRecorder& on) {
  const NodeRef weights = Access::node(asked.weights, on.site);
  if (weights->shape == asked.x->shape) return weights;
  if (weights->shape != extents(asked.x, axes)) {
    throw ShapeError(at(fmt::format("{}({}): the weights {} have neither its shape nor that of the "
                                    "axes",
                                    asked.op, describe(*asked.x), describe(*weights)),
                        on.site));
  }
  std::vector<std::int64_t> sorted = all_axes(rank_of(weights));
  std::sort(sorted.begin(), sorted.end(), [&](std::int64_t i, std::int64_t k) {
    return axes[static_cast<std::size_t>(i)] < axes[static_cast<std::size_t>(k)];
  });
  ir::Shape shape(asked.x->shape.size(), 1);
  for (const std::int64_t axis : axes)
    shape[static_cast<std::size_t>(axis)] = extent_of(asked.x, axis);
  return broadcast_to_shape(on.reshape(on.transpose(weights, sorted), shape), asked.x->shape,
                            on.site);
}

/// Reshapes to [kept ..., n], where n runs along the reduced axes.
NodeRef in_rows(const NodeRef& node, const Order& order, const OpRecorder& on) {
  std::vector<std::int64_t> axes = order.kept;
  axes.insert(axes.end(), order.reduced.begin(), order.reduced.end());
  ir::Shape shape = extents(node, order.kept);
  shape.push_back(ir::element_count(extents(node, order.reduced)));
  return on.reshape(on.transpose(node, axes), shape);
}

/// The cumulative share of a row's weights up to and including each element. A share of 0 becomes
/// -1, so that it is less than any q.
NodeRef shares_of(const NodeRef& weights, std::int64_t last, DType dtype, const OpRecorder& on) {
  const Array sums = cumsum({Access::make(weights), on.site}, last);
  const NodeRef rising = Access::node(sums, on.site);
  const NodeRef total = on.part(rising, last, extent_of(rising, last) - 1, 1);
  const NodeRef shares = on.cast(on(Op::divide, rising, total), dtype);
  const NodeRef none = on(Op::equal, shares, record_constant(dtype, 0));
  return on(Op::select, none, record_constant(dtype, -1), shares);
}

}  // namespace

Array weighted_quantile(const WeightedQuantile& asked, const Axes& axes,
                        const SourceLocation& site) {
  const OpRecorder on{site};
  const std::vector<std::int64_t> given = axes_of(asked.op, axes, rank_of(asked.x), site);
  const Order order = order_of(rank_of(asked.x), given);
  const NodeRef rows = in_rows(asked.x, order, on);
  const auto last = static_cast<std::int64_t>(order.kept.size());
  const NodeRef places = on.sort(ir::calls::argsort(), rows, last);
  const NodeRef sorted = on.gather(rows, places, last);
  NodeRef weights = on.gather(in_rows(weights_like_x(asked, given, on), order, on), places, last);
  weights = on.cast(weights, DType::f64);
  const bool has_nan = is_floating(asked.x->dtype);
  if (asked.skips_nan && has_nan) {
    weights = on(Op::select, on(Op::isnan, sorted), record_constant(DType::f64, 0), weights);
  }
  const NodeRef shares = shares_of(weights, last, asked.q->dtype, on);

  // q runs along the first axis, the rows along the axes after it, and their elements along the
  // last.
  const ir::Dim length = extent_of(rows, last);
  ir::Shape first(rows->shape.size() + 1, 1);
  first[0] = ir::element_count(asked.q->shape);
  ir::Shape behind = rows->shape;
  behind.insert(behind.begin(), 1);
  const NodeRef below = on(Op::less, on.reshape(shares, behind), on.reshape(asked.q, first));
  const NodeRef count = on.reduce(Op::sum, on.cast(below, DType::i64), {last + 1});
  const NodeRef end = on(Op::subtract, on.extent(length), record_constant(DType::i64, 1));
  std::vector<std::int64_t> q_last = all_axes(static_cast<int>(last) + 1);
  std::rotate(q_last.begin(), q_last.begin() + 1, q_last.end());
  std::vector<std::int64_t> q_first = all_axes(static_cast<int>(last) + 1);
  std::rotate(q_first.begin(), q_first.end() - 1, q_first.end());
  const NodeRef index = on.transpose(on(Op::minimum, count, end), q_last);
  NodeRef result = on.transpose(on.gather(sorted, index, last), q_first);
  if (!asked.skips_nan && has_nan) {
    const NodeRef greatest = on.transpose(on.part(sorted, last, length - 1, 1), q_first);
    result = on(Op::select, on(Op::isnan, greatest), greatest, result);
  }
  ir::Shape shape = asked.q->shape;
  for (const std::int64_t axis : all_axes(rank_of(asked.x))) {
    const bool goes = std::find(given.begin(), given.end(), axis) != given.end();
    if (!goes || asked.keepdims) shape.push_back(goes ? ir::Dim(1) : extent_of(asked.x, axis));
  }
  return Access::make(on.reshape(result, shape));
}

}  // namespace heddle::frontend
