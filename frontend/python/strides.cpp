#include "frontend/python/strides.h"

#include <algorithm>

namespace heddle::python {

namespace {

/// Strides in C order, where an extent of 0 counts as 1.
Strides dense_strides(const Shape& shape) {
  Strides strides(shape.size());
  std::int64_t step = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step *= std::max<std::int64_t>(shape[i], 1);
  }
  return strides;
}

bool is_empty(const Shape& shape) {
  return std::find(shape.begin(), shape.end(), 0) != shape.end();
}

}  // namespace

std::optional<Strides> reshaped_strides(const Shape& from, const Strides& strides,
                                        const Shape& to) {
  if (is_empty(from)) return dense_strides(to);
  Shape old_shape;
  Strides old_strides;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] == 1) continue;
    old_shape.push_back(from[i]);
    old_strides.push_back(strides[i]);
  }
  Strides result(to.size());
  std::size_t old_axis = 0, new_axis = 0;
  // Runs of axes of equal size in both shapes: the old axes must be mergeable into one.
  while (new_axis < to.size()) {
    std::size_t new_end = new_axis;
    std::int64_t new_size = to[new_end++];
    std::size_t old_end = old_axis;
    std::int64_t old_size = old_end < old_shape.size() ? old_shape[old_end++] : 1;
    while (new_size != old_size) {
      if (new_size < old_size) {
        new_size *= to[new_end++];
      } else {
        old_size *= old_shape[old_end++];
      }
    }
    for (std::size_t i = old_axis; i + 1 < old_end; ++i) {
      if (old_strides[i] != old_shape[i + 1] * old_strides[i + 1]) return std::nullopt;
    }
    std::int64_t step = old_end > old_axis ? old_strides[old_end - 1] : 1;
    for (std::size_t i = new_end; i-- > new_axis;) {
      result[i] = step;
      step *= to[i];
    }
    old_axis = old_end;
    new_axis = new_end;
  }
  return result;
}

}  // namespace heddle::python
