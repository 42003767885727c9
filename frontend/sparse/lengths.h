#pragma once

#include "heddle/array.h"

// Norms and scales of vectors whose squares may leave the range of their dtype.

namespace heddle::sparse::linalg {

/// The Euclidean norm, in the dtype of the real part. One pass; the squares of small and large
/// elements count, too.
Array length(const Array& x);

/// A 0-d power of two, in the dtype of the real part, that is near the greatest element of x and y.
/// Unless `always`, 1 where squares of vectors of such lengths, and of those shorter by eps, are in
/// range.
Array unit_of(const Array& x, const Array& y, bool always = false);

}  // namespace heddle::sparse::linalg
