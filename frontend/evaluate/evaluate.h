#pragma once

#include <cstdint>
#include <span>

#include "heddle/array.h"

#include "frontend/graph/node.h"

namespace heddle::frontend {

/// Computes the nodes in one program, together with every pending value in their graph that is
/// referenced from outside the graph. Waits for values that another thread is computing. If it
/// throws, the graph is unchanged.
void evaluate(std::span<const NodeRef> nodes);
void evaluate(const NodeRef& node);
/// What evaluate_pending() ran: nothing, or programs.
struct Evaluated {
  const void* program = nullptr;  ///< identifies the last one, and the extents for which it ran
  bool made = false;              ///< at least one program is new
  explicit operator bool() const { return program != nullptr; }
};
/// Computes all referenced values that the recorder's thread has recorded, except those that
/// another thread is computing. Runs nothing if there were none, or if part of them is being
/// computed and `wait` is false.
Evaluated evaluate_pending(Recorder& recorder, bool wait = true);

/// True if HEDDLE_NO_SYNC=1 is set, which turns implicit waits for the device into errors.
bool waiting_forbidden();
/// Throws ValueError if `what` is not allowed to wait.
void require_waiting(const char* what, const Site& where);

/// Returns the array's node, evaluated because `what` reads its elements. TraceError inside a
/// trace, ValueError if HEDDLE_NO_SYNC=1 forbids the wait.
const NodeRef& evaluated_node(const Array& array, const char* what, const Site& where);

/// Called after `value` was assigned to an array. This is the usual point at which the thread's
/// pending work is evaluated automatically. In a loop the evaluation happens at one position of the
/// body, so that all iterations but the first and the last share one program. The rule is in
/// docs/guide/memory.md.
void assignment_point(const NodeRef& value);
/// Called after an array with a pending `value` was made. It may be part of an expression, so
/// pending work is evaluated only if there is very much of it or memory is short.
void recording_point(const NodeRef& value);
/// The same in two steps, for languages whose assignments the library does not see; both are called
/// after an assignment. evaluation_due() says whether pending work should be evaluated now,
/// evaluate_here() evaluates it. `value` is the value of the statement, if known; `statement` is
/// any number other than 0 that tells the statement from others, 0 if it is not known.
bool evaluation_due(std::uint64_t statement = 0, const Node* value = nullptr);
void evaluate_here();
/// Notes that the thread has evaluated because a value was read.
void note_explicit_evaluation();
bool set_auto_eval(bool enabled);
bool auto_eval_enabled();

/// Counters behind hd::statistics().
struct Counters {
  std::atomic<std::uint64_t> traces{0}, programs{0}, evaluations{0}, auto_evaluations{0};
};
Counters& counters();

}  // namespace heddle::frontend
