#include "runtime/launch/carries.h"

#include <algorithm>
#include <utility>

#include "passes/calls/control.h"

namespace heddle::runtime {

void copy_within(std::byte* to, const std::byte* from, std::size_t bytes, const Stream& stream) {
  if (bytes > 0 && to != from) copy(to, stream.device(), from, stream.device(), bytes, stream);
}

Carries::Carries(const passes::CallStep& step, const ScheduledBody& body, std::size_t first)
    : step_(step),
      body_(body),
      first_(first),
      in_place_(passes::carries_in_place(
          body.program(), first,
          static_cast<std::size_t>(step.values.size("carries").constant()))) {}

/// The carry whose old memory is free once carry's next value is in its second buffer: its own, or
/// if another value has taken that, the old memory of the taker, and so on. All are of one size.
std::size_t Carries::freed_for(std::size_t carry) const {
  for (;;) {
    const auto taker = std::ranges::find(in_place_, std::optional(carry));
    if (taker == in_place_.end()) return carry;
    carry = static_cast<std::size_t>(taker - in_place_.begin());
  }
}

Carries::Run::Run(const Carries& carries, const CallBuffers& frame, std::size_t operand)
    : carries_(carries), frame_(frame) {
  start();
  for (std::size_t i = 0; i < carries.count(); ++i) {
    const std::byte* const first = frame.address(carries.step_.operands[operand + i].buffer);
    copy_within(current_[i], first, carries.bytes(i), frame.stream());
  }
}

/// Carries are in the results, and have their second buffers.
void Carries::Run::start() {
  current_.clear();
  spare_.clear();
  for (std::size_t i = 0; i < carries_.count(); ++i) {
    current_.push_back(frame_.address(carries_.step_.results[i].buffer));
    spare_.push_back(frame_.address(carries_.step_.scratch[i]));
  }
}

void Carries::Run::enter(BodyRun& body) const {
  for (std::size_t i = 0; i < carries_.count(); ++i) {
    body.set_input(carries_.first_ + i, current_[i]);
    if (body.has_memory(i)) body.set_output(i, spare_[i]);
  }
}

void Carries::Run::advance(const BodyRun& body) {
  Addresses next, free = spare_;
  for (std::size_t i = 0; i < carries_.count(); ++i) {
    if (const auto source = carries_.in_place_[i]) {
      next.push_back(current_[*source]);
      continue;
    }
    copy_within(spare_[i], body.result(i), carries_.bytes(i), body.stream());
    next.push_back(spare_[i]);
    free[i] = current_[carries_.freed_for(i)];
  }
  current_ = std::move(next);
  spare_ = std::move(free);
}

void Carries::Run::finish(const Stream& stream) {
  const passes::CallStep& step = carries_.step_;
  // A value in the memory of another carry's result has to leave it first.
  std::vector<BufferRef> memory;
  Addresses from = current_;
  for (std::size_t i = 0; i < carries_.count(); ++i) {
    if (!is_other_result(i)) continue;
    memory.push_back(frame_.allocate(carries_.bytes(i), nullptr));
    from[i] = static_cast<std::byte*>(memory.back()->pointer());
    copy_within(from[i], current_[i], carries_.bytes(i), stream);
  }
  for (std::size_t i = 0; i < carries_.count(); ++i) {
    copy_within(frame_.address(step.results[i].buffer), from[i], carries_.bytes(i), stream);
  }
  start();
}

bool Carries::Run::is_other_result(std::size_t carry) const {
  for (std::size_t i = 0; i < carries_.count(); ++i) {
    if (i != carry && frame_.address(carries_.step_.results[i].buffer) == current_[carry])
      return true;
  }
  return false;
}

}  // namespace heddle::runtime
