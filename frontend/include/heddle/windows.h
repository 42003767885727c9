#pragma once

#include <cstdint>

#include "heddle/array.h"

namespace heddle {

/// numpy.i0: the modified Bessel function of the first kind and order 0, within 24 ulp. Integers
/// are computed in float64, float16 and bfloat16 in float32. DTypeError for complex numbers.
Array i0(const Operand& x);

// Symmetric window functions of `count` points: 1-d, float64. For an odd count the middle is 1. A
// count of 1 gives [1], a count below 1 an empty array.

/// numpy.bartlett: a triangle that is 0 at both ends.
Array bartlett(std::int64_t count, SourceLocation where = SourceLocation::current());
/// numpy.blackman: a sum of cosines with coefficients 0.42, 0.5 and 0.08.
Array blackman(std::int64_t count, SourceLocation where = SourceLocation::current());
/// numpy.hamming: a raised cosine that is 0.08 at both ends.
Array hamming(std::int64_t count, SourceLocation where = SourceLocation::current());
/// numpy.hanning: a raised cosine that is 0 at both ends.
Array hanning(std::int64_t count, SourceLocation where = SourceLocation::current());
/// numpy.kaiser: a window made with i0; the smaller beta is, the wider it is.
Array kaiser(std::int64_t count, const Operand& beta);

}  // namespace heddle
