#include <algorithm>
#include <atomic>
#include <unordered_set>
#include <vector>

#include "heddle/error.h"

#include "frontend/evaluate/evaluate.h"
#include "frontend/evaluate/pending_memory.h"
#include "frontend/graph/trace.h"
#include "runtime/base/log.h"
#include "runtime/base/per_thread.h"
#include "runtime/device/memory.h"

namespace heddle::frontend {
namespace {

/// Pending operations at which the thread's work is evaluated, and how many to wait for an anchor
/// to come round again before evaluating somewhere else.
struct Bounds {
  std::size_t pending, patience;
};
constexpr Bounds at_assignments{64, 512}, anywhere{1024, 1536};
/// Pending work of fewer bytes is not looked at; of fewer than these memory asks for nothing.
constexpr std::int64_t least_look = std::int64_t{1} << 20, usual_floor = std::int64_t{64} << 20;
/// Operations before a place that tell it from others.
constexpr std::size_t context_length = 64;
constexpr std::size_t anchor_capacity = 16;

std::atomic<bool> enabled{true};

/// A place in the thread's sequence of operations, known by those recorded before it.
struct Anchor {
  std::uint64_t number = 0;            ///< operations recorded until then
  std::vector<std::uint64_t> context;  ///< the last of them, latest first
};

Anchor anchor_here(const Recorder& recorder) {
  Anchor anchor{recorder.recorded(), {}};
  const std::uint64_t length = std::min<std::uint64_t>(recorder.recorded(), context_length);
  for (std::uint64_t i = 1; i <= length; ++i) {
    anchor.context.push_back(recorder.operation(recorder.recorded() - i));
  }
  return anchor;
}

/// How many of the operations before the anchor stand before this place too.
std::size_t common_context(const Anchor& anchor, const Recorder& recorder) {
  const std::uint64_t here = recorder.recorded();
  std::size_t count = 0;
  while (count < anchor.context.size() && count < here &&
         anchor.context[count] == recorder.operation(here - 1 - count)) {
    ++count;
  }
  return count;
}

/// Whether the loop that the thread is in, if it is in one, has come round to the anchor: all that
/// stands before the anchor and was recorded again since stands before this place. What was not
/// recorded again came before the loop.
bool comes_round(const Anchor& anchor, const Recorder& recorder) {
  const std::size_t common = common_context(anchor, recorder);
  if (common == 0) return false;
  if (common == anchor.context.size()) return true;
  const std::uint64_t since = recorder.recorded() - anchor.number;
  if (since > Recorder::history_length) return false;
  std::unordered_set<std::uint64_t> again;
  for (std::uint64_t i = anchor.number; i < recorder.recorded(); ++i) {
    again.insert(recorder.operation(i));
  }
  return !again.contains(anchor.context[common]);
}

/// Where this thread has evaluated on its own since it was asked for a value, so that the same work
/// after the same request is evaluated at the same places. In a loop the operations between two
/// turns past one anchor are the same each time, whatever the body's length, so evaluating at
/// anchors only makes one program of all turns.
struct Policy {
  Anchor last;
  std::vector<Anchor> anchors;
  bool window_from_anchor = false;  ///< the last evaluation was at `last`
  std::size_t kept = 0;             ///< views that stayed pending then
  /// Counted bytes at which to look again at what pending work does to memory.
  std::int64_t look_at_assignment = least_look, look_anywhere = least_look;
};

Policy& this_policy() { return runtime::per_thread<Policy>(); }

void start_window(Recorder& recorder, Policy& policy) {
  recorder.start_window();
  policy.look_at_assignment = policy.look_anywhere = least_look;
}

/// What memory asks for: an evaluation of what only keeps it from others, in a while or at once.
enum class Memory : std::uint8_t { suffices, wasted, is_short };

/// Of work that takes memory beyond what it frees, an evaluation is best made while that is there.
/// A part of an expression is not yet to be stored, so that within one only what is freed counts.
Memory judge(const PendingMemory& memory, std::int64_t floor, bool assigned) {
  const std::size_t half = runtime::pool_of(runtime::current_device()).available() / 2;
  const auto exceeds_half = [&](std::int64_t bytes) {
    return bytes > 0 && static_cast<std::size_t>(bytes) > half;
  };
  if (memory.frees > memory.makes && exceeds_half(memory.frees)) return Memory::is_short;
  if (!assigned) return Memory::suffices;
  const std::int64_t taken = std::max<std::int64_t>(memory.makes - memory.frees, 0);
  if (exceeds_half(taken + memory.between)) return Memory::is_short;
  const bool wasted = memory.frees >= floor && memory.frees >= 2 * memory.makes;
  return wasted ? Memory::wasted : Memory::suffices;
}

/// `value` is what was recorded last. Looking costs a walk over the graph, so that after one in
/// vain the bytes have to grow by half.
Memory look(Recorder& recorder, std::int64_t& look_at, const Node* value, bool assigned) {
  const std::int64_t counted = recorder.counted_bytes();
  if (counted < look_at) return Memory::suffices;
  const runtime::MemoryPool& pool = runtime::pool_of(runtime::current_device());
  const auto limit = static_cast<std::int64_t>(pool.limit());
  const std::int64_t floor =
      limit == 0 ? usual_floor : std::clamp(limit / 8, least_look, usual_floor);
  if (counted < floor) {
    look_at = floor;
    return Memory::suffices;
  }
  const Memory found = judge(memory_of_pending(recorder, value), floor, assigned);
  if (found == Memory::suffices) look_at = counted + counted / 2;
  return found;
}

bool at_anchor(const Policy& policy, const Recorder& recorder) {
  if (policy.window_from_anchor && comes_round(policy.last, recorder)) return true;
  return std::any_of(policy.anchors.begin(), policy.anchors.end(), [&](const Anchor& anchor) {
    return anchor.context.size() == context_length &&
           common_context(anchor, recorder) == context_length;
  });
}

void remember(Policy& policy, Anchor anchor) {
  const auto known =
      std::find_if(policy.anchors.begin(), policy.anchors.end(),
                   [&](const Anchor& each) { return each.context == anchor.context; });
  if (known == policy.anchors.end()) {
    if (policy.anchors.size() >= anchor_capacity) policy.anchors.erase(policy.anchors.begin());
    policy.anchors.push_back(anchor);
  }
  policy.last = std::move(anchor);
}

}  // namespace

bool set_auto_eval(bool value) { return enabled.exchange(value); }
bool auto_eval_enabled() { return enabled.load(std::memory_order_relaxed); }

void note_explicit_evaluation() {
  Recorder& recorder = Recorder::current();
  Policy& policy = this_policy();
  start_window(recorder, policy);
  policy.anchors.clear();
  policy.window_from_anchor = false;
  policy.kept = std::min(policy.kept, recorder.pending_count());
}

namespace {

bool evaluation_due(Recorder& recorder, Policy& policy, const Node* value, bool assigned) {
  const Bounds& bounds = assigned ? at_assignments : anywhere;
  policy.kept = std::min(policy.kept, recorder.pending_count());
  const std::size_t pending = recorder.pending_count() - policy.kept;
  if (pending == 0) return false;
  const Memory memory =
      look(recorder, assigned ? policy.look_at_assignment : policy.look_anywhere, value, assigned);
  if (memory == Memory::is_short) return true;
  if (pending < bounds.pending && memory == Memory::suffices) return false;
  return !policy.window_from_anchor || pending >= bounds.patience || at_anchor(policy, recorder);
}

/// Work that finds no memory stays pending: who asks for its values is told.
void evaluate_all(Recorder& recorder, bool wait) {
  try {
    if (evaluate_pending(recorder, wait)) ++counters().auto_evaluations;
  } catch (const OutOfMemory& failure) {
    runtime::log().info("pending work is left until its values are asked for: {}", failure.what());
  }
}

void evaluate_now(Recorder& recorder, Policy& policy, bool wait) {
  remember(policy, anchor_here(recorder));
  evaluate_all(recorder, wait);
  start_window(recorder, policy);
  policy.window_from_anchor = true;
  policy.kept = recorder.pending_count();
}

}  // namespace

bool evaluation_due(const Node* value) {
  if (!auto_eval_enabled() || Trace::current() != nullptr) return false;
  return evaluation_due(Recorder::current(), this_policy(), value, true);
}

void evaluate_here() { evaluate_now(Recorder::current(), this_policy(), true); }

void recording_point(const NodeRef& value) {
  if (!auto_eval_enabled()) return;
  Recorder& recorder = Recorder::current();
  Policy& policy = this_policy();
  if (recorder.pending_count() < anywhere.pending &&
      recorder.counted_bytes() < policy.look_anywhere) {
    return;
  }
  if (value->evaluated() || Trace::current() != nullptr) return;
  // Whoever records here may hold a lock that another thread, which computes, waits for.
  if (evaluation_due(recorder, policy, value.get(), false)) evaluate_now(recorder, policy, false);
}

void assignment_point(const NodeRef& value) {
  if (value->kind != Node::Kind::operation || value->evaluated()) return;
  if (evaluation_due(value.get())) evaluate_here();
}

}  // namespace heddle::frontend
