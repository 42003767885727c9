#include "heddle/joining.h"

#include <algorithm>

#include <fmt/format.h>

#include "heddle/creation.h"

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/array/region.h"
#include "frontend/array/views.h"
#include "frontend/graph/at_location.h"
#include "frontend/graph/trace.h"

namespace heddle {

using frontend::Access;
using frontend::at;
using frontend::AtLocation;
using frontend::axis_of;
using frontend::constant_extent;
using frontend::NodeRef;
using frontend::rank_of;
using frontend::Site;
using frontend::slice_along;

namespace {

/// Applies `change` to each array.
template <class Change>
std::vector<Array> each(Arrays arrays, const SourceLocation& where, Change change) {
  const AtLocation here(where);
  std::vector<Array> result;
  for (const Array& array : arrays) result.push_back(change(here(array)));
  return result;
}

/// An array and the axis that a function works along. For NumPy's axis=None it is flattened.
struct Along {
  NodeRef node;
  std::int64_t axis = 0;
};
Along along(std::string_view op, const Operand& x, std::optional<std::int64_t> axis) {
  const NodeRef node = frontend::node_of(op, x);
  if (!axis) return {frontend::flatten(node, x.where()), 0};
  return {node, axis_of(op, *axis, rank_of(node), x.where())};
}

/// The slices between consecutive indices, which are bounds as in Python's slices.
std::vector<Array> cut(std::string_view op, const Operand& x,
                       const std::vector<std::int64_t>& indices, std::int64_t axis) {
  const NodeRef node = frontend::node_of(op, x);
  const std::int64_t place = axis_of(op, axis, rank_of(node), x.where());
  const std::int64_t extent = constant_extent(op, node, place, x.where());
  std::vector<Array> result;
  const auto bound = [&](std::int64_t index) {
    return std::clamp<std::int64_t>(index < 0 ? index + extent : index, 0, extent);
  };
  std::int64_t start = 0;
  for (std::size_t i = 0; i <= indices.size(); ++i) {
    const std::int64_t stop = i < indices.size() ? bound(indices[i]) : extent;
    const std::int64_t count = std::max<std::int64_t>(stop - start, 0);
    result.push_back(Access::make(slice_along(node, place, start, count, 1, x.where())));
    start = stop;
  }
  return result;
}

std::vector<Array> cut_evenly(std::string_view op, const Operand& x, std::int64_t sections,
                              std::int64_t axis, bool exactly) {
  const NodeRef node = frontend::node_of(op, x);
  const std::int64_t place = axis_of(op, axis, rank_of(node), x.where());
  const std::int64_t extent = constant_extent(op, node, place, x.where());
  if (sections <= 0 || (exactly && extent % sections != 0)) {
    throw ValueError(at(fmt::format("{}({}): axis {} of extent {} cannot be split into {} {}", op,
                                    frontend::describe(*node), place, extent, sections,
                                    exactly ? "equal sections; see array_split" : "sections"),
                        x.where()));
  }
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 1, end = 0; i < sections; ++i) {
    end += extent / sections + (i <= extent % sections ? 1 : 0);
    indices.push_back(end);
  }
  return cut(op, x, indices, place);
}

std::vector<Array> cut_at(std::string_view op, const Operand& x, const Places& places,
                          std::int64_t axis, bool exactly) {
  if (!places.single()) return cut(op, x, places.values(), axis);
  return cut_evenly(op, x, places.values()[0], axis, exactly);
}

/// The axis of hsplit, vsplit or dsplit, given their minimum rank.
std::int64_t split_axis(std::string_view op, const Operand& x, int least) {
  const NodeRef node = frontend::node_of(op, x);
  if (rank_of(node) < least) {
    throw ValueError(at(fmt::format("{}({}): needs an array of at least {} axes", op,
                                    frontend::describe(*node), least),
                        x.where()));
  }
  if (least == 1) return rank_of(node) > 1 ? 1 : 0;
  return least == 2 ? 0 : 2;
}

/// Converts an index to [0, bound); a negative one counts from the end.
std::int64_t place_of(std::string_view op, std::int64_t index, std::int64_t extent,
                      std::int64_t bound, const Site& site) {
  if (index < -extent || index >= bound) {
    throw IndexError(
        at(fmt::format("{}: index {} is out of bounds for extent {}", op, index, extent), site));
  }
  return index < 0 ? index + extent : index;
}

/// The indices that an array denotes: its integers, or where its mask is true.
Places places_of(const char* op, const Array& indices, const SourceLocation& where) {
  const NodeRef node = Access::node(indices, where);
  if (is_boolean(node->dtype)) {
    if (node->shape.size() != 1) {
      throw ShapeError(
          at(fmt::format("{}: a mask is 1-d, not {}", op, frontend::describe(*node)), where));
    }
    const NodeRef places = frontend::nonzero_indices(op, node, where).front();
    return Access::make(places).to_vector<std::int64_t>(where);
  }
  if (!is_integer(node->dtype)) {
    throw DTypeError(
        at(fmt::format("{}: indices are integers or a mask, not {}", op, frontend::describe(*node)),
           where));
  }
  if (frontend::Trace::current() != nullptr) frontend::value_in_trace(op, where);
  const auto values = indices.to_vector<std::int64_t>(where);
  return node->shape.empty() ? Places(values[0]) : Places(values);
}

/// Adds leading axes of extent 1 until the values have at least the array's rank.
NodeRef in_rank_of(const NodeRef& node, NodeRef values, const Site& site) {
  while (rank_of(values) < rank_of(node)) values = frontend::insert_axis(values, 0, site);
  return values;
}

/// The values to insert, broadcast to `count` along the axis (unchanged if absent), and to the
/// array's extents along the other axes.
NodeRef inserted_values(const NodeRef& node, std::int64_t axis, const NodeRef& given,
                        std::optional<std::int64_t> count, const Site& site) {
  const NodeRef values = in_rank_of(node, given, site);
  ir::Shape shape = node->shape;
  const auto place = static_cast<std::size_t>(axis);
  shape[place] = count ? ir::Dim(*count) : values->shape[place];
  const NodeRef fitted = frontend::fit_rank(values, shape.size(), site);
  if (rank_of(fitted) > rank_of(node)) {
    throw ShapeError(at(fmt::format("insert: the values {} have more axes than {}",
                                    frontend::describe(*given), frontend::describe(*node)),
                        site));
  }
  return frontend::broadcast_to_shape(fitted, std::move(shape), site);
}

}  // namespace

