#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "heddle/array.h"

#include "frontend/exchange/foreign_memory.h"

namespace heddle::python {

using frontend::c_strides;
using frontend::Strides;

/// Layout of a view's elements in memory, in units of elements.
struct Layout {
  std::int64_t offset = 0;
  Strides strides;
};

/// Strides of the same elements in another shape; nullopt if NumPy has to copy.
std::optional<Strides> reshaped_strides(const Shape& from, const Strides& strides, const Shape& to);

}  // namespace heddle::python
