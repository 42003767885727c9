#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "passes/program/step.h"
#include "runtime/launch/body.h"

namespace heddle::runtime {

using Addresses = std::vector<std::byte*>;

/// Copies device memory, unless both addresses are equal.
void copy_within(std::byte* to, const std::byte* from, std::size_t bytes, const Stream& stream);

/// How a loop's carries move from step to step. A carry that the body updates in place, or passes
/// on as another carry, stays in its memory. Others alternate between the memory of the step's
/// result and that of its scratch buffer.
class Carries {
 public:
  /// Input `first` of the body is the first carry. Keeps references to both.
  Carries(const passes::CallStep& step, const ScheduledBody& body, std::size_t first);

  std::size_t count() const { return in_place_.size(); }
  /// Whether the next value of a carry is made in the memory of a carry.
  bool in_place(std::size_t carry) const { return in_place_[carry].has_value(); }

  /// The carries of one run.
  class Run {
   public:
    /// Copies the first values to the results. They are the step's operands from `operand` on.
    Run(const Carries& carries, const CallBuffers& frame, std::size_t operand);

    const Addresses& current() const { return current_; }
    /// Gives the body the carries, and memory for the next ones.
    void enter(BodyRun& body) const;
    /// After the body has run: the next carries become the current ones.
    void advance(const BodyRun& body);
    /// Copies the current values to the results, where a further step would find them.
    void finish(const Stream& stream);

   private:
    bool is_other_result(std::size_t carry) const;
    void start();

    const Carries& carries_;
    const CallBuffers& frame_;
    Addresses current_, spare_;
  };

 private:
  std::size_t bytes(std::size_t carry) const { return body_.output_bytes(carry); }
  std::size_t freed_for(std::size_t carry) const;

  const passes::CallStep& step_;
  const ScheduledBody& body_;
  std::size_t first_;
  /// For each carry: the one whose memory its next value is in (passes::carries_in_place).
  std::vector<std::optional<std::size_t>> in_place_;
};

}  // namespace heddle::runtime
