#pragma once

#include "frontend/array/ordering.h"

namespace heddle::frontend {

/// The narrowest dtype that holds 0 .. greatest. A sort makes one pass over memory for each key
/// byte.
DType key_dtype(ir::Dim greatest);

/// Sums the values by key: `length` sums, starting from 0. Keys are i64 in [0, length]; the key
/// `length` is ignored. All are 1-d; values are floats or complex numbers.
///
/// Values are sorted by key and added in segments, not atomically. So the sums are bitwise
/// the same in every run, and each is as accurate as a separate sum.
NodeRef sums_by_key(const NodeRef& values, const NodeRef& keys, ir::Dim length,
                    const OpRecorder& on);

}  // namespace heddle::frontend
