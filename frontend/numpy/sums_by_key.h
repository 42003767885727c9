#pragma once

#include "frontend/array/ordering.h"

namespace heddle::frontend {

/// Of `length` sums, from 0, those of the values that name each of them by its key; keys are i64 in
/// [0, length], and `length` counts nowhere. All are 1-d, the values floats or complex numbers.
///
/// Values are brought into the order of their keys and scanned in segments, not added atomically,
/// so that sums are bitwise equal from run to run, and each as accurate as if it stood alone.
NodeRef sums_by_key(const NodeRef& values, const NodeRef& keys, ir::Dim length, const Composer& on);

}  // namespace heddle::frontend
