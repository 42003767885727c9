#include "frontend/exchange/memory_layout.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <numeric>

#include "frontend/array/views.h"

namespace heddle::frontend {

namespace {

bool has_no_elements(const Shape& shape) {
  return std::ranges::any_of(shape, [](std::int64_t extent) { return extent == 0; });
}

/// The layout of no elements, or of memory that is the array.
MemoryLayout whole(const Shape& shape) {
  MemoryLayout layout;
  layout.memory = layout.extents = shape;
  layout.starts.assign(shape.size(), 0);
  layout.steps.assign(shape.size(), 1);
  layout.axes.resize(shape.size());
  std::iota(layout.axes.begin(), layout.axes.end(), 0);
  return layout;
}

/// The axes of the memory in order: those of one element, which may be anywhere, then by falling
/// strides.
std::vector<std::int64_t> memory_order(const Shape& extents, const Strides& strides) {
  std::vector<std::int64_t> order(extents.size());
  std::iota(order.begin(), order.end(), 0);
  const auto extent = [&](std::int64_t axis) { return extents[static_cast<std::size_t>(axis)]; };
  const auto pitch = [&](std::int64_t axis) {
    return std::abs(strides[static_cast<std::size_t>(axis)]);
  };
  const auto walked = std::stable_partition(order.begin(), order.end(),
                                            [&](std::int64_t axis) { return extent(axis) == 1; });
  std::stable_sort(walked, order.end(),
                   [&](std::int64_t a, std::int64_t b) { return pitch(a) > pitch(b); });
  return order;
}

}  // namespace

bool MemoryLayout::is_whole() const {
  return extents == memory && std::ranges::all_of(steps, [](std::int64_t s) { return s == 1; });
}

ir::Attributes MemoryLayout::slice() const {
  ir::Attributes attributes;
  for (std::size_t axis = 0; axis < memory.size(); ++axis) {
    attributes.starts.push_back(starts[axis]);
    attributes.steps.push_back(steps[axis]);
    attributes.shape.push_back(extents[axis]);
  }
  return attributes;
}

std::optional<MemoryLayout> layout_of(const Shape& shape, const Strides& strides) {
  if (has_no_elements(shape)) return whole(shape);
  Shape extents = shape;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (strides[axis] == 0) extents[axis] = 1;
  }
  const std::vector<std::int64_t> order = memory_order(extents, strides);
  MemoryLayout layout = whole(extents);
  // Elements from one index of the axis before to the next; 0 for the first axis of several
  // elements. The last axis has elements as its unit, the others what all outer strides are
  // multiples of.
  std::int64_t before = 0;
  layout.reach = 1;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto axis = static_cast<std::size_t>(order[i]);
    layout.axes[axis] = static_cast<std::int64_t>(i);
    layout.memory[i] = layout.extents[i] = extents[axis];
    if (extents[axis] == 1) continue;
    const std::int64_t pitch = std::abs(strides[axis]), last = extents[axis] - 1;
    const std::int64_t unit = i + 1 == order.size() ? 1 : std::gcd(before, pitch);
    const std::int64_t step = pitch / unit;
    layout.memory[i] = before == 0 ? last * step + 1 : before / unit;
    if (last * step >= layout.memory[i]) return std::nullopt;
    layout.reach += last * pitch;
    before = unit;
    const bool reversed = strides[axis] < 0;
    layout.starts[i] = reversed ? last * step : 0;
    layout.steps[i] = reversed ? -step : step;
    if (reversed) layout.offset += last * strides[axis];
  }
  return layout;
}

NodeRef elements_in(const NodeRef& memory, const MemoryLayout& layout, const Site& site) {
  NodeRef elements = memory;
  if (!layout.is_whole()) {
    const ir::Attributes slice = layout.slice();
    elements = record_valid(ir::Op::slice, memory, slice, {memory->dtype, slice.shape}, site);
  }
  return permute(elements, layout.axes, site);
}

NodeRef with_elements(const NodeRef& memory, const MemoryLayout& layout, const NodeRef& value,
                      const Site& site) {
  std::vector<std::int64_t> inverse(layout.axes.size());
  for (std::size_t axis = 0; axis < inverse.size(); ++axis)
    inverse[static_cast<std::size_t>(layout.axes[axis])] = static_cast<std::int64_t>(axis);
  const std::array operands = {memory, permute(value, inverse, site)};
  return record_valid(ir::Op::slice_update, operands, layout.slice(),
                      {memory->dtype, memory->shape}, site);
}

}  // namespace heddle::frontend
