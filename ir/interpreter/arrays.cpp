#include "ir/interpreter/arrays.h"

#include <cstring>

namespace heddle::ir::interpreter {
namespace {

template <std::size_t size>
void copy_run(const std::byte* from, std::int64_t from_stride, std::byte* to,
              std::int64_t to_stride, std::int64_t count) {
  constexpr auto bytes = static_cast<std::int64_t>(size);
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * to_stride * bytes, from + i * from_stride * bytes, size);
  }
}

void copy_run(const std::byte* from, std::int64_t from_stride, std::byte* to,
              std::int64_t to_stride, std::int64_t count, std::size_t size) {
  switch (size) {
    case 1:
      return copy_run<1>(from, from_stride, to, to_stride, count);
    case 2:
      return copy_run<2>(from, from_stride, to, to_stride, count);
    case 4:
      return copy_run<4>(from, from_stride, to, to_stride, count);
    case 16:
      return copy_run<16>(from, from_stride, to, to_stride, count);
    default:
      return copy_run<8>(from, from_stride, to, to_stride, count);
  }
}

}  // namespace

std::int64_t count_of(const Extents& extents) {
  std::int64_t count = 1;
  for (std::int64_t extent : extents) count *= extent;
  return count;
}

Extents c_strides(const Extents& extents) {
  Extents strides(extents.size());
  std::int64_t stride = 1;
  for (std::size_t axis = extents.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= extents[axis];
  }
  return strides;
}

void copy_elements(const StridedBytes& from, const StridedBytes& to, const Extents& extents,
                   std::size_t element_size) {
  if (count_of(extents) == 0) return;
  const auto bytes = static_cast<std::int64_t>(element_size);
  if (extents.empty()) {
    std::memcpy(to.data, from.data, element_size);
    return;
  }
  const std::size_t last = extents.size() - 1;
  Extents index(last, 0);
  std::int64_t from_offset = 0, to_offset = 0;
  while (true) {
    copy_run(from.data + from_offset * bytes, from.strides[last], to.data + to_offset * bytes,
             to.strides[last], extents[last], element_size);
    std::size_t axis = last;
    while (axis > 0) {
      --axis;
      from_offset += from.strides[axis];
      to_offset += to.strides[axis];
      if (++index[axis] < extents[axis]) break;
      index[axis] = 0;
      from_offset -= from.strides[axis] * extents[axis];
      to_offset -= to.strides[axis] * extents[axis];
      if (axis == 0) return;
    }
    if (last == 0) return;
  }
}

}  // namespace heddle::ir::interpreter
