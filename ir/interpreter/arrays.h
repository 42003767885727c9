#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace heddle::ir::interpreter {

using Extents = std::vector<std::int64_t>;

std::int64_t count_of(const Extents& extents);
/// Strides of the C-ordered array, in elements.
Extents c_strides(const Extents& extents);

/// Array elements in memory. Strides are in elements.
struct StridedBytes {
  std::byte* data;  ///< the element at index (0, ..., 0)
  Extents strides;
};

/// Copies a region of shape `extents` from one array to another.
void copy_elements(const StridedBytes& from, const StridedBytes& to, const Extents& extents,
                   std::size_t element_size);

}  // namespace heddle::ir::interpreter
