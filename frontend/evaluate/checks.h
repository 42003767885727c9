#pragma once

#include <cstdint>
#include <vector>

#include "heddle/source_location.h"

#include "frontend/graph/check.h"
#include "runtime/device/device.h"

namespace heddle::frontend {

/// When a failure is raised that is known once the work is done.
enum class RaiseFailure : std::uint8_t { at_once, at_next_wait };

/// Raises the failure of work that is recorded, `values` and the status, as `raise` says; what a
/// trace records is checked by the waits for its calls. `what` names the function that waits. While
/// this thread's work is captured into a CUDA graph nothing is looked at.
void check_recorded(const char* what, Check check, std::vector<NodeRef> values, RaiseFailure raise,
                    const SourceLocation& where);

/// Looks at the status the next time that this thread waits for the device, or that another one
/// reads one of `results`, arrays which the call made. These are not kept alive. When a thread
/// ends, every thread waits for its statuses. Reads older statuses where there are many: throws
/// DeviceError and OutOfMemory, but no failure of a check.
void check_later(Check check, std::vector<const Node*> results = {});

/// Looks at the statuses that this thread waits for and at those of `read`, which is read. Throws
/// LinAlgError or IndexError for the first call that failed, once. Later failures are raised by the
/// next waits.
void raise_failures(const NodeRef& read = {});

/// Evaluates the node and all unread statuses of this thread in one program. If that fails, the
/// node alone; a status that cannot be computed throws when it is read.
void evaluate_with_statuses(const NodeRef& node);

/// Whether raise_failures() of `read` has something to throw, which stays for it. Evaluates and
/// waits.
bool has_failures(const NodeRef& read);

/// The statuses of this thread that are not computed yet, to be computed with what is read.
std::vector<NodeRef> pending_statuses();

/// Whether this thread's work is being captured into a CUDA graph: nothing can be checked then.
bool is_captured(runtime::Device device);

}  // namespace heddle::frontend
