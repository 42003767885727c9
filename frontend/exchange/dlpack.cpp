#include "heddle/dlpack.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "heddle/error.h"
#include "heddle/host_view.h"
#include "heddle/manipulation.h"

#include "frontend/array/access.h"
#include "frontend/evaluate/checks.h"
#include "frontend/evaluate/evaluate.h"
#include "frontend/exchange/exported_memory.h"
#include "frontend/exchange/foreign_memory.h"
#include "frontend/graph/record.h"
#include "frontend/graph/trace.h"
#include "frontend/streams/access.h"
#include "runtime/device/backend.h"
#include "runtime/device/memory.h"
#include "runtime/launch/capture.h"

namespace heddle {

static_assert(sizeof(dlpack::Tensor) == 48 && offsetof(dlpack::Tensor, byte_offset) == 40);
static_assert(sizeof(dlpack::ManagedTensor) == 64);
static_assert(sizeof(dlpack::VersionedTensor) == 80 &&
              offsetof(dlpack::VersionedTensor, tensor) == 32);

using frontend::Access;
using frontend::at;
using frontend::ForeignMemory;
using frontend::NodeRef;

namespace {

void refuse_in_trace(const char* what, const SourceLocation& where) {
  if (frontend::Trace::current() != nullptr) frontend::value_in_trace(what, where);
}

Array imported(ForeignMemory memory, const ImportOptions& options, const SourceLocation& where) {
  refuse_in_trace("memory of other code", where);
  runtime::require_device(memory.device);
  if (options.ready) Stream::current(to_string(memory.device)).wait(*options.ready);
  const auto layout = options.copy ? std::nullopt : frontend::layout_of(memory);
  if (!layout) {
    const Array copy = frontend::copy_of(memory, where);
    if (memory.release) memory.release();
    return copy;
  }
  const Shape shape = memory.shape;
  const NodeRef node = frontend::borrowed_node(std::move(memory), *layout);
  return broadcast_to({Access::make(frontend::elements_in(node, *layout, where)), where}, shape);
}

template <class T>
Array from_tensor(T* tensor, const ImportOptions& options, const SourceLocation& where) {
  ForeignMemory memory = frontend::located(where, [&] {
    return frontend::memory_of(tensor->tensor, [tensor] { dlpack::Delete()(tensor); });
  });
  return imported(std::move(memory), options, where);
}

/// A computed value in memory of its own.
NodeRef copied(const NodeRef& node) {
  const runtime::DeviceArray& from = node->value;
  const runtime::Device device = from.buffer->device();
  const runtime::Stream stream = runtime::Stream::current(device);
  const auto bytes = static_cast<std::size_t>(frontend::bytes_of(*node));
  NodeRef result = frontend::array_node(
      {from.type, runtime::allocate(bytes, stream, runtime::label_of(from.type, "a copy")), 0});
  if (bytes == 0) return result;
  runtime::start_after(stream, from.buffer->stream());
  runtime::copy(result->value.buffer->pointer(), device,
                static_cast<const std::byte*>(from.buffer->pointer()) + from.offset, device, bytes,
                stream);
  return result;
}

/// The elements of an array, for another library.
std::unique_ptr<frontend::ExportedMemory> exported(const Array& x, const ExportOptions& options,
                                                   const SourceLocation& where) {
  refuse_in_trace("to_dlpack", where);
  NodeRef node = frontend::evaluated_node(x, "to_dlpack", where);
  frontend::raise_failures(node);
  if (options.copy) node = copied(node);
  auto memory = frontend::exported_memory(node);
  memory->flags = options.copy ? dlpack::copied_flag : dlpack::read_only_flag;
  if (!runtime::capabilities_of(memory->buffer->device()).asynchronous) return memory;
  if (options.consumer) {
    frontend::order_before(*memory, frontend::StreamAccess::of(*options.consumer));
  } else {
    memory->buffer->stream().synchronize();
  }
  return memory;
}

}  // namespace

Array from_dlpack(dlpack::VersionedTensor* tensor, const ImportOptions& options,
                  SourceLocation where) {
  if (tensor->major != 1) {
    throw ValueError(
        at(fmt::format("from_dlpack: DLPack version {} is not supported, only 1", tensor->major),
           where));
  }
  return from_tensor(tensor, options, where);
}

Array from_dlpack(dlpack::ManagedTensor* tensor, const ImportOptions& options,
                  SourceLocation where) {
  return from_tensor(tensor, options, where);
}

dlpack::OwnedTensor to_dlpack(const Array& x, const ExportOptions& options, SourceLocation where) {
  return dlpack::OwnedTensor(frontend::versioned_tensor(exported(x, options, where)));
}

dlpack::OwnedUnversionedTensor to_unversioned_dlpack(const Array& x, const ExportOptions& options,
                                                     SourceLocation where) {
  return dlpack::OwnedUnversionedTensor(frontend::unversioned_tensor(exported(x, options, where)));
}

Array borrow(const BorrowedMemory& memory, SourceLocation where) {
  const Shape& shape = memory.shape;
  if (std::ranges::any_of(shape, [](std::int64_t extent) { return extent < 0; }))
    throw ShapeError(at("borrow: an extent is negative", where));
  if (memory.strides && memory.strides->size() != shape.size()) {
    throw ShapeError(
        at(fmt::format("borrow: {} strides for {} axes", memory.strides->size(), shape.size()),
           where));
  }
  ForeignMemory foreign;
  foreign.data = const_cast<void*>(memory.data);  // borrowed memory is never written
  foreign.device = runtime::parse_device(memory.device);
  foreign.dtype = memory.dtype;
  foreign.shape = shape;
  foreign.strides = memory.strides.value_or(frontend::c_strides(shape));
  foreign.release = [owner = memory.owner]() mutable { owner.reset(); };
  return imported(std::move(foreign), {.ready = memory.ready}, where);
}

ReadyMemory ready_memory(const Array& x, SourceLocation where) {
  refuse_in_trace("ready_memory", where);
  const NodeRef node = frontend::evaluated_node(x, "ready_memory", where);
  const runtime::BufferRef buffer = node->value.buffer;
  const std::string device = to_string(buffer->device());
  const auto memory = frontend::exported_memory(node);
  Event ready({.timed = false}, device);
  // The current stream waits for the stream that computes the elements.
  const runtime::Stream current = runtime::Stream::current(buffer->device());
  if (!(current == buffer->stream())) current.wait_for(buffer->stream());
  ready.record(Stream::current(device));
  return {.data = memory->tensor.data,
          .bytes = static_cast<std::size_t>(frontend::bytes_of(*node)),
          .device = device,
          .ready = std::move(ready),
          .owner = std::make_shared<const runtime::BufferRef>(buffer)};
}

void frontend::fail_rank(const Array& x, std::size_t rank, const SourceLocation& where) {
  throw ShapeError(
      at(fmt::format("host_view: the array has {} axes, not {}", x.ndim(), rank), where));
}

}  // namespace heddle
