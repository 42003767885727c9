#include "heddle/sets.h"

#include "heddle/manipulation.h"

#include "frontend/array/access.h"
#include "frontend/array/indices_where.h"
#include "frontend/array/ordering.h"
#include "frontend/array/promote.h"
#include "frontend/array/views.h"
#include "frontend/graph/axes.h"
#include "frontend/graph/trace.h"
#include "frontend/numpy/rows.h"
#include "ir/calls/calls.h"

namespace heddle {

using frontend::Access;
using frontend::NodeRef;
using frontend::OpRecorder;
using ir::Op;

namespace {

/// The sorted elements of x, and their indices in x.
struct Ordered {
  NodeRef sorted, order;
};

Ordered ordered(const NodeRef& flat, const OpRecorder& on) {
  const NodeRef order = on.sort(ir::calls::argsort(), flat, 0);
  return {on.gather(flat, order, 0), order};
}

NodeRef joined(const std::vector<NodeRef>& parts, const OpRecorder& on) {
  return frontend::join_along(parts, 0, on.site);
}

NodeRef some(bool value, ir::Dim count, const OpRecorder& on) {
  return frontend::broadcast_to_shape(frontend::record_constant(DType::boolean, value ? 1 : 0),
                                      {count}, on.site);
}

/// Distinct elements: `firsts` are indices into `of` of the first of each.
struct Distinct {
  Ordered of;
  NodeRef firsts;
};

/// The first elements of runs of equal elements: those after a step.
Distinct at_steps(const char* what, const Ordered& of, const NodeRef& steps, const OpRecorder& on) {
  const NodeRef is_first = steps ? joined({some(true, 1, on), steps}, on) : some(false, 0, on);
  return {of, frontend::places_of(what, is_first, {of.sorted, of.order}, on)};
}

/// Steps between sorted elements; null if there are no elements.
NodeRef steps_of(const Ordered& of, bool equal_nan, const OpRecorder& on) {
  return of.sorted->shape[0] == ir::Dim(0) ? NodeRef() : frontend::steps(of.sorted, equal_nan, on);
}

Distinct distinct(const char* what, const NodeRef& flat, bool equal_nan, const OpRecorder& on) {
  const Ordered of = ordered(flat, on);
  return at_steps(what, of, steps_of(of, equal_nan, on), on);
}

NodeRef values_of(const Distinct& found, const OpRecorder& on) {
  return on.gather(found.of.sorted, found.firsts, 0);
}

NodeRef counts_of(const Distinct& found, const OpRecorder& on) {
  const ir::Dim count = found.firsts->shape[0];
  if (count == ir::Dim(0)) return found.firsts;
  const NodeRef total = on.reshape(on.extent(found.of.sorted->shape[0]), {1});
  return on(Op::subtract, joined({on.part(found.firsts, 0, 1, count - 1), total}, on),
            found.firsts);
}

NodeRef inverse_of(const Distinct& found, const ir::Shape& shape, const OpRecorder& on) {
  const ir::Dim length = found.of.sorted->shape[0];
  if (length == ir::Dim(0)) return on.reshape(found.firsts, shape);
  // The rank of each sorted element among the distinct ones, scattered back to the order of x.
  const NodeRef one = frontend::record_constant(DType::i64, 1);
  const NodeRef which =
      on(Op::subtract, on(Op::searchsorted_right, found.firsts, on.places(length)), one);
  return on.reshape(on.scatter_add(which, found.of.order, length), shape);
}

/// The common part of unique and related functions.
struct Uniques {
  Distinct found;
  NodeRef values;
  ir::Shape inverse_shape;
};

/// Distinct slices along an axis, by their ranks. Slices with a NaN are all different, as in NumPy.
Uniques unique_slices(const char* what, const NodeRef& node, std::int64_t axis,
                      const OpRecorder& on) {
  if (frontend::Trace::current() != nullptr) frontend::value_in_trace(what, on.site);
  const NodeRef rows = frontend::rows_along(node, axis, on);
  const Ordered of = ordered(frontend::ranks_of_rows(rows, on), on);
  NodeRef steps = steps_of(of, false, on);
  if (steps && is_inexact(node->dtype)) {
    const NodeRef is_nan = on.gather(on.reduce(Op::any, on(Op::isnan, rows), {1}), of.order, 0);
    steps = on(Op::logical_or, steps, on.part(is_nan, 0, 1, of.order->shape[0] - 1));
  }
  Uniques result{at_steps(what, of, steps, on), {}, {of.order->shape[0]}};
  ir::Shape along(node->shape.size(), 1);
  along[static_cast<std::size_t>(axis)] = result.found.firsts->shape[0];
  const NodeRef places = on.gather(of.order, result.found.firsts, 0);
  result.values = on.gather(node, on.reshape(places, along), axis);
  return result;
}

Uniques uniques(const char* what, const Operand& x, bool equal_nan,
                std::optional<std::int64_t> axis, const OpRecorder& on) {
  const NodeRef node = frontend::node_of(what, x);
  if (axis) {
    const std::int64_t along = frontend::axis_of(what, *axis, frontend::rank_of(node), on.site);
    if (node->shape.size() > 1) return unique_slices(what, node, along, on);
  }
  const Distinct found = distinct(what, on.flat(node), equal_nan, on);
  return {found, values_of(found, on), node->shape};
}

struct Pair {
  NodeRef a, b;
};

/// Both operands, flattened, in their common dtype.
Pair flattened(std::string_view op, const Operand& a, const Operand& b, const OpRecorder& on) {
  const Operand* operands[] = {&a, &b};
  const DType dtype = frontend::common_dtype(operands);
  return {on.flat(frontend::node_of(op, a, dtype)), on.flat(frontend::node_of(op, b, dtype))};
}

/// True for each element of the 1-d x that is among sorted elements.
NodeRef is_among(const NodeRef& x, const NodeRef& sorted, const OpRecorder& on) {
  const bool boolean = is_boolean(x->dtype);
  const NodeRef among = boolean ? on.cast(sorted, DType::u8) : sorted;
  const NodeRef value = boolean ? on.cast(x, DType::u8) : x;
  if (sorted->shape[0] == ir::Dim(0)) return some(false, x->shape[0], on);
  const NodeRef found = on(Op::searchsorted_left, among, value);
  return on(Op::equal, on.gather(among, found, 0), value);
}

/// The same for elements in any order, and for any two dtypes. If two integer dtypes have no common
/// dtype, values that the other dtype does not have are in none of its arrays.
NodeRef is_in(const NodeRef& x, const NodeRef& elements, const OpRecorder& on) {
  const bool integers = is_integer(x->dtype) && is_integer(elements->dtype);
  const DType common = promote_types(x->dtype, elements->dtype);
  const DType dtype = integers && is_inexact(common) ? elements->dtype : common;
  const NodeRef found =
      is_among(on.cast(x, dtype), on.sort(ir::calls::sort(), on.cast(elements, dtype), 0), on);
  if (dtype == common) return found;
  const bool from_signed = is_signed_integer(x->dtype);
  const NodeRef bound = from_signed ? frontend::record_constant(x->dtype, 0)
                                    : frontend::record_scalar(x->dtype, INT64_MAX, true);
  const NodeRef fits = on(from_signed ? Op::greater_equal : Op::less_equal, x, bound);
  return on(Op::logical_and, found, fits);
}

/// True for an integer scalar that no integer dtype holds.
bool is_beyond_integers(const Operand& x) {
  return x.array() == nullptr && x.scalar().kind == Scalar::Kind::large_integer;
}

NodeRef distinct_values(const char* what, const NodeRef& flat, bool equal_nan,
                        const OpRecorder& on) {
  return values_of(distinct(what, flat, equal_nan, on), on);
}

/// The elements of the 1-d x where the mask is true.
NodeRef chosen(const char* what, const NodeRef& x, const NodeRef& mask, const OpRecorder& on) {
  return on.gather(x, frontend::places_of(what, mask, {x}, on), 0);
}

}  // namespace

UniqueAll unique_all(const Operand& x, bool equal_nan, std::optional<std::int64_t> axis) {
  const OpRecorder on{x.where()};
  const auto [found, values, shape] = uniques("unique_all", x, equal_nan, axis, on);
  return {Access::make(values), Access::make(on.gather(found.of.order, found.firsts, 0)),
          Access::make(inverse_of(found, shape, on)), Access::make(counts_of(found, on))};
}

UniqueCounts unique_counts(const Operand& x, bool equal_nan, std::optional<std::int64_t> axis) {
  const OpRecorder on{x.where()};
  const auto [found, values, shape] = uniques("unique_counts", x, equal_nan, axis, on);
  return {Access::make(values), Access::make(counts_of(found, on))};
}

UniqueInverse unique_inverse(const Operand& x, bool equal_nan, std::optional<std::int64_t> axis) {
  const OpRecorder on{x.where()};
  const auto [found, values, shape] = uniques("unique_inverse", x, equal_nan, axis, on);
  return {Access::make(values), Access::make(inverse_of(found, shape, on))};
}

Array unique_values(const Operand& x, bool equal_nan, std::optional<std::int64_t> axis) {
  return Access::make(uniques("unique_values", x, equal_nan, axis, {x.where()}).values);
}

Array unique(const Operand& x, bool equal_nan, std::optional<std::int64_t> axis) {
  return Access::make(uniques("unique", x, equal_nan, axis, {x.where()}).values);
}

Array isin(const Operand& x, const Operand& test_elements, bool invert) {
  const OpRecorder on{x.where()};
  const NodeRef node = frontend::asarray_node("isin", x);
  const NodeRef among = on.flat(frontend::asarray_node("isin", test_elements));
  const bool never = (is_beyond_integers(x) && !is_inexact(among->dtype)) ||
                     (is_beyond_integers(test_elements) && !is_inexact(node->dtype));
  const NodeRef flat = on.flat(node);
  const NodeRef found = never ? some(false, flat->shape[0], on) : is_in(flat, among, on);
  NodeRef result = on.reshape(found, node->shape);
  if (invert) result = on(Op::logical_not, result);
  return Access::make(result);
}

Intersection intersect1d_indices(const Operand& a, const Operand& b) {
  const OpRecorder on{a.where()};
  const Operand* operands[] = {&a, &b};
  const DType dtype = frontend::common_dtype(operands);
  const NodeRef own_a = on.flat(frontend::node_of("intersect1d", a));
  const NodeRef own_b = on.flat(frontend::node_of("intersect1d", b));
  const Distinct in_a = distinct("intersect1d", own_a, true, on);
  const Distinct in_b = distinct("intersect1d", own_b, true, on);
  const NodeRef values = values_of(in_a, on), others = values_of(in_b, on);
  const NodeRef places =
      frontend::places_of("intersect1d", is_in(values, others, on), {values, others}, on);
  const NodeRef common = on.gather(values, places, 0);
  const NodeRef first_a = on.gather(on.gather(in_a.of.order, in_a.firsts, 0), places, 0);
  // Common elements are representable in b's dtype, whatever dtype they were compared in.
  const DType searched = is_boolean(own_b->dtype) ? DType::u8 : own_b->dtype;
  const NodeRef in_others =
      on(Op::searchsorted_left, on.cast(others, searched), on.cast(common, searched));
  const NodeRef firsts_b = on.gather(in_b.of.order, in_b.firsts, 0);
  const bool none = common->shape[0] == ir::Dim(0);
  return {Access::make(on.cast(common, dtype)), Access::make(first_a),
          Access::make(none ? in_others : on.gather(firsts_b, in_others, 0))};
}

Array intersect1d(const Operand& a, const Operand& b) {
  const OpRecorder on{a.where()};
  const Operand* operands[] = {&a, &b};
  const DType dtype = frontend::common_dtype(operands);
  const NodeRef own = on.flat(frontend::node_of("intersect1d", a));
  const NodeRef values = distinct_values("intersect1d", own, true, on);
  const NodeRef is_common = is_in(values, on.flat(frontend::node_of("intersect1d", b)), on);
  return Access::make(on.cast(chosen("intersect1d", values, is_common, on), dtype));
}

Array union1d(const Operand& a, const Operand& b) {
  const OpRecorder on{a.where()};
  const Pair pair = flattened("union1d", a, b, on);
  return Access::make(distinct_values("union1d", joined({pair.a, pair.b}, on), true, on));
}

Array setdiff1d(const Operand& a, const Operand& b, bool assume_unique) {
  const OpRecorder on{a.where()};
  const NodeRef others = on.flat(frontend::asarray_node("setdiff1d", b));
  // The result has the first operand's dtype, as in NumPy.
  const NodeRef own = on.flat(frontend::node_of("setdiff1d", a));
  const NodeRef values = assume_unique ? own : distinct_values("setdiff1d", own, true, on);
  const NodeRef is_common = is_in(values, others, on);
  return Access::make(chosen("setdiff1d", values, on(Op::logical_not, is_common), on));
}

Array setxor1d(const Operand& a, const Operand& b) {
  const OpRecorder on{a.where()};
  const Pair pair = flattened("setxor1d", a, b, on);
  const NodeRef values_a = distinct_values("setxor1d", pair.a, true, on);
  const NodeRef values_b = distinct_values("setxor1d", pair.b, true, on);
  const NodeRef both = on.sort(ir::calls::sort(), joined({values_a, values_b}, on), 0);
  if (both->shape[0] == ir::Dim(0)) return Access::make(both);
  // An element that differs from both neighbours is in only one of the arrays.
  const NodeRef differ = frontend::steps(both, false, on), end = some(true, 1, on);
  const NodeRef alone = on(Op::logical_and, joined({end, differ}, on), joined({differ, end}, on));
  return Access::make(chosen("setxor1d", both, alone, on));
}

}  // namespace heddle
