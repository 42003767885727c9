#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "heddle/array.h"

namespace heddle::python {

using Strides = std::vector<std::int64_t>;

/// Layout of a view's elements in memory, in units of elements.
struct Layout {
  std::int64_t offset = 0;
  Strides strides;
};

/// Strides of a C-ordered array, in elements.
Strides c_strides(const Shape& shape);
/// Strides of the same elements in another shape; nullopt if NumPy has to copy.
std::optional<Strides> reshaped_strides(const Shape& from, const Strides& strides, const Shape& to);

}  // namespace heddle::python