Array hstack(Arrays arrays, SourceLocation where) {
  const std::vector<Array> parts = each(arrays, where, atleast_1d);
  return concatenate(parts, !parts.empty() && parts[0].ndim() == 1 ? 0 : 1, where);
}
Array vstack(Arrays arrays, SourceLocation where) {
  return concatenate(each(arrays, where, atleast_2d), 0, where);
}
Array dstack(Arrays arrays, SourceLocation where) {
  return concatenate(each(arrays, where, atleast_3d), 2, where);
}
Array column_stack(Arrays arrays, SourceLocation where) {
  const auto column = [](const Operand& x) {
    return rank_of(frontend::node_of("column_stack", x)) < 2 ? transpose({atleast_2d(x), x.where()})
                                                             : asarray(x);
  };
  return concatenate(each(arrays, where, column), 1, where);
}
Array append(const Operand& x, const Operand& values, std::optional<std::int64_t> axis) {
  const SourceLocation where = x.where();
  if (axis) return concatenate({asarray(x), asarray(values)}, *axis, where);
  return concatenate({ravel(x), ravel(values)}, 0, where);
}

std::vector<Array> split(const Operand& x, const Places& places, std::int64_t axis) {
  return cut_at("split", x, places, axis, true);
}
std::vector<Array> array_split(const Operand& x, const Places& places, std::int64_t axis) {
  return cut_at("array_split", x, places, axis, false);
}
std::vector<Array> hsplit(const Operand& x, const Places& places) {
  return cut_at("hsplit", x, places, split_axis("hsplit", x, 1), true);
}
std::vector<Array> vsplit(const Operand& x, const Places& places) {
  return cut_at("vsplit", x, places, split_axis("vsplit", x, 2), true);
}
std::vector<Array> dsplit(const Operand& x, const Places& places) {
  return cut_at("dsplit", x, places, split_axis("dsplit", x, 3), true);
}

std::vector<Array> unstack(const Operand& x, std::int64_t axis) {
  const NodeRef node = frontend::node_of("unstack", x);
  const Site site = x.where();
  const std::int64_t place = axis_of("unstack", axis, rank_of(node), site);
  ir::Shape shape = node->shape;
  shape.erase(shape.begin() + place);
  std::vector<Array> result;
  for (std::int64_t i = 0; i < constant_extent("unstack", node, place, site); ++i) {
    const NodeRef part = slice_along(node, place, i, 1, 1, site);
    result.push_back(Access::make(frontend::reshape_to(part, shape, site)));
  }
  return result;
}

