#include "frontend/array/masked.h"

#include <algorithm>
#include <cstring>

#include "frontend/array/access.h"
#include "frontend/array/at_once.h"
#include "frontend/array/gather.h"
#include "frontend/array/mask_places.h"
#include "frontend/array/region.h"
#include "frontend/array/strided_elements.h"
#include "frontend/evaluate/evaluate.h"
#include "frontend/graph/placement.h"
#include "frontend/graph/record.h"
#include "frontend/graph/storage.h"
#include "frontend/graph/trace.h"
#include "ir/base/inline_vector.h"
#include "ir/base/span.h"
#include "ir/scalar/position.h"
#include "runtime/device/backend.h"

namespace heddle::frontend {

namespace {

bool is_for_this_cpu(const Node& node) {
  const runtime::Device device = device_of(node).value_or(runtime::current_device());
  const runtime::Capabilities capabilities = runtime::capabilities_of(device);
  return node.trace_id == 0 && device == runtime::current_device() && capabilities.host_memory &&
         !capabilities.asynchronous;
}

/// Whether elements of an array may be computed now.
bool may_compute(const Node& array) {
  return Trace::current() == nullptr && auto_eval_enabled() && !ir::kernels_watched() &&
         ir::is_constant(array.shape) && is_for_this_cpu(array);
}

/// Whether a mask selects from an array along its leading axes, and both may be computed now.
bool may_select(const Node& array, const Node& mask) {
  return may_compute(array) && is_boolean(mask.dtype) && !mask.shape.empty() &&
         mask.shape.size() <= array.shape.size() &&
         std::equal(mask.shape.begin(), mask.shape.end(), array.shape.begin()) &&
         is_for_this_cpu(mask);
}

/// Computes a value that is pending. Returns whether this thread may read it now.
bool compute(const NodeRef& node) {
  if (!node->evaluated() && node->kind == Node::Kind::operation) evaluate(node);
  return is_at_hand(*node);
}

/// The mask, computed. Null if this thread may not read it now.
NodeRef computed_mask(const Array& mask, const SourceLocation& where) {
  const NodeRef node = evaluated_node(mask, "indexing by a mask", where);
  return is_at_hand(*node) ? node : NodeRef();
}

NodeRef copy_of(const NodeRef& node, const SourceLocation& where) {
  const ir::Type type{node->dtype, node->shape};
  const auto bytes = static_cast<std::size_t>(ir::byte_count(type).constant());
  const runtime::Stream stream = runtime::Stream::current(runtime::current_device());
  runtime::BufferRef buffer =
      runtime::allocate(bytes, stream, runtime::label_of(type), Site(where).location);
  std::memcpy(buffer->pointer(), elements_on_host(*node), bytes);
  return array_node({type, std::move(buffer), 0});
}

bool share_memory(const Node& a, const Node& b) { return a.value.buffer == b.value.buffer; }

/// The array to write to: the node's own memory, or a copy.
NodeRef to_write(const NodeRef& node, bool in_place, const SourceLocation& where) {
  return in_place ? array_node(runtime::DeviceArray(node->value)) : copy_of(node, where);
}

bool are_integer_arrays(const std::vector<IndexItem>& items) {
  return std::ranges::all_of(items, [](const IndexItem& item) {
    return item.kind == IndexItem::Kind::array && is_integer(item.array->dtype());
  });
}

/// The index arrays of the leading axes, computed. Empty if some have no i64 elements that this
/// thread may read now, or their shapes differ.
std::vector<NodeRef> computed_indices(const Region& region) {
  std::vector<NodeRef> indices;
  for (const AxisIndex& one : region.indexed) {
    const NodeRef& index = one.index;
    if (index->dtype != DType::i64 || index->shape != region.indexed.front().index->shape ||
        !is_for_this_cpu(*index) || !compute(index))
      return {};
    indices.push_back(index);
  }
  return indices;
}

/// Calls visit(k, row) for the k-th of the rows that index arrays of the leading axes select, in
/// C order. An index outside its axis selects no row.
template <class Visit>
void for_rows(const ir::Shape& shape, const std::vector<NodeRef>& indices, const Visit& visit) {
  ir::InlineVector<const std::byte*, 4> elements;
  ir::InlineVector<std::int64_t, 4> extents;
  for (const NodeRef& index : indices) {
    elements.push_back(elements_on_host(*index));
    extents.push_back(shape[extents.size()].constant());
  }
  const std::int64_t count = ir::element_count(indices[0]->shape).constant();
  for (std::int64_t k = 0; k < count; ++k) {
    std::int64_t row = 0;
    bool inside = true;
    for (std::size_t axis = 0; axis < extents.size(); ++axis) {
      const std::int64_t extent = extents[axis];
      std::int64_t index = 0;
      std::memcpy(&index, elements[axis] + static_cast<std::size_t>(k) * sizeof(index),
                  sizeof(index));
      inside = inside && heddle_scalar::is_position(index, extent);
      row = row * extent + (index < 0 ? index + extent : index);
    }
    if (inside) visit(k, row);
  }
}

/// memcpy, without a call for elements of the usual sizes.
void copy_row(std::byte* to, const std::byte* from, std::size_t bytes) {
  switch (bytes) {
    case 4:
      std::memcpy(to, from, 4);
      break;
    case 8:
      std::memcpy(to, from, 8);
      break;
    case 16:
      std::memcpy(to, from, 16);
      break;
    default:
      std::memcpy(to, from, bytes);
  }
}

/// The bytes of the elements that one index of each of the leading axes selects.
std::size_t row_bytes(const Node& array, std::size_t leading) {
  const ir::Shape rest(array.shape.begin() + static_cast<std::ptrdiff_t>(leading),
                       array.shape.end());
  return static_cast<std::size_t>(ir::element_count(rest).constant()) * size_of(array.dtype);
}

}  // namespace

NodeRef elements_where(const NodeRef& array, const Array& mask, const SourceLocation& where) {
  if (!may_select(*array, *Access::node(mask, where))) return {};
  const NodeRef known = computed_mask(mask, where);
  if (!known || !compute(array)) return {};
  return elements_in_host_mask(array, known, where);
}

NodeRef with_elements_where(const Array& array, const Array& mask, const NodeRef& values,
                            bool (*alone)(const Node&), const SourceLocation& where) {
  const NodeRef& node = Access::raw(array);
  if (!node || !may_select(*node, *Access::node(mask, where)) || !is_for_this_cpu(*values))
    return {};
  const std::size_t selecting = Access::node(mask, where)->shape.size();
  if (values->shape.size() != node->shape.size() - selecting + 1) return {};
  const NodeRef known = computed_mask(mask, where);
  if (!known || !compute(node) || !compute(values)) return {};
  const bool in_place =
      alone(*node) && !share_memory(*node, *known) && !share_memory(*node, *values);
  const NodeRef written = to_write(node, in_place, where);
  return write_in_host_mask(written, known, values, where) ? written : NodeRef();
}

NodeRef with_elements_at(const Array& array, const std::vector<IndexItem>& items,
                         const NodeRef& values, bool (*alone)(const Node&),
                         const SourceLocation& where) {
  const NodeRef& node = Access::raw(array);
  const bool number = values->is_number();
  if (!node || !may_compute(*node) || !are_integer_arrays(items) || values->trace_id != 0 ||
      !(number || is_for_this_cpu(*values)))
    return {};
  const Region region = region_of(node, items, where);
  const auto selected = [&] { return taken_shape(node, region.indexed, region.together, where); };
  if (region.indexed.empty() || !(number || values->shape == selected())) return {};
  const std::vector<NodeRef> indices = computed_indices(region);
  if (indices.empty() || !compute(node) || !(number || compute(values))) return {};
  bool in_place = alone(*node) && (number || !share_memory(*node, *values));
  for (const NodeRef& index : indices) in_place = in_place && !share_memory(*node, *index);
  const NodeRef written = to_write(node, in_place, where);
  const std::size_t bytes = row_bytes(*node, indices.size()), size = size_of(node->dtype);
  const std::byte* const from = number ? values->bits.bytes() : elements_on_host(*values);
  std::byte* const to = address_of(written->value);
  for_rows(node->shape, indices, [&](std::int64_t k, std::int64_t row) {
    std::byte* const place = to + static_cast<std::size_t>(row) * bytes;
    if (!number) {
      copy_row(place, from + static_cast<std::size_t>(k) * bytes, bytes);
    } else {
      for (std::size_t at = 0; at < bytes; at += size) copy_row(place + at, from, size);
    }
  });
  return written;
}

}  // namespace heddle::frontend
