#pragma once

#include <optional>

#include "frontend/graph/trace.h"

namespace heddle::frontend {

/// What a trace of one array computes, of many: `lines` has them along its first axis, and so has
/// the result. None where the trace draws random numbers, or searches in what depends on its input.
std::optional<NodeRef> over_lines(const Trace& trace, const NodeRef& result, const NodeRef& lines);

}  // namespace heddle::frontend
