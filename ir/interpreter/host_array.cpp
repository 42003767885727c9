#include "ir/interpreter/host_array.h"

#include <utility>

namespace heddle::ir::interpreter {

Extents extents_of(const Shape& shape) {
  Extents extents;
  for (Dim dim : shape) extents.push_back(dim.constant());
  return extents;
}

std::size_t count_of(const Type& type) {
  return static_cast<std::size_t>(element_count(type.shape).constant());
}

HostArray allocate(Type type) {
  const std::size_t bytes = count_of(type) * size_of(type.dtype);
  return {std::move(type), std::vector<std::byte>(bytes)};
}

StridedBytes source(const HostArray& array, Extents strides, std::int64_t offset) {
  const auto bytes = offset * static_cast<std::int64_t>(size_of(array.type.dtype));
  return {const_cast<std::byte*>(array.data.data()) + bytes, std::move(strides)};
}

StridedBytes target(HostArray& array, Extents strides, std::int64_t offset) {
  const auto bytes = offset * static_cast<std::int64_t>(size_of(array.type.dtype));
  return {array.data.data() + bytes, std::move(strides)};
}

HostArray strided(const HostArray& array, const Shape& shape, Extents strides,
                  std::int64_t offset) {
  HostArray result = allocate({array.type.dtype, shape});
  const Extents extents = extents_of(shape);
  copy_elements(source(array, std::move(strides), offset), target(result, c_strides(extents)),
                extents, size_of(array.type.dtype));
  return result;
}

Extents broadcast_strides(const HostArray& array, std::size_t rank) {
  const Extents extents = extents_of(array.type.shape);
  const Extents own = c_strides(extents);
  Extents strides(rank, 0);
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (extents[i] != 1) strides[rank - own.size() + i] = own[i];
  }
  return strides;
}

HostArray broadcast(const HostArray& array, const Shape& shape) {
  return strided(array, shape, broadcast_strides(array, shape.size()));
}

HostArray transpose(const HostArray& array, std::span<const std::int64_t> axes) {
  const Extents own = c_strides(extents_of(array.type.shape));
  Shape shape;
  Extents strides;
  for (std::int64_t axis : axes) {
    shape.push_back(array.type.shape[static_cast<std::size_t>(axis)]);
    strides.push_back(own[static_cast<std::size_t>(axis)]);
  }
  return strided(array, shape, std::move(strides));
}

}  // namespace heddle::ir::interpreter
