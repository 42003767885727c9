#include "heddle/take.h"

#include <cstdint>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "heddle/creation.h"
#include "heddle/elementwise.h"
#include "heddle/manipulation.h"
#include "heddle/reductions.h"

#include "frontend/array/access.h"
#include "frontend/array/bounds.h"
#include "frontend/array/gather.h"
#include "frontend/array/index_arrays.h"
#include "frontend/array/mask_places.h"
#include "frontend/array/ordering.h"
#include "frontend/array/promote.h"
#include "frontend/array/region.h"
#include "frontend/array/views.h"
#include "frontend/evaluate/evaluate.h"
#include "frontend/graph/axes.h"
#include "frontend/graph/placement.h"
#include "frontend/graph/trace.h"
#include "runtime/device/backend.h"

namespace heddle {

using frontend::Access;
using frontend::at;
using frontend::AxisIndex;
using frontend::describe;
using frontend::NodeRef;
using frontend::OpRecorder;
using frontend::Site;
using ir::Op;

namespace {

std::size_t place_of(std::string_view op, const NodeRef& node, std::int64_t axis,
                     const Site& site) {
  return static_cast<std::size_t>(frontend::axis_of(op, axis, frontend::rank_of(node), site));
}

/// Indices for an axis of a node, treated by the mode. IndexError if one is known to be out of
/// range.
NodeRef index_node(std::string_view op, const Operand& indices, const NodeRef& node,
                   std::size_t axis, std::string_view mode) {
  NodeRef index = frontend::node_of(op, indices);
  const SourceLocation site = indices.where();
  // As in NumPy, bools are the integers 0 and 1 here, not a mask.
  if (is_boolean(index->dtype)) index = frontend::cast_to(index, DType::i64, site);
  if ((ir::integers & ir::set_of(index->dtype)) == 0) {
    throw DTypeError(
        at(fmt::format("{}: indices are integers, not {}", op, describe(*index)), site));
  }
  if (mode != "raise" && mode != "wrap" && mode != "clip") {
    throw ValueError(at(fmt::format("{}: mode is raise, wrap or clip, not {}", op, mode), site));
  }
  if (mode == "raise") {
    if (indices.array() == nullptr) {
      const Scalar& place = indices.scalar();
      const bool far = place.kind == Scalar::Kind::unsigned_integer;  // beyond int64
      frontend::check_index(node, axis, far ? INT64_MAX : place.integer, site);
    }
    return index;
  }
  const OpRecorder on{site};
  const NodeRef wide = on.cast(index, DType::i64);
  if (mode == "wrap") return on(Op::remainder, wide, on.extent(node->shape[axis]));
  // Indices that count from the end are negative, so they are clipped to 0.
  const NodeRef last = on.extent(node->shape[axis] - 1);
  return on(Op::maximum, on(Op::minimum, wide, last), frontend::record_constant(DType::i64, 0));
}

Array take_from(const NodeRef& node, const Operand& indices, std::size_t axis,
                std::string_view mode, const SourceLocation& site) {
  const NodeRef index = index_node("take", indices, node, axis, mode);
  if (mode == "raise") frontend::check_bounds("take", index, node, axis, site);
  return Access::make(frontend::take_at(node, {{AxisIndex{axis, index}}}, true, site));
}

void refuse_in_trace(std::string_view op, const Site& site) {
  if (frontend::Trace::current() == nullptr) return;
  throw TraceError(
      at(fmt::format("{}: the size of the result depends on the data, which is unknown inside a "
                     "trace; keep the shape with where(), or call it outside",
                     op),
         site));
}

/// The computed cumulative sums of integers (1-d, at least one), and the last of them.
std::pair<NodeRef, std::int64_t> running_sums(const NodeRef& node, DType dtype,
                                              const OpRecorder& on) {
  const NodeRef sums = on.reduce(Op::cumsum, on.cast(node, dtype), {0});
  const Array computed = Access::make(sums);
  computed.eval();
  return {sums, computed(-1).item<std::int64_t>(on.site)};
}

Array slices_where(std::string_view op, const Operand& condition, const NodeRef& node,
                   std::size_t axis, const SourceLocation& site) {
  const NodeRef mask = frontend::node_of(op, condition);
  if (mask->shape.size() != 1) {
    throw ShapeError(
        at(fmt::format("{}: the condition must be 1-d, not {}", op, describe(*mask)), site));
  }
  if (mask->shape[0].is_constant() && node->shape[axis].is_constant() &&
      mask->shape[0].constant() > node->shape[axis].constant()) {
    const Array all = Access::make(mask);
    const std::int64_t length = node->shape[axis].constant();
    if (any({all(slice(length, {})), site}).item<bool>(site)) {
      throw IndexError(
          at(fmt::format("{}: the condition {} is longer than axis {} of {}, and holds "
                         "behind its end",
                         op, describe(*mask), axis, describe(*node)),
             site));
    }
    const Array within = all(slice(0, length));
    return slices_where(op, {within, site}, node, axis, site);
  }
  const std::vector<NodeRef> places = frontend::nonzero_indices(op, mask, site);
  return Access::make(frontend::take_at(node, {{AxisIndex{axis, places[0]}}}, true, site));
}

/// Whether the value is in host memory, or will be.
bool is_in_host_memory(const NodeRef& node) {
  const runtime::Device device = frontend::device_of(*node).value_or(runtime::current_device());
  return runtime::capabilities_of(device).host_memory;
}

}  // namespace

std::vector<NodeRef> frontend::nonzero_indices(std::string_view op, const NodeRef& mask,
                                               const SourceLocation& site) {
  refuse_in_trace(op, site);
  const OpRecorder on{site};
  const NodeRef flags = on.cast(mask, DType::boolean);
  NodeRef positions = on.places(0);
  if (is_in_host_memory(flags)) {
    const Array computed = Access::make(flags);
    positions = places_in_host_mask(evaluated_node(computed, std::string(op).c_str(), site), site);
  } else if (!(ir::element_count(flags->shape) == ir::Dim(0))) {
    const NodeRef flat = on.flat(flags);
    const ir::Dim length = flat->shape[0];
    const bool is_short =
        length.is_constant() && length.constant() <= std::numeric_limits<std::int32_t>::max();
    const DType dtype = is_short ? DType::i32 : DType::i64;
    const auto [ranks, count] = running_sums(flat, dtype, on);
    // Each selected index goes to the position given by its rank; the others go nowhere.
    const NodeRef rank = on(Op::subtract, ranks, record_constant(dtype, 1));
    const NodeRef target = on(Op::select, flat, rank, on.cast(on.extent(count), dtype));
    positions = on.scatter_add(on.places(flat->shape[0]), target, count);
  }
  if (mask->shape.empty()) return {positions};
  return unraveled(positions, mask->shape, on);
}

Array take(const Operand& x, const Operand& indices, std::optional<std::int64_t> axis,
           std::string_view mode) {
  const NodeRef node = frontend::node_of("take", x);
  const NodeRef whole = axis ? node : frontend::flatten(node, x.where());
  return take_from(whole, indices, place_of("take", whole, axis.value_or(0), x.where()), mode,
                   x.where());
}

namespace {

/// An index array with the array's rank.
NodeRef index_with_rank(const char* op, const NodeRef& node, const Operand& indices,
                        std::size_t axis, const SourceLocation& site) {
  const NodeRef index = index_node(op, indices, node, axis, "raise");
  frontend::check_bounds(op, index, node, axis, site);
  if (index->shape.size() != node->shape.size()) {
    throw ShapeError(at(fmt::format("{}: indices {} must have the {} dimensions of {}", op,
                                    describe(*index), node->shape.size(), describe(*node)),
                        site));
  }
  return index;
}

}  // namespace

Array take_along_axis(const Operand& x, const Operand& indices, std::int64_t axis) {
  const NodeRef node = frontend::node_of("take_along_axis", x);
  const std::size_t place = place_of("take_along_axis", node, axis, x.where());
  const NodeRef index = index_with_rank("take_along_axis", node, indices, place, x.where());
  return Access::make(frontend::take_along(node, index, place, x.where()));
}

void put(Array& x, const Operand& indices, const Operand& values, std::string_view mode) {
  const SourceLocation site = indices.where();
  const NodeRef node = Access::node(x, site);
  const NodeRef flat = frontend::flatten(node, site);
  const NodeRef index = frontend::flatten(index_node("put", indices, flat, 0, mode), site);
  if (mode == "raise") frontend::check_bounds("put", index, flat, 0, site);
  const NodeRef value = frontend::flatten(frontend::node_of("put", values, node->dtype), site);
  if (index->shape[0] == ir::Dim(0)) return;
  if (flat->shape[0] == ir::Dim(0))
    throw IndexError(at(fmt::format("put: {} has no elements", describe(*node)), site));
  if (value->shape[0] == ir::Dim(0)) return;
  NodeRef repeated = value;
  if (!(value->shape[0] == index->shape[0]) && !(value->shape[0] == ir::Dim(1))) {
    const OpRecorder on{site};
    const NodeRef number =
        on(Op::remainder, on.places(index->shape[0]), on.extent(value->shape[0]));
    repeated = frontend::take_along(value, number, 0, site);
  }
  const NodeRef changed = frontend::put_at(flat, {{AxisIndex{0, index}}}, true, repeated, site);
  x = Access::make(frontend::reshape_to(changed, node->shape, site));
}

void put_along_axis(Array& x, const Operand& indices, const Operand& values, std::int64_t axis) {
  const SourceLocation site = indices.where();
  const NodeRef node = Access::node(x, site);
  const std::size_t place = place_of("put_along_axis", node, axis, site);
  const NodeRef index = index_with_rank("put_along_axis", node, indices, place, site);
  const NodeRef value = frontend::node_of("put_along_axis", values, node->dtype);
  x = Access::make(frontend::put_along(node, index, place, value, site));
}

std::vector<Array> nonzero(const Operand& x) {
  const NodeRef node = frontend::node_of("nonzero", x);
  if (node->shape.empty()) {
    throw ShapeError(at("nonzero: a 0-d array has no axes; take nonzero of ravel()", x.where()));
  }
  std::vector<Array> result;
  for (NodeRef& place : frontend::nonzero_indices("nonzero", node, x.where()))
    result.push_back(Access::make(std::move(place)));
  return result;
}

Array flatnonzero(const Operand& x) {
  const NodeRef flat = frontend::flatten(frontend::node_of("flatnonzero", x), x.where());
  return Access::make(frontend::nonzero_indices("flatnonzero", flat, x.where()).front());
}

Array argwhere(const Operand& x) {
  const NodeRef node = frontend::node_of("argwhere", x);
  const auto places = frontend::nonzero_indices("argwhere", node, x.where());
  if (node->shape.empty()) {
    const OpRecorder on{x.where()};
    return Access::make(on.part(on.reshape(places[0], {places[0]->shape[0], 1}), 1, 0, 0));
  }
  std::vector<Array> columns;
  for (const NodeRef& place : places) columns.push_back(Access::make(place));
  return stack(columns, 1, x.where());
}

Array compress(const Operand& condition, const Operand& x, std::optional<std::int64_t> axis) {
  const NodeRef node = frontend::node_of("compress", x);
  const NodeRef whole = axis ? node : frontend::flatten(node, x.where());
  return slices_where("compress", condition, whole,
                      place_of("compress", whole, axis.value_or(0), x.where()), x.where());
}

Array extract(const Operand& condition, const Operand& x) {
  const NodeRef mask = frontend::flatten(frontend::node_of("extract", condition), x.where());
  const NodeRef flat = frontend::flatten(frontend::node_of("extract", x), x.where());
  return slices_where("extract", {Access::make(mask), x.where()}, flat, 0, x.where());
}

namespace {

/// Whether any element is nonzero, then for each axis the first and the last index with a nonzero.
std::vector<std::int64_t> bounds_of_nonzero(const NodeRef& node, const OpRecorder& on) {
  const int rank = frontend::rank_of(node);
  const NodeRef flags = on.cast(node, DType::boolean);
  const auto as_vector = [&](const NodeRef& value) {
    return Access::make(on.reshape(on.cast(value, DType::i64), {1}));
  };
  std::vector<Array> found{as_vector(on.reduce(Op::any, flags, frontend::all_axes(rank)))};
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    std::vector<std::int64_t> others = frontend::all_axes(rank);
    others.erase(others.begin() + axis);
    const NodeRef line = others.empty() ? flags : on.reduce(Op::any, flags, others);
    const NodeRef last =
        frontend::record_constant(DType::i64, static_cast<double>(line->shape[0].constant() - 1));
    found.push_back(as_vector(on.reduce(Op::argmax, line, {0})));
    found.push_back(
        as_vector(on(Op::subtract, last, on.reduce(Op::argmax, on.flip(line, 0), {0}))));
  }
  return concatenate(found, 0, on.site).to_vector<std::int64_t>(on.site);
}

}  // namespace

