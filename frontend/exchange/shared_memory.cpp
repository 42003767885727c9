#include "frontend/exchange/shared_memory.h"

#include <charconv>
#include <cstdint>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "heddle/device.h"
#include "heddle/ipc.h"
#include "heddle/manipulation.h"

#include "frontend/array/access.h"
#include "frontend/evaluate/checks.h"
#include "frontend/evaluate/evaluate.h"
#include "frontend/graph/record.h"
#include "frontend/graph/trace.h"
#include "runtime/base/log.h"
#include "runtime/device/backend.h"
#include "runtime/device/process_sharing.h"
#include "runtime/device/stream.h"

namespace heddle::frontend {

namespace {

constexpr const char* magic = "heddle-memory-1";

[[noreturn]] void refuse_text() {
  throw ValueError("open_shared_memory: the text is no handle of share_memory");
}

std::string hexadecimal(const runtime::IpcHandle& handle) {
  std::string text;
  for (const char byte : handle) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

runtime::IpcHandle from_hexadecimal(std::string_view text) {
  runtime::IpcHandle handle{};
  if (text.size() != 2 * handle.size()) refuse_text();
  for (std::size_t i = 0; i < handle.size(); ++i) {
    unsigned char byte = 0;
    const char* const digits = text.data() + 2 * i;
    if (std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2) refuse_text();
    handle[i] = static_cast<char>(byte);
  }
  return handle;
}

/// "3,4,"
std::vector<std::int64_t> numbers(std::istream& text) {
  std::string list;
  text >> list;
  std::vector<std::int64_t> all;
  const char* at = list.data() + 1;
  const char* const end = list.data() + list.size();
  if (list.empty() || list[0] != '[' || list.back() != ']') refuse_text();
  while (at + 1 < end) {
    std::int64_t number = 0;
    const auto [after, error] = std::from_chars(at, end, number);
    if (error != std::errc{} || (*after != ',' && *after != ']')) refuse_text();
    all.push_back(number);
    at = after + 1;
  }
  return all;
}

/// What a handle says: elements at an offset of an allocation.
struct Content {
  std::string bus_id;
  std::optional<DType> dtype;
  std::int64_t bytes = 0, offset = 0;
  std::vector<std::int64_t> shape, strides;
  runtime::IpcHandle handle{};
};

Content content_of(const std::string& text) {
  std::istringstream in(text);
  Content content;
  std::string first, dtype, handle;
  in >> first >> content.bus_id >> dtype >> content.bytes >> content.offset;
  if (!in || first != magic) refuse_text();
  content.dtype = dtype_from_name(dtype);
  content.shape = numbers(in);
  content.strides = numbers(in);
  in >> handle;
  content.handle = from_hexadecimal(handle);
  if (!content.dtype || content.shape.size() != content.strides.size()) refuse_text();
  std::int64_t first_element = 0, last = 0;
  for (std::size_t axis = 0; axis < content.shape.size(); ++axis) {
    const std::int64_t reach = (content.shape[axis] - 1) * content.strides[axis];
    (reach < 0 ? first_element : last) += reach;
    if (content.shape[axis] < 1) refuse_text();
  }
  const auto size = static_cast<std::int64_t>(size_of(*content.dtype));
  if (content.offset + first_element * size < 0 ||
      content.offset + (last + 1) * size > content.bytes)
    refuse_text();
  return content;
}

/// Waits for work on the memory, which nothing orders before its end.
void close(const runtime::ProcessSharing& sharing, const runtime::Device& device,
           void* base) noexcept {
  if (runtime::backend_of(device).unusable()) return;
  try {
    runtime::synchronize(device);
    sharing.close_memory(device.ordinal, base);
  } catch (const Error& failure) {
    runtime::log().error("memory of another process stays open: {}", failure.what());
  }
}

}  // namespace

std::string handle_of(const ExportedMemory& exported, DType dtype) {
  const runtime::Device device = exported.buffer->device();
  const runtime::ProcessSharing& sharing = runtime::process_sharing_of(device, "memory");
  const void* const data = exported.tensor.data;
  if (data == nullptr) throw ValueError("share_memory: an array without elements has no memory");
  const runtime::Allocation whole = sharing.allocation_at(device.ordinal, data);
  const auto offset =
      static_cast<const std::byte*>(data) - static_cast<const std::byte*>(whole.base);
  return fmt::format("{} {} {} {} {} [{}] [{}] {}", magic, runtime::details_of(device).pci_bus_id,
                     name_of(dtype), whole.bytes, offset, fmt::join(exported.shape, ","),
                     fmt::join(exported.strides, ","),
                     hexadecimal(sharing.memory_handle(device.ordinal, data)));
}

ForeignMemory memory_of_handle(const std::string& handle) {
  const Content content = content_of(handle);
  const runtime::Device device = runtime::parse_device(device_at(content.bus_id));
  const runtime::ProcessSharing& sharing = runtime::process_sharing_of(device, "memory");
  void* const base = sharing.open_memory(device.ordinal, content.handle);
  ForeignMemory memory;
  memory.data = static_cast<std::byte*>(base) + content.offset;
  memory.device = device;
  memory.dtype = *content.dtype;
  memory.shape = content.shape;
  memory.strides = content.strides;
  memory.release = [&sharing, device, base] { close(sharing, device, base); };
  return memory;
}

}  // namespace heddle::frontend

namespace heddle {

using frontend::Access;

namespace {

void refuse_in_trace(const char* what, const SourceLocation& where) {
  if (frontend::Trace::current() != nullptr) frontend::value_in_trace(what, where);
}

}  // namespace

SharedMemory share_memory(const Array& x, SourceLocation where) {
  refuse_in_trace("share_memory", where);
  const frontend::NodeRef node = frontend::evaluated_node(x, "share_memory", where);
  frontend::raise_failures(node);
  const auto exported = frontend::exported_memory(node);
  SharedMemory shared{
      frontend::located(where, [&] { return frontend::handle_of(*exported, node->dtype); }),
      std::make_shared<const runtime::BufferRef>(exported->buffer)};
  exported->buffer->stream().synchronize();
  return shared;
}

Array open_shared_memory(const std::string& handle, SourceLocation where) {
  refuse_in_trace("open_shared_memory", where);
  frontend::ForeignMemory memory =
      frontend::located(where, [&] { return frontend::memory_of_handle(handle); });
  const auto layout = frontend::layout_of(memory);
  if (!layout) {
    const Array copy = frontend::copy_of(memory, where);
    memory.release();
    return copy;
  }
  const Shape shape = memory.shape;
  const frontend::NodeRef node = frontend::borrowed_node(std::move(memory), *layout);
  return broadcast_to({Access::make(frontend::elements_in(node, *layout, where)), where}, shape);
}

}  // namespace heddle
