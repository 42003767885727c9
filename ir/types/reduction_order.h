#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "ir/types/shape.h"

namespace heddle::ir {

/// Whether a reduction over `axes` keeps the last axis that has more than one element. Then sums
/// run along columns of C-ordered arrays (ir/scalar/reduce_tree.h).
inline bool reduces_columns(const Shape& shape, std::span<const std::int64_t> axes) {
  auto last = static_cast<std::int64_t>(shape.size()) - 1;
  while (last > 0 && shape[static_cast<std::size_t>(last)] == Dim(1)) --last;
  return std::ranges::find(axes, last) == axes.end();
}

}  // namespace heddle::ir
