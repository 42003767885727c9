#include "heddle/sorting.h"

#include <fmt/format.h>

#include "heddle/creation.h"

#include "frontend/array/access.h"
#include "frontend/array/ordering.h"
#include "frontend/array/promote.h"
#include "ir/calls/calls.h"

namespace heddle {

using frontend::Access;
using frontend::Along;
using frontend::at;
using frontend::NodeRef;
using frontend::OpRecorder;
using frontend::Site;
using ir::Op;

namespace {

// Reversing before and after a stable sort keeps equal elements in order.
NodeRef sort_node(const Along& what, bool descending, const OpRecorder& on) {
  if (!descending) return on.sort(ir::calls::sort(), what.node, what.axis);
  // Equal integers are identical, but zeros of floats may differ in sign.
  const bool distinct = is_integer(what.node->dtype) || is_boolean(what.node->dtype);
  const NodeRef turned = distinct ? what.node : on.flip(what.node, what.axis);
  return on.flip(on.sort(ir::calls::sort(), turned, what.axis), what.axis);
}

NodeRef argsort_node(const Along& what, bool descending, const OpRecorder& on) {
  if (!descending) return on.sort(ir::calls::argsort(), what.node, what.axis);
  const NodeRef turned = on.flip(what.node, what.axis);
  const NodeRef places = on.flip(on.sort(ir::calls::argsort(), turned, what.axis), what.axis);
  const NodeRef last =
      on(Op::subtract, on.extent(what.length()), frontend::record_constant(DType::i64, 1));
  return on(Op::subtract, last, places);
}

void check_place(std::string_view op, const Along& what, std::int64_t kth, const Site& site) {
  const ir::Dim length = what.length();
  if (!length.is_constant()) return;
  if (kth < length.constant() && kth >= -length.constant()) return;
  throw ValueError(
      at(fmt::format("{}({}): kth is {}, and axis {} has {} elements", op,
                     frontend::describe(*what.node), kth, what.axis, length.constant()),
         site));
}

}  // namespace

Array sort(const Operand& x, const Axes& axis, bool descending) {
  return Access::make(
      sort_node(frontend::along_axis("sort", x, axis), descending, OpRecorder{x.where()}));
}

Array argsort(const Operand& x, const Axes& axis, bool descending) {
  const Array values = asarray(x);
  if (values.ndim() == 0 && (axis.all() || (axis.values() == std::vector<std::int64_t>{-1} ||
                                            axis.values() == std::vector<std::int64_t>{0})))
    return argsort({values.reshape({1}, x.where()), x.where()}, 0, descending);  // as NumPy
  return Access::make(
      argsort_node(frontend::along_axis("argsort", x, axis), descending, OpRecorder{x.where()}));
}

Array lexsort(Arrays keys, const Axes& axis, SourceLocation where) {
  if (keys.empty()) throw ValueError(at("lexsort: needs at least one key", where));
  const OpRecorder on{where};
  NodeRef order;
  ir::Shape shape;
  for (const Array& key : keys) {
    const Along what = frontend::along_axis("lexsort", {key, where}, axis);
    if (!order) {
      shape = what.node->shape;
      order = on.sort(ir::calls::argsort(), what.node, what.axis);
      continue;
    }
    if (what.node->shape != shape) {
      throw ShapeError(at(fmt::format("lexsort: keys have the shapes {} and {}, not one",
                                      ir::to_string(shape), ir::to_string(what.node->shape)),
                          where));
    }
    // The sort is stable: elements equal by this key keep the order of the previous keys.
    const NodeRef sorted_so_far = on.gather(what.node, order, what.axis);
    order = on.gather(order, on.sort(ir::calls::argsort(), sorted_so_far, what.axis), what.axis);
  }
  return Access::make(order);
}

Array partition(const Operand& x, std::int64_t kth, const Axes& axis) {
  const Along what = frontend::along_axis("partition", x, axis);
  check_place("partition", what, kth, x.where());
  return Access::make(sort_node(what, false, OpRecorder{x.where()}));
}

Array argpartition(const Operand& x, std::int64_t kth, const Axes& axis) {
  const Along what = frontend::along_axis("argpartition", x, axis);
  check_place("argpartition", what, kth, x.where());
  return Access::make(argsort_node(what, false, OpRecorder{x.where()}));
}

TopK topk(const Operand& x, std::int64_t k, const Axes& axis, bool largest) {
  const Along what = frontend::along_axis("topk", x, axis);
  const OpRecorder on{x.where()};
  const ir::Dim length = what.length();
  if (k < 0 || (length.is_constant() && k > length.constant())) {
    throw ValueError(
        at(fmt::format("topk({}): k is {}, and axis {} has {} elements",
                       frontend::describe(*what.node), k, what.axis, length.to_string()),
           x.where()));
  }
  const NodeRef places = on.part(argsort_node(what, largest, on), what.axis, 0, k);
  return {Access::make(on.gather(what.node, places, what.axis)), Access::make(places)};
}

}  // namespace heddle
