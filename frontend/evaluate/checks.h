#pragma once

#include <cstdint>
#include <vector>

#include "heddle/source_location.h"

#include "frontend/graph/check.h"
#include "runtime/device/device.h"

namespace heddle::frontend {

/// When to throw a failure that is known only after the work has run.
enum class RaiseFailure : std::uint8_t { at_once, at_next_wait };

/// Throws the failure of recorded work (`values` and the status) at the time that `raise` says.
/// Failures of traced work are thrown by waits for the traced function's calls. `what` names the
/// function that waits. While this thread's work is captured into a CUDA graph, nothing is checked.
void check_recorded(const char* what, Check check, std::vector<NodeRef> values, RaiseFailure raise,
                    const SourceLocation& where);

/// Checks the status the next time that this thread waits for the device, or another thread reads
/// one of `results`, the arrays that the call made. The results are not kept alive. When a thread
/// ends, its statuses are checked by the waits of every thread. If there are many statuses, older
/// ones are read now. Throws DeviceError and OutOfMemory, but no failure of a check.
void check_later(Check check, std::vector<const Node*> results = {});

/// Checks this thread's statuses and those of `array`, which is being read. Throws LinAlgError or
/// IndexError once, for the first call that failed. Later failures are thrown by the next waits.
void raise_failures(const NodeRef& array = {});

/// Evaluates the node and all unread statuses of this thread in one program. If that fails,
/// evaluates only the node; a status that cannot be computed then throws when it is read.
void evaluate_with_statuses(const NodeRef& node);

/// True if raise_failures(array) would throw; the failure is kept. Evaluates and waits.
bool has_failures(const NodeRef& array);

/// The uncomputed statuses of this thread, to be evaluated together with the array being read.
std::vector<NodeRef> pending_statuses();

/// True if this thread's work is being captured into a CUDA graph, so that nothing can be checked.
bool is_captured(runtime::Device device);

}  // namespace heddle::frontend
