#include "ir/types/shape.h"

#include <algorithm>

#include <fmt/format.h>

#include "heddle/error.h"

namespace heddle::ir {

Dim element_count(const Shape& shape) {
  // As in NumPy, the product of the other extents must fit even if one extent is zero.
  Dim product = 1;
  bool empty = false;
  for (Dim extent : shape) {
    if (extent == Dim(0)) {
      empty = true;
    } else {
      product *= extent;
    }
  }
  return empty ? Dim(0) : product;
}

Dims contiguous_strides(const Shape& shape) {
  Dims strides(shape.size());
  Dim stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    if (shape[i] != Dim(0)) stride *= shape[i];
  }
  return strides;
}

Shape broadcast_shapes(const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape result = longer;
  const std::size_t offset = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    Dim& extent = result[offset + i];
    if (extent == shorter[i] || shorter[i] == Dim(1)) continue;
    if (extent != Dim(1)) {
      throw ShapeError(
          fmt::format("shapes {} and {} do not broadcast: axis {} is {} and {}; extents must be "
                      "equal or 1",
                      to_string(a), to_string(b),
                      static_cast<std::ptrdiff_t>(i) - static_cast<std::ptrdiff_t>(shorter.size()),
                      (&longer == &a ? extent : shorter[i]).to_string(),
                      (&longer == &a ? shorter[i] : extent).to_string()));
    }
    extent = shorter[i];
  }
  return result;
}

int normalize_axis(std::int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    throw IndexError(
        fmt::format("axis {} is out of bounds for an array of {} dimensions", axis, rank));
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ',';
    text += shape[i].to_string();
  }
  return text + ']';
}

bool is_constant(const Shape& shape) {
  return std::ranges::all_of(shape, [](Dim extent) { return extent.is_constant(); });
}

}  // namespace heddle::ir
