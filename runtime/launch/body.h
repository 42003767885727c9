#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "passes/program/program.h"
#include "runtime/calls/call_handler.h"
#include "runtime/launch/schedule.h"

namespace heddle::runtime {

/// The program of a call's region (passes::CallStep::bodies), scheduled for one set of extents.
/// Immutable; shared by all threads.
class ScheduledBody {
 public:
  /// Keeps a reference to the program. Throws as handlers do.
  ScheduledBody(const passes::Program& program, const CallContext& outside);

  const passes::Program& program() const { return program_; }
  const ActionList& list() const { return list_; }
  const passes::Arena& arena() const { return arena_; }
  std::size_t input_bytes(std::size_t i) const { return input_bytes_[i]; }
  std::size_t output_bytes(std::size_t i) const { return output_bytes_[i]; }

 private:
  const passes::Program& program_;
  ActionList list_;
  passes::Arena arena_;
  std::vector<std::size_t> input_bytes_, output_bytes_;
};

/// Whether the body writes output i to memory of its own.
bool has_memory(const ScheduledBody& body, std::size_t i);

/// Runs a body any number of times, on one stream.
class BodyRun final : public CallBuffers {
 public:
  /// Keeps references to both. Allocates the body's temporaries. Throws OutOfMemory, DeviceError.
  BodyRun(const ScheduledBody& body, const CallBuffers& outside, const Label& label);

  void set_input(std::size_t i, std::byte* address) { inputs_[i] = address; }
  /// Memory for an output that the body does not have in an input's or another output's memory.
  void set_output(std::size_t i, std::byte* address) { outputs_[i] = address; }
  /// The value of scalar input 1.
  void set_counter(std::int64_t value) {
    counter_ = ir::ElementBits(static_cast<std::uint64_t>(value));
  }

  /// Enqueues the body's actions. Throws as they do.
  void run();
  bool has_memory(std::size_t i) const { return runtime::has_memory(body_, i); }
  /// Where output i is.
  std::byte* result(std::size_t i) const;

  std::byte* address(const passes::BufferRef& buffer) const override;
  const ir::ElementBits& scalar(std::uint32_t) const override { return counter_; }
  BufferRef allocate(std::size_t bytes, const Label& label) const override {
    return outside_.allocate(bytes, label);
  }
  void run(const ActionList& list, ArgumentSlots& arguments, const CallBuffers& at) const override {
    outside_.run(list, arguments, at);
  }

 private:
  const ScheduledBody& body_;
  const CallBuffers& outside_;
  BufferRef arena_;
  std::vector<std::byte*> inputs_, outputs_;
  ir::ElementBits counter_;
  ArgumentSlots arguments_;
};

}  // namespace heddle::runtime
