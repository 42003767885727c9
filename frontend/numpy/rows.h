#pragma once

#include "frontend/array/ordering.h"

namespace heddle::frontend {

/// The slices along an axis as the rows of a matrix.
NodeRef rows_along(const NodeRef& node, std::int64_t axis, const Composer& on);

/// i64: which place each row, of a matrix of known extents, has among the distinct rows in
/// lexicographic order. NaNs stand last and are equal, as are zeros of either sign.
NodeRef ranks_of_rows(const NodeRef& rows, const Composer& on);

/// Where neighbours along axis 0, sorted, differ: n - 1 of them. With `equal_nan`, NaNs do not.
NodeRef steps(const NodeRef& sorted, bool equal_nan, const Composer& on);

}  // namespace heddle::frontend
