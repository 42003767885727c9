#pragma once

#include <cstring>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <vector>

#include "ir/graph/graph.h"

namespace heddle::test {

/// The dtype of a C++ type.
template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, bool>) {
    return DType::boolean;
  } else if constexpr (std::is_floating_point_v<T>) {
    return sizeof(T) == 4 ? DType::f32 : DType::f64;
  } else {
    constexpr DType kinds[2][4] = {{DType::u8, DType::u16, DType::u32, DType::u64},
                                   {DType::i8, DType::i16, DType::i32, DType::i64}};
    return kinds[std::is_signed_v<T>][sizeof(T) == 1   ? 0
                                      : sizeof(T) == 2 ? 1
                                      : sizeof(T) == 4 ? 2
                                                       : 3];
  }
}

/// A host array of `shape` from its elements' bytes in C order. 16-bit floats come as their bits.
template <class T>
ir::HostArray host_array(DType dtype, ir::Shape shape, std::span<const T> elements) {
  ir::HostArray array{{dtype, std::move(shape)}, {}};
  array.data.resize(elements.size_bytes());
  if (!elements.empty()) std::memcpy(array.data.data(), elements.data(), array.data.size());
  return array;
}

template <class T>
ir::HostArray host_array(ir::Shape shape, std::initializer_list<T> elements) {
  return host_array(dtype_of<T>(), std::move(shape),
                    std::span<const T>(elements.begin(), elements.size()));
}

}  // namespace heddle::test