Array trim_zeros(const Operand& x, std::string_view trim, const Axes& axes) {
  const OpRecorder on{x.where()};
  NodeRef node = frontend::node_of("trim_zeros", x);
  const bool front = trim.find_first_of("fF") != std::string_view::npos;
  const bool back = trim.find_first_of("bB") != std::string_view::npos;
  if (trim.empty() || trim.size() != std::size_t{front} + std::size_t{back}) {
    throw ValueError(
        at(fmt::format("trim_zeros: trim is \"f\", \"b\" or \"fb\", not \"{}\"", trim), on.site));
  }
  const auto trimmed = frontend::axes_of("trim_zeros", axes, frontend::rank_of(node), on.site);
  if (trimmed.empty()) return Access::make(node);
  refuse_in_trace("trim_zeros", on.site);
  const bool is_empty = ir::element_count(node->shape) == ir::Dim(0);
  const auto bounds = is_empty ? std::vector<std::int64_t>{0} : bounds_of_nonzero(node, on);
  for (const std::int64_t axis : trimmed) {
    const auto place = static_cast<std::size_t>(axis);
    std::int64_t start = 0, stop = bounds[0] == 0 ? 0 : node->shape[place].constant();
    if (bounds[0] != 0 && front) start = bounds[1 + 2 * place];
    if (bounds[0] != 0 && back) stop = bounds[2 + 2 * place] + 1;
    node = on.part(node, axis, start, stop - start);
  }
  return Access::make(node);
}

