#include "frontend/exchange/exported_memory.h"

#include <utility>

#include "frontend/exchange/device_names.h"
#include "runtime/base/log.h"
#include "runtime/device/backend.h"

namespace heddle::frontend {

namespace {

dlpack::DataType type_of(DType dtype) {
  const auto bits = static_cast<std::uint8_t>(8 * size_of(dtype));
  if (is_boolean(dtype)) return {dlpack::boolean, 8, 1};
  if (is_signed_integer(dtype)) return {dlpack::integer, bits, 1};
  if (is_integer(dtype)) return {dlpack::unsigned_integer, bits, 1};
  if (dtype == DType::bf16) return {dlpack::bfloat, bits, 1};
  return {is_complex(dtype) ? dlpack::complex : dlpack::floating, bits, 1};
}

/// What the consumer has enqueued so far may still use the memory.
void wait_for_consumer(const ExportedMemory& exported) noexcept {
  if (!exported.consumer || runtime::backend_of(exported.buffer->device()).unusable()) return;
  try {
    exported.buffer->used_on(*exported.consumer);
  } catch (const Error& failure) {
    runtime::log().error("exported memory may be reused early: {}", failure.what());
  }
}

template <class T>
void drop(T* tensor) {
  auto* const exported = static_cast<ExportedMemory*>(tensor->context);
  wait_for_consumer(*exported);
  delete exported;
  delete tensor;
}

}  // namespace

std::unique_ptr<ExportedMemory> exported_memory(const NodeRef& node, ElementLayout layout) {
  auto exported = std::make_unique<ExportedMemory>();
  exported->buffer = node->value.buffer;
  exported->shape = std::move(layout.shape);
  exported->strides = std::move(layout.strides);
  dlpack::Tensor& tensor = exported->tensor;
  // Some libraries ignore the byte offset, so it is added to the pointer.
  auto* const start = static_cast<std::byte*>(exported->buffer->pointer());
  const std::int64_t bytes = layout.offset * static_cast<std::int64_t>(size_of(layout.dtype));
  tensor.data = start == nullptr ? nullptr : start + node->value.offset + bytes;
  tensor.device = dlpack::name_of(exported->buffer->device());
  tensor.ndim = static_cast<std::int32_t>(exported->shape.size());
  tensor.dtype = type_of(layout.dtype);
  tensor.shape = exported->shape.data();
  tensor.strides = exported->strides.data();
  return exported;
}

std::unique_ptr<ExportedMemory> exported_memory(const NodeRef& node) {
  Shape shape;
  for (const ir::Dim& extent : node->value.type.shape) shape.push_back(extent.constant());
  Strides strides = c_strides(shape);
  return exported_memory(node, {node->dtype, std::move(shape), std::move(strides)});
}

void order_before(ExportedMemory& exported, const runtime::Stream& consumer) {
  const runtime::BufferRef& buffer = exported.buffer;
  consumer.wait(runtime::Event(runtime::Stream::current(buffer->device())));
  if (buffer->stream() == consumer) return;
  consumer.wait(runtime::Event(buffer->stream()));
  exported.consumer = consumer;
}

dlpack::VersionedTensor* versioned_tensor(std::unique_ptr<ExportedMemory> exported) {
  const dlpack::Tensor tensor = exported->tensor;
  const std::uint64_t flags = exported->flags;
  return new dlpack::VersionedTensor{
      1, 0, exported.release(), drop<dlpack::VersionedTensor>, flags, tensor};
}

dlpack::ManagedTensor* unversioned_tensor(std::unique_ptr<ExportedMemory> exported) {
  const dlpack::Tensor tensor = exported->tensor;
  return new dlpack::ManagedTensor{tensor, exported.release(), drop<dlpack::ManagedTensor>};
}

}  // namespace heddle::frontend
