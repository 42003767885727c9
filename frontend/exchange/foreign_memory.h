#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "heddle/array.h"
#include "heddle/dlpack.h"

#include "frontend/graph/node.h"
#include "runtime/device/device.h"

namespace heddle::frontend {

using Strides = std::vector<std::int64_t>;  ///< in elements

/// Strides of a C-ordered array; zeros if it has no elements.
Strides c_strides(const Shape& shape);

/// Memory that another library owns until `release` is called.
struct ForeignMemory {
  void* data = nullptr;
  runtime::Device device;
  DType dtype = DType::f32;
  Shape shape;
  Strides strides;
  bool read_only = false;
  std::function<void()> release;
};

/// A tensor's memory. DTypeError and DeviceError for a dtype or a device that there is not.
ForeignMemory memory_of(const dlpack::Tensor& tensor, std::function<void()> release);

/// Elements as C-ordered memory, with the view steps from there to the array.
struct DenseLayout {
  Shape shape;                     ///< of the memory
  std::vector<std::int64_t> axes;  ///< permutation to the array's axis order
};

/// nullopt if the elements do not fill their memory, or are not aligned. An axis of stride 0 counts
/// as extent 1. Without elements strides mean nothing.
std::optional<DenseLayout> dense_layout(const ForeignMemory& memory);

/// A value of the layout's shape over the memory, which it releases at the end.
NodeRef borrowed_node(ForeignMemory memory, const DenseLayout& layout);
/// The array with the memory's shape, of a value of the layout's shape.
Array arranged(const Array& value, const DenseLayout& layout, const Shape& shape,
               const SourceLocation& where);

/// A copy of the elements, whatever the layout. The memory can be released when it returns.
/// DeviceError for memory of a GPU that is not aligned to its elements.
Array copy_of(const ForeignMemory& memory, const SourceLocation& where);

}  // namespace heddle::frontend
