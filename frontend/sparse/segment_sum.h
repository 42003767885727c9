#pragma once

#include "frontend/array/ordering.h"

namespace heddle::frontend {

/// out[i] = the sum of values[offsets[i]] .. values[offsets[i + 1] - 1]. `values` is [n, ...],
/// `offsets` [m + 1], i32 or i64, not decreasing; the result is [m, ...], and 0 for empty segments.
/// The order of additions depends on the lengths only, so the result is the same in every run.
NodeRef segment_sum(const NodeRef& values, const NodeRef& offsets, const OpRecorder& on);

}  // namespace heddle::frontend
