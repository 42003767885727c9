#include "heddle/rearranging.h"

#include <algorithm>

#include <fmt/format.h>

#include "heddle/creation.h"
#include "heddle/manipulation.h"

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/array/views.h"
#include "frontend/graph/at_location.h"

namespace heddle {

using frontend::Access;
using frontend::at;
using frontend::axis_of;
using frontend::constant_extent;
using frontend::extent_of;
using frontend::NodeRef;
using frontend::rank_of;
using frontend::Site;
using frontend::slice_along;

namespace {

NodeRef roll_along(const NodeRef& node, std::int64_t axis, std::int64_t shift, const Site& site) {
  const std::int64_t extent = constant_extent("roll", node, axis, site);
  if (extent == 0) return node;
  const std::int64_t last = (shift % extent + extent) % extent;
  if (last == 0) return node;
  const NodeRef parts[] = {slice_along(node, axis, extent - last, last, 1, site),
                           slice_along(node, axis, 0, extent - last, 1, site)};
  return frontend::join_along(parts, axis, site);
}

}  // namespace

Array roll(const Operand& x, const std::vector<std::int64_t>& shifts, const Axes& axes) {
  const NodeRef node = frontend::node_of("roll", x);
  const Site site = x.where();
  const std::size_t axis_count = axes.all() ? 1 : axes.values().size();
  // A single shift or axis pairs with any number of the other, including none.
  const std::size_t count = shifts.size() == 1 ? axis_count : shifts.size();
  if (axis_count != count && axis_count != 1) {
    throw ValueError(at(fmt::format("roll({}): {} shifts but {} axes", frontend::describe(*node),
                                    shifts.size(), axis_count),
                        site));
  }
  NodeRef result = axes.all() ? frontend::flatten(node, site) : node;
  std::vector<std::int64_t> total(result->shape.size(), 0);
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t axis =
        axes.all() ? 0
                   : axis_of("roll", axes.values()[axis_count == 1 ? 0 : i], rank_of(node), site);
    const std::int64_t extent = constant_extent("roll", result, axis, site);
    std::int64_t& sum = total[static_cast<std::size_t>(axis)];
    if (extent > 0) sum = (sum + shifts[shifts.size() == 1 ? 0 : i] % extent) % extent;
  }
  for (std::size_t axis = 0; axis < total.size(); ++axis) {
    result = roll_along(result, static_cast<std::int64_t>(axis), total[axis], site);
  }
  return Access::make(frontend::reshape_to(result, node->shape, site));
}

Array roll(const Operand& x, std::int64_t shift, const Axes& axes) {
  return roll(x, std::vector{shift}, axes);
}

Array fliplr(const Operand& x) {
  frontend::require_rank("fliplr", frontend::node_of("fliplr", x), 2, x.where());
  return flip(x, 1);
}
Array flipud(const Operand& x) {
  frontend::require_rank("flipud", frontend::node_of("flipud", x), 1, x.where());
  return flip(x, 0);
}

Array rot90(const Operand& x, std::int64_t turns, const Axes& axes) {
  const NodeRef node = frontend::node_of("rot90", x);
  if (axes.values().size() != 2) {
    throw ValueError(at("rot90: needs two axes", x.where()));
  }
  const std::vector<std::int64_t> plane =
      frontend::axes_of("rot90", axes, rank_of(node), x.where());
  const frontend::AtLocation here(x);
  const std::int64_t quarters = (turns % 4 + 4) % 4;
  if (quarters == 0) return asarray(x);
  if (quarters == 2) return flip(x, plane);
  if (quarters == 1) return swapaxes(here(flip(x, plane[1])), plane[0], plane[1]);
  return flip(here(swapaxes(x, plane[0], plane[1])), plane[1]);
}

namespace {

void require_count(std::string_view op, std::int64_t count, const Site& site) {
  if (count < 0) throw ValueError(at(fmt::format("{}: the count {} is negative", op, count), site));
}

}  // namespace

Array repeat(const Operand& x, std::int64_t count, std::optional<std::int64_t> axis) {
  NodeRef node = frontend::node_of("repeat", x);
  const Site site = x.where();
  require_count("repeat", count, site);
  // As in NumPy, a 0-d array is treated as 1-d.
  if (!axis || node->shape.empty()) node = frontend::flatten(node, site);
  const std::int64_t place = axis ? axis_of("repeat", *axis, rank_of(node), site) : 0;
  return Access::make(frontend::tile_along(node, place, count, true, site));
}

Array tile(const Operand& x, const std::vector<std::int64_t>& counts) {
  NodeRef node = frontend::node_of("tile", x);
  const Site site = x.where();
  while (rank_of(node) < static_cast<int>(counts.size())) {
    node = frontend::insert_axis(node, 0, site);
  }
  const std::size_t first = node->shape.size() - counts.size();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    require_count("tile", counts[i], site);
    node = frontend::tile_along(node, static_cast<std::int64_t>(first + i), counts[i], false, site);
  }
  return Access::make(node);
}

Array resize(const Operand& x, const Shape& shape) {
  const NodeRef node = frontend::node_of("resize", x);
  const Site site = x.where();
  for (std::int64_t extent : shape) {
    if (extent < 0) {
      throw ValueError(at(fmt::format("resize: the extent {} is negative", extent), site));
    }
  }
  const ir::Shape extents = frontend::to_ir(shape);
  const std::int64_t count =
      frontend::located(site, [&] { return ir::element_count(extents); }).constant();
  const NodeRef flat = frontend::flatten(node, site);
  if (constant_extent("resize", flat, 0, site) == 0) {
    return Access::make(
        frontend::broadcast_to_shape(frontend::record_constant(node->dtype, 0), extents, site));
  }
  return Access::make(
      frontend::reshape_to(frontend::periodic(flat, 0, 0, count, site), extents, site));
}

}  // namespace heddle
