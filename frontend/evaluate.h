#pragma once

#include <cstdint>
#include <span>

#include "heddle/array.h"

#include "frontend/node.h"

namespace heddle::frontend {

/// Computes the nodes, and with them every pending value inside their graph that somebody outside
/// of it still needs, in one program. Values that another thread computes just now are waited for.
/// When it throws, the graph is as before.
void evaluate(std::span<const NodeRef> nodes);
void evaluate(const NodeRef& node);
/// Computes all that somebody still refers to of what the recorder's thread has recorded, except
/// what another thread computes just now. False when there was nothing.
bool evaluate_pending(Recorder& recorder);

/// The array's node, evaluated because `what` asks for its elements. TraceError inside a trace,
/// ValueError where HEDDLE_NO_SYNC=1 forbids to wait.
const NodeRef& evaluated_node(const Array& array, const char* what, const Site& where);

/// Called when `value` has been assigned to an array: the only place where pending work of the
/// thread is evaluated on its own. In a loop it evaluates at one place of the body, so that the
/// programs of all turns but the first and the last are one.
void assignment_point(const NodeRef& value);
/// The same in two steps, for a language whose assignments the library does not see, at the places
/// where they are made: whether pending work is to be evaluated here, and doing so.
bool evaluation_due();
void evaluate_here();
/// The thread has evaluated because a value was asked for.
void note_explicit_evaluation();
bool set_auto_eval(bool enabled);

/// Counters behind hd::statistics().
struct Counters {
  std::atomic<std::uint64_t> traces{0}, programs{0}, evaluations{0}, auto_evaluations{0};
};
Counters& counters();

}  // namespace heddle::frontend
