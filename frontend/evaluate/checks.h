#pragma once

#include <vector>

#include "frontend/graph/check.h"
#include "runtime/device/device.h"

namespace heddle::frontend {

/// Looks at the status the next time that this thread waits for the device, or that another one
/// reads one of `results`, arrays which the call made. These are not kept alive. When a thread
/// ends, every thread waits for its statuses. Reads older statuses where there are many: throws
/// DeviceError and OutOfMemory, but no LinAlgError.
void check_later(Check check, std::vector<const Node*> results = {});

/// Looks at the statuses that this thread waits for and at those of `read`, which is read. Throws
/// LinAlgError for the first call that failed, once. Later failures are raised by the next waits.
void raise_failures(const NodeRef& read = {});

/// The statuses of this thread that are not computed yet, to be computed with what is read.
std::vector<NodeRef> pending_statuses();

/// Throws LinAlgError if the call has failed. Evaluates and waits.
void raise_failure(const Check& check);

/// Whether this thread's work is being captured into a CUDA graph: nothing can be checked then.
bool is_captured(runtime::Device device);

}  // namespace heddle::frontend
