#include "frontend/kernels/raw_code.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include <fmt/format.h>

#include "heddle/error.h"

#include "frontend/array/access.h"
#include "frontend/graph/record.h"
#include "runtime/device/backend.h"
#include "runtime/device/memory.h"
#include "runtime/device/stream.h"

namespace heddle::frontend {

using runtime::Device;
using runtime::Stream;

runtime::RawModule& RawCode::module_on(Device device) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(loaded_, device, &Loaded::device);
  if (found != loaded_.end()) return *found->module;
  const runtime::ContextScope scope(device);
  loaded_.push_back({device, runtime::backend_of(device).load_raw(source_, device.ordinal)});
  return *loaded_.back().module;
}

namespace {

/// Makes the stream wait for what another one holds now.
void wait_for(const Stream& stream, const Stream& other) {
  if (stream == other) return;
  if (stream.capturing() && !other.capturing()) {
    other.synchronize();  // a captured graph cannot wait for work outside of it
  } else if (!other.idle()) {
    stream.wait(runtime::Event(other));
  }
}

bool is_asynchronous(Device device) { return runtime::capabilities_of(device).asynchronous; }

/// A copy of an evaluated array, in the order of the thread's stream.
NodeRef copied(const NodeRef& node) {
  const runtime::DeviceArray& from = node->value;
  const Device device = from.buffer->device();
  const runtime::ContextScope scope(device);
  const Stream stream = Stream::current(device);
  const auto bytes = static_cast<std::size_t>(bytes_of(*node));
  runtime::BufferRef to =
      runtime::allocate(bytes, stream, runtime::label_of(from.type, "a copy for a kernel"));
  if (bytes > 0) {
    if (is_asynchronous(device) && !from.buffer->is_of(stream)) {
      wait_for(stream, from.buffer->stream());
      from.buffer->used_on(stream);
    }
    runtime::copy(to->pointer(), device,
                  static_cast<const std::byte*>(from.buffer->pointer()) + from.offset, device,
                  bytes, stream);
  }
  return array_node({from.type, std::move(to), 0});
}

}  // namespace

void LaunchParameters::add_value(std::string bytes) {
  values_.push_back(std::move(bytes));
  arrays_.emplace_back();
}

void LaunchParameters::add_memory(NodeRef array, std::int64_t offset) {
  const runtime::DeviceArray& value = array->value;
  auto* pointer = static_cast<std::byte*>(value.buffer->pointer());
  if (pointer != nullptr) pointer += value.offset + offset;
  std::string bytes(sizeof pointer, '\0');
  std::memcpy(bytes.data(), &pointer, sizeof pointer);
  values_.push_back(std::move(bytes));
  arrays_.push_back(std::move(array));
}

NodeRef LaunchParameters::written(Array& variable) {
  const Cell* const cell = Access::cell(variable);
  const auto known = std::ranges::find(variables_, cell, &std::pair<const Cell*, NodeRef>::first);
  if (known != variables_.end()) return known->second;
  // Another thread may write while this one computes.
  while (!Access::raw(variable)->evaluated()) variable.eval();
  NodeRef node = Access::raw(variable);
  // One reference is the variable's and one is ours. Other holders keep the current elements.
  if (node->references() > 2 || !node->value.buffer.unique() || !node->value.buffer->pooled()) {
    node = copied(node);
    Access::assign(variable, node);
  }
  variables_.emplace_back(cell, node);
  return node;
}

Device LaunchParameters::device() const {
  const NodeRef* first = nullptr;
  for (const NodeRef& array : arrays_) {
    if (!array) continue;
    if (first == nullptr) first = &array;
    const Device device = (*first)->value.buffer->device(), other = array->value.buffer->device();
    if (other == device) continue;
    throw DeviceError(fmt::format("the kernel's arrays are on several devices: {} on {}, {} on {}",
                                  describe(**first), to_string(device), describe(*array),
                                  to_string(other)));
  }
  return first != nullptr ? (*first)->value.buffer->device() : runtime::current_device();
}

void LaunchParameters::launch(RawCode& code, const std::string& kernel,
                              const runtime::LaunchShape& shape, void* stream) const {
  const Device on = device();
  const runtime::RawFunction& function = code.module_on(on).function(kernel);
  const runtime::ContextScope scope(on);
  const Stream own = Stream::current(on);
  const Stream launched =
      stream == nullptr ? own : Stream::borrow(on, static_cast<runtime::StreamHandle>(stream));
  wait_for(launched, own);
  for (const NodeRef& array : arrays_) {
    if (array && !array->value.buffer->is_of(launched))
      wait_for(launched, array->value.buffer->stream());
  }
  std::vector<void*> pointers;
  for (const std::string& value : values_)
    pointers.push_back(const_cast<char*>(value.data()));  // the driver only reads them
  function.launch(shape, pointers.data(), launched);
  if (launched.capturing()) return;
  wait_for(own, launched);
  for (const NodeRef& array : arrays_) {
    if (!array || array->value.buffer->is_of(launched)) continue;
    array->value.buffer->used_on(launched);
    wait_for(array->value.buffer->stream(), launched);
  }
}

}  // namespace heddle::frontend
