#include "frontend/kernels/raw_code.h"

#include <algorithm>
#include <mutex>

#include <fmt/format.h>

#include "heddle/error.h"

#include "frontend/array/access.h"
#include "frontend/graph/record.h"
#include "runtime/device/backend.h"
#include "runtime/launch/capture.h"

namespace heddle::frontend {

using runtime::Device;
using runtime::Stream;

std::shared_ptr<runtime::RawModule> RawCode::module_on(Device device) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(loaded_, device, &Loaded::device);
  if (found != loaded_.end()) return found->module;
  const runtime::ContextScope scope(device);
  loaded_.push_back({device, runtime::backend_of(device).load_raw(source_, device.ordinal)});
  return loaded_.back().module;
}

namespace {

/// New memory for a pending array, on the current device.
NodeRef allocated(const Node& pending) {
  const ir::ForkSection section;
  const Device device = runtime::current_device();
  const runtime::ContextScope scope(device);
  const Stream stream = Stream::current(device);
  const runtime::CaptureScope capture(stream);
  const ir::Type type{pending.dtype, pending.shape};
  return array_node({type,
                     runtime::allocate(static_cast<std::size_t>(bytes_of(pending)), stream,
                                       runtime::label_of(type, "memory for a kernel")),
                     0});
}

/// A copy of an evaluated array, in the order of the thread's stream.
NodeRef copied(const NodeRef& node) {
  const runtime::DeviceArray& from = node->value;
  const Device device = from.buffer->device();
  const ir::ForkSection section;
  const runtime::ContextScope scope(device);
  const Stream stream = Stream::current(device);
  const runtime::CaptureScope capture(stream);
  const auto bytes = static_cast<std::size_t>(bytes_of(*node));
  runtime::BufferRef to =
      runtime::allocate(bytes, stream, runtime::label_of(from.type, "a copy for a kernel"));
  if (bytes > 0) {
    if (capture.active()) capture.keep({from.buffer, to});  // each launch of the graph copies
    if (!from.buffer->is_of(stream)) stream.wait_for(from.buffer->stream());
    runtime::copy(to->pointer(), device,
                  static_cast<const std::byte*>(from.buffer->pointer()) + from.offset, device,
                  bytes, stream);
    if (!capture.active()) from.buffer->used_on(stream);
  }
  return array_node({from.type, std::move(to), 0});
}

/// Whether nothing but the variable and the caller refers to its memory.
bool is_own(const NodeRef& node) {
  return node->references() <= 2 && node->value.buffer.unique() && node->value.buffer->pooled();
}

}  // namespace

void LaunchParameters::add_value(const void* value, std::size_t bytes, bool integer) {
  values_.add(value, bytes, integer);
  arrays_.emplace_back();
}

void LaunchParameters::add_memory(NodeRef array, std::int64_t offset) {
  const runtime::DeviceArray& value = array->value;
  auto* pointer = static_cast<std::byte*>(value.buffer->pointer());
  if (pointer != nullptr) pointer += value.offset + offset;
  values_.add(&pointer, sizeof pointer);
  arrays_.push_back({std::move(array), true});
}

void LaunchParameters::add_read_memory(NodeRef array) {
  add_memory(std::move(array));
  arrays_.back().written = false;
}

void LaunchParameters::add_pointer(void* pointer, Device device) {
  add_value(&pointer, sizeof pointer);
  foreign_.push_back(device);
}

NodeRef LaunchParameters::written(Array& variable, const Waiting& waiting) {
  const Cell* const cell = Access::cell(variable);
  const auto known = std::ranges::find(variables_, cell, &std::pair<const Cell*, NodeRef>::first);
  if (known != variables_.end()) return known->second;
  // Another thread may write the variable while this one waits.
  while (true) {
    NodeRef node = Access::raw(variable);
    if (!node->evaluated() && !node->unset) {
      const Array value = variable;  // NOLINT(performance-unnecessary-copy-initialization)
      waiting([&] { value.eval(); });
      continue;
    }
    // Other holders keep the current elements.
    if (!node->evaluated() || !is_own(node)) {
      NodeRef copy;
      waiting([&] { copy = node->evaluated() ? copied(node) : allocated(*node); });
      if (Access::raw(variable).get() != node.get()) continue;
      Access::assign(variable, copy);
      node = std::move(copy);
    }
    variables_.emplace_back(cell, node);
    return node;
  }
}

Device LaunchParameters::device() const {
  const NodeRef* first = nullptr;
  for (const auto& [array, written] : arrays_) {
    if (!array) continue;
    if (first == nullptr) first = &array;
    const Device device = (*first)->value.buffer->device(), other = array->value.buffer->device();
    if (other == device) continue;
    throw DeviceError(fmt::format("the kernel's arrays are on several devices: {} on {}, {} on {}",
                                  describe(**first), to_string(device), describe(*array),
                                  to_string(other)));
  }
  const Device device = first != nullptr   ? (*first)->value.buffer->device()
                        : foreign_.empty() ? runtime::current_device()
                                           : foreign_.front();
  for (const Device& other : foreign_) {
    if (other == device) continue;
    throw DeviceError(fmt::format(
        "the kernel's arrays are on several devices: {}, and another library's memory on {}",
        to_string(device), to_string(other)));
  }
  return device;
}

std::vector<runtime::BufferRef> LaunchParameters::buffers() const {
  std::vector<runtime::BufferRef> out;
  for (const auto& [array, written] : arrays_) {
    if (array) out.push_back(array->value.buffer);
  }
  return out;
}

void LaunchParameters::wait_for_arrays(const Stream& stream) const {
  for (const auto& [array, written] : arrays_) {
    if (!array) continue;
    runtime::Buffer& buffer = *array->value.buffer;
    if (!buffer.is_of(stream)) stream.wait_for(buffer.stream());
    if (written) buffer.wait_for_users(stream);
  }
}

void LaunchParameters::let_arrays_wait(const Stream& stream) const {
  for (const auto& [array, written] : arrays_) {
    if (!array || array->value.buffer->is_of(stream)) continue;
    array->value.buffer->used_on(stream);
    array->value.buffer->stream().wait_for(stream);
  }
}

/// False if the launch is captured into a graph.
bool LaunchParameters::enqueue(const std::shared_ptr<runtime::RawModule>& module,
                               const std::string& kernel, const runtime::LaunchShape& shape,
                               void* stream) const {
  const Device on = device();
  const ir::ForkSection section;
  const runtime::ContextScope scope(on);
  const runtime::RawFunction& function = module->function(kernel);
  const Stream own = Stream::current(on);
  const Stream launched =
      stream == nullptr ? own : Stream::borrow(on, static_cast<runtime::StreamHandle>(stream));
  launched.wait_for(own);
  const runtime::CaptureScope capture(launched);
  wait_for_arrays(launched);
  if (capture.active()) capture.keep(buffers(), module);
  function.launch(shape, values_, launched);
  if (capture.active()) {
    if (own.capturing()) own.wait_for(launched);  // the same capture, which ends on this stream
    return false;
  }
  own.wait_for(launched);
  let_arrays_wait(launched);
  return true;
}

void LaunchParameters::launch(RawCode& code, const std::string& kernel,
                              const runtime::LaunchShape& shape, void* stream) const {
  const Device on = device();
  // During a capture the driver would forbid loading and waiting.
  const runtime::RelaxedCaptureScope relaxed(on);
  if (enqueue(code.module_on(on), kernel, shape, stream)) runtime::unload_abandoned_modules();
}

}  // namespace heddle::frontend
