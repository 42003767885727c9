#include "frontend/array/masked.h"

#include <algorithm>
#include <cstring>

#include "frontend/array/access.h"
#include "frontend/array/at_once.h"
#include "frontend/array/mask_places.h"
#include "frontend/array/strided_elements.h"
#include "frontend/evaluate/evaluate.h"
#include "frontend/graph/placement.h"
#include "frontend/graph/record.h"
#include "frontend/graph/storage.h"
#include "frontend/graph/trace.h"
#include "ir/base/span.h"
#include "runtime/device/backend.h"

namespace heddle::frontend {

namespace {

bool is_for_this_cpu(const Node& node) {
  const runtime::Device device = device_of(node).value_or(runtime::current_device());
  const runtime::Capabilities capabilities = runtime::capabilities_of(device);
  return node.trace_id == 0 && device == runtime::current_device() && capabilities.host_memory &&
         !capabilities.asynchronous;
}

/// Whether a mask selects from an array along its leading axes, and both may be computed now.
bool may_select(const Node& array, const Node& mask) {
  return Trace::current() == nullptr && auto_eval_enabled() && !ir::kernels_watched() &&
         is_boolean(mask.dtype) && !mask.shape.empty() && ir::is_constant(array.shape) &&
         mask.shape.size() <= array.shape.size() &&
         std::equal(mask.shape.begin(), mask.shape.end(), array.shape.begin()) &&
         is_for_this_cpu(array) && is_for_this_cpu(mask);
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
  const auto shares = [&](const NodeRef& other) {
    return other->value.buffer == node->value.buffer;
  };
  const bool in_place = alone(*node) && !shares(known) && !shares(values);
  const NodeRef written =
      in_place ? array_node(runtime::DeviceArray(node->value)) : copy_of(node, where);
  return write_in_host_mask(written, known, values, where) ? written : NodeRef();
}

}  // namespace heddle::frontend
