#pragma once

#include <cstdint>
#include <span>

#include "heddle/array.h"

#include "frontend/graph/node.h"

namespace heddle::frontend {

/// Computes the nodes, and with them every pending value inside their graph that somebody outside
/// of it still needs, in one program. Values that another thread computes just now are waited for.
/// When it throws, the graph is as before.
void evaluate(std::span<const NodeRef> nodes);
void evaluate(const NodeRef& node);
/// Computes all that somebody still refers to of what the recorder's thread has recorded, except
/// what another thread computes just now. False when there was nothing, or when part of it is being
/// computed and `wait` is false.
bool evaluate_pending(Recorder& recorder, bool wait = true);

/// Whether HEDDLE_NO_SYNC=1 finds places where a program waits for the device without meaning to.
bool waiting_forbidden();
/// Throws ValueError where `what` may not wait.
void require_waiting(const char* what, const Site& where);

/// The array's node, evaluated because `what` asks for its elements. TraceError inside a trace,
/// ValueError where HEDDLE_NO_SYNC=1 forbids to wait.
const NodeRef& evaluated_node(const Array& array, const char* what, const Site& where);

/// Called when `value` has been assigned to an array: where pending work of the thread is usually
/// evaluated on its own. In a loop it evaluates at one place of the body, so that the programs of
/// all turns but the first and the last are one. README.md has the rule.
void assignment_point(const NodeRef& value);
/// Called when an array of a pending `value` was made, which may be a part of an expression:
/// pending work is evaluated only where there is very much of it, or memory is short.
void recording_point(const NodeRef& value);
/// The same in two steps, for a language whose assignments the library does not see, at the places
/// where they are made: whether pending work is to be evaluated here, and doing so. The value is
/// the statement's, if it is known.
bool evaluation_due(const Node* value = nullptr);
void evaluate_here();
/// The thread has evaluated because a value was asked for.
void note_explicit_evaluation();
bool set_auto_eval(bool enabled);
bool auto_eval_enabled();

/// Counters behind hd::statistics().
struct Counters {
  std::atomic<std::uint64_t> traces{0}, programs{0}, evaluations{0}, auto_evaluations{0};
};
Counters& counters();

}  // namespace heddle::frontend
