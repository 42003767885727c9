#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "heddle/array.h"

namespace heddle::python {

using Strides = std::vector<std::int64_t>;

/// Where the elements of a view lie in memory, counted in elements.
struct Layout {
  std::int64_t offset = 0;
  Strides strides;
};

/// Distances in elements between neighbours of a C-ordered array.
Strides c_strides(const Shape& shape);
/// The strides of the same elements in another shape; nullopt where NumPy has to copy.
std::optional<Strides> reshaped_strides(const Shape& from, const Strides& strides, const Shape& to);

}  // namespace heddle::python
