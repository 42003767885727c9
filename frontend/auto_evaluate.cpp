#include <algorithm>
#include <atomic>
#include <unordered_set>
#include <vector>

#include "frontend/evaluate.h"
#include "frontend/trace.h"
#include "runtime/per_thread.h"

namespace heddle::frontend {
namespace {

/// Pending operations, and bytes of arrays that they keep, at which the thread's work is evaluated.
constexpr std::size_t pending_limit = 64;
constexpr std::int64_t byte_limit = std::int64_t{1} << 30;
/// How long to wait for an anchor to come round again before evaluating somewhere else.
constexpr std::size_t patience = 512;
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

/// Where this thread has evaluated on its own. In a loop the operations between two turns past one
/// anchor are the same each time, whatever the body's length, so evaluating at anchors only makes
/// one program of all turns.
struct Policy {
  Anchor last;
  std::vector<Anchor> anchors;
  bool window_from_anchor = false;  ///< the last evaluation was at `last`
  std::size_t kept = 0;             ///< views that stayed pending then
};

Policy& this_policy() { return runtime::per_thread<Policy>(); }

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

void note_explicit_evaluation() {
  Recorder& recorder = Recorder::current();
  Policy& policy = this_policy();
  recorder.start_window();
  policy.window_from_anchor = false;
  policy.kept = std::min(policy.kept, recorder.pending_count());
}

bool evaluation_due() {
  if (!enabled.load(std::memory_order_relaxed) || Trace::current() != nullptr) return false;
  Recorder& recorder = Recorder::current();
  Policy& policy = this_policy();
  policy.kept = std::min(policy.kept, recorder.pending_count());
  const std::size_t pending = recorder.pending_count() - policy.kept;
  if (pending == 0 || (pending < pending_limit && recorder.pinned_bytes() < byte_limit)) {
    return false;
  }
  return !policy.window_from_anchor || pending >= patience || at_anchor(policy, recorder);
}

void evaluate_here() {
  Recorder& recorder = Recorder::current();
  Policy& policy = this_policy();
  remember(policy, anchor_here(recorder));
  if (evaluate_pending(recorder)) ++counters().auto_evaluations;
  recorder.start_window();
  policy.window_from_anchor = true;
  policy.kept = recorder.pending_count();
}

void assignment_point(const NodeRef& value) {
  if (value->kind != Node::Kind::operation || value->evaluated()) return;
  if (evaluation_due()) evaluate_here();
}

}  // namespace heddle::frontend
