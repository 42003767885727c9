#include "frontend/exchange/foreign_memory.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "heddle/creation.h"
#include "heddle/manipulation.h"

#include "frontend/array/access.h"
#include "frontend/array/gather.h"
#include "frontend/array/ordering.h"
#include "frontend/array/views.h"
#include "frontend/exchange/device_names.h"
#include "frontend/graph/record.h"
#include "runtime/device/backend.h"
#include "runtime/device/memory.h"

namespace heddle::frontend {

namespace {

std::optional<DType> dtype_of_tensor(const dlpack::DataType& type) {
  const auto sized = [&](DType first, int log_size) {
    return static_cast<DType>(static_cast<int>(first) + log_size);
  };
  const int log_size = type.bits >= 8 ? std::countr_zero(type.bits / 8u) : -1;
  if (type.lanes != 1 || log_size < 0 || !std::has_single_bit(unsigned{type.bits})) {
    return std::nullopt;
  }
  switch (type.code) {
    case dlpack::integer:
      return log_size <= 3 ? std::optional(sized(DType::i8, log_size)) : std::nullopt;
    case dlpack::unsigned_integer:
      return log_size <= 3 ? std::optional(sized(DType::u8, log_size)) : std::nullopt;
    case dlpack::boolean:
      return type.bits == 8 ? std::optional(DType::boolean) : std::nullopt;
    case dlpack::bfloat:
      return type.bits == 16 ? std::optional(DType::bf16) : std::nullopt;
    case dlpack::floating:
      if (type.bits == 16) return DType::f16;
      if (type.bits == 32) return DType::f32;
      return type.bits == 64 ? std::optional(DType::f64) : std::nullopt;
    case dlpack::complex:
      if (type.bits == 64) return DType::c64;
      return type.bits == 128 ? std::optional(DType::c128) : std::nullopt;
    default:
      return std::nullopt;
  }
}

std::int64_t count(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

bool is_aligned(const ForeignMemory& memory) {
  const std::size_t unit = std::min<std::size_t>(size_of(memory.dtype), 8);
  return reinterpret_cast<std::uintptr_t>(memory.data) % unit == 0;
}

/// Copies the elements of host memory, in C order.
void gather(const ForeignMemory& memory, std::size_t axis, const std::byte* from, std::byte*& to) {
  const std::size_t size = size_of(memory.dtype);
  if (axis == memory.shape.size()) {
    std::memcpy(to, from, size);
    to += size;
    return;
  }
  const std::int64_t step = memory.strides[axis] * static_cast<std::int64_t>(size);
  for (std::int64_t i = 0; i < memory.shape[axis]; ++i)
    gather(memory, axis + 1, from + i * step, to);
}

Array copy_on_host(const ForeignMemory& memory, const SourceLocation& where) {
  const auto elements = static_cast<std::size_t>(count(memory.shape));
  std::vector<std::byte> bytes(elements * size_of(memory.dtype));
  std::byte* to = bytes.data();
  if (!bytes.empty()) gather(memory, 0, static_cast<const std::byte*>(memory.data), to);
  const runtime::DeviceScope scope(runtime::Device{});
  return heddle::from_memory(bytes.data(), elements, memory.dtype, memory.shape, where);
}

/// Copies by a kernel that computes where each element lies. It reads no other memory than the
/// elements.
Array copy_by_kernel(const ForeignMemory& memory, const SourceLocation& where) {
  if (!is_aligned(memory)) {
    throw DeviceError(at("memory of a GPU must be aligned to its elements", where));
  }
  std::int64_t first = 0, last = 0;
  for (std::size_t axis = 0; axis < memory.shape.size(); ++axis) {
    const std::int64_t reach = (memory.shape[axis] - 1) * memory.strides[axis];
    (reach < 0 ? first : last) += reach;
  }
  ForeignMemory all = memory;
  all.data = static_cast<std::byte*>(memory.data) +
             first * static_cast<std::int64_t>(size_of(memory.dtype));
  all.shape = {last - first + 1};
  all.release = nullptr;
  const OpRecorder on{where};
  NodeRef index = record_constant(DType::i64, static_cast<double>(-first));
  const ir::Shape shape = to_ir(memory.shape);
  for (std::size_t axis = 0; axis < memory.shape.size(); ++axis) {
    const NodeRef place = record_iota(shape, static_cast<std::int64_t>(axis), DType::i64, where);
    const NodeRef step = record_constant(DType::i64, static_cast<double>(memory.strides[axis]));
    index = on(ir::Op::add, index, on(ir::Op::multiply, place, step));
  }
  index = broadcast_to_shape(index, shape, where);
  const runtime::DeviceScope scope(memory.device);
  const MemoryLayout row = layout_of(all.shape, {1}).value();
  const NodeRef flat = borrowed_node(std::move(all), row);
  const Array result = Access::make(take_at(flat, {{AxisIndex{0, index}}}, true, where));
  result.eval();
  runtime::Stream::current(memory.device).synchronize();  // before the memory is released
  return result;
}

}  // namespace

Strides c_strides(const Shape& shape) {
  Strides strides(shape.size());
  if (count(shape) == 0) return strides;
  std::int64_t step = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = step;
    step *= shape[axis];
  }
  return strides;
}

ForeignMemory memory_of(const dlpack::Tensor& tensor, std::function<void()> release) {
  const std::optional<DType> dtype = dtype_of_tensor(tensor.dtype);
  if (!dtype) {
    throw DTypeError(
        fmt::format("from_dlpack: a dtype of code {} with {} bits and {} lanes is not supported",
                    tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes));
  }
  const std::optional<runtime::Device> device = dlpack::find_device(tensor.device);
  if (!device) {
    throw DeviceError(fmt::format("from_dlpack: this machine has no device of DLPack type {}",
                                  tensor.device.type));
  }
  ForeignMemory result;
  result.release = std::move(release);
  result.data = static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
  result.device = *device;
  // Some producers number devices differently, so the pointer decides.
  if (!runtime::capabilities_of(result.device).host_memory && result.data != nullptr)
    result.device = runtime::device_of_pointer(result.data).value_or(result.device);
  result.dtype = *dtype;
  result.shape.assign(tensor.shape, tensor.shape + tensor.ndim);
  result.strides = tensor.strides == nullptr
                       ? c_strides(result.shape)
                       : Strides(tensor.strides, tensor.strides + tensor.ndim);
  return result;
}

std::optional<MemoryLayout> layout_of(const ForeignMemory& memory) {
  if (!is_aligned(memory)) return std::nullopt;
  return layout_of(memory.shape, memory.strides);
}

NodeRef borrowed_node(ForeignMemory memory, const MemoryLayout& layout) {
  const auto size = static_cast<std::int64_t>(size_of(memory.dtype));
  void* const first = memory.data == nullptr
                          ? nullptr
                          : static_cast<std::byte*>(memory.data) + layout.offset * size;
  runtime::BufferRef buffer = runtime::borrow(first, static_cast<std::size_t>(layout.reach * size),
                                              runtime::Stream::current(memory.device),
                                              std::exchange(memory.release, nullptr));
  return array_node({{memory.dtype, to_ir(layout.memory)}, std::move(buffer), 0});
}

Array copy_of(const ForeignMemory& memory, const SourceLocation& where) {
  const bool on_host = runtime::capabilities_of(memory.device).host_memory;
  return on_host || count(memory.shape) == 0 ? copy_on_host(memory, where)
                                             : copy_by_kernel(memory, where);
}

}  // namespace heddle::frontend
