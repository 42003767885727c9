#include "frontend/graph/storage.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string>

#include <fmt/format.h>

#include "heddle/error.h"

#include "frontend/graph/record.h"
#include "ir/types/element.h"
#include "runtime/device/backend.h"
#include "runtime/device/memory.h"
#include "runtime/device/pinned.h"
#include "runtime/launch/capture.h"

namespace heddle::frontend {
namespace {

std::size_t bytes_of(const ir::Type& type) {
  return static_cast<std::size_t>(byte_count(type).constant());
}

}  // namespace

NodeRef upload(const void* data, ir::Type type, const Site& site) {
  const runtime::Device device = runtime::current_device();
  const runtime::Stream stream = runtime::Stream::current(device);
  const std::size_t bytes = bytes_of(type);
  const runtime::CaptureScope capture(stream);
  runtime::BufferRef buffer =
      runtime::allocate(bytes, stream, runtime::label_of(type), site.location);
  if (bytes > 0) {
    if (capture.active()) capture.keep({buffer});
    runtime::copy(buffer->pointer(), device, data, runtime::Device{}, bytes, stream);
  }
  return array_node({std::move(type), std::move(buffer), 0});
}

NodeRef borrow(const void* data, ir::Type type, std::shared_ptr<const void> owner,
               const Site& site) {
  const runtime::Device device = runtime::current_device();
  if (!runtime::capabilities_of(device).host_memory) return upload(data, std::move(type), site);
  const std::size_t bytes = bytes_of(type);
  // Borrowed memory is never written: an in-place update copies it first.
  runtime::BufferRef buffer =
      runtime::borrow(const_cast<void*>(data), bytes, runtime::Stream::current(device),
                      [owner = std::move(owner)]() mutable { owner.reset(); });
  return array_node({std::move(type), std::move(buffer), 0});
}

namespace {

void enqueue_copy(const Node& node, void* out, const runtime::Stream& stream) {
  const std::size_t bytes = bytes_of(node.value.type);
  const runtime::Device device = node.value.buffer->device();
  runtime::start_after(stream, node.value.buffer->stream());
  const auto* source = static_cast<const std::byte*>(node.value.buffer->pointer());
  runtime::copy(out, runtime::Device{}, source + node.value.offset, device, bytes, stream);
}

void require_no_capture(const Node& node, const runtime::Stream& stream) {
  if (!stream.capturing()) return;
  throw DeviceError(
      at("an array is read on a stream from which a graph is captured, but its elements are only "
         "there after a launch; read it after end_capture(), or use get(blocking=False)",
         node.site));
}

/// The same on one device.
void download_integers(std::span<const NodeRef> nodes, std::int64_t* out, runtime::Device device) {
  const runtime::Stream stream = runtime::Stream::current(device);
  require_no_capture(*nodes.front(), stream);
  // Copies to page-locked memory do not wait for one another.
  const auto block = runtime::allocate_pinned(nodes.size() * sizeof(std::int64_t), device);
  auto* const items = static_cast<std::int64_t*>(block->pointer());
  try {
    for (std::size_t i = 0; i < nodes.size(); ++i) enqueue_copy(*nodes[i], items + i, stream);
  } catch (const Error&) {
    stream.synchronize();  // copies to the block are on their way
    throw;
  }
  stream.synchronize();
  std::copy_n(items, nodes.size(), out);
}

}  // namespace

std::vector<std::int64_t> download_integers(const std::vector<NodeRef>& nodes) {
  std::vector<std::int64_t> values(nodes.size());
  const std::span all(nodes);
  for (std::size_t begin = 0; begin < nodes.size();) {
    const runtime::Device device = nodes[begin]->value.buffer->device();
    std::size_t end = begin + 1;
    while (end < nodes.size() && nodes[end]->value.buffer->device() == device) ++end;
    download_integers(all.subspan(begin, end - begin), values.data() + begin, device);
    begin = end;
  }
  return values;
}

void download_to(const Node& node, void* out) {
  if (bytes_of(node.value.type) == 0) return;
  download_to(node, out, runtime::Stream::current(node.value.buffer->device()));
}

void download_to(const Node& node, void* out, const runtime::Stream& stream) {
  if (bytes_of(node.value.type) == 0) return;
  require_no_capture(node, stream);
  enqueue_copy(node, out, stream);
  stream.synchronize();
}

void download_later(const Node& node, void* out, const runtime::Stream& stream) {
  if (bytes_of(node.value.type) == 0) return;
  const runtime::CaptureScope capture(stream);
  enqueue_copy(node, out, stream);
  if (capture.active()) {
    capture.keep({node.value.buffer});
  } else {
    node.value.buffer->used_on(stream);
  }
}

std::vector<std::byte> download(const Node& node) {
  std::vector<std::byte> bytes(bytes_of(node.value.type));
  download_to(node, bytes.data());
  return bytes;
}

const std::byte* elements_on_host(const Node& node) {
  if (!node.evaluated() || !runtime::capabilities_of(node.value.buffer->device()).host_memory)
    return nullptr;
  return static_cast<const std::byte*>(node.value.buffer->pointer()) + node.value.offset;
}

void convert(const void* from, DType from_dtype, void* to, DType to_dtype, std::size_t count) {
  if (from_dtype == to_dtype) {
    if (count > 0) std::memcpy(to, from, count * size_of(from_dtype));
    return;
  }
  ir::with_element(from_dtype, [&]<class From>(std::type_identity<From>) {
    ir::with_element(to_dtype, [&]<class To>(std::type_identity<To>) {
      const auto* input = static_cast<const From*>(from);
      auto* output = static_cast<To*>(to);
      for (std::size_t i = 0; i < count; ++i) output[i] = heddle_scalar::cast<To>(input[i]);
    });
  });
}

double rounded(DType dtype, double value) {
  std::uint64_t element = 0;
  convert(&value, DType::f64, &element, dtype, 1);
  convert(&element, dtype, &value, DType::f64, 1);
  return value;
}

}  // namespace heddle::frontend
