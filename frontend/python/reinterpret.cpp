#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "heddle/error.h"
#include "heddle/jit.h"

#include "frontend/array/access.h"
#include "frontend/graph/record.h"
#include "frontend/graph/trace.h"
#include "frontend/python/array_object.h"
#include "frontend/python/evaluation.h"

// numpy.ndarray.view(dtype): the same bytes with another dtype.

namespace heddle::python {
namespace {

using frontend::Access;

[[noreturn]] void refuse(const std::string& why, const SourceLocation& where) {
  throw ValueError(frontend::at("view: " + why, where));
}

/// The shape for another element size. The memory must be C-ordered and contiguous.
Shape resized(Shape shape, const Layout& layout, std::size_t from, std::size_t to,
              const SourceLocation& where) {
  if (shape.empty()) refuse("a dtype of another size needs an axis; use reshape(1)", where);
  if (layout.strides != c_strides(shape)) {
    refuse("a dtype of another size needs a C-contiguous array; use a copy()", where);
  }
  const std::int64_t bytes = shape.back() * static_cast<std::int64_t>(from);
  if (bytes % static_cast<std::int64_t>(to) != 0) {
    refuse(fmt::format("the {} bytes of the last axis are not a multiple of {}", bytes, to), where);
  }
  shape.back() = bytes / static_cast<std::int64_t>(to);
  return shape;
}

/// A base that is part of a pinned buffer, with another dtype.
std::shared_ptr<Base> base_of(const frontend::NodeRef& pinned, std::int64_t offset, DType dtype,
                              ir::Shape shape, bool read_only) {
  const frontend::NodeRef node = frontend::array_node(
      {{dtype, std::move(shape)}, pinned->value.buffer, pinned->value.offset + offset});
  auto base = std::make_shared<Base>();
  base->value = Access::make(node);
  base->pinned = node;
  base->read_only = read_only;
  register_pinned(node);
  return base;
}

}  // namespace

ArrayObject ArrayObject::reinterpreted(DType dtype, const SourceLocation& where) {
  const DType own = read(where).dtype();
  if (dtype == own) {
    if (owns_) base_->owner = this;
    return *this;
  }
  if (frontend::tracing()) frontend::value_in_trace("view with a dtype", where);
  const std::size_t from = size_of(own), to = size_of(dtype);
  pin(*this);
  const Layout layout = this->layout();
  const bool keeps_steps = from == to && size_of(base_->pinned->dtype) == from;
  if (keeps_steps) {
    const std::shared_ptr<Base> base =
        base_of(base_->pinned, 0, dtype, base_->pinned->shape, read_only());
    base->has_gaps = base_->has_gaps;
    if (view_ == nullptr) return ArrayObject(base);
    return ArrayObject(std::make_shared<View>(base, steps(), view_->writable(), false));
  }
  const Shape shape = resized(read(where).shape(), layout, from, to, where);
  const std::int64_t offset = layout.offset * static_cast<std::int64_t>(from);
  if (offset % static_cast<std::int64_t>(std::min<std::size_t>(to, 8)) != 0) {
    refuse("the elements would not be aligned for the dtype; use a copy()", where);
  }
  return ArrayObject(base_of(base_->pinned, offset, dtype, frontend::to_ir(shape), read_only()));
}

}  // namespace heddle::python
