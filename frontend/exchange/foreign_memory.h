#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "heddle/array.h"
#include "heddle/dlpack.h"

#include "frontend/exchange/memory_layout.h"
#include "frontend/graph/node.h"
#include "runtime/device/device.h"

namespace heddle::frontend {

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

/// The layout of the elements; nullopt if they are not aligned, or lie in no order that a layout
/// describes.
std::optional<MemoryLayout> layout_of(const ForeignMemory& memory);

/// A value over the memory of a layout, which it releases at the end.
NodeRef borrowed_node(ForeignMemory memory, const MemoryLayout& layout);

/// A copy of the elements, whatever the layout. The memory can be released when it returns.
/// DeviceError for memory of a GPU that is not aligned to its elements.
Array copy_of(const ForeignMemory& memory, const SourceLocation& where);

}  // namespace heddle::frontend
