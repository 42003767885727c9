#pragma once

#include <optional>

#include "frontend/graph/trace.h"

namespace heddle::frontend {

/// Vectorises a trace of one array (vmap): `lines` holds the inputs along its first axis, and the
/// result has the outputs along its first axis. None if the trace draws random numbers, searches
/// in a value that depends on its input, or has such a loop.
std::optional<NodeRef> vmap_trace(const Trace& trace, const NodeRef& result, const NodeRef& lines);

}  // namespace heddle::frontend
