#pragma once

#include "frontend/array/ordering.h"

namespace heddle::frontend {

/// The slices along an axis, as the rows of a matrix.
NodeRef rows_along(const NodeRef& node, std::int64_t axis, const OpRecorder& on);

/// The rank, i64, of each row of a matrix of constant extents among the distinct rows in
/// lexicographic order. NaNs come last and are equal, and so are zeros of either sign.
NodeRef ranks_of_rows(const NodeRef& rows, const OpRecorder& on);

/// For sorted elements: true where neighbours along axis 0 differ, n - 1 values. With `equal_nan`,
/// NaNs are equal.
NodeRef steps(const NodeRef& sorted, bool equal_nan, const OpRecorder& on);

}  // namespace heddle::frontend
