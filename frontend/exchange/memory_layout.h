#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "heddle/array.h"

#include "frontend/graph/node.h"
#include "frontend/graph/record.h"
#include "ir/graph/graph.h"

namespace heddle::frontend {

using Strides = std::vector<std::int64_t>;  ///< in elements

/// Elements at any strides, as a slice of C-ordered memory with its axes in another order. Where
/// rows have gaps between them, the memory ends behind the last element: nothing but the slice may
/// be read or written.
struct MemoryLayout {
  std::int64_t offset = 0;  ///< of the memory's first element from element 0: 0 or less
  std::int64_t reach = 0;   ///< elements from the first to the last one
  Shape memory;             ///< extents of the memory
  /// The slice, by axis of the memory. Steps are negative along strides that are.
  Shape starts, steps, extents;
  std::vector<std::int64_t> axes;  ///< permutation of the slice's axes to the array's

  /// Whether the slice is the memory as it is.
  bool is_whole() const;
  ir::Attributes slice() const;
};

/// An axis of stride 0 counts as extent 1. Without elements strides mean nothing. nullopt if
/// elements overlap, or lie in no such order, as a window that slides over a row does.
std::optional<MemoryLayout> layout_of(const Shape& shape, const Strides& strides);

/// The elements, of a value of the memory's shape; axes of stride 0 have the extent 1.
NodeRef elements_in(const NodeRef& memory, const MemoryLayout& layout, const Site& site);
/// The memory with the elements replaced by `value`, which has their shape.
NodeRef with_elements(const NodeRef& memory, const MemoryLayout& layout, const NodeRef& value,
                      const Site& site);

}  // namespace heddle::frontend