Array delete_(const Operand& x, const Places& indices, std::optional<std::int64_t> axis) {
  const auto [node, place] = along("delete", x, axis);
  const Site site = x.where();
  const std::int64_t extent = constant_extent("delete", node, place, site);
  std::vector<std::int64_t> gone;
  for (std::int64_t index : indices.values()) {
    gone.push_back(place_of("delete", index, extent, extent, site));
  }
  std::sort(gone.begin(), gone.end());
  gone.push_back(extent);
  std::vector<NodeRef> kept;
  std::int64_t start = 0;
  for (std::int64_t index : gone) {
    if (index > start) kept.push_back(slice_along(node, place, start, index - start, 1, site));
    start = index + 1;
  }
  if (kept.empty()) kept.push_back(slice_along(node, place, 0, 0, 1, site));
  return Access::make(frontend::join_along(kept, place, site));
}

Array delete_(const Operand& x, const Array& indices, std::optional<std::int64_t> axis) {
  const SourceLocation where = x.where();
  const NodeRef mask = Access::node(indices, where);
  const auto [node, place] = along("delete", x, axis);
  if (is_boolean(mask->dtype) && mask->shape != ir::Shape{frontend::extent_of(node, place)}) {
    throw ShapeError(at(fmt::format("delete: the mask {} does not match axis {} of {}",
                                    frontend::describe(*mask), place, frontend::describe(*node)),
                        where));
  }
  return delete_(x, places_of("delete", indices, where), axis);
}

namespace {

/// Inserts the values before one index. As in NumPy, their first axis runs along the insertion
/// axis.
Array insert_before(const Along& into, std::int64_t before, NodeRef value, const Site& site) {
  const auto& [node, place] = into;
  const std::int64_t extent = frontend::extent_of(node, place).constant();
  value = in_rank_of(node, value, site);
  std::vector<std::int64_t> order = frontend::all_axes(rank_of(value));
  std::rotate(order.begin(), order.begin() + 1, order.begin() + place + 1);
  value = frontend::permute(value, std::move(order), site);
  value = inserted_values(node, place, value, {}, site);
  const NodeRef parts[] = {slice_along(node, place, 0, before, 1, site), value,
                           slice_along(node, place, before, extent - before, 1, site)};
  return Access::make(frontend::join_along(parts, place, site));
}

}  // namespace

Array insert(const Operand& x, const Places& indices, const Operand& values,
             std::optional<std::int64_t> axis) {
  const Along into = along("insert", x, axis);
  const auto& [node, place] = into;
  const Site site = x.where();
  const std::int64_t extent = constant_extent("insert", node, place, site);
  const NodeRef value = frontend::element_node("insert", values, node->dtype);
  std::vector<std::int64_t> before;
  for (std::int64_t index : indices.values()) {
    before.push_back(place_of("insert", index, extent, extent + 1, site));
  }
  if (indices.single()) return insert_before(into, before[0], value, site);
  if (before.empty()) return Access::make(node);
  const std::size_t count = before.size();
  const NodeRef all = inserted_values(
      node, place, value,
      count == 1 ? std::nullopt : std::optional(static_cast<std::int64_t>(count)), site);
  std::vector<std::int64_t> order = frontend::all_axes(static_cast<int>(count));
  const auto place_before = [&](std::int64_t i) { return before[static_cast<std::size_t>(i)]; };
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return place_before(a) < place_before(b);
  });
  std::vector<NodeRef> parts;
  std::int64_t start = 0;
  for (std::int64_t i : order) {
    const std::int64_t stop = place_before(i);
    if (stop > start) parts.push_back(slice_along(node, place, start, stop - start, 1, site));
    parts.push_back(count == 1 ? all : slice_along(all, place, i, 1, 1, site));
    start = stop;
  }
  if (extent > start) parts.push_back(slice_along(node, place, start, extent - start, 1, site));
  return Access::make(frontend::join_along(parts, place, site));
}

Array insert(const Operand& x, const Array& indices, const Operand& values,
             std::optional<std::int64_t> axis) {
  return insert(x, places_of("insert", indices, x.where()), values, axis);
}

}  // namespace heddle
