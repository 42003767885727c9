#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <unordered_set>
#include <vector>

#include "heddle/error.h"

#include "frontend/evaluate/evaluate.h"
#include "frontend/evaluate/pending_memory.h"
#include "frontend/graph/trace.h"
#include "runtime/base/bounded_map.h"
#include "runtime/base/log.h"
#include "runtime/base/per_thread.h"
#include "runtime/device/memory.h"

namespace heddle::frontend {
namespace {

/// Number of pending operations that triggers an evaluation, and the number to wait for the loop to
/// come back to an anchor before evaluating elsewhere.
struct Bounds {
  std::size_t pending, patience;
};
constexpr Bounds at_assignments{64, 512}, anywhere{1024, 1536};
/// Pending work below least_look bytes is not examined. Below usual_floor bytes, freeing memory is
/// no reason to evaluate.
constexpr std::int64_t least_look = std::int64_t{1} << 20, usual_floor = std::int64_t{64} << 20;
/// Number of preceding operations that identify a position.
constexpr std::size_t context_length = 64;
constexpr std::size_t anchor_capacity = 16;

std::atomic<bool> enabled{true};

/// A position in the thread's sequence of operations, identified by the operations before it.
struct Anchor {
  std::uint64_t number = 0;            ///< operations recorded until then
  std::vector<std::uint64_t> context;  ///< the last of them, most recent first
};

Anchor anchor_here(const Recorder& recorder) {
  Anchor anchor{recorder.recorded(), {}};
  const std::uint64_t length = std::min<std::uint64_t>(recorder.recorded(), context_length);
  for (std::uint64_t i = 1; i <= length; ++i) {
    anchor.context.push_back(recorder.operation(recorder.recorded() - i));
  }
  return anchor;
}

/// Number of operations that precede both the anchor and the current position.
std::size_t common_context(const Anchor& anchor, const Recorder& recorder) {
  const std::uint64_t here = recorder.recorded();
  std::size_t count = 0;
  while (count < anchor.context.size() && count < here &&
         anchor.context[count] == recorder.operation(here - 1 - count)) {
    ++count;
  }
  return count;
}

/// True if the thread's loop has come back to the anchor: every operation before the anchor that
/// was recorded again since then also precedes the current position. Operations that were not
/// recorded again came before the loop.
bool is_back_at_anchor(const Anchor& anchor, const Recorder& recorder) {
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

/// A statement at which the thread's patience ended, or which is evaluated each time.
struct Irregular {
  std::uint64_t strayed = 0;      ///< evaluations in a row that made a program, out of patience
  std::uint64_t same = 0;         ///< evaluations in a row that ran one program
  std::uint64_t made = 0;         ///< evaluations in a row that made a program
  const void* program = nullptr;  ///< the last one
};
/// So often a statement must stray before it is evaluated each time, and so often run one program,
/// or make a new one, before it no longer is.
constexpr std::uint64_t strays = 3, repeats = 16, novelties = 512;

/// The positions at which this thread has evaluated automatically since it was last asked for a
/// value. The same work after the same request is then evaluated at the same positions. In a loop,
/// the operations between two passes of one anchor are the same in each iteration, whatever the
/// length of the body. Evaluating only at anchors therefore gives one program for all iterations.
struct Policy {
  Anchor last;
  std::vector<Anchor> anchors;
  bool window_from_anchor = false;  ///< the last evaluation was at `last`
  std::size_t kept = 0;             ///< number of views that stayed pending then
  /// Loops whose operations never repeat, for instance because a row has another length each time,
  /// come back to no anchor, and what is cut from them after `patience` operations is a program of
  /// its own each time. Their statements recur one by one.
  runtime::BoundedMap<std::uint64_t, Irregular, std::hash<std::uint64_t>> irregular{64};
  std::uint64_t statement = 0;  ///< at which evaluation is due
  bool strayed = false;         ///< it is because patience ended
  /// Number of counted bytes at which to examine the memory use of pending work again.
  std::int64_t look_at_assignment = least_look, look_anywhere = least_look;
};

Policy& this_policy() { return runtime::per_thread<Policy>(); }

void start_window(Recorder& recorder, Policy& policy) {
  recorder.start_window();
  policy.look_at_assignment = policy.look_anywhere = least_look;
}

/// Memory pressure: none, evaluate soon (memory is held only by pending work), or evaluate now.
enum class Memory : std::uint8_t { suffices, wasted, is_short };

/// Work that makes more bytes than it frees should be evaluated while there is memory for it.
/// Inside an expression (`!assigned`) only freed bytes count, because intermediate values are not
/// stored yet.
Memory judge(const MemoryEffect& memory, std::int64_t floor, bool assigned) {
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

/// `value` is the node recorded last. Examining pending work walks the graph; if nothing is found,
/// the next examination waits until the counted bytes have grown by half.
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
  if (policy.window_from_anchor && is_back_at_anchor(policy.last, recorder)) return true;
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

bool is_irregular(Policy& policy) {
  if (policy.statement == 0) return false;
  const Irregular* const known = policy.irregular.find(policy.statement);
  return known != nullptr && known->strayed >= strays;
}

/// Learns from what an evaluation at the policy's statement ran.
void learn(Policy& policy, const Evaluated& ran) {
  if (policy.statement == 0 || !ran) return;
  Irregular* known = policy.irregular.find(policy.statement);
  if (known == nullptr) {
    if (!policy.strayed || !ran.made) return;
    known = &policy.irregular[policy.statement];
  }
  if (known->strayed < strays) {
    known->strayed = policy.strayed && ran.made ? known->strayed + 1 : 0;
    return;
  }
  known->same = ran.program == known->program ? known->same + 1 : 0;
  known->program = ran.program;
  known->made = ran.made ? known->made + 1 : 0;
  if (known->same >= repeats || known->made >= novelties) policy.irregular.erase(policy.statement);
}

bool evaluation_due(Recorder& recorder, Policy& policy, const Node* value, bool assigned) {
  const Bounds& bounds = assigned ? at_assignments : anywhere;
  policy.kept = std::min(policy.kept, recorder.pending_count());
  policy.strayed = false;
  const std::size_t pending = recorder.pending_count() - policy.kept;
  if (pending == 0) return false;
  if (assigned && is_irregular(policy)) return true;
  const Memory memory =
      look(recorder, assigned ? policy.look_at_assignment : policy.look_anywhere, value, assigned);
  if (memory == Memory::is_short) return true;
  if (pending < bounds.pending && memory == Memory::suffices) return false;
  if (!policy.window_from_anchor || at_anchor(policy, recorder)) return true;
  return policy.strayed = pending >= bounds.patience;
}

/// If memory runs out, the work stays pending, and the error is thrown when its values are read.
Evaluated evaluate_all(Recorder& recorder, bool wait) {
  try {
    const Evaluated ran = evaluate_pending(recorder, wait);
    if (ran) ++counters().auto_evaluations;
    return ran;
  } catch (const OutOfMemory& failure) {
    runtime::log().info("out of memory; pending work stays pending until its values are read: {}",
                        failure.what());
    return {};
  }
}

void evaluate_now(Recorder& recorder, Policy& policy, bool wait) {
  remember(policy, anchor_here(recorder));
  learn(policy, evaluate_all(recorder, wait));
  start_window(recorder, policy);
  policy.window_from_anchor = true;
  policy.kept = recorder.pending_count();
}

}  // namespace

bool evaluation_due(std::uint64_t statement, const Node* value) {
  if (!auto_eval_enabled() || Trace::current() != nullptr) return false;
  Policy& policy = this_policy();
  policy.statement = statement;
  return evaluation_due(Recorder::current(), policy, value, true);
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
  policy.statement = 0;
  // The recording thread may hold a lock that the computing thread waits for, so do not wait.
  if (evaluation_due(recorder, policy, value.get(), false)) evaluate_now(recorder, policy, false);
}

void assignment_point(const NodeRef& value) {
  if (value->kind != Node::Kind::operation || value->evaluated()) return;
  const ir::Location& line = value->site.location;
  const std::uint64_t statement = reinterpret_cast<std::uintptr_t>(line.file) + line.line;
  if (evaluation_due(statement, value.get())) evaluate_here();
}

}  // namespace heddle::frontend
