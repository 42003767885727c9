#include "frontend/python/shared_writes.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "heddle/error.h"

#include "frontend/array/strided_elements.h"
#include "frontend/array/views.h"
#include "frontend/evaluate/evaluate.h"
#include "frontend/exchange/memory_layout.h"
#include "frontend/graph/record.h"
#include "frontend/python/evaluation.h"
#include "frontend/python/gil.h"
#include "runtime/device/backend.h"
#include "runtime/device/memory.h"

namespace heddle::python {

namespace {

using frontend::NodeRef;

/// Elements of memory that is held.
struct Elements {
  runtime::BufferRef buffer;
  std::byte* first = nullptr;
  Shape shape;
  Strides strides;
};

void write_on_host(const Elements& to, const runtime::DeviceArray& value) {
  frontend::StridedElements elements;
  for (const std::int64_t extent : to.shape) elements.extents.push_back(extent);
  for (const std::int64_t stride : to.strides) elements.strides.push_back(stride);
  frontend::scatter(frontend::address_of(value), elements, size_of(value.type.dtype), to.first);
}

/// Updates memory of a layout in place. All of it is copied; what has gaps is an update, which must
/// not write between the elements.
void update(const Elements& to, const frontend::MemoryLayout& layout, const NodeRef& value,
            const SourceLocation& where) {
  const auto size = static_cast<std::int64_t>(size_of(value->dtype));
  std::byte* const first = to.first + layout.offset * size;
  NodeRef memory = frontend::array_node(
      {{value->dtype, frontend::to_ir(layout.memory)},
       runtime::borrow(
           first, static_cast<std::size_t>(layout.reach * size), to.buffer->stream(),
           [held = to.buffer]() mutable { held = {}; }, true),
       0});
  const NodeRef updated = frontend::with_elements(memory, layout, value, where);
  memory = {};  // so that the update may overwrite it
  frontend::evaluate(updated);
  const std::byte* const made = frontend::address_of(updated->value);
  if (made == first) return;
  if (!layout.is_whole()) throw InternalError("a write to shared memory was not made in place");
  const runtime::Device device = to.buffer->device();
  runtime::copy(first, device, made, device, static_cast<std::size_t>(layout.reach * size),
                runtime::Stream::current(device));
}

/// The axis along which the elements are farthest apart, of those that have several.
std::size_t outermost(const Elements& elements) {
  std::size_t found = 0;
  std::int64_t pitch = 0;
  for (std::size_t axis = 0; axis < elements.shape.size(); ++axis) {
    if (elements.shape[axis] == 1 || std::abs(elements.strides[axis]) <= pitch) continue;
    found = axis;
    pitch = std::abs(elements.strides[axis]);
  }
  return found;
}

/// One program, or one for each index of the outermost axis.
void write_on_device(const Elements& to, const NodeRef& value, const SourceLocation& where) {
  if (const auto layout = frontend::layout_of(to.shape, to.strides))
    return update(to, *layout, value, where);
  const std::size_t axis = outermost(to);
  const auto bytes = to.strides[axis] * static_cast<std::int64_t>(size_of(value->dtype));
  Elements part = to;
  part.shape[axis] = 1;
  for (std::int64_t i = 0; i < to.shape[axis]; ++i, part.first += bytes) {
    const NodeRef own =
        frontend::slice_along(value, static_cast<std::int64_t>(axis), i, 1, 1, where);
    write_on_device(part, own, where);
  }
}

}  // namespace

void write_elements(const NodeRef& pinned, const Layout& layout, NodeRef value,
                    const SourceLocation& where) {
  {
    const ReleaseGil release;
    evaluate_for(pinned, value);
  }
  if (frontend::bytes_of(*value) == 0) return;
  // The value may lie in the memory that is written.
  if (!value->value.buffer->pooled()) value = copied(value);
  const runtime::DeviceArray& array = pinned->value;
  Elements to{array.buffer, nullptr, {}, layout.strides};
  for (const ir::Dim& extent : value->value.type.shape) to.shape.push_back(extent.constant());
  to.first = frontend::address_of(array) +
             layout.offset * static_cast<std::int64_t>(size_of(value->dtype));
  const ReleaseGil release;
  const runtime::Device device = array.buffer->device();
  if (runtime::capabilities_of(device).host_memory) return write_on_host(to, value->value);
  const SharedOrder order(device);
  if (to.shape.empty()) {  // an update has an axis
    to.shape = to.strides = {1};
    value = frontend::reshape_to(value, {1}, where);
  }
  array.buffer->wait_for_users(runtime::Stream::current(device));
  write_on_device(to, value, where);
}

}  // namespace heddle::python
