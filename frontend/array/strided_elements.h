#pragma once

#include <cstdint>

#include "frontend/graph/node.h"
#include "ir/base/inline_vector.h"

namespace heddle::frontend {

/// Elements of an array in memory: those at offset + sum(index * stride), in elements.
struct StridedElements {
  std::int64_t offset = 0;
  ir::InlineVector<std::int64_t, 4> extents, strides;

  std::int64_t count() const;
  /// Whether they lie one behind the other, in C order.
  bool is_contiguous() const;
};

/// All elements of an array of constant extents.
StridedElements all_elements(const ir::Shape& shape);

ir::Shape shape_of(const StridedElements& elements);

/// Replaces elements by those of a view of them. Returns false, and leaves the elements
/// unspecified, for a view of parts of numbers, of extents that are not constant, or a reshape that
/// needs a copy.
bool apply_view(ir::Op op, const ir::Attributes& view, StridedElements& elements);

/// The address of an array's first element.
inline std::byte* address_of(const runtime::DeviceArray& array) {
  return static_cast<std::byte*>(array.buffer->pointer()) + array.offset;
}

/// Copies elements of `size` bytes to `to`, in C order. `from` is the address of element 0.
void gather(const std::byte* from, const StridedElements& elements, std::size_t size,
            std::byte* to);
/// Writes elements in C order to their places in `to`.
void scatter(const std::byte* from, const StridedElements& elements, std::size_t size,
             std::byte* to);

}  // namespace heddle::frontend