Array repeat(const Operand& x, const Array& counts, std::optional<std::int64_t> axis) {
  const SourceLocation site = x.where();
  const NodeRef given_node = frontend::node_of("repeat", x);
  const NodeRef node = axis ? given_node : frontend::flatten(given_node, site);
  const std::size_t place = place_of("repeat", node, axis.value_or(0), site);
  refuse_in_trace("repeat", site);
  const OpRecorder on{site};
  const NodeRef given = index_node("repeat", {counts, site}, node, place, "raise");
  const NodeRef each =
      on.cast(frontend::broadcast_to_shape(given, {node->shape[place]}, site), DType::i64);
  if (node->shape[place] == ir::Dim(0)) return Access::make(node);
  if (min({Access::make(each), site}).item<std::int64_t>(site) < 0)
    throw ValueError(at("repeat: counts must not be negative", site));
  const auto [ends, total] = running_sums(each, DType::i64, on);
  // Put a 1 where each slice begins; the cumulative sum is then the slice's number + 1.
  const NodeRef one = frontend::record_constant(DType::i64, 1);
  const NodeRef marks = on.scatter_add(one, on(Op::subtract, ends, each), total);
  const NodeRef number = on(Op::subtract, on.reduce(Op::cumsum, marks, {0}), one);
  return Access::make(frontend::take_at(node, {{AxisIndex{place, number}}}, true, site));
}

}  // namespace heddle
