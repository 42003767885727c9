#pragma once

#include <cstdint>
#include <vector>

#include "runtime/calls/call_handler.h"
#include "runtime/device/graph_conditions.h"
#include "runtime/launch/schedule.h"

namespace heddle::runtime {

/// The buffers of a call, on another stream.
class BuffersOn final : public CallBuffers {
 public:
  /// Keeps references to both.
  BuffersOn(const CallBuffers& buffers, const Stream& stream)
      : CallBuffers(stream), buffers_(buffers) {}
  /// Also appends what is allocated to `held`.
  BuffersOn(const CallBuffers& buffers, const Stream& stream, std::vector<BufferRef>& held)
      : CallBuffers(stream), buffers_(buffers), held_(&held) {}
  std::byte* address(const passes::BufferRef& buffer) const override {
    return buffers_.address(buffer);
  }
  const ir::ElementBits& scalar(std::uint32_t input) const override {
    return buffers_.scalar(input);
  }
  BufferRef allocate(std::size_t bytes, const Label& label) const override {
    BufferRef made = buffers_.allocate(bytes, label);
    if (held_ != nullptr) held_->push_back(made);
    return made;
  }
  void run(const ActionList& list, ArgumentSlots& arguments, const CallBuffers& at) const override {
    buffers_.run(list, arguments, at);
  }

 private:
  const CallBuffers& buffers_;
  std::vector<BufferRef>* held_ = nullptr;
};

/// The kernel of a loop's or a branch's step that sets conditions of captured graphs
/// (passes::KernelPlan::decides).
class Decision {
 public:
  /// Keeps a reference to the step.
  Decision(const passes::CallStep& step, const CallContext& context);
  Decision(const Decision&) = delete;
  Decision& operator=(const Decision&) = delete;

  /// Null if the device cannot decide.
  const GraphConditions* conditions() const { return conditions_; }
  /// Adds a condition to the graph being captured from `at.stream()`.
  std::uint64_t add(const CallBuffers& at) const { return conditions_->add(at.stream()); }
  /// Enqueues that the condition holds if `value`, clamped to [0, last], is `chosen`.
  void set(std::uint64_t condition, const std::byte* value, std::int64_t chosen, std::int64_t last,
           const CallBuffers& at) const;

 private:
  const GraphConditions* conditions_ = nullptr;
  passes::Step kernel_;
  ActionList list_;
};

}  // namespace heddle::runtime
