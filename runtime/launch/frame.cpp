#include "runtime/launch/frame.h"

#include <algorithm>

#include "heddle/error.h"

#include "runtime/base/log.h"
#include "runtime/device/backend.h"

namespace heddle::runtime {

using passes::ProgramOutput;

namespace {

std::byte* start_of(const DeviceArray& array) {
  return static_cast<std::byte*>(array.buffer->pointer()) + array.offset;
}

std::size_t bytes_of(const ir::Type& type) {
  std::size_t bytes = size_of(type.dtype);
  for (const ir::Dim extent : type.shape) bytes *= static_cast<std::size_t>(extent.constant());
  return bytes;
}

}  // namespace

Frame::Frame(const passes::Program& program, const Schedule& schedule,
             std::span<const ArgumentView> arguments, const CallerLocations& lines, Stream& stream,
             bool captured, GivenMemory memory, std::vector<DeviceArray>& outputs)
    : program_(program),
      schedule_(schedule),
      prepared_(schedule.prepared()),
      arguments_(arguments),
      lines_(lines),
      stream_(stream),
      captured_(captured),
      outputs_(outputs),
      first_output_(outputs.size()),
      arena_(std::move(memory.arena)),
      constants_(std::move(memory.constants)) {
  try {
    wait_for_inputs();
    own_donated_inputs();
    allocate_outputs();
    if (arena_) {
      poison(*arena_, stream);
    } else if (!program.temporaries.empty()) {
      // Allocated even for 0 bytes, when all temporaries are empty: kernels still receive their
      // addresses.
      arena_ = allocate(static_cast<std::size_t>(schedule.arena().bytes), stream,
                        prepared_.arena_label, lines.of_output(0));
    }
  } catch (...) {
    outputs_.resize(first_output_);
    throw;
  }
}

Frame::~Frame() {
  release_inputs();
  if (!finished_) outputs_.resize(first_output_);
}

std::byte* Frame::address(const passes::BufferRef& reference) const {
  switch (reference.kind) {
    case passes::BufferRef::Kind::input:
      return start_of(input(reference.index));
    case passes::BufferRef::Kind::output:
      return start_of(outputs_[first_output_ + reference.index]);
    case passes::BufferRef::Kind::temporary:
      return address_of_temporary(reference.index);
    case passes::BufferRef::Kind::fallback:
      break;
  }
  throw InternalError("memory of a fallback is used outside of its steps");
}

std::byte* Frame::address_of_temporary(std::uint32_t index) const {
  const ConstantActions* const constants = schedule_.constants();
  const bool is_constant = constants != nullptr && constants->results[index];
  const passes::Arena& arena = is_constant ? constants->held : schedule_.arena();
  return static_cast<std::byte*>((is_constant ? constants_ : arena_)->pointer()) +
         arena.offsets[index];
}

std::vector<BufferRef> Frame::buffers() const {
  std::vector<BufferRef> all;
  if (arena_) all.push_back(arena_);
  if (constants_) all.push_back(constants_);
  for (const ArgumentView& argument : arguments_) {
    if (argument.array != nullptr && argument.array->buffer) all.push_back(argument.array->buffer);
  }
  for (const auto& [index, copied] : copies_) all.push_back(copied.buffer);
  for (std::size_t i = first_output_; i < outputs_.size(); ++i) all.push_back(outputs_[i].buffer);
  return all;
}

void Frame::finish() {
  // Makes a donated buffer's own stream wait for this call's work on it. Later users of the buffer
  // then need to wait only for the buffer's own stream. Skipped during a capture.
  for (std::size_t i = 0; i < program_.outputs.size(); ++i) {
    const ProgramOutput& output = program_.outputs[i];
    if (!output.input || captured_) continue;
    Buffer& buffer = *input(*output.input).buffer;
    if (program_.inputs[*output.input].donated)
      buffer.describe(prepared_.output_labels[i], lines_.of_output(i));
    if (!buffer.is_of(stream_) && capabilities_of(buffer.device()).asynchronous)
      buffer.stream().wait(Event(stream_));
  }
  finished_ = true;
}

const DeviceArray& Frame::input(std::uint32_t index) const {
  for (const auto& [of, copied] : copies_) {
    if (of == index) return copied;
  }
  return *arguments_[index].array;
}

// Makes the stream wait for inputs that other streams may still be computing.
void Frame::wait_for_inputs() {
  const Buffer* waited = nullptr;  // last buffer whose stream was waited for; most inputs share one
                                   // stream
  for (const ArgumentView& argument : arguments_) {
    if (argument.array == nullptr || !argument.array->buffer) continue;
    Buffer& buffer = *argument.array->buffer;
    if (buffer.is_of(stream_)) continue;
    if (capabilities_of(buffer.device()).asynchronous &&
        (waited == nullptr || !buffer.is_of(waited->stream()))) {
      stream_.wait_for(buffer.stream());
      waited = &buffer;
    }
    // A captured graph keeps its own references to the buffers.
    if (!captured_ && !stream_.state()->borrowed) buffer.used_on(stream_);
  }
}

// For a borrowed stream, which may be destroyed before the inputs: the work must be enqueued
// before.
void Frame::release_inputs() noexcept {
  if (captured_ || !stream_.state()->borrowed) return;
  for (const ArgumentView& argument : arguments_) {
    if (argument.array == nullptr || !argument.array->buffer) continue;
    try {
      argument.array->buffer->used_on(stream_);
    } catch (const Error& failure) {
      log().error("memory may be reused while {} still reads it: {}", to_string(stream_.device()),
                  failure.what());
    }
  }
}

// The program writes to donated inputs in place: copies those that have other holders, and waits
// for other streams that still read the others.
void Frame::own_donated_inputs() {
  for (std::size_t i = 0; i < program_.outputs.size(); ++i) {
    const ProgramOutput& output = program_.outputs[i];
    if (!output.input || !program_.inputs[*output.input].donated) continue;
    const DeviceArray& array = input(*output.input);
    if (array.buffer.unique() && array.buffer->overwritable()) {
      array.buffer->wait_for_users(stream_);
      continue;
    }
    const std::size_t bytes = bytes_of(array.type);
    BufferRef memory = allocate(bytes, stream_, prepared_.output_labels[i], lines_.of_output(i));
    copy(memory->pointer(), stream_.device(), start_of(array), stream_.device(), bytes, stream_);
    copies_.emplace_back(*output.input, DeviceArray{array.type, std::move(memory), 0});
  }
}

void Frame::allocate_outputs() {
  for (std::size_t i = 0; i < program_.outputs.size(); ++i) {
    const ProgramOutput& output = program_.outputs[i];
    DeviceArray& array = outputs_.emplace_back();
    array.type = {output.type.dtype, prepared_.output_shapes[i]};
    if (output.input || output.output) {
      const DeviceArray& same =
          output.input ? input(*output.input) : outputs_[first_output_ + *output.output];
      array.buffer = same.buffer;
      array.offset = same.offset;
    } else {
      array.buffer = allocate(static_cast<std::size_t>(prepared_.output_bytes[i]), stream_,
                              prepared_.output_labels[i], lines_.of_output(i));
    }
  }
}

}  // namespace heddle::runtime
