#include "frontend/python/elements.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>

#include "heddle/jit.h"

#include "frontend/array/access.h"
#include "frontend/array/single_element.h"
#include "frontend/evaluate/evaluate.h"
#include "frontend/graph/record.h"
#include "frontend/graph/storage.h"
#include "frontend/graph/trace.h"
#include "frontend/python/bindings.h"
#include "frontend/python/foreign.h"
#include "frontend/python/gil.h"
#include "runtime/device/backend.h"

namespace heddle::python {
namespace {

using frontend::Access;
using frontend::Node;
using frontend::NodeRef;
using ir::Op;

bool is_part(const ViewStep& step) { return step.op == Op::real || step.op == Op::imag; }

ir::Shape shape_of(const ArrayObject& array) {
  ir::Shape shape = Access::raw(array.base().value)->shape;
  for (const ViewStep& step : array.steps()) {
    if (step.op == Op::transpose) {
      const ir::Shape before = shape;
      for (std::size_t axis = 0; axis < shape.size(); ++axis)
        shape[axis] = before[static_cast<std::size_t>(step.attributes.axes[axis])];
    } else if (!is_part(step)) {
      shape = step.attributes.shape;
    }
  }
  return shape;
}

bool is_on_host(const Node& node) {
  const runtime::Device device = node.evaluated()
                                     ? node.value.buffer->device()
                                     : node.planned_device().value_or(runtime::current_device());
  return device == runtime::current_device() && runtime::capabilities_of(device).host_memory;
}

/// The base's value, computed and in host memory; null if it is not.
NodeRef value_at_hand(const Base& base) {
  const NodeRef node = Access::raw(base.value);
  if (base.pinned || !node || node->trace_id != 0) return {};
  if (!is_on_host(*node)) return {};
  if (node->evaluated()) return node;
  if (node->op != Op::slice_update || !frontend::auto_eval_enabled()) return {};
  {
    const ReleaseGil release;
    frontend::evaluate(node);
  }
  return node->evaluated() ? node : NodeRef();
}

/// Counts negative indices from the end. False for an index out of bounds.
bool normalize(ElementIndex& index, const ir::Shape& shape) {
  for (std::size_t axis = 0; axis < index.size(); ++axis) {
    const std::int64_t extent = shape[axis].constant();
    if (index[axis] < 0) index[axis] += extent;
    if (index[axis] < 0 || index[axis] >= extent) return false;
  }
  return true;
}

/// The position of the element in the base's memory, in elements; nullopt if the index is out of
/// bounds, or the array views parts of numbers.
std::optional<std::int64_t> position_of(const ArrayObject& array, ElementIndex index) {
  const ir::Shape shape = shape_of(array);
  if (!normalize(index, shape) || std::ranges::any_of(array.steps(), is_part)) return std::nullopt;
  if (!array.steps().empty()) {
    const Layout layout = array.layout();
    return std::inner_product(index.begin(), index.end(), layout.strides.begin(), layout.offset);
  }
  std::int64_t position = 0;
  for (std::size_t axis = 0; axis < index.size(); ++axis)
    position = position * shape[axis].constant() + index[axis];
  return position;
}

std::byte* address_of(const runtime::DeviceArray& array, std::int64_t position) {
  return static_cast<std::byte*>(array.buffer->pointer()) + array.offset +
         position * static_cast<std::int64_t>(size_of(array.type.dtype));
}

/// The value in that dtype, if it is known.
std::optional<ir::ElementBits> known_bits(nb::handle value, DType dtype,
                                          const SourceLocation& where) {
  const ArrayObject* const array = as_array(value);
  if (array == nullptr) {
    const auto scalar = as_scalar(value);
    if (!scalar) return std::nullopt;
    return frontend::scalar_bits("setitem", *scalar, dtype, where);
  }
  if (array->is_view() || array->base().pinned) return std::nullopt;
  const NodeRef node = Access::raw(array->base().value);
  if (!node || node->trace_id != 0 || !node->is_number()) return std::nullopt;
  ir::ElementBits bits;
  frontend::convert(node->bits.bytes(), node->dtype, bits.bytes(), dtype, 1);
  return bits;
}

/// An element of arange(n) or of a broadcast number, which need no memory and are not computed.
std::optional<Array> read_source(const ArrayObject& array, ElementIndex index) {
  const NodeRef node = Access::raw(array.base().value);
  const bool is_pending_source = node && node->trace_id == 0 && !array.base().pinned &&
                                 !array.is_view() && node->kind == Node::Kind::operation &&
                                 (node->op == Op::iota || node->op == Op::broadcast_to);
  if (!is_pending_source || !is_on_host(*node) || !normalize(index, node->shape))
    return std::nullopt;
  const auto bits = frontend::known_element(node, {index.begin(), index.end()});
  if (!bits) return std::nullopt;
  return Access::make(frontend::record_number(node->dtype, *bits));
}

}  // namespace

std::optional<std::int64_t> known_integer(nb::handle value) {
  if (PyLong_CheckExact(value.ptr()) != 0) {
    int overflow = 0;
    const std::int64_t integer = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
    return overflow == 0 ? std::optional(integer) : std::nullopt;
  }
  const ArrayObject* const array = as_array(value);
  if (array == nullptr || !array->is_scalar() || array->base().pinned) return std::nullopt;
  const NodeRef& node = Access::raw(array->base().value);
  if (!node || node->trace_id != 0 || !node->is_number() || !is_integer(node->dtype) ||
      (node->dtype == DType::u64 && node->bits.low > INT64_MAX))
    return std::nullopt;
  std::int64_t integer = 0;
  frontend::convert(node->bits.bytes(), node->dtype, &integer, DType::i64, 1);
  return integer;
}

std::optional<ElementIndex> element_index(const ArrayObject& array, nb::handle key) {
  const bool several = PyTuple_CheckExact(key.ptr()) != 0;
  const std::size_t count = several ? static_cast<std::size_t>(PyTuple_GET_SIZE(key.ptr())) : 1;
  if (count == 0 || frontend::tracing() || array.is_scalar() || !array.base().value.has_value() ||
      count != shape_of(array).size())
    return std::nullopt;
  ElementIndex index;
  for (std::size_t i = 0; i < count; ++i) {
    const auto integer = known_integer(
        several ? PyTuple_GET_ITEM(key.ptr(), static_cast<Py_ssize_t>(i)) : key.ptr());
    if (!integer) return std::nullopt;
    index.push_back(*integer);
  }
  return index;
}

std::optional<Array> read_element(const ArrayObject& array, const ElementIndex& index) {
  const NodeRef node = value_at_hand(array.base());
  if (!node) [[unlikely]]
    return read_source(array, index);
  const auto position = position_of(array, index);
  if (!position) return std::nullopt;
  ir::ElementBits bits;
  std::memcpy(bits.bytes(), address_of(node->value, *position), size_of(node->dtype));
  return Access::make(frontend::record_number(node->dtype, bits));
}

bool write_element(const ArrayObject& array, const ElementIndex& index, nb::handle value,
                   const SourceLocation& where) {
  Base& base = array.base();
  if (array.read_only()) return false;
  const auto bits = known_bits(value, Access::raw(base.value)->dtype, where);
  if (!bits) return false;
  const Node* const at_hand = value_at_hand(base).get();
  const NodeRef& node = Access::raw(base.value);
  if (at_hand == nullptr || node.get() != at_hand) return false;
  const auto position = position_of(array, index);
  if (!position) return false;
  base.forget_views();
  // Nobody else may see the old elements, pending ops included.
  if (!node->unique() || !node->value.buffer.unique() || !node->value.buffer->pooled())
    return false;
  std::memcpy(address_of(node->value, *position), bits->bytes(), size_of(node->dtype));
  // A node is one value for ever: the new elements are that of another.
  Access::assign(base.value, frontend::array_node(runtime::DeviceArray(node->value)));
  return true;
}

}  // namespace heddle::python
